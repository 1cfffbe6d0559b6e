//! `blackboard_patch`: applies RFC 6902 operations to a board, all or none.
//!
//! Spec: P-51, boards.

use didi_plugin_api::prelude::*;

use super::{CHANGE_REFUSALS, default_board, state_subject};
use crate::board::{
    Board, Who,
    patch::{self, Operation},
    path::BoardPath,
    store::{self, Edit},
};

pub(crate) fn tool() -> Tool {
    Tool::new(
        "blackboard_patch",
        "Changes several paths of a shared board at once by RFC 6902 operations, all or none.",
        Effects::SETS,
        run,
    )
    .preview(preview)
    .refuses(&CHANGE_REFUSALS)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default = "default_board")]
    #[schemars(length(min = 1, max = 64))]
    board: String,
    #[schemars(length(min = 1, max = 100))]
    operations: Vec<Operation>,
    #[schemars(length(max = 128))]
    author: Option<String>,
    #[schemars(length(max = 512))]
    reason: Option<String>,
    /// Only at this revision of the board.
    expected_revision: Option<u64>,
}

#[derive(Serialize)]
struct Out {
    board: String,
    revision: u64,
    applied: bool,
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let (board, applied) = store::change(ctx, &args.board, |board| edit(board, &args))?;
    Answer::of(Out { board: args.board, revision: board.revision, applied })
}

fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    let subject = state_subject(&args.board, &BoardPath::default());
    let look = |board: &Board| Some(board.values.clone()).filter(|_| board.revision > 0);
    store::preview(ctx, &args.board, subject, look, |board| edit(board, &args))
}

fn edit(board: &mut Board, args: &Args) -> Result<Edit<bool>, Refusal> {
    if let Some(expected) = args.expected_revision.filter(|wanted| *wanted != board.revision) {
        let found = board.revision;
        let message = format!("the board is at revision {found}, and {expected} was expected");
        return Err(Refusal::new(codes::CONFLICT, message)
            .with("reason_code", "stale_patch")
            .with("revision", found)
            .next_call_with(
                "blackboard_read",
                json!({"board": board.name}),
                "look at what is there now before changing it",
            ));
    }
    let who = Who { author: args.author.clone(), reason: args.reason.clone() };
    let changed = patch::apply(board, &args.operations, &who)?;
    Ok(if changed { Edit::Changed(true) } else { Edit::Same(false) })
}
