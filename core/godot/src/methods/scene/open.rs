//! `scene.open`: opens a scene, and answers once the editor shows it.

use serde::Deserialize;
use serde_json::json;

use super::{file, packed};
use crate::{
    change::{Change, Planned},
    methods::{Context, editor},
    params::{self, Params},
    refuse,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    scene_path: String,
}

pub(crate) fn plan(_context: &Context, params: &Params) -> Planned {
    let path = params::read::<Args>(params)?.scene_path;
    if !path.starts_with("res://") || !file::on_disk(&path).is_file() {
        let message = format!("there is no scene `{path}`");
        let reason = "lists the scenes there are";
        return Err(refuse::not_found(message, "project_list_resources", reason));
    }
    if !editor::open_scenes().contains(&path) {
        packed::check_whole_deep(&path)?;
    }
    let before = json!({ "resolved": true, "edited_scene": file::edited() });
    let shown = path.clone();
    let answer = move || Ok(json!({ "scene_path": shown }));
    Ok(Change::later(before, move |_| Ok(file::show(path, answer))))
}
