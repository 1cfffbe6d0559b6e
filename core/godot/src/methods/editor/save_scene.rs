//! `editor.saveScene`: saves the edited scene, and believes the file rather than the engine.

use std::{fs, time::SystemTime};

use didi_engine::Answer;
use godot::{
    classes::{EditorInterface, ProjectSettings},
    global::Error,
    prelude::*,
};
use serde_json::json;

use crate::{methods::Context, node_path, params::Params, refuse};

/// What a file is told apart by.
#[derive(PartialEq)]
struct Written {
    at: Option<SystemTime>,
    bytes: u64,
}

pub(crate) fn run(_context: &Context, _params: &Params) -> Answer {
    let path = node_path::edited_root()?.get_scene_file_path().to_string();
    if path.is_empty() {
        let message = "the edited scene was never saved, so there is no file to save it to";
        let error = refuse::conflict("scene_never_saved", message);
        let reason = "creates a scene that has a file";
        return Err(refuse::next_call(error, "scene_create", json!({}), reason));
    }
    let before = written(&path);
    let error = EditorInterface::singleton().save_scene();
    let after = written(&path);
    let saved = error == Error::OK && after.is_some() && after != before;
    match after {
        Some(after) if saved => {
            Ok(json!({ "saved": true, "scene_path": path, "file_bytes": after.bytes }))
        }
        _ => {
            let message = format!("`{path}` was not written");
            let error = refuse::conflict("save_not_written", message)
                .with("scene_path", path)
                .with("engine_error", format!("{error:?}"));
            let reason = "what the engine said while it saved";
            Err(refuse::next_call(error, "runtime_read_output", json!({}), reason))
        }
    }
}

fn written(path: &str) -> Option<Written> {
    let file = ProjectSettings::singleton().globalize_path(path).to_string();
    let metadata = fs::metadata(file).ok()?;
    Some(Written { at: metadata.modified().ok(), bytes: metadata.len() })
}
