//! `project_verify_changes`: what the engine says of proposed files, before any of them is written.
//!
//! Spec: P-50, proposed changes.

use didi_plugin_api::prelude::*;

use crate::verification::{self, Proposal, Proposed, REFUSALS};

#[cfg(test)]
pub(crate) mod tests;

pub(crate) fn tool() -> Tool {
    Tool::new(
        "project_verify_changes",
        "Checks proposed files together in a copy of the project, by the real engine; writes nothing.",
        Effects::READS,
        run,
    )
    .core()
    .bounded("32 error lines per check, 4096-byte details")
    .refuses(&REFUSALS)
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
}

pub(crate) fn run_frames() -> u32 {
    120
}

pub(crate) fn timeout_seconds() -> u64 {
    120
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let proposal = Proposal {
        changes: &args.changes,
        run_scene: args.run_scene.as_deref(),
        run_frames: args.run_frames,
        timeout_seconds: args.timeout_seconds,
    };
    let checked = verification::check(ctx, &proposal)?;
    let report = verification::verify(ctx, &proposal, &checked)?;
    let truncated = report.truncated;
    Ok(Answer::of(report)?.truncated(truncated))
}
