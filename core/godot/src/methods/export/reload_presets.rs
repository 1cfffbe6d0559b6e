//! `export.reloadPresets`: has the editor read `export_presets.cfg` anew, which was written behind it.
//!
//! The editor has no call for that. It reads the file again when an export platform comes or goes, in its next frame; so
//! one that does nothing comes and goes.

use std::time::Duration;

use didi_wire::BridgeError;
use godot::{
    classes::{EditorExportPlatformExtension, EditorPlugin, Engine},
    prelude::*,
};
use serde_json::json;

use crate::{
    methods::{Begun, Context},
    params::{self, Params},
    refuse,
    waiting::Until,
};

/// Frames after which the file was read.
const FRAMES: u64 = 2;
const LIMIT: Duration = Duration::from_secs(14);

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {}

pub(crate) fn run(_context: &Context, params: &Params) -> Begun {
    let Args {} = params::read(params)?;
    let platform = EditorExportPlatformExtension::new_gd();
    let mut plugin = EditorPlugin::new_alloc();
    plugin.add_export_platform(&platform);
    plugin.remove_export_platform(&platform);
    plugin.free();
    let read_at = Engine::singleton().get_process_frames() + FRAMES;
    Ok(Until::boxed(LIMIT, late, move || {
        let is_read = Engine::singleton().get_process_frames() > read_at;
        is_read.then(|| Ok(json!({ "reloaded": true })))
    }))
}

fn late() -> BridgeError {
    refuse::engine("presets_not_read", "the editor drew no frame in which it reads its presets")
}
