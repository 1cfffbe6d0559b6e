//! Running games: the pack's table of contents.

use didi_plugin_api::prelude::*;

/// The pack.
pub struct RuntimePack;

impl ToolPack for RuntimePack {
    fn open() -> Result<Self, String> {
        Ok(RuntimePack)
    }

    fn tools(&'static self) -> Vec<Tool> {
        vec![]
    }
}

didi_plugin_api::export_pack!(RuntimePack);
