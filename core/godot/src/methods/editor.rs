//! The editor itself: what is open, saving, undo and redo.

pub(crate) mod get_protocol_servers;
pub(crate) mod get_recovery_state;
pub(crate) mod get_selection;
pub(crate) mod get_state;
pub(crate) mod open_scenes;
pub(crate) mod redo;
pub(crate) mod reload_project;
pub(crate) mod save_scene;
mod steps;
pub(crate) mod undo;

use godot::{classes::EditorInterface, prelude::*};
use serde_json::{Value, json};

/// Paths of the open scenes, in the order of their tabs.
pub(crate) fn open_scenes() -> Vec<String> {
    let open = EditorInterface::singleton().get_open_scenes();
    open.as_slice().iter().map(ToString::to_string).collect()
}

/// Which open scenes have unsaved changes, where the engine can tell; it can from 4.7 on.
pub(crate) fn unsaved_scenes() -> (bool, Value) {
    let mut editor = EditorInterface::singleton();
    if !editor.has_method("get_unsaved_scenes") {
        return (false, Value::Null);
    }
    let scenes = editor.call("get_unsaved_scenes", &[]).to::<PackedStringArray>();
    let scenes: Vec<String> = scenes.as_slice().iter().map(ToString::to_string).collect();
    (true, json!(scenes))
}
