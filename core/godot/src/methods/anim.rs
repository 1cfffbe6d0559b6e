//! Animation players and their libraries.

pub(crate) mod add_library;
pub(crate) mod list_tracks;
pub(crate) mod play_track;

use didi_wire::{BridgeError, SessionKind};
use godot::{classes::AnimationPlayer, prelude::*};

use crate::{node_path, refuse};

/// An animation player of the session.
pub(super) fn player(kind: SessionKind, path: &str) -> Result<Gd<AnimationPlayer>, BridgeError> {
    let node = node_path::any(kind, path)?;
    node.try_cast::<AnimationPlayer>().map_err(|node| {
        refuse::no_node(path, &format!("is a `{}` and no `AnimationPlayer`", node.get_class()))
    })
}

/// Names of the animations that a player answers to, sorted.
pub(super) fn names(player: &Gd<AnimationPlayer>) -> Vec<String> {
    let mut names: Vec<String> =
        player.get_animation_list().as_slice().iter().map(ToString::to_string).collect();
    names.sort_unstable();
    names
}
