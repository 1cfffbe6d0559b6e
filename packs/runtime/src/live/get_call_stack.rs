//! `runtime_get_call_stack`: where a game stands in the debugger, and what its variables hold.
//!
//! Spec: P-54, running games.

use didi_plugin_api::prelude::*;

use super::{BOTH, debugger};

const METHOD: &str = "runtime.getCallStack";

/// The attached engine is a game that no debugger stops.
const NOT_UNDER_DEBUGGER: Code = Code::new(409, "not_under_debugger");
/// The attached engine is a game whose editor has to be asked.
const STACK_IS_WITH_EDITOR: Code = Code::new(409, "stack_is_with_editor");

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default = "some")]
    #[schemars(range(min = 1, max = 128))]
    max_frames: u32,
    /// File, line and its text.
    #[serde(default = "didi_plugin_api::schema::yes")]
    include_source_position: bool,
}

fn some() -> u32 {
    32
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "runtime_get_call_stack",
        "Reads the stack of the game that the editor's debugger stopped: why, file, line and locals.",
        Effects::READS,
        BOTH,
        METHOD,
    )
    .bounded("max_frames, variables of 8 frames, 64 a scope, 1 KiB a value, 192 KiB")
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        debugger::NO_DEBUGGED_GAME,
        debugger::GAME_NOT_STOPPED,
        NOT_UNDER_DEBUGGER,
        STACK_IS_WITH_EDITOR,
        debugger::ADAPTER_UNAVAILABLE,
        debugger::ADAPTER_FAILED,
    ])
}
