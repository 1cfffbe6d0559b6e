//! Scenes: the node tree and what is in it: the pack's table of contents.

use didi_plugin_api::prelude::*;

/// The pack.
pub struct ScenePack;

impl ToolPack for ScenePack {
    fn open() -> Result<Self, String> {
        Ok(ScenePack)
    }

    fn tools(&'static self) -> Vec<Tool> {
        vec![]
    }
}

didi_plugin_api::export_pack!(ScenePack);
