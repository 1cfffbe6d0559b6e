//! `runtime.injectInput`: input as the game would get it from its devices.
//!
//! The whole batch is built before its first event goes out. A paused game's batch is held, unless the caller
//! wants it now.

mod events;

use didi_engine::Answer;
use godot::{
    classes::{DisplayServer, Input, InputEvent},
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use self::events::{Built, Event};
use super::held_input;
use crate::{
    methods::Context,
    node_path,
    params::{self, Params},
    refuse,
};

/// Most events of a batch.
const MAX_EVENTS: usize = 32;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    events: Vec<Event>,
    #[serde(default)]
    #[allow(dead_code, reason = "there is one context")]
    target_context: Option<TargetContext>,
    #[serde(default)]
    paused_delivery: Delivery,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum TargetContext {
    GameInput,
}

#[derive(Deserialize, Default, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Delivery {
    #[default]
    Hold,
    Now,
}

pub(crate) fn run(context: &Context, params: &Params) -> Answer {
    let args: Args = params::read(params)?;
    let count = args.events.len();
    if !(1..=MAX_EVENTS).contains(&count) {
        return Err(refuse::invalid("events", format!("1 to {MAX_EVENTS} events are taken")));
    }
    let built = events::build(&args.events)?;
    let paused = node_path::scene_tree()?.is_paused();
    let holds = paused && args.paused_delivery == Delivery::Hold;
    let (dispatched, queued, delivery) = match built {
        Built::Focus(focused) => {
            events::tell_focus(focused)?;
            (1, 0, "synthetic_focus")
        }
        Built::Input(events) if holds => {
            if held_input::count() + events.len() > held_input::MAX_HELD {
                let message = format!("{} events are held already", held_input::count());
                let error = refuse::conflict("input_queue_full", message);
                return Err(refuse::next_call(error, "runtime_step", json!({}), "hands them over"));
            }
            held_input::hold(events);
            (0, count, "next_unpaused_frame")
        }
        Built::Input(events) => {
            dispatch(&events);
            (events.len(), 0, if paused { "while_paused" } else { "immediate" })
        }
    };
    let os_window_focused = DisplayServer::singleton().window_is_focused();
    Ok(json!({
        "dispatched_event_count": dispatched,
        "queued_event_count": queued,
        "event_types": args.events.iter().map(Event::kind).collect::<Vec<_>>(),
        "input_state": if holds { Value::Null } else { state(&args.events) },
        "outcome": if queued > 0 { "queued" } else { "completed" },
        "rollback": "not_available",
        "paused": paused,
        "delivery": delivery,
        "os_window_focused": os_window_focused,
        "session_kind": context.kind.as_str(),
    }))
}

fn dispatch(events: &[Gd<InputEvent>]) {
    let mut input = Input::singleton();
    for event in events {
        input.parse_input_event(event);
    }
    input.flush_buffered_events();
}

/// What the engine's input holds now, for each control of the batch.
fn state(events: &[Event]) -> Value {
    let controls = events.iter().filter_map(Event::observed).collect::<Map<_, _>>();
    if controls.is_empty() { Value::Null } else { controls.into() }
}
