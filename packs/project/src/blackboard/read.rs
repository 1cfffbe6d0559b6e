//! `blackboard_read`: reads a board or what is below a path of it.
//!
//! Spec: P-51, boards.

use std::collections::BTreeMap;

use didi_plugin_api::prelude::*;

use super::{READ_REFUSALS, default_board, path_of};
use crate::board::{
    Board, Cleared, Entry, Gone,
    path::BoardPath,
    store::{self, Found},
};

pub(crate) fn tool() -> Tool {
    Tool::new(
        "blackboard_read",
        "Reads a shared board or one path of it, and says when a value expired or was cleared.",
        Effects::READS,
        run,
    )
    .core()
    .bounded("deep:false replaces nested containers with a marker")
    .output::<Out>()
    .refuses(&READ_REFUSALS)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default = "default_board")]
    #[schemars(length(min = 1, max = 64))]
    board: String,
    #[schemars(length(max = 512))]
    path: Option<String>,
    /// false: one level.
    #[serde(default = "didi_plugin_api::schema::yes")]
    deep: bool,
    #[serde(default)]
    include_metadata: bool,
}

#[derive(Default, Serialize, JsonSchema)]
struct Out {
    #[schemars(default)]
    board: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    found: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(default, schema_with = "crate::answer::any")]
    value: Option<Value>,
    #[schemars(default)]
    deep: bool,
    #[schemars(default)]
    revision: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_at_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(default, schema_with = "crate::answer::object")]
    metadata: Option<BTreeMap<String, Entry>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expired_at_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expired_author: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expired_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cleared_at_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cleared_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cleared_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(default, schema_with = "crate::answer::object")]
    last_board_clear: Option<Cleared>,
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let path = path_of(args.path.as_deref(), "path")?;
    let Found { board, exists, .. } = store::load(ctx, &args.board)?;
    let out = Out {
        board: args.board,
        path: (!path.is_board()).then(|| path.to_string()),
        deep: args.deep,
        revision: board.revision,
        last_board_clear: board.last_board_clear.clone(),
        ..Out::default()
    };
    let value = board.value(&path).filter(|_| exists);
    let Some(value) = value else {
        return Ok(Answer::of(missing(out, &board, &path))?.truncated(false));
    };
    let (value, truncated) = if args.deep { (value.clone(), false) } else { one_level(value) };
    let out = Out {
        found: true,
        value: Some(value),
        updated_at_ms: Some(board.stamp(&path)).filter(|stamp| *stamp > 0),
        metadata: args.include_metadata.then(|| board.metadata(&path)),
        ..out
    };
    Ok(Answer::of(out)?.truncated(truncated))
}

fn missing(out: Out, board: &Board, path: &BoardPath) -> Out {
    match board.gone(path) {
        Gone::Expired(gone) => Out {
            reason: Some("expired"),
            expired_at_ms: Some(gone.at_ms),
            expired_author: gone.author.clone(),
            expired_reason: gone.reason.clone(),
            ..out
        },
        Gone::Cleared(gone) => Out {
            reason: Some("cleared"),
            cleared_at_ms: Some(gone.at_ms),
            cleared_by: gone.author.clone(),
            cleared_reason: gone.reason.clone(),
            ..out
        },
        Gone::NoRecord => Out { reason: Some("no_record"), ..out },
    }
}

/// The value with a marker in place of every container inside it, and whether there was one.
fn one_level(value: &Value) -> (Value, bool) {
    let mut cut = false;
    let mut shallow = |inner: &Value| match inner {
        Value::Object(map) if !map.is_empty() => {
            cut = true;
            json!({"_truncated": true, "keys": map.len()})
        }
        Value::Array(items) if !items.is_empty() => {
            cut = true;
            json!({"_truncated": true, "items": items.len()})
        }
        _ => inner.clone(),
    };
    let value = match value {
        Value::Object(map) => {
            map.iter().map(|(name, inner)| (name.clone(), shallow(inner))).collect()
        }
        Value::Array(items) => items.iter().map(shallow).collect(),
        _ => value.clone(),
    };
    (value, cut)
}
