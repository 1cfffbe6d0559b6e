//! `project.getSetting`: the value that the engine has for a setting, its default included.

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::{classes::ProjectSettings, prelude::*};
use serde::Deserialize;
use serde_json::json;

use crate::{
    json,
    methods::Context,
    params::{self, Params},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    setting: String,
}

pub(crate) fn run(_context: &Context, params: &Params) -> Answer {
    let Args { setting } = params::read(params)?;
    let settings = ProjectSettings::singleton();
    if !settings.has_setting(&setting) {
        let message = format!("there is no setting `{setting}`");
        return Err(BridgeError::new(404, "setting_not_found", message).with("field", "setting"));
    }
    let value = json::write(&settings.get_setting(&setting))?;
    Ok(json!({ "status": "success", "setting": setting, "value": value }))
}
