//! `scene_get_selection`: the nodes that a person has selected in the editor.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{EDITOR, read};

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {}

pub(crate) fn tool() -> Tool {
    read::<Args>(
        "scene_get_selection",
        "Tells which nodes are selected in the editor.",
        EDITOR,
        "editor.getSelection",
    )
    .bounded("256 selected nodes")
}
