//! `editor.getSelection`: the nodes that a person has selected.

use didi_engine::Answer;
use godot::{classes::EditorInterface, prelude::*};
use serde_json::{Value, json};

use crate::{methods::Context, node_path, params::Params};

/// Most nodes told.
const MAX_SELECTED: usize = 256;

pub(crate) fn run(_context: &Context, _params: &Params) -> Answer {
    let editor = EditorInterface::singleton();
    let root = editor.get_edited_scene_root();
    let nodes = editor.get_selection().map(|selection| selection.get_selected_nodes());
    let nodes: Vec<Gd<Node>> = nodes.map(|nodes| nodes.iter_shared().collect()).unwrap_or_default();
    let inside = |node: &&Gd<Node>| {
        root.as_ref().is_some_and(|root| *node == root || root.is_ancestor_of(*node))
    };
    let selected: Vec<Value> = nodes
        .iter()
        .filter(inside)
        .take(MAX_SELECTED)
        .map(|node| {
            json!({
                "node_path": root.as_ref().map(|root| node_path::in_scene(root, node)),
                "class": node.get_class().to_string(),
                "name": node.get_name().to_string(),
            })
        })
        .collect();
    let file = root.as_ref().map(|root| root.get_scene_file_path().to_string());
    Ok(json!({
        "status": "success",
        "count": selected.len(),
        "truncated": nodes.iter().filter(inside).count() > selected.len(),
        "selected": selected,
        "selected_total": nodes.len(),
        "scene_is_unsaved": file.as_ref().is_some_and(String::is_empty),
        "scene_file_path": file.filter(|file| !file.is_empty()),
    }))
}
