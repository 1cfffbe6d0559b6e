//! `editor.undo`: one step back, as the editor's own Undo makes it.

use didi_engine::Answer;
use serde::Deserialize;
use serde_json::json;

use super::steps::{self, Direction};
use crate::{
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

/// Refuses a step that is not the newest of its history.
fn check(reference: &Reference) -> Result<(), didi_wire::BridgeError> {
    use crate::edit::history;

    let global = reference.history.as_deref() == Some("global");
    let found = if global {
        history::of_project().map(|history| (history::GLOBAL, history))
    } else {
        history::of_scene()
    };
    let same = |id: i32| reference.history_id.is_none_or(|meant| meant == id);
    let version = found.filter(|(id, _)| same(*id)).map(|(_, history)| history.get_version());
    if version == Some(reference.version) {
        return Ok(());
    }
    let message = "the step is not the newest of its history, so undoing would undo another";
    Err(refuse::conflict("undo_entry_later_history", message)
        .with("no_remedy", "later steps would have to be undone first")
        .with("version", version))
}
