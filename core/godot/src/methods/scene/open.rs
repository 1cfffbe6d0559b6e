//! `scene.open`: opens a scene, and answers once the editor shows it.

use didi_engine::Answer;
use didi_wire::BridgeError;
use serde::Deserialize;
use serde_json::json;

use super::file;
use crate::{
    methods::{Begun, Context},
    params::{self, Params},
    refuse,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    scene_path: String,
}

fn ready(params: &Params) -> Result<String, BridgeError> {
    let path = params::read::<Args>(params)?.scene_path;
    if path.starts_with("res://") && file::on_disk(&path).is_file() {
        return Ok(path);
    }
    let message = format!("there is no scene `{path}`");
    Err(refuse::not_found(message, "project_list_resources", "lists the scenes there are"))
}

/// Which scene is edited, once it is known that this one can be opened.
pub(crate) fn preview(_context: &Context, params: &Params) -> Answer {
    ready(params).map(|_| json!({ "resolved": true, "edited_scene": file::edited() }))
}

pub(crate) fn run(_context: &Context, params: &Params) -> Begun {
    let path = ready(params)?;
    let shown = path.clone();
    Ok(file::show(path, move || Ok(json!({ "scene_path": shown }))))
}
