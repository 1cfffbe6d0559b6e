//! The buses of the mixer.

pub(crate) mod add_bus;
pub(crate) mod configure_bus;
pub(crate) mod list_buses;

use godot::{classes::AudioServer, prelude::*};
use serde_json::{Value, json};

use crate::json;

/// One bus as it is now.
pub(super) fn bus(index: i32) -> Value {
    let server = AudioServer::singleton();
    let effects: Vec<Value> = (0..server.get_bus_effect_count(index))
        .filter_map(|at| {
            let effect = server.get_bus_effect(index, at)?;
            let enabled = server.is_bus_effect_enabled(index, at);
            Some(json!({ "class": effect.get_class().to_string(), "enabled": enabled }))
        })
        .collect();
    json!({
        "index": index,
        "name": server.get_bus_name(index).to_string(),
        "volume_db": json::write(&server.get_bus_volume_db(index).to_variant()).unwrap_or_default(),
        "mute": server.is_bus_mute(index),
        "solo": server.is_bus_solo(index),
        "bypass_effects": server.is_bus_bypassing_effects(index),
        "send": server.get_bus_send(index).to_string(),
        "effects": effects,
    })
}
