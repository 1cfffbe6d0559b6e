//! Export presets and exports: the pack's table of contents.
//!
//! Spec: P-56, exports.

use didi_plugin_api::prelude::*;

mod add_preset;
mod export;
mod list_presets;
mod mesh_library;
mod presets;

/// The pack.
pub struct ExportPack;

impl ToolPack for ExportPack {
    fn open() -> Result<Self, String> {
        Ok(ExportPack)
    }

    fn tools(&'static self) -> Vec<Tool> {
        vec![list_presets::tool(), add_preset::tool(), export::tool(), mesh_library::tool()]
    }
}

didi_plugin_api::export_pack!(ExportPack);
