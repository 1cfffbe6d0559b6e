//! `project_export`: exports a preset with an engine of its own and looks at what came out.
//!
//! The engine writes the artifact itself, often as several files, so nothing can be exported elsewhere and
//! moved into place. What was there is put aside instead: it comes back when the export fails, and whatever
//! a failed run left is removed. An artifact that is there at the end was therefore made by this run.
//!
//! Spec: P-56, exports.

use didi_plugin_api::{digest::sha256_hex, prelude::*};

use crate::presets::{self, Preset};

mod artifact;
mod outcome;

/// Bytes of the engine's output that are read.
const OUTPUT_BYTES: usize = 1 << 20;
/// Largest artifact whose content is hashed for a preview, in bytes.
const MAX_HASHED_BYTES: u64 = 64 << 20;
/// What no export writes and a mistaken path could destroy, by ending.
const SOURCES: [&str; 20] = [
    "gd",
    "cs",
    "tscn",
    "scn",
    "tres",
    "res",
    "import",
    "uid",
    "godot",
    "cfg",
    "gdshader",
    "gdshaderinc",
    "gdextension",
    "md",
    "txt",
    "json",
    "csv",
    "translation",
    "po",
    "csproj",
];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Exact preset name.
    #[schemars(length(min = 1, max = 256))]
    preset: String,
    /// A res:// path inside the project.
    #[schemars(length(min = 1, max = 1024))]
    output_path: String,
    /// A pack (.pck, .zip) needs no export templates.
    #[serde(default)]
    mode: ExportMode,
    #[serde(default = "default_timeout_seconds")]
    #[schemars(range(min = 1, max = 900))]
    timeout_seconds: u64,
    /// Replace an existing artifact.
    #[serde(default)]
    overwrite: bool,
}

fn default_timeout_seconds() -> u64 {
    300
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ExportMode {
    #[default]
    Release,
    Debug,
    Pack,
}

impl ExportMode {
    fn option(self) -> &'static str {
        match self {
            ExportMode::Release => "--export-release",
            ExportMode::Debug => "--export-debug",
            ExportMode::Pack => "--export-pack",
        }
    }
}

#[derive(Serialize)]
struct Out {
    success: bool,
    preset: String,
    platform: String,
    mode: ExportMode,
    output_path: String,
    size_bytes: u64,
    files: Vec<String>,
    engine_messages: Vec<String>,
    engine_version: String,
    engine_executable: String,
    ran_ms: u64,
    output_truncated: bool,
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "project_export",
        "Exports a preset headless and verifies the artifact. Use project_list_export_presets for names.",
        Effects::EXECUTES,
        run,
    )
    .confirm(Confirmation::OnOverwrite)
    .preview(preview)
    .job()
    .refuses(&[
        codes::NOT_FOUND,
        codes::FORBIDDEN,
        codes::ALREADY_EXISTS,
        codes::FILE_TOO_LARGE,
        codes::UNPROCESSABLE,
        codes::ENGINE_UNAVAILABLE,
        codes::TOOLCHAIN_UNAVAILABLE,
        codes::ENGINE_REFUSED,
        codes::TIMEOUT,
    ])
}

/// An export whose arguments were judged.
struct Plan {
    preset: Preset,
    output: ProjectPath,
    engine: EngineInfo,
}

fn plan(ctx: &Ctx<'_>, args: &Args) -> Result<Plan, Refusal> {
    if !ctx.project().root().folder().join("project.godot").is_file() {
        return Err(Refusal::new(codes::NOT_FOUND, "the project's folder has no `project.godot`")
            .no_remedy("there is no project to export until the file is there"));
    }
    let output = output(ctx, args)?;
    let preset = preset(ctx, &args.preset)?;
    if output.is_file() && !args.overwrite {
        let message = format!("`{}` exists, and `overwrite` was not set", output.res_path());
        return Err(
            Refusal::new(codes::ALREADY_EXISTS, message).retry_with(json!({ "overwrite": true }))
        );
    }
    Ok(Plan { preset, output, engine: ctx.engine()? })
}

fn output(ctx: &Ctx<'_>, args: &Args) -> Result<ProjectPath, Refusal> {
    let output = ctx.project().resolve(&args.output_path, "output_path")?;
    let shown = output.res_path();
    let ending = output.extension();
    let why = if output.is_dir() {
        "is a folder, and an export is a file"
    } else if ending.is_empty() && args.mode == ExportMode::Pack {
        "has no ending, and a pack ends in `.pck` or `.zip`"
    } else if args.mode == ExportMode::Pack && !matches!(ending.as_str(), "pck" | "zip") {
        "is not a pack's path, which ends in `.pck` or `.zip`"
    } else if SOURCES.contains(&ending.as_str()) {
        "has the ending of a source file, which no export makes"
    } else if shown.trim_start_matches("res://").split('/').any(|part| part.starts_with('.')) {
        "is hidden, and an export is not"
    } else if output.real().to_string_lossy().contains("%20") {
        "holds `%20`, which the engine reads as a blank"
    } else {
        return Ok(output);
    };
    Err(Refusal::invalid("output_path", format!("`{shown}` {why}")))
}

fn preset(ctx: &Ctx<'_>, name: &str) -> Result<Preset, Refusal> {
    let presets = presets::read(ctx)?.unwrap_or_default();
    // Of two with one name, the one that the engine sees.
    let mut named: Vec<&Preset> = presets.iter().filter(|preset| preset.name == name).collect();
    named.sort_by_key(|preset| !preset.detected);
    let Some(preset) = named.first() else {
        let names: Vec<&str> = presets.iter().map(|preset| preset.name.as_str()).collect();
        let message = format!("no export preset `{}` in the project", shown(name));
        return Err(Refusal::new(codes::NOT_FOUND, message)
            .with("field", "preset")
            .with("available_presets", names)
            .next_call("project_list_export_presets", "lists the presets"));
    };
    if let Some(why) = &preset.not_detected {
        let message = format!("the engine will not detect `{}`: {}", shown(name), why.detail);
        let why = serde_json::to_value(why).unwrap_or_default();
        let mut refusal = Refusal::new(codes::UNPROCESSABLE, message)
            .next_call("project_list_export_presets", "says what keeps a preset from the engine");
        if let Value::Object(members) = why {
            refusal.data.extend(members);
        }
        return Err(refusal);
    }
    passable(name)?;
    Ok((*preset).clone())
}

fn shown(name: &str) -> String {
    name.escape_debug().take(120).collect()
}

/// The engine trims its arguments, reads `%20` as a blank, and takes a leading `-` for an option.
fn passable(name: &str) -> Result<(), Refusal> {
    let sent = name.replace(' ', "%20");
    let why = if name.starts_with('-') {
        "starts with `-`, which the engine takes for an option"
    } else if name.contains("%20") {
        "holds `%20`, which the engine reads as a blank"
    } else if name.is_empty() || sent.trim() != sent || name.chars().any(char::is_control) {
        "is empty or holds control characters, which the engine drops"
    } else {
        return Ok(());
    };
    let message = format!("the preset name `{}` can't be passed on: it {why}", shown(name));
    Err(Refusal::new(codes::UNPROCESSABLE, message)
        .with("reason", "name_not_passable")
        .with("field", "preset")
        .no_remedy("the preset has to be renamed"))
}

fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    let Plan { preset, output, engine } = plan(ctx, &args)?;
    let size = output.real().metadata().ok().filter(std::fs::Metadata::is_file);
    let before = match size.map(|data| data.len()) {
        None => json!({ "exists": false }),
        Some(size) if size > MAX_HASHED_BYTES => json!({ "exists": true, "size_bytes": size }),
        Some(size) => {
            let bytes = ctx.project().read(&output, MAX_HASHED_BYTES)?;
            json!({ "exists": true, "size_bytes": size, "sha256": sha256_hex(&bytes) })
        }
    };
    let exists = before["exists"] == true;
    Ok(Target::read(output.res_path(), exists, before).after(json!({
        "preset": preset.name, "platform": preset.platform, "mode": args.mode,
        "engine_version": engine.version
    })))
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let Plan { preset, output, engine } = plan(ctx, &args)?;
    ctx.progress(0, 3, "making room for the artifact");
    let room = artifact::Room::make(&output)?;
    ctx.progress(1, 3, "the engine exports");
    let ran = ctx.run_child(&command(ctx, &args, &output));
    ctx.progress(2, 3, "looking at the artifact");
    let made = ran.and_then(|ran| {
        outcome::check(&args, &ran)?;
        Ok((artifact::verify(&output, args.mode == ExportMode::Pack, &ran)?, ran))
    });
    let (size_bytes, ran) = match made {
        Ok(made) => made,
        Err(refusal) => {
            room.restore();
            return Err(refusal);
        }
    };
    let files = room.keep();
    ctx.progress(3, 3, "exported");
    Answer::of(Out {
        success: true,
        preset: preset.name,
        platform: preset.platform,
        mode: args.mode,
        output_path: output.res_path(),
        size_bytes,
        files,
        engine_messages: outcome::messages(&ran),
        engine_version: engine.version,
        engine_executable: engine.executable.to_string_lossy().into_owned(),
        ran_ms: ran.ran_ms,
        output_truncated: ran.output_truncated,
    })
}

fn command(ctx: &Ctx<'_>, args: &Args, output: &ProjectPath) -> ChildSpec {
    ChildSpec {
        program: None,
        args: vec![
            "--headless".into(),
            "--path".into(),
            ctx.project().root().folder().to_string_lossy().into_owned(),
            args.mode.option().into(),
            args.preset.replace(' ', "%20"),
            output.real().to_string_lossy().into_owned(),
        ],
        env: vec![],
        folder: None,
        timeout_ms: args.timeout_seconds * 1000,
        max_output_bytes: OUTPUT_BYTES,
    }
}

#[cfg(test)]
mod tests;
