//! `runtime.step`: lets a paused game run for some frames, and pauses it again.

use std::cell::Cell;

use didi_engine::{Answer, Task};
use didi_wire::BridgeError;
use godot::{
    classes::{Engine, SceneTree},
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{active::Active, held_input};
use crate::{
    methods::{Begun, Context},
    node_path,
    params::{self, Params},
    refuse,
};

/// Most frames of one call.
const MAX_FRAMES: u64 = 60;

thread_local! {
    static ACTIVE: Cell<bool> = const { Cell::new(false) };
}

/// Holds the stepping of the game, in frames or in ticks.
///
/// # Errors
/// `runtime_step_active` while it is being stepped already.
pub(crate) fn hold() -> Result<Active, BridgeError> {
    Active::begin(&ACTIVE).ok_or_else(|| {
        let error = refuse::conflict("runtime_step_active", "the game is being stepped already");
        error.with("retry_after_ms", 500)
    })
}

/// The tree of a game that is paused.
///
/// # Errors
/// `game_not_paused` for one that runs.
pub(crate) fn paused_tree() -> Result<Gd<SceneTree>, BridgeError> {
    let tree = node_path::scene_tree()?;
    if tree.is_paused() {
        return Ok(tree);
    }
    let error = refuse::conflict("game_not_paused", "the game runs, so it cannot be stepped");
    let arguments = json!({ "paused": true });
    Err(refuse::next_call(error, "runtime_set_paused", arguments, "pauses it"))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default = "one")]
    frames: u64,
}

fn one() -> u64 {
    1
}

pub(crate) fn run(_context: &Context, params: &Params) -> Begun {
    let args: Args = params::read(params)?;
    if !(1..=MAX_FRAMES).contains(&args.frames) {
        return Err(refuse::invalid("frames", format!("1 to {MAX_FRAMES} frames are taken")));
    }
    let active = hold()?;
    let mut tree = paused_tree()?;
    tree.set_pause(false);
    let released = held_input::release();
    let engine = Engine::singleton();
    Ok(Box::new(Stepping {
        tree,
        frames: args.frames,
        until: engine.get_process_frames() + args.frames,
        physics_from: engine.get_physics_frames(),
        released,
        _active: active,
    }))
}

/// A game that runs for some frames; one that is dropped is paused as well.
struct Stepping {
    tree: Gd<SceneTree>,
    frames: u64,
    /// The frame before which it is paused again.
    until: u64,
    physics_from: u64,
    released: usize,
    _active: Active,
}

impl Task for Stepping {
    fn poll(&mut self) -> Option<Answer> {
        let engine = Engine::singleton();
        if engine.get_process_frames() < self.until {
            return None;
        }
        self.tree.set_pause(true);
        if !self.tree.is_paused() {
            return Some(Err(refuse::engine(
                "repause_failed",
                "the game could not be paused again",
            )));
        }
        Some(Ok(json!({
            "paused": true,
            "frames": self.frames,
            "released_input_events": self.released,
            "fixed_fps": fixed_fps(),
            "physics_ticks": engine.get_physics_frames() - self.physics_from,
        })))
    }
}

impl Drop for Stepping {
    fn drop(&mut self) {
        self.tree.set_pause(true);
    }
}

/// The rate of `--fixed-fps`, where the game was started with one.
fn fixed_fps() -> Value {
    let arguments = crate::surroundings::arguments();
    let mut after = arguments.iter().skip_while(|argument| *argument != "--fixed-fps").skip(1);
    after.next().and_then(|rate| rate.parse::<u32>().ok()).map_or(Value::Null, Value::from)
}
