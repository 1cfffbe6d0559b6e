//! `project_apply_changes`: proposed files, verified in a copy and then written in one pass.
//!
//! Nothing is written unless every check passes, and then all files or none.
//!
//! Spec: P-50, proposed changes; P-43.

use std::collections::BTreeMap;

use didi_plugin_api::{
    ctx::{Change, Touched},
    digest::sha256_hex,
    prelude::*,
};

use crate::{
    verification::{self, Checked, Proposal, Proposed, REFUSALS, Report},
    verify_changes::{run_frames, timeout_seconds},
};

#[cfg(test)]
mod tests;

/// The engine does not take the files.
const VERIFICATION_FAILED: Code = Code::new(422, "verification_failed");

pub(crate) fn tool() -> Tool {
    Tool::new(
        "project_apply_changes",
        "Verifies proposed files in a copy and, if every check passes, writes all of them in one pass.",
        Effects::CHANGES,
        run,
    )
    .core()
    .confirm(Confirmation::Always)
    .preview(preview)
    .refuses(&refusals())
}

fn refusals() -> Vec<Code> {
    let own = [
        VERIFICATION_FAILED,
        codes::ALREADY_EXISTS,
        codes::PROJECT_FILE_BUSY,
        codes::UNSAVED_CHANGES,
        codes::DIRTY_STATE_UNAVAILABLE,
    ];
    REFUSALS.into_iter().chain(own).collect()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Each file once, content at most 1 MiB.
    #[schemars(length(min = 1, max = 64))]
    changes: Vec<Proposed>,
    /// Scene to run in the copy.
    #[schemars(length(min = 7, max = 1024))]
    run_scene: Option<String>,
    #[serde(default = "run_frames")]
    #[schemars(range(min = 1, max = 6000))]
    run_frames: u32,
    #[serde(default = "timeout_seconds")]
    #[schemars(range(min = 1, max = 600))]
    timeout_seconds: u64,
    /// Allow losing unsaved edits of a tab.
    #[serde(default)]
    #[expect(dead_code, reason = "the host hears it, where it asks the editor")]
    discard_unsaved: bool,
}

#[derive(Serialize)]
struct Out {
    applied: bool,
    applied_files: Vec<String>,
    unchanged_files: Vec<String>,
    #[serde(flatten)]
    report: Report,
}

fn proposal(args: &Args) -> Proposal<'_> {
    Proposal {
        changes: &args.changes,
        run_scene: args.run_scene.as_deref(),
        run_frames: args.run_frames,
        timeout_seconds: args.timeout_seconds,
    }
}

fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    let checked = verification::check(ctx, &proposal(&args))?;
    let written = checked.iter().map(|one| one.path.clone()).collect();
    ctx.project().check_editor(&Touched { written, gone: vec![] })?;
    let before: BTreeMap<&str, Option<String>> = checked
        .iter()
        .map(|one| (one.path.as_str(), one.before.as_deref().map(sha256_hex)))
        .collect();
    let exists = checked.iter().any(|one| one.before.is_some());
    let after: Vec<Value> = checked.iter().map(planned).collect();
    let subject = format!("{} files", checked.len());
    Ok(Target::read(subject, exists, json!({"files": before})).after(json!({"files": after})))
}

/// What one file becomes: whether it is new, and the lines from the first to the last that differ.
fn planned(one: &Checked<'_>) -> Value {
    let sha256 = sha256_hex(one.content.as_bytes());
    let mut planned = json!({
        "path": one.path,
        "new": one.before.is_none(),
        "size_bytes": one.content.len(),
        "sha256": sha256,
    });
    if let Some(before) = &one.before {
        let before = String::from_utf8_lossy(before);
        let (old, new): (Vec<&str>, Vec<&str>) =
            (before.lines().collect(), one.content.lines().collect());
        let same = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
        let rest = old.len().min(new.len()) - same;
        let tail = old.iter().rev().zip(new.iter().rev()).take(rest);
        let tail = tail.take_while(|(one, other)| one == other).count();
        planned["changed"] = (before != one.content).into();
        planned["removed_lines"] = old[same..old.len() - tail].to_vec().into();
        planned["added_lines"] = new[same..new.len() - tail].to_vec().into();
        planned["from_line"] = (same + 1).into();
    }
    planned
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let proposal = proposal(&args);
    let checked = verification::check(ctx, &proposal)?;
    let report = verification::verify(ctx, &proposal, &checked)?;
    if !report.all_ok {
        let shown = serde_json::to_value(&report).unwrap_or_default();
        let message = "the engine finds faults in the proposed files, and nothing was written";
        return Err(Refusal::new(VERIFICATION_FAILED, message)
            .with("report", shown)
            .field("changes"));
    }
    ctx.check()?;
    let changes: Vec<Change> = checked
        .iter()
        .map(|one| Change::Write {
            path: one.path.clone(),
            text: one.content.to_owned(),
            expect: one.expect(),
        })
        .collect();
    let written = ctx.project().apply(&changes)?;
    let (changed, same): (Vec<_>, Vec<_>) = written.into_iter().partition(|one| one.changed);
    Answer::of(Out {
        applied: true,
        applied_files: changed.into_iter().map(|one| one.path).collect(),
        unchanged_files: same.into_iter().map(|one| one.path).collect(),
        report,
    })
}
