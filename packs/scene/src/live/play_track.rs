//! `anim_play_track`: has a player of a running game play an animation.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{GAME, codes, list_tracks};

const METHOD: &str = "anim.playTrack";

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 1024))]
    animation_player_path: String,
    #[schemars(length(min = 1, max = 256))]
    animation_name: String,
    /// Negative runs backwards.
    #[serde(default = "once")]
    #[schemars(range(min = -16, max = 16))]
    custom_speed: f64,
    #[serde(default)]
    from_end: bool,
}

fn once() -> f64 {
    1.0
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "anim_play_track",
        "Plays an animation of an AnimationPlayer in the running game.",
        Effects::CHANGES,
        GAME,
        METHOD,
    )
    .live(GAME, &[METHOD, list_tracks::METHOD])
    .preview(preview)
    .checked(check)
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::NOT_FOUND,
        codes::SESSION_KIND_REJECTED,
        codes::TIMEOUT,
    ])
}

fn check(args: &Args) -> Result<(), Refusal> {
    if args.custom_speed == 0.0 {
        return Err(Refusal::invalid("custom_speed", "at a speed of 0 an animation does not play"));
    }
    if args.custom_speed < 0.0 && !args.from_end {
        let message = "an animation that runs backwards begins at its end";
        return Err(Refusal::new(codes::INVALID_ARGUMENTS, message)
            .with("field", "from_end")
            .retry_with(json!({"from_end": true})));
    }
    Ok(())
}

/// The animation as the player has it; the player's own state is part of the answer alone.
fn preview(ctx: &Ctx<'_>, args: Args) -> Result<Target, Refusal> {
    let player = json!({"animation_player_path": args.animation_player_path});
    let listed = ctx.bridge_call(list_tracks::METHOD, player)?;
    let animations = listed["animations"].as_array();
    let found = animations.into_iter().flatten().find(|one| one["name"] == args.animation_name);
    let Some(found) = found else {
        let message = format!("the player has no animation `{}`", args.animation_name);
        return Err(Refusal::new(codes::NOT_FOUND, message).next_call_with(
            "anim_list_tracks",
            json!({"animation_player_path": args.animation_player_path}),
            "lists its animations",
        ));
    };
    let before = json!({"animation_name": found["name"], "length": found["length"]});
    Ok(Target::read(args.animation_player_path, true, before))
}
