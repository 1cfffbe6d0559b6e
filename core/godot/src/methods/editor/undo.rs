//! `editor.undo`: one step back, as the editor's own Undo makes it.

use std::cmp::Ordering;

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::{classes::UndoRedo, obj::Gd};
use serde::Deserialize;
use serde_json::json;

use super::steps::{self, Direction};
use crate::{
    edit::{history, made},
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
    /// Its serial among those that were made here: two steps can stand at one version, one after the other.
    #[serde(default)]
    serial: Option<i64>,
    #[serde(default)]
    action: Option<String>,
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
    let Some((id, history)) = found.filter(|(id, _)| same(*id)) else {
        return Err(elsewhere(reference));
    };
    let version = history.get_version();
    let undone = |message: &str| {
        let error = refuse::conflict("undo_entry_undone", message).with("version", version);
        Err(error.with("no_remedy", "what was asked for is so already"))
    };
    if reference.serial.is_some_and(|serial| !made::stands(id, serial)) {
        return undone("the step was taken back already");
    }
    match version.cmp(&reference.version) {
        Ordering::Equal if is_named(&history, reference) => Ok(()),
        Ordering::Equal => undone("the step was taken back already, and another is in its place"),
        Ordering::Less => undone("the step was taken back already"),
        Ordering::Greater => {
            let message =
                "the step is not the newest of its history, so undoing would undo another";
            let error = refuse::conflict("undo_entry_later_history", message);
            let why = "later steps would have to be undone first";
            Err(error.with("version", version).with("no_remedy", why))
        }
    }
}

fn is_named(history: &Gd<UndoRedo>, reference: &Reference) -> bool {
    let name = history.get_current_action_name();
    reference.action.as_ref().is_none_or(|action| name == action.as_str())
}

/// The history that holds the step is not the one in front: it is another scene's, or it is no more.
fn elsewhere(reference: &Reference) -> BridgeError {
    match reference.history_id {
        Some(id) if made::is_gone(id) => gone(),
        _ => blocked(reference),
    }
}

/// A history goes with its tab.
fn gone() -> BridgeError {
    let message = "the scene of the step was closed since, and its history with it";
    refuse::conflict("undo_entry_gone", message)
        .with("no_remedy", "what was in a history that is gone can't be taken back by the editor")
}

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
