//! `scene_remove_node`: takes a node and all below it out of the open scene.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{codes, edit};

const METHOD: &str = "scene.removeNode";

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 1024))]
    target_node: String,
}

pub(crate) fn tool() -> Tool {
    edit::<Args>(
        "scene_remove_node",
        "Removes a node and all below it from the open scene. Undoable.",
        Effects::CHANGES,
        METHOD,
        |args| &args.target_node,
    )
    .core()
    .refuses(&[codes::NODE_INHERITED])
}
