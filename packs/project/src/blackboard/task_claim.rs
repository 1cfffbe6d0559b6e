//! `blackboard_task_claim`: leases the next ready task of a board, or a named one.
//!
//! Spec: P-51, tasks.

use didi_plugin_api::prelude::*;

use super::{TASK_REFUSALS, default_board, task_subject, task_value};
use crate::board::{
    Board,
    store::{self, Edit},
    tasks::Claim,
};

/// Longest lease, in seconds: 24 hours.
pub(super) const MAX_LEASE_SECONDS: u64 = 86_400;

pub(crate) fn tool() -> Tool {
    Tool::new(
        "blackboard_task_claim",
        "Leases the next ready task of a shared board, or a named one, so that no other agent takes it.",
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
    agent_id: String,
    #[schemars(length(max = 128))]
    task_id: Option<String>,
    #[schemars(length(max = 64))]
    tag: Option<String>,
    #[serde(default = "lease_seconds")]
    #[schemars(range(min = 1, max = 86_400))]
    lease_seconds: u64,
}

fn lease_seconds() -> u64 {
    300
}

#[derive(Default, Serialize)]
struct Out {
    claimed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason_code: Option<&'static str>,
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let (board, claim) = store::change(ctx, &args.board, |board| edit(board, &args))?;
    Answer::of(match claim {
        Claim::Taken(id) => Out { claimed: true, task: task_value(&board, &id), ..Out::default() },
        Claim::Nothing { reason_code, reason } => {
            Out { reason: Some(reason), reason_code: Some(reason_code), ..Out::default() }
        }
    })
}

fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    let board = store::load(ctx, &args.board)?.board;
    // Without a task that is ready the call answers so, and nothing would change.
    let next = match edit(&mut board.clone(), &args)? {
        Edit::Changed(Claim::Taken(id)) => id,
        _ => String::new(),
    };
    let subject = task_subject(&args.board, &next);
    store::preview(
        ctx,
        &args.board,
        subject,
        |board| task_value(board, &next),
        |board| edit(board, &args),
    )
}

fn edit(board: &mut Board, args: &Args) -> Result<Edit<Claim>, Refusal> {
    if !(1..=MAX_LEASE_SECONDS).contains(&args.lease_seconds) {
        let message = format!("`lease_seconds` is 1 to {MAX_LEASE_SECONDS}");
        return Err(Refusal::invalid("lease_seconds", message));
    }
    let lease_ms = args.lease_seconds * 1_000;
    let claim =
        board.claim(&args.agent_id, args.task_id.as_deref(), args.tag.as_deref(), lease_ms)?;
    Ok(match claim {
        Claim::Taken(_) => Edit::Changed(claim),
        Claim::Nothing { .. } => Edit::Same(claim),
    })
}
