//! `blackboard_task_create`: puts a task on a board, optionally waiting on others.
//!
//! Spec: P-51, tasks.

use didi_plugin_api::prelude::*;

use super::{CHANGE_REFUSALS, default_board, task_subject, task_value};
use crate::board::{
    Board,
    store::{self, Edit},
    tasks::{MAX_DEPENDENCIES, MAX_TAGS, NewTask},
};

pub(crate) fn tool() -> Tool {
    Tool::new(
        "blackboard_task_create",
        "Adds a task to a shared board for any agent to claim; it can wait on other tasks.",
        Effects::ADDS,
        run,
    )
    .preview(preview)
    .refuses(&CHANGE_REFUSALS)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default = "default_board")]
    #[schemars(length(max = 64))]
    board: String,
    #[schemars(length(min = 1, max = 512))]
    title: String,
    /// Default: `TASK-n`.
    #[schemars(length(max = 128))]
    task_id: Option<String>,
    #[schemars(length(max = 4096))]
    description: Option<String>,
    /// A suggestion.
    #[schemars(length(max = 128))]
    assigned_to: Option<String>,
    #[schemars(length(max = 128))]
    author: Option<String>,
    /// Ids of existing tasks.
    #[serde(default)]
    #[schemars(length(max = 64), inner(length(max = 128)))]
    dependencies: Vec<String>,
    #[serde(default)]
    #[schemars(length(max = 16), inner(length(max = 64)))]
    tags: Vec<String>,
    /// Higher first.
    #[serde(default)]
    #[schemars(range(min = -1000, max = 1000))]
    priority: i32,
}

#[derive(Serialize)]
struct Out {
    board: String,
    task: Value,
    revision: u64,
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    check(&args)?;
    let (board, id) = store::change(ctx, &args.board, |board| edit(board, &args))?;
    let task = task_value(&board, &id).unwrap_or_default();
    Answer::of(Out { board: args.board, task, revision: board.revision })
}

fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    check(&args)?;
    let subject = task_subject(&args.board, args.task_id.as_deref().unwrap_or_default());
    let look = |board: &Board| args.task_id.as_deref().and_then(|id| task_value(board, id));
    store::preview(ctx, &args.board, subject, look, |board| edit(board, &args))
}

fn check(args: &Args) -> Result<(), Refusal> {
    if args.dependencies.len() > MAX_DEPENDENCIES {
        let message = format!("a task waits on at most {MAX_DEPENDENCIES} tasks");
        return Err(Refusal::invalid("dependencies", message));
    }
    if args.tags.len() > MAX_TAGS {
        return Err(Refusal::invalid("tags", format!("a task carries at most {MAX_TAGS} tags")));
    }
    Ok(())
}

fn edit(board: &mut Board, args: &Args) -> Result<Edit<String>, Refusal> {
    let new = NewTask {
        task_id: args.task_id.clone(),
        title: args.title.clone(),
        description: args.description.clone(),
        assigned_to: args.assigned_to.clone(),
        author: args.author.clone(),
        dependencies: args.dependencies.clone(),
        tags: args.tags.clone(),
        priority: args.priority,
    };
    board.create_task(new).map(Edit::Changed)
}
