//! `runtime.watchInvariants`: looks at conditions in every frame of a window, and pauses where one is broken.

mod condition;

use std::{
    cell::Cell,
    time::{Duration, Instant},
};

use didi_engine::{Answer, Task};
use didi_wire::BridgeError;
use serde::Deserialize;
use serde_json::{Value, json};

use self::condition::{Condition, Invariant, Reading};
use super::active::Active;
use crate::{
    methods::{Begun, Context},
    node_path,
    params::{self, Params},
    refuse,
};

/// Most conditions, and the longest window in milliseconds.
const MAX_INVARIANTS: usize = 8;
const MAX_DURATION_MS: u64 = 30_000;

thread_local! {
    static ACTIVE: Cell<bool> = const { Cell::new(false) };
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    invariants: Vec<Invariant>,
    #[serde(default = "two_seconds")]
    duration_ms: u64,
    #[serde(default = "params::yes")]
    pause_on_violation: bool,
}

fn two_seconds() -> u64 {
    2000
}

pub(crate) fn run(context: &Context, params: &Params) -> Begun {
    let args: Args = params::read(params)?;
    if !(1..=MAX_INVARIANTS).contains(&args.invariants.len())
        || !(1..=MAX_DURATION_MS).contains(&args.duration_ms)
    {
        let message =
            format!("1 to {MAX_INVARIANTS} conditions and 1 to {MAX_DURATION_MS} ms are taken");
        return Err(refuse::invalid("invariants", message));
    }
    let Some(active) = Active::begin(&ACTIVE) else {
        let error = refuse::conflict("invariant_watch_active", "the game is being watched already");
        return Err(error.with("retry_after_ms", 5000));
    };
    let output = context.shared.output.clone();
    let conditions = args.invariants.into_iter().map(|one| condition::prepare(one, output.clone()));
    let conditions: Vec<Condition> = conditions.collect::<Result<_, _>>()?;
    let began = Instant::now();
    Ok(Box::new(Watch {
        conditions,
        began,
        end: began + Duration::from_millis(args.duration_ms),
        frames: 0,
        pause_on_violation: args.pause_on_violation,
        _active: active,
    }))
}

struct Watch {
    conditions: Vec<Condition>,
    began: Instant,
    end: Instant,
    frames: u64,
    pause_on_violation: bool,
    _active: Active,
}

impl Task for Watch {
    fn poll(&mut self) -> Option<Answer> {
        self.frames += 1;
        let mut violation = Value::Null;
        for condition in &mut self.conditions {
            if let Reading::Broken(value) = condition.read() {
                violation = json!({
                    "name": condition.name,
                    "kind": condition.kind(),
                    "value": value,
                    "at_ms": u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX),
                    "frame": self.frames,
                });
                break;
            }
        }
        if violation.is_null() && Instant::now() < self.end {
            return None;
        }
        Some(self.end(violation))
    }
}

impl Watch {
    fn end(&self, violation: Value) -> Answer {
        let mut tree = node_path::scene_tree()?;
        if !violation.is_null() && self.pause_on_violation {
            tree.set_pause(true);
        }
        let outcome = if !violation.is_null() {
            "violated"
        } else if self.conditions.iter().all(Condition::was_read) {
            "held"
        } else {
            "inconclusive"
        };
        let told: Vec<Value> = self.conditions.iter().map(Condition::told).collect();
        Ok(json!({
            "outcome": outcome,
            "invariants": told,
            "violation": violation,
            "paused": tree.is_paused(),
            "frames": self.frames,
        }))
    }
}

/// An error about one condition.
pub(super) fn bad(name: &str, message: &str) -> BridgeError {
    refuse::invalid("invariants", format!("`{name}`: {message}"))
}
