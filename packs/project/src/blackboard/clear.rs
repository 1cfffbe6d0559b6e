//! `blackboard_clear`: removes a path of a board, or everything on it.
//!
//! Spec: P-51, boards.

use didi_plugin_api::prelude::*;

use super::{CHANGE_REFUSALS, default_board, path_of, state_subject};
use crate::board::{
    Board, Removed, Who,
    path::BoardPath,
    store::{self, Edit},
};

pub(crate) fn tool() -> Tool {
    Tool::new(
        "blackboard_clear",
        "Removes a path of a shared board, or without a path all values and tasks.",
        Effects::SETS,
        run,
    )
    .confirm(Confirmation::Always)
    .preview(preview)
    .refuses(&CHANGE_REFUSALS)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default = "default_board")]
    #[schemars(length(min = 1, max = 64))]
    board: String,
    #[schemars(length(max = 512))]
    path: Option<String>,
    #[schemars(length(max = 128))]
    author: Option<String>,
    #[schemars(length(max = 512))]
    reason: Option<String>,
}

#[derive(Serialize)]
struct Out {
    board: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    revision: u64,
    removed: Removed,
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let path = path_of(args.path.as_deref(), "path")?;
    let (board, removed) = store::change(ctx, &args.board, |board| Ok(edit(board, &path, &args)))?;
    let path = (!path.is_board()).then(|| path.to_string());
    Answer::of(Out { board: args.board, path, revision: board.revision, removed })
}

fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    let path = path_of(args.path.as_deref(), "path")?;
    let subject = state_subject(&args.board, &path);
    let edit = |board: &mut Board| Ok(edit(board, &path, &args));
    store::preview(ctx, &args.board, subject, |board| look(board, &path), edit)
}

fn look(board: &Board, path: &BoardPath) -> Option<Value> {
    if !path.is_board() {
        return board.value(path).cloned();
    }
    let empty = board.values == json!({}) && board.tasks.is_empty();
    (!empty).then(|| json!({"values": board.values, "tasks": board.tasks}))
}

fn edit(board: &mut Board, path: &BoardPath, args: &Args) -> Edit<Removed> {
    let who = Who { author: args.author.clone(), reason: args.reason.clone() };
    match board.clear(path, &who) {
        Some(removed) => Edit::Changed(removed),
        None => Edit::Same(Removed { keys: 0, tasks: 0 }),
    }
}
