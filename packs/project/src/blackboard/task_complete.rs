//! `blackboard_task_complete`: the holder of a task ends it, and tasks that waited on it can begin.
//!
//! Spec: P-51, tasks.

use didi_plugin_api::prelude::*;

use super::{TASK_REFUSALS, default_board, task_subject, task_value};
use crate::board::{
    Board, MAX_VALUE_BYTES,
    store::{self, Edit},
};

pub(crate) fn tool() -> Tool {
    Tool::new(
        "blackboard_task_complete",
        "Completes a task leased with blackboard_task_claim and releases the tasks that waited on it.",
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
    /// Kept with the task.
    artifacts: Option<AnyValue>,
}

#[derive(Serialize)]
struct Out {
    task: Value,
    unblocked: Vec<String>,
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    check(&args)?;
    let (board, unblocked) = store::change(ctx, &args.board, |board| edit(board, &args))?;
    Answer::of(Out { task: task_value(&board, &args.task_id).unwrap_or_default(), unblocked })
}

fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    check(&args)?;
    let subject = task_subject(&args.board, &args.task_id);
    let look = |board: &Board| task_value(board, &args.task_id);
    store::preview(ctx, &args.board, subject, look, |board| edit(board, &args))
}

fn check(args: &Args) -> Result<(), Refusal> {
    let size = args.artifacts.as_ref().map_or(0, |artifacts| artifacts.0.to_string().len());
    if size > MAX_VALUE_BYTES {
        let message =
            format!("`artifacts` has {size} bytes, and at most {MAX_VALUE_BYTES} are taken");
        return Err(Refusal::invalid("artifacts", message));
    }
    Ok(())
}

fn edit(board: &mut Board, args: &Args) -> Result<Edit<Vec<String>>, Refusal> {
    let artifacts = args.artifacts.as_ref().map(|artifacts| artifacts.0.clone());
    board.complete(&args.task_id, &args.agent_id, artifacts).map(Edit::Changed)
}
