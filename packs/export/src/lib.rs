//! Export presets and exports: the pack's table of contents.

use didi_plugin_api::prelude::*;

/// The pack.
pub struct ExportPack;

impl ToolPack for ExportPack {
    fn open() -> Result<Self, String> {
        Ok(ExportPack)
    }

    fn tools(&'static self) -> Vec<Tool> {
        vec![]
    }
}

didi_plugin_api::export_pack!(ExportPack);
