//! `blackboard_write`: puts a JSON value at a path of a shared board.
//!
//! Spec: P-51, boards.

use didi_plugin_api::prelude::*;

use super::{CHANGE_REFUSALS, default_board, state_subject};
use crate::board::{
    Board, Entry, Who, check_value,
    path::BoardPath,
    store::{self, Edit},
};

/// Longest time to live, in seconds: 30 days.
const MAX_TTL_SECONDS: u64 = 2_592_000;

pub(crate) fn tool() -> Tool {
    Tool::new(
        "blackboard_write",
        "Stores a JSON value at a path of a shared board, for other agents and later sessions.",
        Effects::SETS,
        run,
    )
    .core()
    .preview(preview)
    .refuses(&CHANGE_REFUSALS)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default = "default_board")]
    #[schemars(length(min = 1, max = 64))]
    board: String,
    /// `a.b.c` or `/a/b/c`.
    #[schemars(length(min = 1, max = 512))]
    path: String,
    value: AnyValue,
    #[schemars(length(max = 128))]
    author: Option<String>,
    #[schemars(length(max = 512))]
    reason: Option<String>,
    #[schemars(range(min = 1, max = 2_592_000))]
    ttl_seconds: Option<u64>,
    /// Only if unchanged; 0: nothing there.
    expected_updated_at_ms: Option<u64>,
}

#[derive(Serialize)]
struct Out {
    board: String,
    path: String,
    value: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Entry>,
    revision: u64,
    replaced: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_value: Option<Value>,
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let path = checked_path(&args)?;
    let (board, previous_value) =
        store::change(ctx, &args.board, |board| edit(board, &path, &args))?;
    let Some(value) = board.value(&path).cloned() else {
        return Err(Refusal::new(codes::INTERNAL_ERROR, format!("`{path}` was not kept"))
            .no_remedy("the server is at fault, not the call"));
    };
    Answer::of(Out {
        metadata: board.entry(&path).map(|(_, entry)| entry.clone()),
        board: args.board,
        path: path.to_string(),
        value,
        revision: board.revision,
        replaced: previous_value.is_some(),
        previous_value,
    })
}

fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    let path = checked_path(&args)?;
    store::preview(
        ctx,
        &args.board,
        state_subject(&args.board, &path),
        |board| board.value(&path).cloned(),
        |board| edit(board, &path, &args),
    )
}

/// Checks what can be checked without the board.
fn checked_path(args: &Args) -> Result<BoardPath, Refusal> {
    let path = BoardPath::parse(&args.path, "path")?;
    if path.is_board() {
        return Err(Refusal::invalid(
            "path",
            "the whole board can't be written, only a path on it",
        ));
    }
    check_value(&path, &args.value.0).map_err(|why| Refusal::invalid("value", why))?;
    if args.ttl_seconds.is_some_and(|ttl| !(1..=MAX_TTL_SECONDS).contains(&ttl)) {
        return Err(Refusal::invalid(
            "ttl_seconds",
            format!("`ttl_seconds` is 1 to {MAX_TTL_SECONDS}"),
        ));
    }
    Ok(path)
}

fn edit(board: &mut Board, path: &BoardPath, args: &Args) -> Result<Edit<Option<Value>>, Refusal> {
    if let Some(expected) = args.expected_updated_at_ms {
        refuse_stale(board, path, expected)?;
    }
    let who = Who { author: args.author.clone(), reason: args.reason.clone() };
    let expires_at_ms = args.ttl_seconds.map(|seconds| board.now_ms() + seconds * 1_000);
    board
        .put(path, args.value.0.clone(), &who, expires_at_ms)
        .map(Edit::Changed)
        .map_err(|why| Refusal::invalid("path", why))
}

fn refuse_stale(board: &Board, path: &BoardPath, expected: u64) -> Result<(), Refusal> {
    let found = board.stamp(path);
    if found == expected {
        return Ok(());
    }
    let message = match (expected, found) {
        (0, _) => format!("`{path}` holds a value, and nothing was expected"),
        (_, 0) => format!("`{path}` holds nothing, and a value of {expected} was expected"),
        _ => format!("`{path}` was written at {found}, and {expected} was expected"),
    };
    let mut refusal = Refusal::new(codes::CONFLICT, message)
        .with("reason_code", "stale_write")
        .with("updated_at_ms", found);
    if let Some(value) = board.value(path) {
        refusal = refusal.with("value", store::brief(value));
    }
    if let Some((_, entry)) = board.entry(path) {
        refusal = refusal.with("metadata", json!(entry));
    }
    Err(refusal.next_call_with(
        "blackboard_read",
        json!({"board": board.name, "path": path.to_string()}),
        "look at what is there now before writing over it",
    ))
}
