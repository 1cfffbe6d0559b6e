//! `project_remove_input_action`: takes an input action of the project's own out.
//!
//! Spec: P-50, settings.

use didi_plugin_api::prelude::*;

use crate::{
    list_input_actions::{ENGINE_DEFAULT_ACTION, INPUT_ACTION_NOT_FOUND},
    set_autoload::{EDITOR, FILE_NOT_WRITABLE},
};

const METHOD: &str = "project.removeInputAction";

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 256))]
    action: String,
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "project_remove_input_action",
        "Removes an input action from project.godot; one of the engine's own gets its default back.",
        Effects::SETS,
        EDITOR,
        METHOD,
    )
    .probed(METHOD, |args: &Args| &args.action)
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::CONFLICT,
        ENGINE_DEFAULT_ACTION,
        INPUT_ACTION_NOT_FOUND,
        FILE_NOT_WRITABLE,
    ])
}
