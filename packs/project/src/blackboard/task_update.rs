//! `blackboard_task_update`: the holder of a task reports on it, gives it back or keeps it longer.
//!
//! Spec: P-51, tasks.

use didi_plugin_api::prelude::*;

use super::{
    TASK_REFUSALS, default_board, task_claim::MAX_LEASE_SECONDS, task_subject, task_value,
};
use crate::board::{
    Board,
    store::{self, Edit},
    tasks::{Report, Status},
};

pub(crate) fn tool() -> Tool {
    Tool::new(
        "blackboard_task_update",
        "Reports on a task leased with blackboard_task_claim: progress, note, new state, longer lease.",
        Effects::CHANGES,
        run,
    )
    .preview(preview)
    .refuses(&TASK_REFUSALS)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default = "default_board")]
    #[schemars(length(max = 64))]
    board: String,
    #[schemars(length(min = 1, max = 128))]
    task_id: String,
    #[schemars(length(min = 1, max = 128))]
    agent_id: String,
    /// Percent.
    #[schemars(range(max = 100))]
    progress: Option<u8>,
    #[schemars(length(max = 4096))]
    note: Option<String>,
    /// Ends the lease.
    status: Option<NewStatus>,
    #[schemars(range(min = 1, max = 86_400))]
    renew_lease_seconds: Option<u64>,
}

// What a holder can leave a task as. (A doc comment would be published.)
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum NewStatus {
    NeedsReview,
    Failed,
    Pending,
}

#[derive(Serialize)]
struct Out {
    task: Value,
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let report = report(&args)?;
    let (board, ()) = store::change(ctx, &args.board, |board| edit(board, &args, &report))?;
    Answer::of(Out { task: task_value(&board, &args.task_id).unwrap_or_default() })
}

fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    let report = report(&args)?;
    let subject = task_subject(&args.board, &args.task_id);
    let look = |board: &Board| task_value(board, &args.task_id);
    store::preview(ctx, &args.board, subject, look, |board| edit(board, &args, &report))
}

fn report(args: &Args) -> Result<Report, Refusal> {
    let renew = args.renew_lease_seconds;
    if args.progress.is_none() && args.note.is_none() && args.status.is_none() && renew.is_none() {
        let message = "nothing was sent to record; `progress`, `note`, `status` and `renew_lease_seconds` are taken";
        return Err(Refusal::invalid("progress", message));
    }
    if renew.is_some_and(|seconds| !(1..=MAX_LEASE_SECONDS).contains(&seconds)) {
        let message = format!("`renew_lease_seconds` is 1 to {MAX_LEASE_SECONDS}");
        return Err(Refusal::invalid("renew_lease_seconds", message));
    }
    Ok(Report {
        progress: args.progress,
        note: args.note.clone(),
        status: args.status.map(|status| match status {
            NewStatus::NeedsReview => Status::NeedsReview,
            NewStatus::Failed => Status::Failed,
            NewStatus::Pending => Status::Pending,
        }),
        renew_ms: renew.map(|seconds| seconds * 1_000),
    })
}

fn edit(board: &mut Board, args: &Args, report: &Report) -> Result<Edit<()>, Refusal> {
    board.report(&args.task_id, &args.agent_id, report).map(Edit::Changed)
}
