//! The buses of the mixer.

pub(crate) mod add_bus;
pub(crate) mod configure_bus;
pub(crate) mod list_buses;

use std::ops::RangeInclusive;

use didi_wire::BridgeError;
use godot::{classes::AudioServer, prelude::*};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{json, refuse};

/// The volumes that a bus may be given, in decibels.
const VOLUME_DB: RangeInclusive<f32> = -80.0..=24.0;

/// What may be set of a bus.
#[derive(Deserialize)]
struct Levels {
    volume_db: Option<f32>,
    mute: Option<bool>,
    solo: Option<bool>,
}

impl Levels {
    /// Refuses a volume that is out of bounds.
    fn check(&self) -> Result<(), BridgeError> {
        if self.volume_db.is_none_or(|volume| VOLUME_DB.contains(&volume)) {
            return Ok(());
        }
        let (least, most) = (VOLUME_DB.start(), VOLUME_DB.end());
        Err(refuse::invalid("volume_db", format!("{least} to {most} decibels are taken")))
    }

    /// Whether there is nothing to set.
    fn is_empty(&self) -> bool {
        self.volume_db.is_none() && self.mute.is_none() && self.solo.is_none()
    }

    /// Gives them to a bus.
    fn set(&self, bus: i32) {
        let mut server = AudioServer::singleton();
        if let Some(volume) = self.volume_db {
            server.set_bus_volume_db(bus, volume);
        }
        if let Some(mute) = self.mute {
            server.set_bus_mute(bus, mute);
        }
        if let Some(solo) = self.solo {
            server.set_bus_solo(bus, solo);
        }
    }
}

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
