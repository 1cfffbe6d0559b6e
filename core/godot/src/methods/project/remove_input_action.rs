//! `project.removeInputAction`: an action of the project's own goes; one of the engine's gets its default back.

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::{classes::ProjectSettings, prelude::*};
use serde::Deserialize;
use serde_json::json;

use super::{file, list_input_actions};
use crate::{
    methods::Context,
    params::{self, Params},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    action: String,
}

pub(crate) fn run(_context: &Context, params: &Params) -> Answer {
    let Args { action } = params::read(params)?;
    if !list_input_actions::is_own(&action) {
        let message = format!("the project defines no input action `{action}`");
        return Err(
            BridgeError::new(404, "input_action_not_found", message).with("field", "action")
        );
    }
    let setting = format!("input/{action}");
    let before = list_input_actions::entry(&action);
    let settings = ProjectSettings::singleton();
    let default = if settings.property_can_revert(&setting) {
        settings.property_get_revert(&setting)
    } else {
        Variant::nil()
    };
    file::store(&setting, &default)?;
    let defined = list_input_actions::is_own(&action);
    Ok(json!({
        "action": action,
        "deadzone": before["deadzone"],
        "event_count": before["events"].as_array().map_or(0, Vec::len),
        "defined_by_project": defined,
        "persisted": !defined,
    }))
}
