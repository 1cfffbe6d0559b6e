//! `project_remove_autoload`: the project loads a script or scene no more before its first scene.
//!
//! Spec: P-50, settings.

use didi_plugin_api::prelude::*;

use crate::set_autoload::{EDITOR, FILE_NOT_WRITABLE};

const METHOD: &str = "project.removeAutoload";

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 256))]
    name: String,
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "project_remove_autoload",
        "Removes an autoload from project.godot.",
        Effects::SETS,
        EDITOR,
        METHOD,
    )
    .probed(METHOD, |args: &Args| &args.name)
    .leaves(&[Work::Restart])
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::NOT_FOUND,
        codes::CONFLICT,
        FILE_NOT_WRITABLE,
    ])
}
