//! `anim.playTrack`: has a player of a running game play an animation.

use didi_engine::Answer;
use didi_wire::BridgeError;
use serde::Deserialize;
use serde_json::json;

use crate::{
    methods::{Context, anim},
    params::{self, Params},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    animation_player_path: String,
    animation_name: String,
    #[serde(default = "once")]
    custom_speed: f32,
    #[serde(default)]
    from_end: bool,
}

fn once() -> f32 {
    1.0
}

pub(crate) fn run(context: &Context, params: &Params) -> Answer {
    let args: Args = params::read(params)?;
    let mut player = anim::player(context.kind, &args.animation_player_path)?;
    let name = args.animation_name.as_str();
    if !player.has_animation(name) {
        let message = format!("the player has no animation `{name}`");
        return Err(BridgeError::new(404, "not_found", message)
            .with("field", "animation_name")
            .with("candidates", json!(anim::names(&player))));
    }
    player.play_ex().name(name).custom_speed(args.custom_speed).from_end(args.from_end).done();
    Ok(json!({
        "dispatched": true,
        "animation_name": name,
        "custom_speed": args.custom_speed,
        "from_end": args.from_end,
        "playing": player.is_playing(),
        "outcome": "completed",
        "rollback": "not_available",
    }))
}
