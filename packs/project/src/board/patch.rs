//! RFC 6902 on a board: all operations or none.
//!
//! Spec: P-51, boards.

use didi_plugin_api::prelude::*;

use super::{Board, Who, check_depth, check_value, path::BoardPath, tree};

/// Most operations of one patch.
pub(crate) const MAX_OPERATIONS: usize = 100;

// What an operation does. (A doc comment would be published.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Op {
    Add,
    Remove,
    Replace,
    Move,
    Copy,
    Test,
}

// Other members are ignored, as RFC 6902 asks.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct Operation {
    op: Op,
    /// JSON pointer.
    #[schemars(length(max = 512))]
    path: String,
    #[schemars(length(max = 512))]
    from: Option<String>,
    #[serde(default, deserialize_with = "sent")]
    value: Option<AnyValue>,
}

/// `null` is a value that was sent, too.
fn sent<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<AnyValue>, D::Error> {
    AnyValue::deserialize(from).map(Some)
}

/// What kept an operation from being applied.
struct Stop {
    why: String,
    /// What a failed `test` found.
    found: Option<Value>,
}

impl From<String> for Stop {
    fn from(why: String) -> Self {
        Stop { why, found: None }
    }
}

/// Applies all operations, and says whether one of them can have changed the board. After a refusal the
/// board is half changed and has to be thrown away.
pub(crate) fn apply(board: &mut Board, all: &[Operation], who: &Who) -> Result<bool, Refusal> {
    if all.is_empty() || all.len() > MAX_OPERATIONS {
        let message =
            format!("{} operations were sent, and 1 to {MAX_OPERATIONS} are taken", all.len());
        return Err(Refusal::invalid("operations", message));
    }
    for (index, operation) in all.iter().enumerate() {
        one(board, operation, who).map_err(|stop| refusal(index, operation, stop))?;
    }
    Ok(all.iter().any(|operation| operation.op != Op::Test))
}

fn refusal(index: usize, operation: &Operation, stop: Stop) -> Refusal {
    let message = format!("operation {index} can't be applied: {}", stop.why);
    let refusal = Refusal::new(codes::INVALID_ARGUMENTS, message)
        .with("index", index)
        .with("pointer", operation.path.as_str());
    let refusal = match stop.found {
        Some(found) => refusal.with("found", found),
        None => refusal,
    };
    refusal.field("operations")
}

fn one(board: &mut Board, operation: &Operation, who: &Who) -> Result<(), Stop> {
    let path = BoardPath::pointer(&operation.path)?;
    match operation.op {
        Op::Add => {
            let at = tree::add(&mut board.values, &path, value(operation, &path)?)?;
            board.record(&at, who, None);
        }
        Op::Replace => {
            tree::replace(&mut board.values, &path, value(operation, &path)?)?;
            board.record(&path, who, None);
        }
        Op::Remove => {
            take(board, &path, who)?;
        }
        Op::Move => {
            let from = from(operation)?;
            if path != from && path.is_in(&from) {
                return Err(format!("`{from}` can't be moved into itself").into());
            }
            let value = take(board, &from, who)?;
            check_depth(&path, &value)?;
            let at = tree::add(&mut board.values, &path, value)?;
            board.record(&at, who, None);
        }
        Op::Copy => {
            // Without a bound on each copy, a board could be doubled a hundred times before it is weighed.
            let value = present(board, &from(operation)?)?;
            check_value(&path, value)?;
            let value = value.clone();
            let at = tree::add(&mut board.values, &path, value)?;
            board.record(&at, who, None);
        }
        Op::Test => test(board, &path, &value(operation, &path)?)?,
    }
    Ok(())
}

fn value(operation: &Operation, path: &BoardPath) -> Result<Value, Stop> {
    let Some(AnyValue(value)) = &operation.value else {
        return Err("it needs a `value`".to_owned().into());
    };
    check_value(path, value)?;
    Ok(value.clone())
}

fn from(operation: &Operation) -> Result<BoardPath, Stop> {
    let from = operation.from.as_deref().ok_or_else(|| "it needs a `from`".to_owned())?;
    Ok(BoardPath::pointer(from)?)
}

fn present<'b>(board: &'b Board, path: &BoardPath) -> Result<&'b Value, Stop> {
    board.value(path).ok_or_else(|| format!("nothing is at `{path}`").into())
}

fn take(board: &mut Board, path: &BoardPath, who: &Who) -> Result<Value, Stop> {
    if path.is_board() {
        return Err("the whole board can't be removed; `blackboard_clear` empties it"
            .to_owned()
            .into());
    }
    board.take(path, who).ok_or_else(|| format!("nothing is at `{path}`").into())
}

fn test(board: &Board, path: &BoardPath, wanted: &Value) -> Result<(), Stop> {
    let found = present(board, path)?;
    if tree::equal(found, wanted) {
        return Ok(());
    }
    let why = format!("the test of `{path}` failed");
    Err(Stop { why, found: Some(super::store::brief(found)) })
}
