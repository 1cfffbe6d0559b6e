//! `editor_save_scene`: saves the edited scene, and says what the file then holds.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{EDITOR, codes};

const METHOD: &str = "editor.saveScene";

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "editor_save_scene",
        "Saves the edited scene and reads the file back.",
        Effects::CHANGES,
        EDITOR,
        METHOD,
    )
    .core()
    .refuses(&[
        codes::NOT_CONNECTED,
        codes::NOT_FOUND,
        codes::CONFLICT,
        codes::NO_EDITED_SCENE,
        codes::SCENE_NEVER_SAVED,
        codes::SAVE_NOT_WRITTEN,
    ])
}
