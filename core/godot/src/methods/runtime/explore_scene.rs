//! `runtime.exploreScene`: plays with a game's actions for a while, and tells where what is measured stood still.
//!
//! The order of the actions comes from the seed alone. Nothing is judged: the answer says what was seen.

mod probe;
mod schedule;

use std::{
    cell::Cell,
    sync::Arc,
    time::{Duration, Instant},
};

use didi_engine::{
    Answer, Task,
    ring::{Level, LogRing},
};
use didi_wire::BridgeError;
use godot::{
    classes::{InputEventAction, InputMap},
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Value, json};

use self::{probe::Probe, schedule::Schedule};
use super::active::Active;
use crate::{
    methods::{Begun, Context},
    node_path,
    params::{self, Params},
    refuse,
};

const MAX_ACTIONS: usize = 8;
const MAX_PROBES: usize = 4;

/// Most intervals told.
const MAX_INTERVALS: usize = 16;

thread_local! {
    static ACTIVE: Cell<bool> = const { Cell::new(false) };
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    actions: Vec<String>,
    probes: Vec<probe::Sent>,
    #[serde(default = "window")]
    duration_ms: u64,
    #[serde(default = "hold")]
    action_hold_ms: u64,
    #[serde(default = "stuck")]
    stuck_ms: u64,
    #[serde(default = "epsilon")]
    movement_epsilon: f64,
    #[serde(default = "params::yes")]
    pause_on_stuck: bool,
    #[serde(default = "params::yes")]
    stop_on_engine_error: bool,
    #[serde(default = "one")]
    seed: u64,
}

fn window() -> u64 {
    5000
}
fn hold() -> u64 {
    250
}
fn stuck() -> u64 {
    3000
}
fn epsilon() -> f64 {
    0.001
}
fn one() -> u64 {
    1
}

pub(crate) fn run(context: &Context, params: &Params) -> Begun {
    let args: Args = params::read(params)?;
    check(&args)?;
    if node_path::scene_tree()?.is_paused() {
        let error = refuse::conflict("paused_game_session", "the game is paused");
        let arguments = json!({ "paused": false });
        return Err(refuse::next_call(error, "runtime_set_paused", arguments, "lets it run"));
    }
    let Some(active) = Active::begin(&ACTIVE) else {
        let error = refuse::conflict("scene_exploration_active", "the game is explored already");
        return Err(error.with("retry_after_ms", 5000));
    };
    let probes = args.probes.iter().map(Probe::prepare).collect::<Result<Vec<_>, _>>()?;
    let output = context.shared.output.clone();
    let began = Instant::now();
    Ok(Box::new(Exploration {
        began,
        errors_from: output.next_sequence(),
        output,
        schedule: Schedule::new(args.seed, args.actions.len()),
        turn_ends: began,
        held: None,
        moved_at: began,
        intervals: vec![],
        probes,
        args,
        _active: active,
    }))
}

fn check(args: &Args) -> Result<(), BridgeError> {
    let invalid = |field: &str, message: String| Err(refuse::invalid(field, message));
    let mut names: Vec<&String> = args.actions.iter().collect();
    names.sort_unstable();
    names.dedup();
    if !(1..=MAX_ACTIONS).contains(&args.actions.len()) || names.len() < args.actions.len() {
        return invalid("actions", format!("1 to {MAX_ACTIONS} different actions are taken"));
    }
    if !(1..=MAX_PROBES).contains(&args.probes.len()) {
        return invalid("probes", format!("1 to {MAX_PROBES} probes are taken"));
    }
    if !(250..=60_000).contains(&args.duration_ms) || !(16..=10_000).contains(&args.action_hold_ms)
    {
        let message = "`duration_ms` is 250 to 60000, `action_hold_ms` 16 to 10000";
        return invalid("duration_ms", message.into());
    }
    if !(100..=args.duration_ms).contains(&args.stuck_ms) {
        return invalid("stuck_ms", "100 to `duration_ms` is taken".into());
    }
    let map = InputMap::singleton();
    match args.actions.iter().find(|action| !map.has_action(action.as_str())) {
        None => Ok(()),
        Some(action) => {
            let message = format!("the game has no input action `{action}`");
            let error = refuse::invalid("actions", message).with("action", action.as_str());
            let arguments = json!({ "action": action });
            Err(refuse::next_call(error, "project_set_input_action", arguments, "defines it"))
        }
    }
}

struct Exploration {
    args: Args,
    probes: Vec<Probe>,
    output: Arc<LogRing>,
    errors_from: u64,
    schedule: Schedule,
    began: Instant,
    /// When the action that is held is let go.
    turn_ends: Instant,
    held: Option<usize>,
    /// When anything moved last.
    moved_at: Instant,
    intervals: Vec<Interval>,
    _active: Active,
}

/// A time in which nothing moved.
struct Interval {
    started_ms: u64,
    ended_ms: u64,
    action_held: Option<String>,
}

impl Task for Exploration {
    fn poll(&mut self) -> Option<Answer> {
        let now = Instant::now();
        let mut moved = false;
        for probe in &mut self.probes {
            moved |= probe.read(self.args.movement_epsilon);
        }
        let measured = self.probes.iter().any(Probe::was_read);
        if moved || !measured {
            self.close_interval(now);
            self.moved_at = now;
        }
        let stuck = now.duration_since(self.moved_at) >= Duration::from_millis(self.args.stuck_ms);
        let failed = self.args.stop_on_engine_error
            && !self.output.since(self.errors_from, Level::Error).is_empty();
        let over = now.duration_since(self.began) >= Duration::from_millis(self.args.duration_ms);
        let reason = match (failed, stuck && self.args.pause_on_stuck, over) {
            (true, _, _) => "engine_error",
            (_, true, _) => "stuck",
            (_, _, true) => "duration_elapsed",
            _ => {
                self.take_turn(now);
                return None;
            }
        };
        self.let_go();
        self.close_interval(now);
        Some(self.end(reason))
    }
}

impl Exploration {
    /// Lets the action go whose time is up, and holds the next one.
    fn take_turn(&mut self, now: Instant) {
        if now < self.turn_ends {
            return;
        }
        self.let_go();
        let next = self.schedule.next_action();
        press(&self.args.actions[next], true);
        self.held = Some(next);
        self.turn_ends = now + Duration::from_millis(self.args.action_hold_ms);
    }

    fn let_go(&mut self) {
        if let Some(held) = self.held.take() {
            press(&self.args.actions[held], false);
        }
    }

    /// Notes that nothing moved until now, if that was long enough.
    fn close_interval(&mut self, now: Instant) {
        let still = now.duration_since(self.moved_at);
        if still < Duration::from_millis(self.args.stuck_ms)
            || self.intervals.len() >= MAX_INTERVALS
        {
            return;
        }
        self.intervals.push(Interval {
            started_ms: self.ms(self.moved_at),
            ended_ms: self.ms(now),
            action_held: self.held.map(|held| self.args.actions[held].clone()),
        });
    }

    fn ms(&self, at: Instant) -> u64 {
        u64::try_from(at.duration_since(self.began).as_millis()).unwrap_or(u64::MAX)
    }

    fn end(&self, reason: &str) -> Answer {
        let mut tree = node_path::scene_tree()?;
        if reason == "stuck" {
            tree.set_pause(true);
        }
        let intervals: Vec<Value> = self
            .intervals
            .iter()
            .map(|one| {
                json!({
                    "started_ms": one.started_ms,
                    "ended_ms": one.ended_ms,
                    "duration_ms": one.ended_ms - one.started_ms,
                    "action_held": one.action_held,
                })
            })
            .collect();
        let unread = self.probes.iter().filter(|probe| !probe.was_read()).map(|probe| &probe.name);
        Ok(json!({
            "verdict": "none",
            "stopped_reason": reason,
            "measured": self.probes.iter().any(Probe::was_read),
            "unread_probes": unread.collect::<Vec<_>>(),
            "stuck_intervals": intervals,
            "probes": self.probes.iter().map(Probe::told).collect::<Vec<_>>(),
            "paused": tree.is_paused(),
            "elapsed_ms": self.ms(Instant::now()),
        }))
    }
}

impl Drop for Exploration {
    fn drop(&mut self) {
        self.let_go();
    }
}

fn press(action: &str, pressed: bool) {
    let mut event = InputEventAction::new_gd();
    event.set_action(action);
    event.set_pressed(pressed);
    event.set_strength(if pressed { 1.0 } else { 0.0 });
    godot::classes::Input::singleton().parse_input_event(&event);
}
