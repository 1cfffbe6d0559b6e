//! Pictures and the test lab: the pack's table of contents.

use didi_plugin_api::prelude::*;

/// The pack.
pub struct VisionPack;

impl ToolPack for VisionPack {
    fn open() -> Result<Self, String> {
        Ok(VisionPack)
    }

    fn tools(&'static self) -> Vec<Tool> {
        vec![]
    }
}

didi_plugin_api::export_pack!(VisionPack);
