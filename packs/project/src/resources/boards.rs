//! `blackboard://{board}/state` and `blackboard://{board}/tasks`: a board as it is now. A read makes no file.
//!
//! Spec: P-51, resources.

use std::collections::BTreeMap;

use didi_plugin_api::prelude::*;

use crate::board::{
    Cleared, Entry,
    path::BoardPath,
    store::{self, Found},
};

const FILE: &str = ".didi/blackboard/{board}.json";

pub(crate) fn state() -> Resource {
    Resource::new(
        "blackboard://{board}/state",
        "blackboard-state",
        "Values of a shared board with author, reason and expiry per path",
        read_state,
    )
    .listed(&["default"])
    .watched(FILE)
}

pub(crate) fn tasks() -> Resource {
    Resource::new(
        "blackboard://{board}/tasks",
        "blackboard-tasks",
        "Tasks of a shared board with state, lease and dependencies",
        read_tasks,
    )
    .listed(&["default"])
    .watched(FILE)
}

#[derive(Serialize)]
struct State {
    board: String,
    exists: bool,
    revision: u64,
    value: Value,
    metadata: BTreeMap<String, Entry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_board_clear: Option<Cleared>,
}

fn read_state(ctx: &Ctx<'_>, name: &str) -> ToolResult {
    let Found { board, exists, .. } = store::load(ctx, name)?;
    Answer::of(State {
        board: name.into(),
        exists,
        revision: board.revision,
        metadata: board.metadata(&BoardPath::default()),
        last_board_clear: board.last_board_clear,
        value: board.values,
    })
}

fn read_tasks(ctx: &Ctx<'_>, name: &str) -> ToolResult {
    let Found { board, exists, .. } = store::load(ctx, name)?;
    Answer::of(json!({
        "board": name,
        "exists": exists,
        "revision": board.revision,
        "total": board.tasks.len(),
        "tasks": board.tasks,
    }))
}
