//! `audio.configureBus`: volume, mute and solo of a bus.

use didi_engine::Answer;
use didi_wire::{BridgeError, SessionKind};
use godot::{classes::AudioServer, prelude::*};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    methods::{Context, audio},
    params::{self, Params},
    refuse,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    bus: Bus,
    volume_db: Option<f32>,
    mute: Option<bool>,
    solo: Option<bool>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Bus {
    Index(i32),
    Name(String),
}

pub(crate) fn run(context: &Context, params: &Params) -> Answer {
    let args: Args = params::read(params)?;
    let index = find(&args.bus)?;
    let quiet = args.volume_db.is_none() && args.mute.is_none() && args.solo.is_none();
    if quiet || args.volume_db.is_some_and(|volume| !(-80.0..=24.0).contains(&volume)) {
        let message = "one of `volume_db`, -80 to 24, `mute` and `solo` is needed";
        return Err(refuse::invalid("volume_db", message));
    }
    let mut server = AudioServer::singleton();
    let before = audio::bus(index);
    if let Some(volume) = args.volume_db {
        server.set_bus_volume_db(index, volume);
    }
    if let Some(mute) = args.mute {
        server.set_bus_mute(index, mute);
    }
    if let Some(solo) = args.solo {
        server.set_bus_solo(index, solo);
    }
    Ok(json!({
        "after": audio::bus(index),
        "revert_with": revert(&args, &before),
        "before": before,
        "undo_redo_registered": false,
        "persisted_by_editor": context.kind == SessionKind::Editor,
        "limitation": "undo does not take it back; `revert_with` does",
    }))
}

/// The arguments that bring back what was changed.
fn revert(args: &Args, before: &Value) -> Value {
    let mut back = Map::new();
    back.insert("bus".into(), before["name"].clone());
    let changed = [
        ("volume_db", args.volume_db.is_some()),
        ("mute", args.mute.is_some()),
        ("solo", args.solo.is_some()),
    ];
    for (name, _) in changed.into_iter().filter(|(_, changed)| *changed) {
        back.insert(name.into(), before[name].clone());
    }
    back.into()
}

fn find(bus: &Bus) -> Result<i32, BridgeError> {
    let server = AudioServer::singleton();
    let index = match bus {
        Bus::Index(index) => {
            Some(*index).filter(|index| (0..server.get_bus_count()).contains(index))
        }
        Bus::Name(name) => Some(server.get_bus_index(name)).filter(|index| *index >= 0),
    };
    index.ok_or_else(|| {
        refuse::not_found("there is no such bus", "audio_list_buses", "lists them")
            .with("field", "bus")
    })
}
