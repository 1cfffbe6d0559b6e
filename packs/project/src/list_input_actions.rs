//! `project_list_input_actions`: the input actions that a game will have.
//!
//! Spec: P-50, settings.

use didi_plugin_api::prelude::*;

const METHOD: &str = "project.listInputActions";

/// There is no such action.
pub(crate) const INPUT_ACTION_NOT_FOUND: Code = Code::new(404, "input_action_not_found");
/// The action is the engine's own.
pub(crate) const ENGINE_DEFAULT_ACTION: Code = Code::new(409, "engine_default_action");

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    action: Option<String>,
    /// Adds the engine's `ui_*`.
    #[serde(skip_serializing_if = "Option::is_none")]
    include_engine_defaults: Option<bool>,
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "project_list_input_actions",
        "Lists the project's input actions with their events, or one of them.",
        Effects::READS,
        &[SessionKind::Editor],
        METHOD,
    )
    .core()
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        INPUT_ACTION_NOT_FOUND,
        ENGINE_DEFAULT_ACTION,
    ])
}
