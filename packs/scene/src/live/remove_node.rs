//! `scene_remove_node`: takes a node and all below it out of the open scene.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{OneNode, codes, edit};

const METHOD: &str = "scene.removeNode";

pub(crate) fn tool() -> Tool {
    edit::<OneNode>(
        "scene_remove_node",
        "Removes a node and all below it from the open scene. Undoable.",
        Effects::CHANGES,
        METHOD,
        |args| &args.target_node,
    )
    .core()
    .refuses(&[codes::NODE_INHERITED])
}
