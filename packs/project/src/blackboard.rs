//! The tools of shared boards, one file each, over the model in [`crate::board`].
//!
//! Spec: P-51, boards.

use didi_plugin_api::prelude::*;

use crate::board::path::BoardPath;

pub(crate) mod clear;
pub(crate) mod list_keys;
pub(crate) mod patch;
pub(crate) mod read;
pub(crate) mod task_claim;
pub(crate) mod task_complete;
pub(crate) mod task_create;
pub(crate) mod task_list;
pub(crate) mod task_update;
pub(crate) mod write;

#[cfg(test)]
mod task_tests;
#[cfg(test)]
mod tests;

/// Refusals of every read of a board.
const READ_REFUSALS: [Code; 4] =
    [codes::INVALID_ARGUMENTS, codes::UNPROCESSABLE, codes::FILE_TOO_LARGE, codes::FORBIDDEN];

/// Refusals of every change of a board.
const CHANGE_REFUSALS: [Code; 7] = [
    codes::INVALID_ARGUMENTS,
    codes::CONFLICT,
    codes::PROJECT_FILE_BUSY,
    codes::UNPROCESSABLE,
    codes::FILE_TOO_LARGE,
    codes::FORBIDDEN,
    codes::INTERNAL_ERROR,
];

/// Refusals of a change of a task that is named.
const TASK_REFUSALS: [Code; 8] = [
    codes::INVALID_ARGUMENTS,
    codes::NOT_FOUND,
    codes::CONFLICT,
    codes::PROJECT_FILE_BUSY,
    codes::UNPROCESSABLE,
    codes::FILE_TOO_LARGE,
    codes::FORBIDDEN,
    codes::INTERNAL_ERROR,
];

fn default_board() -> String {
    "default".into()
}

/// The path that a caller names; without one, the whole board.
fn path_of(path: Option<&str>, field: &str) -> Result<BoardPath, Refusal> {
    path.map_or_else(|| Ok(BoardPath::default()), |path| BoardPath::parse(path, field))
}

/// The subject of a change of values.
fn state_subject(board: &str, path: &BoardPath) -> String {
    if path.is_board() {
        return format!("blackboard://{board}/state");
    }
    format!("blackboard://{board}/state#{path}")
}

/// The subject of a change of a task, which has no id yet when it is made.
fn task_subject(board: &str, task_id: &str) -> String {
    if task_id.is_empty() {
        return format!("blackboard://{board}/tasks");
    }
    format!("blackboard://{board}/tasks#{task_id}")
}

/// A task as an answer shows it.
fn task_value(board: &crate::board::Board, id: &str) -> Option<Value> {
    board.task(id).map(|task| json!(task))
}
