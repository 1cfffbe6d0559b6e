//! `runtime_set_paused`: stops and resumes the game's time.
//!
//! Spec: P-54, running games.

use didi_plugin_api::prelude::*;

use super::{GAME, get_tree, pause_state};

const METHOD: &str = "runtime.setPaused";

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    paused: bool,
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "runtime_set_paused",
        "Pauses or resumes the running game; held input goes out on resuming.",
        Effects::SETS,
        GAME,
        METHOD,
    )
    .core()
    .live(GAME, &[METHOD, get_tree::METHOD])
    .preview(|ctx, args: Args| Ok(pause_state(ctx)?.after(json!({"paused": args.paused}))))
    .refuses(&[codes::NOT_CONNECTED, codes::SESSION_KIND_REJECTED])
}
