//! `scene_open`: opens a scene in the editor.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{EDITOR, codes};

const METHOD: &str = "scene.open";

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 1024))]
    scene_path: String,
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "scene_open",
        "Opens a scene in the editor, and answers once it is the edited one.",
        Effects::SETS,
        EDITOR,
        METHOD,
    )
    .core()
    .probed(METHOD, |args: &Args| &args.scene_path)
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::NOT_FOUND,
        codes::DEPENDENCIES_MISSING,
        codes::NOT_A_PACKED_SCENE,
        codes::ROUTE_DEADLINE_EXCEEDED,
    ])
}
