//! `scene_add_to_group`: puts a node into a group.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{codes, edit};

const METHOD: &str = "scene.addToGroup";

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 1024))]
    target_node: String,
    #[schemars(length(min = 1, max = 256))]
    group: String,
    /// Kept in the scene's file.
    #[serde(default = "didi_plugin_api::schema::yes")]
    persistent: bool,
}

pub(crate) fn tool() -> Tool {
    edit::<Args>(
        "scene_add_to_group",
        "Puts a node of the open scene into a group. Undoable.",
        Effects { only_adds: true, ..Effects::SETS },
        METHOD,
        |args| &args.target_node,
    )
    .core()
    .refuses(&[codes::ALREADY_EXISTS])
}
