//! `scene_remove_from_group`: takes a node out of a group.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::edit;

const METHOD: &str = "scene.removeFromGroup";

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 1024))]
    target_node: String,
    #[schemars(length(min = 1, max = 256))]
    group: String,
}

pub(crate) fn tool() -> Tool {
    edit::<Args>(
        "scene_remove_from_group",
        "Takes a node of the open scene out of a group. Undoable.",
        Effects::SETS,
        METHOD,
        |args| &args.target_node,
    )
}
