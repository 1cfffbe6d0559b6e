//! `anim_list_tracks`: the animations of a player, their tracks and the times of their keys.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{BOTH, codes};

pub(super) const METHOD: &str = "anim.listTracks";

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 1024))]
    animation_player_path: String,
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "anim_list_tracks",
        "Lists the animations of an AnimationPlayer with their tracks and key times.",
        Effects::READS,
        BOTH,
        METHOD,
    )
    .core()
    .bounded("128 animations, 128 tracks each, 256 keys each, 256 KiB")
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::NO_EDITED_SCENE,
        codes::NOT_FOUND,
    ])
}
