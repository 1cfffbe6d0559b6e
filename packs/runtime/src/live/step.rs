//! `runtime_step`: lets a paused game run for some frames.
//!
//! Spec: P-54, running games.

use didi_plugin_api::prelude::*;

use super::{GAME, get_tree, pause_state};

const METHOD: &str = "runtime.step";

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 60))]
    frames: u32,
}

fn one() -> u32 {
    1
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "runtime_step",
        "Runs a paused game for exact frames and pauses it again.",
        Effects::CHANGES,
        GAME,
        METHOD,
    )
    .core()
    .live(GAME, &[METHOD, get_tree::METHOD])
    .preview(|ctx, _: Args| paused(ctx))
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::SESSION_KIND_REJECTED,
        codes::GAME_NOT_PAUSED,
        codes::RUNTIME_STEP_ACTIVE,
        codes::REPAUSE_FAILED,
    ])
}

/// A game that can be stepped, as the call would find it.
fn paused(ctx: &Ctx<'_>) -> Result<Target, Refusal> {
    let target = pause_state(ctx)?;
    if target.before["paused"] == true {
        return Ok(target);
    }
    let message = "the game runs, so it cannot be stepped";
    Err(Refusal::new(codes::GAME_NOT_PAUSED, message).next_call_with(
        "runtime_set_paused",
        json!({"paused": true}),
        "pauses it",
    ))
}
