//! `scene.open`: opens a scene, and answers once the editor shows it.

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

pub(crate) fn run(_context: &Context, params: &Params) -> Begun {
    let args: Args = params::read(params)?;
    let path = args.scene_path;
    if !path.starts_with("res://") || !file::on_disk(&path).is_file() {
        let message = format!("there is no scene `{path}`");
        return Err(refuse::not_found(
            message,
            "project_list_resources",
            "lists the scenes there are",
        ));
    }
    let shown = path.clone();
    Ok(file::show(path, move || Ok(json!({ "scene_path": shown }))))
}
