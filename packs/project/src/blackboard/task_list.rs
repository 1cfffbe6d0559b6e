//! `blackboard_task_list`: the tasks of a board, highest priority first.
//!
//! Spec: P-51, tasks.

use std::cmp::Reverse;

use didi_plugin_api::prelude::*;

use super::{READ_REFUSALS, default_board};
use crate::board::{
    store::{self, Found},
    tasks::{Status, Task},
};

pub(crate) fn tool() -> Tool {
    Tool::new(
        "blackboard_task_list",
        "Lists the tasks of a shared board with state, lease and dependencies.",
        Effects::READS,
        run,
    )
    .bounded("max_tasks and the 2,000-task cap")
    .output::<Out>()
    .refuses(&READ_REFUSALS)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default = "default_board")]
    #[schemars(length(max = 64))]
    board: String,
    status: Option<Status>,
    /// Suggested to or held by.
    #[schemars(length(max = 128))]
    assigned_to: Option<String>,
    #[schemars(length(max = 64))]
    tag: Option<String>,
    #[serde(default = "max_tasks")]
    #[schemars(range(min = 1, max = 2_000))]
    max_tasks: usize,
}

fn max_tasks() -> usize {
    200
}

#[derive(Serialize, JsonSchema)]
struct Out {
    board: String,
    tasks: Vec<Task>,
    total: usize,
    returned: usize,
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let Found { board, .. } = store::load(ctx, &args.board)?;
    let mut tasks: Vec<Task> = board.tasks.into_iter().filter(|task| fits(task, &args)).collect();
    tasks.sort_by_key(|task| Reverse(task.priority));
    let total = tasks.len();
    tasks.truncate(args.max_tasks);
    let returned = tasks.len();
    let out = Out { board: args.board, tasks, total, returned };
    Ok(Answer::of(out)?.truncated(returned < total))
}

fn fits(task: &Task, args: &Args) -> bool {
    args.status.is_none_or(|status| task.status == status)
        && args.assigned_to.as_deref().is_none_or(|agent| task.concerns(agent))
        && args.tag.as_deref().is_none_or(|tag| task.has_tag(tag))
}
