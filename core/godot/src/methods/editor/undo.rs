//! `editor.undo`: one step back, as the editor's own Undo makes it.

use std::cmp::Ordering;

use didi_engine::Answer;
use didi_wire::BridgeError;
use serde::Deserialize;
use serde_json::json;

use super::steps::{self, Direction};
use crate::{
    edit::history,
    methods::Context,
    params::{self, Params},
    refuse,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The action that has to be the next to be undone, when the caller means one.
    #[serde(default)]
    journal_entry: Option<Reference>,
}

/// A step as an earlier answer's `undo_steps` told it.
#[derive(Deserialize)]
struct Reference {
    #[serde(default)]
    history: Option<String>,
    /// The editor's number of that history: two scenes can stand at one version.
    #[serde(default)]
    history_id: Option<i32>,
    version: u64,
    #[serde(default)]
    scene_file_path: Option<String>,
}

pub(crate) fn run(_context: &Context, params: &Params) -> Answer {
    let args: Args = params::read(params)?;
    if let Some(reference) = &args.journal_entry {
        check(reference)?;
    }
    let stepped = steps::step(Direction::Back)?;
    Ok(json!({
        "history": stepped.history,
        "undone": stepped.action,
        "observed": stepped.observed(),
        "limitation": "undo changes the open scene and not its file; save the scene to keep it",
    }))
}

/// Refuses a step that is not the newest of the history in front.
fn check(reference: &Reference) -> Result<(), BridgeError> {
    let global = reference.history.as_deref() == Some("global");
    let found = if global {
        history::of_project().map(|history| (history::GLOBAL, history))
    } else {
        history::of_scene()
    };
    let same = |id: i32| reference.history_id.is_none_or(|meant| meant == id);
    let Some((_, history)) = found.filter(|(id, _)| same(*id)) else {
        return Err(blocked(reference));
    };
    let version = history.get_version();
    let (code, message, why) = match version.cmp(&reference.version) {
        Ordering::Equal => return Ok(()),
        Ordering::Less => (
            "undo_entry_undone",
            "the step was taken back already",
            "what was asked for is so already",
        ),
        Ordering::Greater => (
            "undo_entry_later_history",
            "the step is not the newest of its history, so undoing would undo another",
            "later steps would have to be undone first",
        ),
    };
    Err(refuse::conflict(code, message).with("no_remedy", why).with("version", version))
}

/// The history that holds the step is another scene's than the one in front.
fn blocked(reference: &Reference) -> BridgeError {
    let message = "the scene of the step is not the one in front";
    let error = refuse::conflict("undo_entry_blocked", message);
    let arguments = match &reference.scene_file_path {
        Some(path) => json!({ "scene_path": path }),
        None => json!({}),
    };
    let reason = "brings the scene of the step to the front";
    refuse::next_call(error, "scene_open", arguments, reason)
}
