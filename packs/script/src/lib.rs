//! Scripts: symbols, creation, checks: the pack's table of contents.

use didi_plugin_api::prelude::*;

/// The pack.
pub struct ScriptPack;

impl ToolPack for ScriptPack {
    fn open() -> Result<Self, String> {
        Ok(ScriptPack)
    }

    fn tools(&'static self) -> Vec<Tool> {
        vec![]
    }
}

didi_plugin_api::export_pack!(ScriptPack);
