//! `asset.readImportedStream`: an imported sound as the engine loads it from the disk, past its cache.

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::{
    classes::{AudioStream, ResourceLoader, resource_loader::CacheMode},
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    json,
    methods::Context,
    params::{self, Params},
    refuse,
};

/// What tells how a stream loops, where its class has it.
const LOOPING: [&str; 6] =
    ["loop", "loop_mode", "loop_begin", "loop_end", "loop_offset", "beat_count"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    path: String,
}

pub(crate) fn run(_context: &Context, params: &Params) -> Answer {
    let Args { path } = params::read(params)?;
    let mut loader = ResourceLoader::singleton();
    if !path.starts_with("res://") || !loader.exists(&path) {
        let message = format!("there is no resource `{path}`");
        return Err(refuse::not_found(message, "project_list_resources", "lists what there is"));
    }
    let loaded = loader.load_ex(&path).cache_mode(CacheMode::IGNORE).done();
    let stream = loaded.and_then(|loaded| loaded.try_cast::<AudioStream>().ok());
    let stream = stream.ok_or_else(|| {
        let message = format!("`{path}` is no sound");
        BridgeError::new(422, "not_an_audio_stream", message).with("field", "path")
    })?;
    let mut told = Map::new();
    told.insert("path".into(), path.into());
    told.insert("class".into(), stream.get_class().to_string().into());
    told.insert("length".into(), json::write(&stream.get_length().to_variant())?);
    let properties = stream.get_property_list();
    for name in LOOPING {
        let has =
            |one: VarDictionary| one.get("name").is_some_and(|found| found.stringify() == name);
        if properties.iter_shared().any(has) {
            told.insert(name.into(), json::write(&stream.get(name))?);
        }
    }
    Ok(Value::Object(told))
}
