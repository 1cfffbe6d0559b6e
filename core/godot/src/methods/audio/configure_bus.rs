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
    #[serde(flatten)]
    levels: audio::Levels,
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
    if args.levels.is_empty() {
        let message = "one of `volume_db`, `mute` and `solo` is needed";
        return Err(refuse::invalid("volume_db", message));
    }
    args.levels.check()?;
    let before = audio::bus(index);
    args.levels.set(index);
    Ok(json!({
        "after": audio::bus(index),
        "revert_with": revert(&args.levels, &before),
        "before": before,
        "undo_redo_registered": false,
        "persisted_by_editor": context.kind == SessionKind::Editor,
        "limitation": "undo does not take it back; `revert_with` does",
    }))
}

/// The arguments that bring back what was changed.
fn revert(levels: &audio::Levels, before: &Value) -> Value {
    let mut back = Map::new();
    back.insert("bus".into(), before["name"].clone());
    let changed = [
        ("volume_db", levels.volume_db.is_some()),
        ("mute", levels.mute.is_some()),
        ("solo", levels.solo.is_some()),
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
