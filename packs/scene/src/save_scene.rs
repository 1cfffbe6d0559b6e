//! `editor_save_scene`: saves the edited scene, and says what the file then holds.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

/// The editor said that it saved, and the file is as it was.
const SAVE_NOT_WRITTEN: Code = Code::new(409, "save_not_written");
const METHOD: &str = "editor.saveScene";

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "editor_save_scene",
        "Saves the edited scene and reads the file back.",
        Effects::CHANGES,
        |ctx, args: Args| ctx.answer_of_engine(METHOD, args),
    )
    .core()
    .modes(&[Mode::Live])
    .live(&[SessionKind::Editor], &[METHOD])
    .refuses(&[codes::NOT_CONNECTED, codes::NOT_FOUND, codes::CONFLICT, SAVE_NOT_WRITTEN])
}
