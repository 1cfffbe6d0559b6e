//! `runtime_launch`: runs the game in an engine of its own and reads what it said.
//!
//! The run ends when the game quits or at the time limit, whichever is first. A game without an end is the
//! usual case, so the limit alone is no failure: `success` is false when the engine failed, when a signal
//! ended it, or, under `break_on_error`, when an error was printed. `exit_code` is then 124 as in a shell.
//!
//! Spec: P-54, running games.

use std::{borrow::Cow, collections::BTreeMap};

use didi_formats::config::ConfigFile;
use didi_plugin_api::{digest::sha256_hex, prelude::*};
use schemars::{Schema, SchemaGenerator, json_schema};

mod options;
mod report;

use report::{Diagnostic, LogLine, Report};

/// Bytes of output that are read.
const OUTPUT_BYTES: usize = 2 << 20;
/// Largest `project.godot` read.
const MAX_SETTINGS_BYTES: u64 = 4 << 20;
/// Largest scene whose content is read for a preview.
const MAX_SCENE_BYTES: u64 = 64 << 20;
/// Exit code of a run that the time limit ended, as in a shell.
const TIMED_OUT: i32 = 124;
/// Highest fixed rate in frames a second.
const MAX_FPS: u32 = 1000;
/// The engine's own physics rate.
const DEFAULT_PHYSICS_FPS: u32 = 60;
const PHYSICS_FPS: &str = "physics/common/physics_ticks_per_second";

/// The list of global classes that an import writes, below the project.
const CLASS_CACHE: &str = ".godot/global_script_class_cache.cfg";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(clippy::struct_field_names, reason = "published names")]
struct Args {
    /// Else the main scene.
    #[schemars(length(max = 1024))]
    scene_path: Option<String>,
    #[serde(default = "default_timeout_seconds")]
    #[schemars(range(min = 1, max = 120))]
    timeout_seconds: u64,
    #[serde(default = "didi_plugin_api::schema::yes")]
    headless: bool,
    // Printed errors make the run a failure.
    #[serde(default = "didi_plugin_api::schema::yes")]
    break_on_error: bool,
    /// Leaves it running, attached, for other tools to drive.
    #[serde(default)]
    detach: bool,
    /// True: the project's.
    #[serde(default)]
    #[schemars(schema_with = "fixed_fps_schema")]
    fixed_fps: Option<FixedFps>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(max = 1024)))]
    extra_args: Vec<String>,
}

fn default_timeout_seconds() -> u64 {
    10
}

#[derive(Clone, Copy, Deserialize)]
#[serde(untagged)]
enum FixedFps {
    OfProject(bool),
    Frames(u32),
}

fn fixed_fps_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": ["boolean", "integer"], "minimum": 1, "maximum": MAX_FPS})
}

#[derive(Serialize)]
#[allow(clippy::struct_field_names, reason = "published names")]
struct Out {
    success: bool,
    exit_code: i32,
    timed_out: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    summary: String,
    diagnostics: Vec<Diagnostic>,
    errors: Vec<String>,
    logs: Vec<LogLine>,
    logs_omitted: usize,
    output_truncated: bool,
    kill_wait: Option<&'static str>,
    pid: u32,
    ran_seconds: f64,
    fixed_fps: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limitation: Option<&'static str>,
    engine_executable: String,
    engine_version: String,
    // No engine is attached to this tool, so neither is known.
    attached_engine_version: Option<String>,
    matches_attached_engine: Option<bool>,
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "runtime_launch",
        "Runs the game or one scene in its own Godot process until it quits or times out. Use to see \
         its errors and output.",
        Effects::EXECUTES,
        run,
    )
    .core()
    .legacy("execute_test_session")
    .preview(preview)
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_FOUND,
        codes::FORBIDDEN,
        codes::FILE_TOO_LARGE,
        codes::UNPROCESSABLE,
        codes::ENGINE_UNAVAILABLE,
        codes::TOOLCHAIN_UNAVAILABLE,
    ])
}

/// A run whose arguments were judged.
struct Plan {
    scene: Option<ProjectPath>,
    fixed_fps: Option<u32>,
    engine: EngineInfo,
    args: Vec<String>,
}

fn plan(ctx: &Ctx<'_>, args: &Args) -> Result<Plan, Refusal> {
    has_project(ctx)?;
    let scene = args.scene_path.as_deref().map(|path| project_scene(ctx, path)).transpose()?;
    options::check(ctx, &args.extra_args)?;
    let fixed_fps = fixed_fps(ctx, args)?;
    let engine = ctx.engine()?;
    let mut line = vec![];
    if args.headless {
        line.push("--headless".to_owned());
    }
    line.push("--path".to_owned());
    line.push(ctx.project().root().folder().to_string_lossy().into_owned());
    // The engine never takes a `res://` path for an option.
    line.extend(scene.as_ref().map(ProjectPath::res_path));
    if let Some(frames) = fixed_fps {
        line.extend(["--fixed-fps".to_owned(), frames.to_string()]);
    }
    line.extend(args.extra_args.iter().cloned());
    Ok(Plan { scene, fixed_fps, engine, args: line })
}

/// Without a project the engine would open its project manager, which never ends.
fn has_project(ctx: &Ctx<'_>) -> Result<(), Refusal> {
    if ctx.project().root().folder().join("project.godot").is_file() {
        return Ok(());
    }
    Err(Refusal::new(codes::NOT_FOUND, "the project's folder has no `project.godot`")
        .no_remedy("there is no project to run until the file is there"))
}

/// A scene of the project, by its path.
pub(crate) fn project_scene(ctx: &Ctx<'_>, path: &str) -> Result<ProjectPath, Refusal> {
    let place = ctx.project().resolve(path, "scene_path")?;
    let shown = place.res_path();
    if !matches!(place.extension().as_str(), "tscn" | "scn") {
        let message = format!("`{shown}` is not a scene, whose path ends in `.tscn` or `.scn`");
        return Err(Refusal::invalid("scene_path", message));
    }
    if !place.is_file() {
        return Err(Refusal::new(codes::NOT_FOUND, format!("no scene `{shown}` in the project"))
            .with("field", "scene_path")
            .next_call("project_list_resources", "lists the project's scenes"));
    }
    Ok(place)
}

fn fixed_fps(ctx: &Ctx<'_>, args: &Args) -> Result<Option<u32>, Refusal> {
    let wrong = |message: String| Err(Refusal::invalid("fixed_fps", message));
    let frames = match args.fixed_fps {
        None | Some(FixedFps::OfProject(false)) => return Ok(None),
        Some(FixedFps::OfProject(true)) => physics_fps(ctx)?,
        Some(FixedFps::Frames(frames)) => frames,
    };
    if !(1..=MAX_FPS).contains(&frames) {
        return wrong(format!("`fixed_fps` is {frames}, and 1 to {MAX_FPS} is accepted"));
    }
    if options::names(&args.extra_args, "--fixed-fps") {
        return wrong("`fixed_fps` and `--fixed-fps` in `extra_args` were both sent".into());
    }
    Ok(Some(frames))
}

/// The physics rate that the project sets.
pub(crate) fn physics_fps(ctx: &Ctx<'_>) -> Result<u32, Refusal> {
    let place = ctx.project().resolve("res://project.godot", "fixed_fps")?;
    if !place.is_file() {
        return Ok(DEFAULT_PHYSICS_FPS);
    }
    let bytes = ctx.project().read(&place, MAX_SETTINGS_BYTES)?;
    let settings = ConfigFile::parse(&bytes).map_err(|error| {
        Refusal::new(codes::UNPROCESSABLE, format!("`project.godot` can't be read: {error}"))
            .with("line", error.line)
            .field("fixed_fps")
    })?;
    let set = settings.setting(PHYSICS_FPS).and_then(|raw| raw.text.trim().parse().ok());
    Ok(set.unwrap_or(DEFAULT_PHYSICS_FPS))
}

fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    let plan = plan(ctx, &args)?;
    let mut before = BTreeMap::new();
    let subject = match &plan.scene {
        Some(scene) => {
            let bytes = ctx.project().read(scene, MAX_SCENE_BYTES)?;
            before.insert("sha256", json!(sha256_hex(&bytes)));
            before.insert("size_bytes", json!(bytes.len()));
            scene.res_path()
        }
        None => "the main scene".to_owned(),
    };
    before.insert("engine_version", json!(plan.engine.version));
    before.insert("arguments", json!(plan.args));
    let mut target = Target::read(subject, false, json!(before));
    target.resolved_only = true;
    Ok(target)
}

/// What is said of a game that was left running.
#[derive(Serialize)]
struct Detached {
    success: bool,
    pid: u32,
    session_published: bool,
    game_session: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attach_error: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    summary: String,
    fixed_fps: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limitation: Option<&'static str>,
    engine_executable: String,
    engine_version: String,
}

/// Starts a game that stays, and waits until it can be driven.
fn detach(ctx: &Ctx<'_>, args: &Args, plan: Plan) -> ToolResult {
    let started = ctx.start_game(&GameSpec {
        args: plan.args,
        keep: true,
        wait_ms: args.timeout_seconds * 1000,
        max_output_bytes: OUTPUT_BYTES,
    })?;
    let mut session = started.session;
    let attach_error = session.as_mut().and_then(|one| one.as_object_mut()?.remove("attach_error"));
    let summary = match (&session, &started.ended, &attach_error) {
        (Some(_), _, None) => "The game runs and is the selected session".to_owned(),
        (Some(_), _, Some(why)) => format!("The game runs and could not be attached: {why}"),
        (None, Some(_), _) => "The game ended before it opened a session".to_owned(),
        (None, None, _) => {
            "The game runs and opened no session in time: other tools can't reach it".to_owned()
        }
    };
    Answer::of(Detached {
        success: session.is_some() && attach_error.is_none(),
        pid: started.pid,
        session_published: session.is_some(),
        game_session: session,
        attach_error,
        exit_code: started.ended.and_then(|ended| ended.exit_code),
        summary,
        fixed_fps: plan.fixed_fps,
        limitation: args.headless.then_some("a headless engine draws nothing"),
        engine_executable: plan.engine.executable.to_string_lossy().into_owned(),
        engine_version: plan.engine.version,
    })
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let plan = plan(ctx, &args)?;
    if args.detach {
        return detach(ctx, &args, plan);
    }
    let ran = ctx.run_child(&ChildSpec {
        program: None,
        args: plan.args,
        env: vec![],
        folder: None,
        timeout_ms: args.timeout_seconds * 1000,
        max_output_bytes: OUTPUT_BYTES,
    })?;
    let mut report = Report::read(&ran.lines);
    if !ctx.project().root().folder().join(CLASS_CACHE).is_file() {
        report.class_cache_missing();
    }
    let failed = !ran.timed_out && ran.exit_code != Some(0);
    let broken = args.break_on_error && report.errors_count > 0;
    Answer::of(Out {
        success: !failed && !broken,
        exit_code: exit_code(&ran),
        timed_out: ran.timed_out,
        signal: ran.signal.filter(|_| !ran.timed_out),
        summary: summary(&args, &ran, &report),
        diagnostics: report.diagnostics,
        errors: report.errors,
        logs: report.logs,
        logs_omitted: report.logs_omitted,
        output_truncated: ran.output_truncated,
        kill_wait: ran.timed_out.then_some(if ran.tree_exited {
            "tree_exited"
        } else {
            "wait_expired"
        }),
        pid: ran.pid,
        ran_seconds: seconds(ran.ran_ms),
        fixed_fps: plan.fixed_fps,
        limitation: args.headless.then_some("a headless engine draws nothing"),
        engine_executable: plan.engine.executable.to_string_lossy().into_owned(),
        engine_version: plan.engine.version,
        attached_engine_version: None,
        matches_attached_engine: None,
    })
}

fn exit_code(ran: &ChildReport) -> i32 {
    match (ran.timed_out, ran.exit_code, ran.signal) {
        (true, ..) => TIMED_OUT,
        (false, Some(code), _) => code,
        (false, None, Some(signal)) => 128 + signal,
        (false, None, None) => -1,
    }
}

fn summary(args: &Args, ran: &ChildReport, report: &Report) -> String {
    let end = if ran.timed_out {
        format!("The game did not quit within {} s and was stopped", args.timeout_seconds)
    } else {
        let how: Cow<'_, str> = match (ran.exit_code, ran.signal) {
            (Some(code), _) => format!("with exit code {code}").into(),
            (None, Some(signal)) => format!("by signal {signal}").into(),
            (None, None) => "in an unknown way".into(),
        };
        format!("The game ended {how} after {} s", seconds(ran.ran_ms))
    };
    let found = match (report.errors_count, report.warnings_count) {
        (0, 0) => "without errors".to_owned(),
        (errors, 0) => counted(errors, "error"),
        (0, warnings) => counted(warnings, "warning"),
        (errors, warnings) => {
            format!("{}, {}", counted(errors, "error"), counted(warnings, "warning"))
        }
    };
    match (report.first_error(), report.logs.last()) {
        (Some(first), _) => format!("{end}; {found}; first: {first}"),
        // What keeps the engine from starting is printed like the game's own words.
        (None, Some(last)) if exit_code(ran) != 0 && !ran.timed_out => {
            format!("{end}; {found}; last line: {}", last.text)
        }
        (None, _) => format!("{end}; {found}"),
    }
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

#[allow(clippy::cast_precision_loss, reason = "a run of minutes")]
fn seconds(milliseconds: u64) -> f64 {
    milliseconds as f64 / 1000.0
}

#[cfg(test)]
mod tests;
