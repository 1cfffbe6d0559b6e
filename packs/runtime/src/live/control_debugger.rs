//! `runtime_control_debugger`: runs a game under the editor's debugger, lets one that stands go on, or ends it.
//!
//! A game that stands answers nothing, so `runtime_set_paused` and `runtime_stop` don't reach it.
//!
//! Spec: P-54, running games.

use didi_plugin_api::prelude::*;

use super::{SESSION_KIND_REJECTED, debugger};

const METHOD: &str = "runtime.controlDebugger";

/// The editor runs a game already.
const GAME_ALREADY_PLAYING: Code = Code::new(409, "game_already_playing");
/// The project names no scene to begin with.
const NO_MAIN_SCENE: Code = Code::new(409, "no_main_scene");
/// The game ended before the debugger had it.
const GAME_NOT_STARTED: Code = Code::new(502, "game_not_started");

const EDITOR: &[SessionKind] = &[SessionKind::Editor];

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    action: Action,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Play,
    Continue,
    Stop,
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "runtime_control_debugger",
        "Plays the main scene from the editor, continues a game that its debugger stopped, or stops it.",
        Effects::EXECUTES,
        EDITOR,
        METHOD,
    )
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        SESSION_KIND_REJECTED,
        debugger::NO_DEBUGGED_GAME,
        debugger::GAME_NOT_STOPPED,
        GAME_ALREADY_PLAYING,
        NO_MAIN_SCENE,
        GAME_NOT_STARTED,
        debugger::ADAPTER_UNAVAILABLE,
        debugger::ADAPTER_FAILED,
    ])
}
