//! The verdict of a run, and the refusal that everything but a pass becomes.
//!
//! Spec: P-50, test runs.

use didi_plugin_api::prelude::*;

use super::{
    MAX_TIMEOUT_SECONDS, NO_TESTS, OUTPUT_TRUNCATED, Out, PROJECT_NOT_IMPORTED,
    SCRIPTS_DID_NOT_LOAD, TESTS_FAILED,
    framework::Framework,
    output::{NotLoaded, Said},
    report::{Counts, Fault, Report},
};

/// The engine's list of the project's classes, which an import writes.
const CLASSES: &str = ".godot/global_script_class_cache.cfg";

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Judged {
    pub(super) verdict: &'static str,
    pub(super) reason: Option<&'static str>,
    pub(super) not_imported: bool,
}

pub(super) fn judge(
    ctx: &Ctx<'_>,
    framework: Framework,
    ran: &ChildReport,
    read: &Result<Report, Fault>,
    said: &Said,
) -> Judged {
    let error = |reason| Judged { verdict: "error", reason: Some(reason), not_imported: false };
    if ran.timed_out {
        return error("timeout");
    }
    let counts = match read {
        Ok(report) => report.counts,
        Err(Fault::Missing) => {
            // A framework runs nothing without classes of its own.
            let not_imported = !knows_classes(ctx, framework);
            return Judged { not_imported, ..error("no_report") };
        }
        Err(Fault::Unreadable(_)) => return error("report_unreadable"),
    };
    let counted = of_counts(counts);
    if counted == Err(None) {
        return Judged { verdict: "fail", reason: None, not_imported: false };
    }
    // A script that did not load is why there are fewer tests, and not the other way round.
    if !said.scripts.is_empty() {
        let not_imported = !has_classes(ctx) && said.scripts.iter().all(is_about_a_class);
        return Judged { not_imported, ..error("scripts_did_not_load") };
    }
    if let Err(Some(reason)) = counted {
        return error(reason);
    }
    if !ran.exit_code.is_some_and(|code| framework.passes_with().contains(&code)) {
        return error("exit_code_disagrees");
    }
    if ran.output_truncated {
        return error("output_truncated");
    }
    Judged { verdict: "pass", reason: None, not_imported: false }
}

/// Whether the tests alone would be a pass; else why not, or nothing for a failure.
fn of_counts(counts: Counts) -> Result<(), Option<&'static str>> {
    match counts {
        Counts { failed: 1.., .. } | Counts { errors: 1.., .. } => Err(None),
        Counts { total: 0, .. } => Err(Some("no_tests")),
        Counts { passed: 0, .. } => Err(Some("nothing_proved")),
        _ => Ok(()),
    }
}

/// Whether the framework's own classes are known.
fn knows_classes(ctx: &Ctx<'_>, framework: Framework) -> bool {
    let file = ctx.project().root().folder().join(CLASSES);
    std::fs::read_to_string(file).is_ok_and(|text| text.contains(framework.folder()))
}

fn has_classes(ctx: &Ctx<'_>) -> bool {
    ctx.project().root().folder().join(CLASSES).is_file()
}

/// Whether a script may have failed only because the engine knows no class yet.
fn is_about_a_class(script: &NotLoaded) -> bool {
    let words = ["not declared in the current scope", "Could not find ", "Could not resolve "];
    words.iter().any(|words| script.message.contains(words))
}

/// The refusal of a run that is no pass, with the whole run beside it.
pub(super) fn refusal(out: &Out, timeout_seconds: u64, truncated: bool) -> Refusal {
    let counts = out.counts;
    let new = |code: Code, message: String| {
        let mut report = serde_json::to_value(out).unwrap_or_default();
        report["truncated"] = truncated.into();
        Refusal::new(code, message).with("report", report)
    };
    let Some(reason) = out.reason else {
        let bad = counts.failed + counts.errors;
        return new(TESTS_FAILED, format!("{bad} of {} tests did not pass", counts.total))
            .no_remedy("the report names the tests, with file and line where they say so");
    };
    let unproven = |why: &str| {
        new(TESTS_FAILED, format!("no pass is proven: {why}"))
            .no_remedy("the report has the end of the run's output")
    };
    match reason {
        "timeout" => {
            let message = format!("the tests did not end within {timeout_seconds} s");
            let refusal = new(codes::TIMEOUT, message).with("timed_out", true);
            if timeout_seconds >= MAX_TIMEOUT_SECONDS {
                return refusal.field("paths");
            }
            let longer = (timeout_seconds * 3).min(MAX_TIMEOUT_SECONDS);
            refusal.retry_with(json!({ "timeout_seconds": longer }))
        }
        _ if out.not_imported => {
            let message =
                "the engine does not know the project's classes yet, so scripts do not load";
            new(PROJECT_NOT_IMPORTED, message.into())
                .no_remedy("the project has to be opened in an editor, or imported, once")
        }
        "no_report" => match out.addon_scripts_did_not_load.first() {
            Some(first) => {
                let file = &first.file;
                unproven(&format!("the run ended without a report, and `{file}` did not load"))
            }
            None => unproven("the run ended without a report"),
        },
        "report_unreadable" => unproven("the report can't be read"),
        "no_tests" => new(NO_TESTS, "the run found no test".into()).field("paths"),
        "nothing_proved" => unproven("no test passed"),
        "scripts_did_not_load" => {
            let files: Vec<_> = out
                .scripts_did_not_load
                .iter()
                .take(3)
                .map(|one| format!("`{}`", one.file))
                .collect();
            let message = format!("scripts of the project did not load: {}", files.join(", "));
            new(SCRIPTS_DID_NOT_LOAD, message)
                .next_call("script_check_syntax", "says what is wrong in a script")
        }
        "output_truncated" => {
            let message =
                "the output was longer than what is read, and may name scripts that did not load";
            new(OUTPUT_TRUNCATED, message.into()).field("paths")
        }
        _ => unproven(&format!("all tests passed, yet the exit code is {:?}", out.exit_code)),
    }
}
