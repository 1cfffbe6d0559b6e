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

use crate::asset_reimport;

const READ_STREAM: &str = "asset.readImportedStream";

/// How long the editor may take for one import, in milliseconds.
const IMPORT_MS: u64 = 10_000;

/// When an editor that did not come to it in time may be asked again, in milliseconds.
const RETRY_MS: u64 = 2000;

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
        codes::NOT_FOUND,
        codes::CONFLICT,
        codes::FILE_TOO_LARGE,
        codes::FORBIDDEN,
        codes::PROJECT_FILE_BUSY,
        codes::EDITOR_SCANNING,
        codes::EDITOR_IMPORT_BUSY,
        asset_reimport::IMPORT_FAILED,
        asset_reimport::NOT_INDEXED,
        asset_reimport::REIMPORT_ACTIVE,
        asset_reimport::IDLE_TIMEOUT,
        asset_reimport::UNREAD,
        asset_reimport::REIMPORT_NOT_FOUND,
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
    let held = take_over(ctx, &args.asset_path, &plan)
        .map_err(|refusal| put_back(ctx, &args.asset_path, &plan, refusal))?;
    Answer::of(json!({
        "asset_path": args.asset_path,
        "importer": plan.importer,
        "previous": plan.previous,
        "options": held.options,
        "uid": plan.uid,
        "reimported": held.reimported,
        "verified": true,
        "stream": held.stream,
        "way_back": {
            "tool": "asset_configure_import",
            "arguments": {"asset_path": args.asset_path, "options": plan.previous},
        },
    }))
}

/// What the engine made of the options.
struct Held {
    reimported: Value,
    /// As the file says after the import.
    options: Value,
    stream: Option<Value>,
}

/// Has the asset imported with the options that are written, and looks at what came out.
fn take_over(ctx: &Ctx<'_>, asset: &str, plan: &sidecar::Plan) -> Result<Held, Refusal> {
    let reimported = import(ctx, asset)?;
    let now = sidecar::read(ctx, &plan.place)?;
    let divergences = plan.divergences(&now)?;
    if !divergences.is_empty() {
        return Err(not_held(divergences));
    }
    let is_sound = SOUNDS.contains(&plan.importer.as_str());
    let stream = if is_sound { Some(stream(ctx, asset)?) } else { None };
    Ok(Held { reimported, options: plan.values_in(&now)?, stream })
}

/// Has the editor import the asset, and answers what it imported.
fn import(ctx: &Ctx<'_>, asset: &str) -> Result<Value, Refusal> {
    let work = json!({"paths": [asset]});
    let answer = asset_reimport::WORK.run(ctx, work, IMPORT_MS, || {
        Refusal::new(asset_reimport::IDLE_TIMEOUT, "the editor does not tell how the import ended")
            .with("outcome", "unknown_outcome")
            .next_call("asset_reimport", "imports the asset as its file now says")
    });
    let answer = answer.map_err(in_own_terms)?;
    let said: Value = serde_json::from_str(answer.data.get()).unwrap_or_default();
    Ok(said["reimported"].clone())
}

/// A refusal of the import, whose way out is an argument of another tool, with one of this tool's own.
fn in_own_terms(mut refusal: Refusal) -> Refusal {
    let fields = ["paths", "request_id", asset_reimport::WORK.id];
    let is_anothers = |field: &Value| fields.iter().any(|name| field == name);
    let had_field = refusal.data.get("field").is_some_and(is_anothers);
    if refusal.code == asset_reimport::IMPORT_FAILED {
        return refusal.with("field", "options");
    }
    if refusal.data.remove("retry_with").is_some() {
        refusal.data.remove("field");
        return refusal.with("retry_after_ms", RETRY_MS);
    }
    if had_field { refusal.with("field", "asset_path") } else { refusal }
}

fn not_held(divergences: Vec<Value>) -> Refusal {
    Refusal::new(
        CHANGE_NOT_HELD,
        "the engine imported the asset with other options than were asked",
    )
    .with("divergences", divergences)
    .field("options")
}

/// The file as it was before, and the asset imported with it again. The refusal says of each whether it went well.
fn put_back(ctx: &Ctx<'_>, asset: &str, plan: &sidecar::Plan, refusal: Refusal) -> Refusal {
    let mut reimported = false;
    let mut rolled_back = false;
    // An import that was given up on ends later, and then writes the file with what it was begun with: that is seen
    // after the next import, which comes behind it.
    for _ in 0..2 {
        reimported = rewrite(ctx, plan).is_ok() && import(ctx, asset).is_ok();
        rolled_back = sidecar::read(ctx, &plan.place).is_ok_and(|now| plan.is_undone_in(&now));
        if !reimported || rolled_back {
            break;
        }
    }
    // Without an import behind it, one that is late may still write.
    let is_open = rolled_back && !reimported && refusal.code == asset_reimport::IDLE_TIMEOUT;
    let rolled_back = if is_open { json!("unknown") } else { rolled_back.into() };
    refusal.with("rolled_back", rolled_back).with("reimported", reimported)
}

/// Writes the file as it was before.
fn rewrite(ctx: &Ctx<'_>, plan: &sidecar::Plan) -> Result<(), Refusal> {
    let now = sidecar::read(ctx, &plan.place)?;
    let expect = Expect::Sha256(sha256_hex(&now));
    ctx.project().write(&plan.place, &plan.before, expect).map(drop)
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
    Refusal::invalid("options", message).with("key", key)
}
