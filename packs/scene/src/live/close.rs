//! `scene_close`: closes the edited scene, unless that would lose what is not saved.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{EDITOR, codes};

const METHOD: &str = "scene.close";

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Without the check.
    #[serde(default)]
    discard_unsaved: bool,
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "scene_close",
        "Closes the edited scene; refused when unsaved changes can't be ruled out.",
        Effects::CHANGES,
        EDITOR,
        METHOD,
    )
    .core()
    .refuses(&[
        codes::NOT_CONNECTED,
        codes::NO_EDITED_SCENE,
        codes::UNSAVED_CHANGES,
        codes::DIRTY_STATE_UNAVAILABLE,
        codes::SCENE_NEVER_SAVED,
        codes::UNSAVED_SCAN_LIMIT,
    ])
}
