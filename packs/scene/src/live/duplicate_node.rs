//! `scene_duplicate_node`: a copy of a branch beside it.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{OneNode, codes, edit};

const METHOD: &str = "scene.duplicateNode";

pub(crate) fn tool() -> Tool {
    edit::<OneNode>(
        "scene_duplicate_node",
        "Copies a node and all below it beside the original; both hold the same resources. Undoable.",
        Effects::ADDS,
        METHOD,
        |args| &args.target_node,
    )
    .refuses(&[codes::NODE_INHERITED])
}
