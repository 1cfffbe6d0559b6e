//! `editor.getRecoveryState`: whether the editor has come to rest.

use didi_engine::Answer;
use godot::{classes::EditorInterface, prelude::*};
use serde_json::json;

use crate::{background, methods::Context, params::Params, waiting};

pub(crate) fn run(_context: &Context, _params: &Params) -> Answer {
    let scanning = waiting::file_system().is_none_or(|files| files.is_scanning());
    Ok(json!({
        "ready": !scanning && !background::is_busy(),
        "filesystem_scanning": scanning || background::is_busy(),
        "is_playing": EditorInterface::singleton().is_playing_scene(),
    }))
}
