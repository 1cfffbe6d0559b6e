//! `editor.getState`: whether an editor answers, and which scene it shows.

use didi_engine::Answer;
use godot::{classes::EditorInterface, prelude::*};
use serde_json::json;

use crate::{
    edit::history,
    methods::{Context, editor},
    node_path,
    params::Params,
};

pub(crate) fn run(_context: &Context, _params: &Params) -> Answer {
    let root = EditorInterface::singleton().get_edited_scene_root();
    let scene = root.map(|root| {
        let file = root.get_scene_file_path().to_string();
        json!({
            "path": node_path::in_scene(&root, &root),
            "name": root.get_name().to_string(),
            "type": root.get_class().to_string(),
            "scene_file_path": Some(file).filter(|file| !file.is_empty()),
        })
    });
    let (readable, unsaved) = editor::unsaved_scenes();
    Ok(json!({
        "status": "connected",
        "active_scene": scene,
        "open_scenes": editor::open_scenes(),
        "is_playing": EditorInterface::singleton().is_playing_scene(),
        "unsaved_scenes_readable": readable,
        "unsaved_scenes": unsaved,
        "undo_histories": history::now(),
    }))
}
