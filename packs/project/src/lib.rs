//! The project: files, search, settings, blackboards: the pack's table of contents.

use didi_plugin_api::prelude::*;

/// The pack.
pub struct ProjectPack;

impl ToolPack for ProjectPack {
    fn open() -> Result<Self, String> {
        Ok(ProjectPack)
    }

    fn tools(&'static self) -> Vec<Tool> {
        vec![]
    }
}

didi_plugin_api::export_pack!(ProjectPack);
