//! `physics.simulateStep`: lets a paused game run for exact ticks of its physics, and says what moved.
//!
//! When the tree tells of a tick, bodies are where the tick before put them. So the game is paused again just as the
//! tick after the last one begins, in which then nothing moves. A tick may be given a length of its own: time is
//! stretched for as long as the ticks last. Input that was held goes out before the first of them.

use std::{cell::Cell, rc::Rc};

use didi_engine::{Answer, Task};
use didi_wire::SessionKind;
use godot::{
    classes::{Engine, SceneTree},
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    json,
    methods::{
        Begun, Context,
        runtime::{active::Active, held_input, step},
    },
    node_path,
    params::{self, Params},
    refuse,
};

/// Most ticks of one call.
const MAX_TICKS: u64 = 60;
/// The lengths that a tick may be given, in seconds.
const TICK_S: std::ops::RangeInclusive<f64> = 0.000_001..=0.25;
/// Nodes whose places are compared.
const MAX_NODES: usize = 10_000;
/// Nodes that are listed as moved.
const MAX_MOVED: usize = 64;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default = "one")]
    steps: u64,
    delta: Option<f64>,
}

fn one() -> u64 {
    1
}

pub(crate) fn run(_context: &Context, params: &Params) -> Begun {
    let args: Args = params::read(params)?;
    if !(1..=MAX_TICKS).contains(&args.steps) {
        return Err(refuse::invalid("steps", format!("1 to {MAX_TICKS} ticks are taken")));
    }
    if args.delta.is_some_and(|delta| !TICK_S.contains(&delta)) {
        let (least, most) = (TICK_S.start(), TICK_S.end());
        return Err(refuse::invalid("delta", format!("a tick lasts {least} to {most} seconds")));
    }
    let active = step::hold()?;
    begin(step::paused_tree()?, &args, active)
}

/// How long a tick lasts for the game, in seconds.
fn tick_s() -> f64 {
    let engine = Engine::singleton();
    engine.get_time_scale() / f64::from(engine.get_physics_ticks_per_second())
}

fn begin(mut tree: Gd<SceneTree>, args: &Args, active: Active) -> Begun {
    let places = Places::read(&tree);
    let mut engine = Engine::singleton();
    let own_scale = engine.get_time_scale();
    if let Some(delta) = args.delta {
        let per_second = f64::from(engine.get_physics_ticks_per_second());
        engine.set_time_scale(delta * per_second);
    }
    let begun = Rc::new(Cell::new(0));
    let (count, steps, mut held) = (Rc::clone(&begun), args.steps, tree.clone());
    let told = Callable::from_fn("didi_physics_tick", move |_: &[&Variant]| {
        count.set(count.get() + 1);
        if count.get() > steps {
            held.set_pause(true);
        }
    });
    tree.connect("physics_frame", &told);
    tree.set_pause(false);
    let released = held_input::release();
    let idle_from = engine.get_process_frames();
    let (tick_s, steps) = (tick_s(), args.steps);
    Ok(Box::new(Ticking {
        tree,
        told,
        begun,
        steps,
        tick_s,
        own_scale,
        idle_from,
        released,
        places,
        _active: active,
    }))
}

/// A game whose physics run; one that is dropped is paused as well, and has its own time again.
struct Ticking {
    tree: Gd<SceneTree>,
    told: Callable,
    /// Ticks that have begun.
    begun: Rc<Cell<u64>>,
    steps: u64,
    tick_s: f64,
    own_scale: f64,
    idle_from: u64,
    /// Events of input that were held for the time that goes on.
    released: usize,
    places: Places,
    _active: Active,
}

impl Task for Ticking {
    fn poll(&mut self) -> Option<Answer> {
        if self.begun.get() <= self.steps {
            return None;
        }
        if !self.tree.is_paused() {
            let message = "the game could not be paused again";
            return Some(Err(refuse::engine("repause_failed", message)));
        }
        let (moved, truncated) = self.places.moved();
        Some(Ok(json!({
            "paused": true,
            "steps": self.steps,
            "released_input_events": self.released,
            "tick_seconds": self.tick_s,
            "idle_frames": Engine::singleton().get_process_frames() - self.idle_from,
            "moved": moved,
            "truncated": truncated,
        })))
    }
}

impl Drop for Ticking {
    fn drop(&mut self) {
        self.tree.set_pause(true);
        self.tree.disconnect("physics_frame", &self.told);
        Engine::singleton().set_time_scale(self.own_scale);
    }
}

/// Where nodes are, in the order of the tree.
struct Places {
    found: Vec<(InstanceId, Variant)>,
    cut: bool,
}

impl Places {
    fn read(tree: &Gd<SceneTree>) -> Self {
        let mut places = Places { found: vec![], cut: false };
        let mut open: Vec<Gd<Node>> = tree.get_root().map(Gd::upcast).into_iter().collect();
        while let Some(node) = open.pop() {
            if places.found.len() >= MAX_NODES {
                places.cut = true;
                break;
            }
            if let Some(place) = place(&node) {
                places.found.push((node.instance_id(), place));
            }
            open.extend((0..node.get_child_count()).rev().filter_map(|at| node.get_child(at)));
        }
        places
    }

    /// The nodes that are there still and elsewhere, and whether any were left out.
    fn moved(&self) -> (Vec<Value>, bool) {
        let mut moved = vec![];
        for (id, before) in &self.found {
            let Ok(node) = Gd::<Node>::try_from_instance_id(*id) else { continue };
            let Some(now) = place(&node).filter(|now| now != before) else { continue };
            if moved.len() == MAX_MOVED {
                return (moved, true);
            }
            moved.push(told(&node, before, &now));
        }
        (moved, self.cut)
    }
}

/// Where a node is in its world; none for one that is nowhere.
fn place(node: &Gd<Node>) -> Option<Variant> {
    if let Ok(flat) = node.clone().try_cast::<Node2D>() {
        return Some(flat.get_global_transform().to_variant());
    }
    let deep = node.clone().try_cast::<Node3D>().ok()?;
    deep.is_inside_tree().then(|| deep.get_global_transform().to_variant())
}

fn told(node: &Gd<Node>, before: &Variant, now: &Variant) -> Value {
    let mut told = json!({
        "node_path": node_path::of(SessionKind::Game, node),
        "type": node.get_class().to_string(),
        "from": origin(before),
        "to": origin(now),
    });
    let velocity = node.get("linear_velocity");
    if !velocity.is_nil() {
        told["linear_velocity"] = json::write(&velocity).unwrap_or_default();
    }
    told
}

/// The point of a place.
fn origin(place: &Variant) -> Value {
    let point = match place.try_to::<Transform2D>() {
        Ok(flat) => flat.origin.to_variant(),
        Err(_) => place.to::<Transform3D>().origin.to_variant(),
    };
    json::write(&point).unwrap_or_default()
}
