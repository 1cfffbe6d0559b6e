//! `project.setInputAction`: defines an input action.

use didi_engine::Answer;
use godot::prelude::*;
use serde::Deserialize;
use serde_json::json;

use super::{file, input, list_input_actions};
use crate::{
    change::{Change, Planned},
    methods::Context,
    params::{self, Params},
    refuse,
};

/// Most events of one action.
const MAX_EVENTS: usize = 64;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    action: String,
    #[serde(default = "deadzone")]
    deadzone: f32,
    #[serde(default)]
    events: Vec<input::Event>,
    #[serde(default)]
    replace: bool,
}

fn deadzone() -> f32 {
    0.2
}

pub(crate) fn plan(_context: &Context, params: &Params) -> Planned {
    let args: Args = params::read(params)?;
    file::check_loads()?;
    let action = args.action.as_str();
    if action.is_empty() || action.contains(['/', '=', '"', '\n', '\0']) {
        return Err(refuse::invalid("action", format!("`{action}` is no name of an action")));
    }
    if !(0.0..=1.0).contains(&args.deadzone) || args.events.len() > MAX_EVENTS {
        let message = format!("the deadzone is 0 to 1, and at most {MAX_EVENTS} events are taken");
        return Err(refuse::invalid("events", message));
    }
    let own = list_input_actions::is_own(action);
    if own && !args.replace && !list_input_actions::is_sound(action) {
        let message = format!("the project's entry for `{action}` holds no list of events");
        let error = refuse::conflict("malformed_input_map_entry", message);
        let mut again = params.clone();
        again.insert("replace".into(), true.into());
        let reason = "puts a whole entry in its place";
        return Err(refuse::next_call(error, "project_set_input_action", again.into(), reason));
    }
    if own && !args.replace {
        let message = format!("there is an input action `{action}` already");
        let error = refuse::conflict("already_exists", message);
        return Err(error.with("retry_with", json!({ "replace": true })));
    }
    let mut events = VarArray::new();
    for (at, event) in args.events.iter().enumerate() {
        events.push(&input::build(event, at)?.to_variant());
    }
    let before = json!({ "action": own.then(|| list_input_actions::entry(action)) });
    Ok(Change::now(before, move |_| make(&args, &events)))
}

fn make(args: &Args, events: &VarArray) -> Answer {
    let action = args.action.as_str();
    let mut value = VarDictionary::new();
    value.set("deadzone", &args.deadzone.to_variant());
    value.set("events", &events.to_variant());
    file::store(&format!("input/{action}"), &value.to_variant())?;
    let persisted = list_input_actions::is_own(action);
    Ok(json!({
        "action": action,
        "deadzone": crate::json::write(&args.deadzone.to_variant())?,
        "event_count": args.events.len(),
        "defined_by_project": persisted,
        "persisted": persisted,
        "runtime_reloaded": false,
        "takes_effect": "when a game starts",
    }))
}
