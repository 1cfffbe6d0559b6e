//! `asset_configure_import`: changes options of an importer in an asset's `.import` file, and has the asset imported
//! with them.
//!
//! The engine writes every option of an importer into that file, so what is in it is what can be set, whichever
//! importer it is. The engine writes the file anew when it imports; what it then says is compared with what was asked,
//! and where that is not held the file is put back and the asset imported as before.
//!
//! Spec: P-50, settings.

mod sidecar;
#[cfg(test)]
mod tests;

use didi_plugin_api::{digest::sha256_hex, prelude::*};

use crate::{asset_reimport, refuse::invalid};

const READ_STREAM: &str = "asset.readImportedStream";

/// How long the editor may take for one import, in milliseconds.
const IMPORT_MS: u64 = 10_000;

/// Importers of sounds, which the engine is asked to load afterwards.
const SOUNDS: [&str; 3] = ["wav", "oggvorbisstr", "mp3"];

/// The asset was never imported.
const NO_IMPORT_METADATA: Code = Code::new(404, "no_import_metadata");
/// Its `.import` file can't be understood.
const UNPARSEABLE_METADATA: Code = Code::new(422, "unparseable_import_metadata");
/// The file is not as an engine writes it.
const HAND_EDITED_METADATA: Code = Code::new(422, "hand_edited_import_metadata");
/// The engine imported with other options than were asked.
const CHANGE_NOT_HELD: Code = Code::new(422, "import_change_not_held");
/// The engine can't load what it imported.
const LOAD_FAILED: Code = Code::new(404, "load_failed");

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 1024))]
    asset_path: String,
    /// By their names in the file, such as `mipmaps/generate`; `edit/loop_mode` by its word, too.
    options: Record,
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "asset_configure_import",
        "Changes import options of an asset, imports it with them and checks what the engine then holds.",
        Effects::SETS,
        run,
    )
    .modes(&[Mode::Live])
    .live(
        &[SessionKind::Editor],
        &[asset_reimport::WORK.begin, asset_reimport::WORK.status, READ_STREAM],
    )
    .preview(preview)
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::CONFLICT,
        codes::FILE_TOO_LARGE,
        codes::FORBIDDEN,
        codes::PROJECT_FILE_BUSY,
        asset_reimport::IMPORT_FAILED,
        asset_reimport::IDLE_TIMEOUT,
        NO_IMPORT_METADATA,
        UNPARSEABLE_METADATA,
        HAND_EDITED_METADATA,
        CHANGE_NOT_HELD,
        LOAD_FAILED,
    ])
}

fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    let plan = sidecar::plan(ctx, &args.asset_path, &args.options)?;
    Ok(Target::read(plan.place.res_path(), true, json!({"options": plan.previous}))
        .after(json!({"options": plan.wanted_values()})))
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let plan = sidecar::plan(ctx, &args.asset_path, &args.options)?;
    ctx.project().write(&plan.place, &plan.after, Expect::Sha256(sha256_hex(&plan.before)))?;
    let held = import(ctx, &args.asset_path).and_then(|reimported| {
        let now = sidecar::read(ctx, &plan.place)?;
        let divergences = plan.divergences(&now)?;
        if divergences.is_empty() { Ok((reimported, now)) } else { Err(not_held(divergences)) }
    });
    let (reimported, now) =
        held.map_err(|refusal| put_back(ctx, &args.asset_path, &plan, refusal))?;
    let stream = if SOUNDS.contains(&plan.importer.as_str()) {
        Some(stream(ctx, &args.asset_path)?)
    } else {
        None
    };
    let options = plan.values_in(&now)?;
    Answer::of(json!({
        "asset_path": args.asset_path,
        "importer": plan.importer,
        "previous": plan.previous,
        "options": options,
        "uid": plan.uid,
        "reimported": reimported,
        "verified": true,
        "stream": stream,
        "way_back": {
            "tool": "asset_configure_import",
            "arguments": {"asset_path": args.asset_path, "options": plan.previous},
        },
    }))
}

/// Has the editor import the asset, and answers what it imported.
fn import(ctx: &Ctx<'_>, asset: &str) -> Result<Value, Refusal> {
    let answer = asset_reimport::WORK.run(ctx, json!({"paths": [asset]}), IMPORT_MS, || {
        Refusal::new(asset_reimport::IDLE_TIMEOUT, "the editor does not tell how the import ended")
            .with("outcome", "unknown_outcome")
            .next_call("asset_reimport", "imports the asset as its file now says")
    })?;
    let said: Value = serde_json::from_str(answer.data.get()).unwrap_or_default();
    Ok(said["reimported"].clone())
}

fn not_held(divergences: Vec<Value>) -> Refusal {
    Refusal::new(
        CHANGE_NOT_HELD,
        "the engine imported the asset with other options than were asked",
    )
    .with("divergences", divergences)
    .field("options")
}

/// The file as it was before, imported again; the refusal says whether that went well.
fn put_back(ctx: &Ctx<'_>, asset: &str, plan: &sidecar::Plan, refusal: Refusal) -> Refusal {
    let back = sidecar::read(ctx, &plan.place).and_then(|now| {
        let expect = Expect::Sha256(sha256_hex(&now));
        ctx.project().write(&plan.place, &plan.before, expect)?;
        import(ctx, asset)
    });
    refusal.with("rolled_back", back.is_ok())
}

/// The sound as the engine loads it now.
fn stream(ctx: &Ctx<'_>, asset: &str) -> Result<Value, Refusal> {
    ctx.bridge_call(READ_STREAM, json!({"path": asset})).map_err(|refusal| {
        if refusal.code.status == 404 || refusal.code.status == 422 {
            let message = format!("the engine can't load `{asset}`: {}", refusal.message);
            Refusal::new(LOAD_FAILED, message).next_call("asset_reimport", "imports the asset anew")
        } else {
            refusal
        }
    })
}

/// An option that can't be set so.
fn bad(key: &str, message: String) -> Refusal {
    invalid("options", message).with("key", key)
}
