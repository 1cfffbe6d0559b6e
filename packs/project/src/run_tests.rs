//! `project_run_tests`: the project's own GUT or gdUnit4 tests, by an engine of its own, judged by their report.
//!
//! A pass has to be proven: the report was read, one test passed and none failed, every script of the project
//! loaded, and the exit code agrees. Anything less is a refusal that carries the same report. The runner writes
//! its report into the call's scratch folder, so nothing is left in the project.
//!
//! Spec: P-50, test runs.

use std::collections::BTreeMap;

use didi_plugin_api::prelude::*;

mod files;
mod framework;
mod judge;
mod output;
mod report;

/// Longest time limit, in seconds.
const MAX_TIMEOUT_SECONDS: u64 = 900;
/// Bytes of the engine's output that are read.
const OUTPUT_BYTES: usize = 1 << 20;
/// Tests in one answer; those that did not pass come first when there are more.
const MAX_TESTS: usize = 1_000;

/// A test failed, or nothing proves that all passed.
const TESTS_FAILED: Code = Code::new(422, "tests_failed");
/// There is no test to run.
const NO_TESTS: Code = Code::new(422, "no_tests");
/// A script of the project did not load during the run.
const SCRIPTS_DID_NOT_LOAD: Code = Code::new(422, "scripts_did_not_load");
/// The output was cut, and a script that did not load would be named there.
const OUTPUT_TRUNCATED: Code = Code::new(422, "output_truncated");
/// The engine does not know the project's classes yet.
const PROJECT_NOT_IMPORTED: Code = Code::new(409, "project_not_imported");

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default)]
    framework: Wanted,
    /// Folders or .gd files in res://; default its test folder, or the dirs of .gutconfig.json.
    #[serde(default)]
    #[schemars(length(max = 32), inner(length(max = 1024)))]
    paths: Vec<String>,
    /// Names the run's record.
    #[serde(default = "default_name")]
    #[schemars(length(max = 64), regex(pattern = "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"))]
    name: String,
    #[serde(default = "default_timeout_seconds")]
    #[schemars(range(min = 5, max = 900))]
    timeout_seconds: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Wanted {
    #[default]
    Auto,
    Gut,
    Gdunit4,
}

fn default_name() -> String {
    "tests".into()
}

fn default_timeout_seconds() -> u64 {
    120
}

/// The whole of a run, in an answer or beside a refusal. It is what a record of the run holds.
#[derive(Serialize)]
struct Out {
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "is_false")]
    not_imported: bool,
    name: String,
    kind: &'static str,
    ran_at: u64,
    framework: framework::Framework,
    paths: Vec<String>,
    counts: report::Counts,
    tests: Vec<report::Test>,
    failed_tests: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scripts_did_not_load: Vec<output::NotLoaded>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    addon_scripts_did_not_load: Vec<output::NotLoaded>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    output_tail: Vec<String>,
    // Of `project.godot`, autoloads, tests and what they reach.
    files: BTreeMap<String, Option<String>>,
    // The file of the record, or null where it could not be written.
    record: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    engine_version: String,
    ran_ms: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference over")]
fn is_false(value: &bool) -> bool {
    !value
}

/// Runs the project's own code, and changes nothing by itself.
const EFFECTS: Effects = Effects { open_world: true, ..Effects::READS };

pub(crate) fn tool() -> Tool {
    Tool::new(
        "project_run_tests",
        "Runs the project's GUT or gdUnit4 tests headless and judges their JUnit report.",
        EFFECTS,
        run,
    )
    .job()
    .bounded("1000 tests listed, 1 MiB of output, 16 MiB report")
    .refuses(&[
        TESTS_FAILED,
        NO_TESTS,
        SCRIPTS_DID_NOT_LOAD,
        OUTPUT_TRUNCATED,
        PROJECT_NOT_IMPORTED,
        codes::TIMEOUT,
        codes::NOT_FOUND,
        codes::ENGINE_UNAVAILABLE,
        codes::TOOLCHAIN_UNAVAILABLE,
    ])
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let framework = framework::detect(ctx, args.framework)?;
    let paths = framework::paths(ctx, framework, &args.paths)?;
    let scripts = files::scripts(ctx, framework, &paths)?;
    if scripts.is_empty() {
        let shown: Vec<_> = paths.iter().map(|path| format!("`{}`", path.path)).collect();
        let message = format!("no test script lies in {}", shown.join(", "));
        return Err(Refusal::new(NO_TESTS, message).field("paths"));
    }
    let engine = ctx.engine()?;
    // Hashed before the run: what a test changes makes the run stale.
    ctx.progress(0, 3, "looking at what the tests reach");
    let reached = files::reached(ctx, framework, &scripts)?;
    let plan = framework::command(ctx, framework, &paths, args.timeout_seconds)?;
    ctx.progress(1, 3, "the tests run");
    let ran_at = ctx.now_ms();
    let ran = ctx.run_child(&plan.child)?;
    ctx.progress(2, 3, "reading the report");
    let read = report::read(&plan.report);
    let said = output::of(&ran);
    let judged = judge::judge(ctx, framework, &ran, &read, &said);
    let mut report = read.unwrap_or_default();
    for test in report.tests.iter_mut().filter(|test| test.file.is_none()) {
        test.file = test.named_file.take().filter(|file| scripts.contains(file));
    }
    let truncated = reached.truncated || ran.output_truncated || report.tests.len() > MAX_TESTS;
    let failed_tests = report.tests.iter().filter(|test| test.stops_a_pass());
    let failed_tests = failed_tests.take(MAX_TESTS).map(report::Test::full_name).collect();
    let mut out = Out {
        verdict: judged.verdict,
        reason: judged.reason,
        not_imported: judged.not_imported,
        name: args.name,
        kind: "tests",
        ran_at,
        framework,
        paths: paths.into_iter().map(|path| path.path).collect(),
        counts: report.counts,
        failed_tests,
        tests: report.tests,
        scripts_did_not_load: said.scripts,
        addon_scripts_did_not_load: said.addon_scripts,
        output_tail: if judged.verdict == "pass" { vec![] } else { said.tail },
        files: reached.hashes,
        record: None,
        exit_code: ran.exit_code,
        engine_version: engine.version,
        ran_ms: ran.ran_ms,
    };
    if out.tests.len() > MAX_TESTS {
        out.tests.sort_by_key(report::Test::passed);
        out.tests.truncate(MAX_TESTS);
    }
    out.record = keep(ctx, &out);
    ctx.progress(3, 3, judged.verdict);
    if judged.verdict == "pass" {
        return Ok(Answer::of(out)?.truncated(truncated));
    }
    Err(judge::refusal(&out, args.timeout_seconds, truncated))
}

/// Records the run under its name, whatever its verdict. A run that can't be recorded was a run all the same.
fn keep(ctx: &Ctx<'_>, out: &Out) -> Option<String> {
    let mut document = serde_json::to_value(out).ok()?;
    document.as_object_mut()?.remove("record");
    match ctx.write_record(&out.name, document) {
        Ok(path) => Some(path),
        Err(refusal) => {
            ctx.log(Level::Warn, &format!("the run is not recorded: {}", refusal.message));
            None
        }
    }
}

#[cfg(test)]
mod tests;
