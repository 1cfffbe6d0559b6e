//! Pictures and the test lab: the pack's table of contents.
//!
//! Spec: P-55, pictures.

use didi_plugin_api::prelude::*;

mod capture_frame;
mod capture_passes;
mod test_lab;

/// The pack.
pub struct VisionPack;

impl ToolPack for VisionPack {
    fn open() -> Result<Self, String> {
        Ok(VisionPack)
    }

    fn tools(&'static self) -> Vec<Tool> {
        vec![capture_frame::tool(), capture_passes::tool(), test_lab::tool()]
    }
}

didi_plugin_api::export_pack!(VisionPack);
