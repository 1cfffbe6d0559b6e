//! `scene_get_group_members`: who of the open scene is in a group.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{EDITOR, read};

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 256))]
    group: String,
}

pub(crate) fn tool() -> Tool {
    read::<Args>(
        "scene_get_group_members",
        "Lists the nodes of the open scene in a group, and the groups there are.",
        EDITOR,
        "scene.getGroupMembers",
    )
    .bounded("known_groups capped at 128; members is whole")
}
