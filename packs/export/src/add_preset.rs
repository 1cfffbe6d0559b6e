//! `project_add_export_preset`: adds one preset to `export_presets.cfg`.
//!
//! The preset gets the next number that the engine reads, the keys that every platform has, and an options
//! section, without which the engine reports an error. The rest of the file stays byte for byte. What would
//! change another preset, by waking one behind a gap or by taking over stray options, is refused.
//!
//! Spec: P-56, exports.

use didi_formats::{
    config::ConfigFile,
    edit::EditError,
    variant::{self, Value as Variant},
};
use didi_plugin_api::{digest::sha256_hex, prelude::*};

use crate::presets::{self, PRESETS_FILE, Platform, Preset, Reason};

#[cfg(test)]
mod tests;

const METHOD: &str = "export.reloadPresets";
const NEXT_STEP: &str =
    "call project_export with this name; templates of the platform have to be installed for it";
const LIMITATION: &str = "options keep the defaults of the platform, and signing is not set up";
/// How often a write is tried again when another process was faster.
const MAX_TRIES: usize = 16;

pub(crate) fn tool() -> Tool {
    Tool::new(
        "project_add_export_preset",
        "Adds one minimal preset to export_presets.cfg.",
        Effects::ADDS,
        run,
    )
    .modes(&[Mode::Live, Mode::OfflineFallback])
    .live(&[SessionKind::Editor], &[METHOD])
    .preview(preview)
    .leaves(&[Work::Restart])
    .output::<Out>()
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::ALREADY_EXISTS,
        codes::CONFLICT,
        codes::UNPROCESSABLE,
        codes::FORBIDDEN,
        codes::FILE_TOO_LARGE,
        codes::NOT_FOUND,
        codes::PROJECT_FILE_BUSY,
        codes::NOT_CONNECTED,
    ])
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// One line; no %20, no leading -.
    #[schemars(length(min = 1, max = 256))]
    name: String,
    platform: Platform,
    /// Relative or res:// file path.
    #[schemars(length(max = 1024))]
    export_path: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Out {
    status: &'static str,
    #[schemars(schema_with = "object")]
    preset: Preset,
    #[schemars(default)]
    preset_count: usize,
    #[schemars(default)]
    written_to: &'static str,
    #[schemars(default)]
    file_created: bool,
    #[schemars(default)]
    section_written: String,
    #[schemars(default)]
    next_step: &'static str,
    #[serde(skip_serializing)]
    #[allow(dead_code, reason = "in the schema; said as a fact, which the host publishes so")]
    editor_reloaded: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    editor_reload_error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    export_path_folder_exists: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    export_path_note: Option<String>,
    #[schemars(default)]
    limitation: &'static str,
}

fn object(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": "object" })
}

/// What a call would do to the file as it is.
struct Plan {
    /// `None` without a file.
    before: Option<Vec<u8>>,
    after: Vec<u8>,
    section_written: String,
}

/// Where the artifact is to go: as the file stores it, and whether its folder is there.
struct ExportPath {
    stored: String,
    folder: String,
    folder_exists: bool,
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let export_path = check(ctx, &args)?;
    let mut tries = 1;
    let plan = loop {
        ctx.check()?;
        let plan = plan(ctx, &args, export_path.as_ref())?;
        let place = ctx.project().resolve(PRESETS_FILE, "name")?;
        let expect = match &plan.before {
            Some(bytes) => Expect::Sha256(sha256_hex(bytes)),
            None => Expect::Absent,
        };
        match ctx.project().write(&place, &plan.after, expect) {
            Ok(_) => break plan,
            // Another process wrote between the read and the write; the file is read anew.
            Err(refusal)
                if [codes::CONFLICT, codes::ALREADY_EXISTS].contains(&refusal.code)
                    && tries < MAX_TRIES =>
            {
                tries += 1;
            }
            Err(refusal) => return Err(refusal),
        }
    };
    let presets = presets::read(ctx)?.unwrap_or_default();
    let preset_count = presets.len();
    let Some(preset) = presets.into_iter().find(|preset| preset.name == args.name) else {
        let message = format!("the preset `{}` is not in the file that was written", args.name);
        return Err(Refusal::new(codes::CONFLICT, message)
            .next_call("project_list_export_presets", "shows the presets that are there"));
    };
    let (editor_reloaded, editor_reload_error) = reload(ctx);
    let note = export_path.as_ref().filter(|path| !path.folder_exists).map(|path| {
        format!("the folder `{}` does not exist; the engine does not make it", path.folder)
    });
    let answer = Answer::of(Out {
        status: "created",
        preset,
        preset_count,
        written_to: PRESETS_FILE,
        file_created: plan.before.is_none(),
        section_written: plan.section_written,
        next_step: NEXT_STEP,
        editor_reloaded,
        editor_reload_error,
        export_path_folder_exists: export_path.map(|path| path.folder_exists),
        export_path_note: note,
        limitation: LIMITATION,
    })?;
    Ok(answer.fact(Fact::EditorReloaded(editor_reloaded)))
}

/// Tells an attached editor, which keeps the presets in memory. The file is written by then. No extension of today takes
/// this up (decision 0016); one that does needs no other pack.
fn reload(ctx: &Ctx<'_>) -> (bool, Option<String>) {
    if ctx.mode() != Mode::Live {
        return (false, None);
    }
    match ctx.bridge_call(METHOD, json!({})) {
        Ok(_) => (true, None),
        Err(refusal) => (false, Some(refusal.message)),
    }
}

fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    let export_path = check(ctx, &args)?;
    let plan = plan(ctx, &args, export_path.as_ref())?;
    let before = match &plan.before {
        Some(bytes) => {
            json!({"exists": true, "size_bytes": bytes.len(), "sha256": sha256_hex(bytes)})
        }
        None => json!({"exists": false}),
    };
    Ok(Target::read(PRESETS_FILE, plan.before.is_some(), before)
        .after(json!({"section_written": plan.section_written, "size_bytes": plan.after.len()})))
}

/// What can be told without the presets file.
fn check(ctx: &Ctx<'_>, args: &Args) -> Result<Option<ExportPath>, Refusal> {
    let name = args.name.as_str();
    let bad = |why: &str| Err(Refusal::invalid("name", format!("the name {why}")));
    if name.chars().any(char::is_control) || name.trim() != name || name.is_empty() {
        return bad("is one line without blanks around it");
    }
    if name.starts_with('-') {
        return bad("starts with `-`, which the engine's command line takes for an option");
    }
    if name.contains("%20") {
        return bad("holds `%20`, which the engine's command line takes for a blank");
    }
    let Some(path) = args.export_path.as_deref().filter(|path| !path.is_empty()) else {
        return Ok(None);
    };
    if path.starts_with('/') {
        let message = format!("`{path}` is no path below the project");
        return Err(Refusal::invalid("export_path", message));
    }
    let full = if path.contains("://") { path.to_owned() } else { format!("res://{path}") };
    let place = ctx.project().resolve(&full, "export_path")?;
    let shown = place.res_path();
    let (folder, file) = shown.rsplit_once('/').unwrap_or(("", ""));
    if file.is_empty() || place.is_dir() || path.ends_with('/') {
        let message = format!("`{path}` is a folder, and the artifact is a file");
        return Err(Refusal::invalid("export_path", message));
    }
    let folder_exists = place.real().parent().is_some_and(std::path::Path::is_dir);
    let folder = if folder == "res:/" { "res://".to_owned() } else { folder.to_owned() };
    let stored = shown.trim_start_matches("res://").to_owned();
    Ok(Some(ExportPath { stored, folder, folder_exists }))
}

fn plan(ctx: &Ctx<'_>, args: &Args, export_path: Option<&ExportPath>) -> Result<Plan, Refusal> {
    let before = presets::read_bytes(ctx)?;
    let bytes = before.clone().unwrap_or_default();
    let known = presets::parse(&bytes)?;
    if let Some(existing) = known.iter().find(|preset| preset.name == args.name) {
        let message = format!("a preset `{}` exists", args.name);
        return Err(Refusal::new(codes::ALREADY_EXISTS, message)
            .with("existing", json!(existing))
            .field("name"));
    }
    let number = free_number(&bytes, &known)?;
    let runnable = !known.iter().any(|preset| {
        preset.detected && preset.runnable && preset.platform == args.platform.name()
    });
    let stored = export_path.map_or("", |path| path.stored.as_str());
    let mut after = bytes.clone();
    for (section, key, value) in entries(number, args, runnable, stored) {
        let edit = ConfigFile::parse(&after)
            .map_err(|error| EditError::Value(error).to_string())
            .and_then(|file| file.set(&section, key, &value).map_err(|error| error.to_string()))
            .map_err(|why| presets::unusable("not_writable", 1, &bytes, &why))?;
        after = edit.apply(&after);
    }
    let front = bytes.iter().zip(&after).take_while(|(one, other)| one == other).count();
    let back = bytes[front..].iter().rev().zip(after[front..].iter().rev());
    let back = back.take_while(|(one, other)| one == other).count();
    let written = &after[front..after.len() - back];
    let section_written = String::from_utf8_lossy(written).trim_start().to_owned();
    Ok(Plan { before, after, section_written })
}

/// The keys that every platform has, in the editor's order.
fn entries(
    number: u32,
    args: &Args,
    runnable: bool,
    export_path: &str,
) -> Vec<(String, &'static str, String)> {
    let text = |text: &str| variant::write(&Variant::String(text.into()), "\n");
    let section = format!("preset.{number}");
    let options = format!("{section}.options");
    let own = [
        ("name", text(&args.name)),
        ("platform", text(args.platform.name())),
        ("runnable", runnable.to_string()),
        ("export_filter", text("all_resources")),
        ("include_filter", text("")),
        ("exclude_filter", text("")),
        ("export_path", text(export_path)),
    ];
    let templates = ["custom_template/debug", "custom_template/release"];
    let own = own.map(|(key, value)| (section.clone(), key, value));
    own.into_iter().chain(templates.map(|key| (options.clone(), key, text("")))).collect()
}

/// The next number that the engine reads, where a preset can be put without changing another.
fn free_number(bytes: &[u8], known: &[Preset]) -> Result<u32, Refusal> {
    let list = |refusal: didi_plugin_api::refusal::Unfinished| {
        refusal
            .next_call("project_list_export_presets", "shows the presets and why each is not seen")
    };
    let behind = |preset: &&Preset| {
        preset.not_detected.as_ref().is_some_and(|why| why.reason == Reason::NumberingGap)
    };
    let stranded: Vec<&Preset> = known.iter().filter(behind).collect();
    if let Some(missing) = stranded.first().and_then(|one| one.not_detected.as_ref()?.missing_index)
    {
        let names: Vec<&str> = stranded.iter().map(|preset| preset.name.as_str()).collect();
        let message = format!(
            "`preset.{missing}` is missing, and a preset put there would wake those behind the gap"
        );
        return Err(list(
            Refusal::new(codes::CONFLICT, message)
                .with("reason", "numbering_gap")
                .with("missing_index", missing)
                .with("stranded_presets", names),
        ));
    }
    let numbers = known.iter().filter_map(|preset| preset.index).max();
    let number = numbers.map_or(0, |largest| largest + 1);
    let options = format!("preset.{number}.options");
    let stray =
        ConfigFile::parse(bytes).is_ok_and(|file| file.sections_named(&options).next().is_some());
    if stray {
        let message =
            format!("`[{options}]` stands without its preset, which a new one would take over");
        return Err(list(
            Refusal::new(codes::CONFLICT, message)
                .with("reason", "orphan_options_section")
                .with("section", options),
        ));
    }
    Ok(number)
}
