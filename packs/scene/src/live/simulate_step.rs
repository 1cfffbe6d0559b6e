//! `physics_simulate_step`: lets a paused game run for exact ticks of its physics.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{GAME, codes};

const METHOD: &str = "physics.simulateStep";
/// Tells whether the game is paused.
const TREE: &str = "runtime.getTree";

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 60))]
    steps: u32,
    /// Seconds a tick; the game's own without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.000_001, max = 0.25))]
    delta: Option<f64>,
}

fn one() -> u32 {
    1
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "physics_simulate_step",
        "Runs a paused game for exact physics ticks and says what moved.",
        Effects::CHANGES,
        GAME,
        METHOD,
    )
    .live(GAME, &[METHOD, TREE])
    .preview(|ctx, _: Args| paused(ctx))
    .bounded("64 moved nodes of 10,000 that are compared")
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::SESSION_KIND_REJECTED,
        codes::TIMEOUT,
        codes::GAME_NOT_PAUSED,
        codes::RUNTIME_STEP_ACTIVE,
        codes::REPAUSE_FAILED,
    ])
}

/// A game that can be stepped, as the call would find it.
fn paused(ctx: &Ctx<'_>) -> Result<Target, Refusal> {
    let said = ctx.bridge_call(TREE, json!({"max_depth": 0}))?;
    if said["paused"] != true {
        let message = "the game runs, so it cannot be stepped";
        return Err(Refusal::new(codes::GAME_NOT_PAUSED, message).next_call_with(
            "runtime_set_paused",
            json!({"paused": true}),
            "pauses it",
        ));
    }
    Ok(Target::read("the game's physics", true, json!({"paused": true})))
}
