//! `scene_reparent_node`: moves a branch of the open scene below another node.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{codes, edit};

const METHOD: &str = "scene.reparentNode";

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 1024))]
    target_node: String,
    #[schemars(length(min = 1, max = 1024))]
    new_parent_path: String,
    /// It stays where it is in the world.
    #[serde(default = "didi_plugin_api::schema::yes")]
    keep_global_transform: bool,
}

pub(crate) fn tool() -> Tool {
    edit::<Args>(
        "scene_reparent_node",
        "Moves a node and all below it under another node, in place. Undoable.",
        Effects::CHANGES,
        METHOD,
        |args| &args.target_node,
    )
    .refuses(&[codes::NODE_INHERITED])
}
