//! `project.listInputActions`: the input actions that a game will have.

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::{
    classes::{InputEvent, ProjectSettings},
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{file, input};
use crate::{
    methods::Context,
    params::{self, Params},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    action: Option<String>,
    include_engine_defaults: Option<bool>,
}

pub(crate) fn run(_context: &Context, params: &Params) -> Answer {
    let args: Args = params::read(params)?;
    let mut names = file::names_below("input/");
    if let Some(action) = &args.action {
        if !names.contains(action) {
            let message = format!("there is no input action `{action}`");
            let error = BridgeError::new(404, "input_action_not_found", message);
            return Err(error.with("field", "action"));
        }
        names.retain(|name| name == action);
    }
    let mut omitted = 0;
    let mut actions = vec![];
    for name in names {
        let own = is_own(&name);
        if !own && !args.include_engine_defaults.unwrap_or(false) {
            if args.action.is_some() {
                let message = format!("`{name}` is an action of the engine's own");
                return Err(BridgeError::new(409, "engine_default_action", message)
                    .with("retry_with", json!({ "include_engine_defaults": true })));
            }
            omitted += 1;
            continue;
        }
        actions.push(entry(&name));
    }
    Ok(json!({
        "status": "success",
        "actions": actions,
        "omitted_engine_default_count": omitted,
    }))
}

/// Whether the project's file defines an action.
pub(super) fn is_own(action: &str) -> bool {
    file::written(&format!("input/{action}")).is_some()
}

/// Whether the project's file defines an action as the engine does: a dictionary with a list of events.
pub(super) fn is_sound(action: &str) -> bool {
    let written = file::written(&format!("input/{action}")).unwrap_or_default();
    let held = written.try_to::<AnyDictionary>();
    held.is_ok_and(|held| {
        held.get("events").is_some_and(|events| events.get_type() == VariantType::ARRAY)
    })
}

/// Whether the engine or the project has an action.
pub(super) fn is_known(action: &str) -> bool {
    ProjectSettings::singleton().has_setting(&format!("input/{action}"))
}

/// One action as the engine has it.
pub(super) fn entry(action: &str) -> Value {
    let setting = ProjectSettings::singleton().get_setting(&format!("input/{action}"));
    let held = setting
        .try_to::<AnyDictionary>()
        .unwrap_or_else(|_| VarDictionary::new().upcast_any_dictionary());
    let member = |name: &str| held.get(name).unwrap_or_default();
    let events = member("events").try_to::<AnyArray>();
    let events: Vec<Value> = events.map_or_else(
        |_| vec![],
        |events| {
            let events = events.iter_shared();
            events
                .filter_map(|event| event.try_to::<Gd<InputEvent>>().ok())
                .map(|event| input::told(&event))
                .collect()
        },
    );
    json!({
        "action": action,
        "deadzone": member("deadzone").try_to_relaxed::<f64>().unwrap_or(0.5),
        "events": events,
        "defined_by_project": is_own(action),
    })
}
