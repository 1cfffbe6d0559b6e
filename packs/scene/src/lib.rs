//! Scenes: the node tree and what is in it: the pack's table of contents.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

mod get_hierarchy;
mod list_buses;
mod live;
mod rename_node;
mod reserved;
mod walk;

/// The pack.
pub struct ScenePack;

impl ToolPack for ScenePack {
    fn open() -> Result<Self, String> {
        Ok(ScenePack)
    }

    fn tools(&'static self) -> Vec<Tool> {
        let mut tools = vec![get_hierarchy::tool(), list_buses::tool(), rename_node::tool()];
        tools.extend(live::tools());
        tools.extend(reserved::tools());
        tools
    }
}

didi_plugin_api::export_pack!(ScenePack);
