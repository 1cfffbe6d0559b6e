//! `runtime_stop`: asks the game to end.
//!
//! Spec: P-54, running games.

use didi_plugin_api::prelude::*;

use super::GAME;

const METHOD: &str = "runtime.stop";

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default)]
    exit_code: u8,
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "runtime_stop",
        "Asks the running game to end with an exit code.",
        Effects::CHANGES,
        GAME,
        METHOD,
    )
    .core()
    .refuses(&[codes::INVALID_ARGUMENTS, codes::NOT_CONNECTED, codes::SESSION_KIND_REJECTED])
}
