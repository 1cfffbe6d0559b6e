//! `audio.listBuses`: all buses as they are now.

use didi_engine::Answer;
use godot::{classes::AudioServer, prelude::*};
use serde_json::{Value, json};

use crate::{
    methods::{Context, audio},
    params::Params,
};

pub(crate) fn run(_context: &Context, _params: &Params) -> Answer {
    let count = AudioServer::singleton().get_bus_count();
    let buses: Vec<Value> = (0..count).map(audio::bus).collect();
    Ok(json!({ "status": "success", "buses": buses, "bus_count": count, "truncated": false }))
}
