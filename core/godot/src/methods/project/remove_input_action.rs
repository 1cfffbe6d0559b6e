//! `project.removeInputAction`: an action of the project's own goes; one of the engine's gets its default back.

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::{classes::ProjectSettings, prelude::*};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{file, list_input_actions};
use crate::{
    change::{Change, Planned},
    methods::Context,
    params::{self, Params},
    refuse,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    action: String,
}

pub(crate) fn plan(_context: &Context, params: &Params) -> Planned {
    let Args { action } = params::read(params)?;
    file::check_loads()?;
    if !list_input_actions::is_own(&action) {
        if list_input_actions::is_known(&action) {
            return Err(engine_default(&action));
        }
        let message = format!("the project defines no input action `{action}`");
        return Err(
            BridgeError::new(404, "input_action_not_found", message).with("field", "action")
        );
    }
    let before = json!({ "action": list_input_actions::entry(&action) });
    Ok(Change::now(before, move |before| make(&action, &before["action"])))
}

/// An action that the engine brings along is none of the project's to remove.
fn engine_default(action: &str) -> BridgeError {
    let message = format!("`{action}` is an action of the engine's own");
    let error = refuse::conflict("engine_default_action", message).with("engine_default", true);
    let arguments = json!({ "action": action, "events": [] });
    refuse::next_call(error, "project_set_input_action", arguments, "defines it without events")
}

fn make(action: &str, before: &Value) -> Answer {
    let setting = format!("input/{action}");
    let settings = ProjectSettings::singleton();
    let default = if settings.property_can_revert(&setting) {
        settings.property_get_revert(&setting)
    } else {
        Variant::nil()
    };
    file::store(&setting, &default)?;
    let defined = list_input_actions::is_own(action);
    Ok(json!({
        "action": action,
        "deadzone": before["deadzone"],
        "event_count": before["events"].as_array().map_or(0, Vec::len),
        "defined_by_project": defined,
        "persisted": !defined,
    }))
}
