//! Pictures and the test lab: the pack's table of contents.
//!
//! Spec: P-55, pictures.

use didi_plugin_api::prelude::*;

mod capture_frame;
mod capture_passes;
mod debug_draw;
mod diff_capture;
mod ghosts;
mod set_camera;
mod test_lab;

#[cfg(test)]
mod tests;

const EDITOR: &[SessionKind] = &[SessionKind::Editor];

/// The pack.
pub struct VisionPack;

impl ToolPack for VisionPack {
    fn open() -> Result<Self, String> {
        Ok(VisionPack)
    }

    fn tools(&'static self) -> Vec<Tool> {
        vec![
            capture_frame::tool(),
            capture_passes::tool(),
            diff_capture::tool(),
            set_camera::tool(),
            debug_draw::tool(),
            ghosts::render(),
            ghosts::clear(),
            test_lab::tool(),
        ]
    }
}

didi_plugin_api::export_pack!(VisionPack);
