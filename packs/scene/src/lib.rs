//! Scenes: the node tree and what is in it: the pack's table of contents.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

mod get_hierarchy;
mod list_buses;
mod rename_node;
mod save_scene;
mod walk;

/// The pack.
pub struct ScenePack;

impl ToolPack for ScenePack {
    fn open() -> Result<Self, String> {
        Ok(ScenePack)
    }

    fn tools(&'static self) -> Vec<Tool> {
        vec![get_hierarchy::tool(), list_buses::tool(), rename_node::tool(), save_scene::tool()]
    }
}

didi_plugin_api::export_pack!(ScenePack);
