//! `scene_list_groups`: the groups that a node is in.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{EDITOR, OneNode, read};

pub(crate) fn tool() -> Tool {
    read::<OneNode>(
        "scene_list_groups",
        "Lists the groups that a node of the open scene is in.",
        EDITOR,
        "scene.listGroups",
    )
}
