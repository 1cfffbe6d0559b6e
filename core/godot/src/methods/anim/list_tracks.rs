//! `anim.listTracks`: the animations of a player, their tracks and the times of their keys.

use didi_engine::Answer;
use godot::{
    classes::{Animation, animation::LoopMode},
    obj::EngineEnum,
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    json,
    methods::{Context, anim},
    params::{self, Params},
};

const MAX_ANIMATIONS: usize = 128;
const MAX_TRACKS: i32 = 128;
const MAX_KEYS: i32 = 256;
const MAX_BYTES: usize = 256 * 1024;

/// Names of the engine's kinds of tracks, by their numbers.
const TYPES: [&str; 9] = [
    "value",
    "position_3d",
    "rotation_3d",
    "scale_3d",
    "blend_shape",
    "method",
    "bezier",
    "audio",
    "animation",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    animation_player_path: String,
}

pub(crate) fn run(context: &Context, params: &Params) -> Answer {
    let args: Args = params::read(params)?;
    let player = anim::player(context.kind, &args.animation_player_path)?;
    let names = anim::names(&player);
    let mut list = List { bytes: 0, truncated_at: Value::Null };
    let mut animations = vec![];
    for (index, name) in names.iter().enumerate() {
        if index == MAX_ANIMATIONS {
            list.cut(index, 0, 0, "count");
            break;
        }
        let Some(animation) = player.get_animation(name.as_str()) else { continue };
        animations.push(list.animation(index, name, &animation));
        if list.bytes > MAX_BYTES {
            break;
        }
    }
    Ok(json!({
        "animations": animations,
        "truncated": !list.truncated_at.is_null(),
        "truncated_at": list.truncated_at,
    }))
}

/// What was told so far, and where it was cut first.
struct List {
    bytes: usize,
    truncated_at: Value,
}

impl List {
    fn cut(&mut self, animation: usize, track: i32, key: i32, reason: &str) {
        if self.truncated_at.is_null() {
            self.truncated_at = json!({
                "animation_index": animation,
                "track_index": track,
                "key_index": key,
                "reason": reason,
            });
        }
    }

    fn animation(&mut self, index: usize, name: &str, animation: &Gd<Animation>) -> Value {
        let mode = animation.get_loop_mode();
        let mut tracks = vec![];
        let count = animation.get_track_count();
        for track in 0..count {
            if track == MAX_TRACKS {
                self.cut(index, track, 0, "count");
                break;
            }
            tracks.push(self.track(index, track, animation));
            if self.bytes > MAX_BYTES {
                self.cut(index, track, 0, "bytes");
                break;
            }
        }
        let truncated = i32::try_from(tracks.len()) != Ok(count);
        json!({
            "name": name,
            "length": json::write(&animation.get_length().to_variant()).unwrap_or_default(),
            "loop_mode_id": mode.ord(),
            "loop_mode_name": match mode {
                LoopMode::NONE => "none",
                LoopMode::LINEAR => "linear",
                LoopMode::PINGPONG => "pingpong",
                _ => "unknown",
            },
            "tracks": tracks,
            "truncated": truncated,
        })
    }

    fn track(&mut self, index: usize, track: i32, animation: &Gd<Animation>) -> Value {
        let kind = animation.track_get_type(track).ord();
        let count = animation.track_get_key_count(track);
        let shown = count.min(MAX_KEYS);
        if shown < count {
            self.cut(index, track, shown, "count");
        }
        let times: Vec<Value> = (0..shown)
            .map(|key| json::write(&animation.track_get_key_time(track, key).to_variant()))
            .map(Result::unwrap_or_default)
            .collect();
        let name = usize::try_from(kind).ok().and_then(|kind| TYPES.get(kind));
        let told = json!({
            "index": track,
            "type_id": kind,
            "type_name": name.unwrap_or(&"unknown"),
            "path": animation.track_get_path(track).to_string(),
            "key_times": times,
            "truncated": shown < count,
        });
        self.bytes += told.to_string().len();
        told
    }
}
