//! `runtime_run_scenario`: proves a behaviour in one call, in a paused game of its own.
//!
//! The game runs at a fixed rate and stands still between steps, so the same steps see the same frames. The
//! verdict is `pass` only when every step did what it should and every assertion held; a run that proves nothing
//! is refused before anything starts. What the run depended on is recorded with its digests.
//!
//! Spec: P-54, running games.

use std::collections::BTreeMap;

use didi_plugin_api::prelude::*;

use crate::launch::{physics_fps, project_scene};

mod files;
mod play;
mod steps;
#[cfg(test)]
mod tests;

use play::Played;
use steps::Step;

/// Bytes of output that are kept of the game.
const OUTPUT_BYTES: usize = 2 << 20;
/// How long the game may take to end once it was asked to, in milliseconds.
const END_WAIT_MS: u64 = 5_000;

/// A step did not do what it should, or an assertion did not hold.
const SCENARIO_FAILED: Code = Code::new(422, "scenario_failed");
/// The game did not end.
const TEARDOWN_FAILED: Code = Code::new(409, "teardown_failed");

#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(max = 64), regex(pattern = "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"))]
    name: String,
    #[schemars(length(min = 1, max = 1024))]
    scene_path: String,
    // What a kind needs and lacks is refused by name.
    #[schemars(length(min = 1, max = 64))]
    steps: Vec<Step>,
    #[serde(default = "didi_plugin_api::schema::yes")]
    headless: bool,
    #[serde(default = "minute")]
    #[schemars(range(min = 5, max = 300))]
    timeout_seconds: u64,
}

fn minute() -> u64 {
    60
}

/// The report of a run, which is its record, too.
#[derive(Serialize)]
struct Report {
    name: String,
    kind: &'static str,
    verdict: &'static str,
    summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<Failure>,
    ran_at: u64,
    scene_path: String,
    steps: Vec<play::StepOut>,
    assertions: Assertions,
    frames: u64,
    game: Game,
    teardown: Teardown,
    files: BTreeMap<String, Option<String>>,
    files_truncated: bool,
    stale: bool,
    record: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    record_error: Option<String>,
}

/// What went wrong first.
#[derive(Clone, Serialize)]
struct Failure {
    stage: &'static str,
    reason: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<Value>,
}

#[derive(Default, Serialize)]
struct Assertions {
    total: usize,
    held: usize,
    failed: usize,
    not_run: usize,
}

#[derive(Serialize)]
struct Game {
    pid: u32,
    session_id: Value,
    engine_version: Value,
    build_id: Value,
    fixed_fps: u32,
    headless: bool,
    started_paused: bool,
    frames_before_pause: Value,
}

#[derive(Serialize)]
struct Teardown {
    ok: bool,
    stop_requested: bool,
    session_gone: bool,
    waited_ms: u64,
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "runtime_run_scenario",
        "Proves a behaviour in one call: a paused game of its own is stepped, pressed and asserted on.",
        Effects::EXECUTES,
        run,
    )
    .job()
    .preview(preview)
    .refuses(&[
        SCENARIO_FAILED,
        TEARDOWN_FAILED,
        codes::INVALID_ARGUMENTS,
        codes::NOT_FOUND,
        codes::ENGINE_UNAVAILABLE,
        codes::TOOLCHAIN_UNAVAILABLE,
    ])
}

/// A run whose arguments were judged.
struct Plan {
    scene: ProjectPath,
    fixed_fps: u32,
    line: Vec<String>,
}

fn plan(ctx: &Ctx<'_>, args: &Args) -> Result<Plan, Refusal> {
    let scene = project_scene(ctx, &args.scene_path)?;
    steps::check(&args.steps, args.headless)?;
    ctx.engine()?;
    let fixed_fps = physics_fps(ctx)?;
    let mut line = vec![];
    if args.headless {
        line.push("--headless".to_owned());
    }
    let root = ctx.project().root().folder().to_string_lossy().into_owned();
    line.extend(["--path".to_owned(), root, scene.res_path()]);
    line.extend(["--fixed-fps".to_owned(), fixed_fps.to_string()]);
    // The extension reads it among the game's own arguments, and pauses the tree on its first frame.
    line.extend(["--".to_owned(), "--didi-start-paused".to_owned()]);
    Ok(Plan { scene, fixed_fps, line })
}

fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    let plan = plan(ctx, &args)?;
    let before = json!({"arguments": plan.line, "steps": args.steps.len()});
    let mut target = Target::read(plan.scene.res_path(), false, before);
    target.resolved_only = true;
    Ok(target)
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let plan = plan(ctx, &args)?;
    let ran_at = ctx.now_ms();
    let (hashes, files_truncated) = files::reached(ctx, &plan.scene)?;
    let deadline_ms = ran_at + args.timeout_seconds * 1000;
    ctx.progress(0, args.steps.len() as u64, "starting the game");
    let started = ctx.start_game(&GameSpec {
        args: plan.line.clone(),
        keep: false,
        wait_ms: args.timeout_seconds * 1000,
        max_output_bytes: OUTPUT_BYTES,
    })?;
    let session = started.session.clone().unwrap_or_default();
    let mut played = match session["session_id"].as_str() {
        Some(id) => play::play(ctx, id, &args.steps, deadline_ms),
        None => Played::not_started(&args.steps, started.ended.as_ref()),
    };
    let teardown = match session["session_id"].as_str() {
        Some(id) => end(ctx, id)?,
        None => Teardown { ok: true, stop_requested: false, session_gone: true, waited_ms: 0 },
    };
    let (after, _) = files::reached(ctx, &plan.scene)?;
    let stale = after != hashes;
    if stale && played.failure.is_none() {
        played.failure = Some(Failure {
            stage: "proof",
            reason: "files_changed",
            message: "a file that the run depends on changed while it ran".into(),
            step: None,
            kind: None,
            cause: None,
        });
        played.broke_off = true;
    }
    let mut report = Report {
        name: args.name.clone(),
        kind: "scenario",
        verdict: played.verdict(),
        summary: played.summary(),
        failure: played.failure.clone(),
        ran_at,
        scene_path: plan.scene.res_path(),
        assertions: played.assertions(&args.steps),
        frames: played.frames,
        game: Game {
            pid: started.pid,
            session_id: session["session_id"].clone(),
            engine_version: session["engine_version"].clone(),
            build_id: session["build_id"].clone(),
            fixed_fps: plan.fixed_fps,
            headless: args.headless,
            started_paused: played.started_paused,
            frames_before_pause: played.frames_before_pause.clone(),
        },
        steps: played.steps,
        teardown,
        files: hashes,
        files_truncated,
        stale,
        record: None,
        record_error: None,
    };
    keep(ctx, &mut report)?;
    judge(report)
}

fn end(ctx: &Ctx<'_>, session: &str) -> Result<Teardown, Refusal> {
    let ended = ctx.end_game(session, END_WAIT_MS)?;
    Ok(Teardown {
        ok: ended.session_gone && ended.report.tree_exited,
        stop_requested: ended.stop_requested,
        session_gone: ended.session_gone,
        waited_ms: ended.waited_ms,
    })
}

/// Records the run whatever its verdict. A run that can't be recorded was a run all the same, and says so.
fn keep(ctx: &Ctx<'_>, report: &mut Report) -> Result<(), Refusal> {
    let mut document = serde_json::to_value(&*report).map_err(|error| {
        Refusal::new(codes::INTERNAL_ERROR, format!("the report can't be written: {error}"))
            .no_remedy("the server is at fault, not the call")
    })?;
    if let Some(members) = document.as_object_mut() {
        members.remove("record");
    }
    match ctx.write_record(&report.name, document) {
        Ok(path) => report.record = Some(path),
        Err(refusal) => report.record_error = Some(refusal.message),
    }
    Ok(())
}

fn judge(report: Report) -> ToolResult {
    let shown = |report: &Report| serde_json::to_value(report).unwrap_or_default();
    if !report.teardown.ok {
        return Err(Refusal::new(TEARDOWN_FAILED, "the game did not end as it was asked to")
            .with("report", shown(&report))
            .with("session", report.game.session_id.clone())
            .next_call("runtime_list_sessions", "shows whether its session is still there"));
    }
    if report.verdict == "pass" {
        return Answer::of(report);
    }
    let refusal = Refusal::new(SCENARIO_FAILED, report.summary.clone())
        .with("report", shown(&report))
        .with("step", report.failure.as_ref().and_then(|failure| failure.step));
    Err(refusal.field("steps"))
}
