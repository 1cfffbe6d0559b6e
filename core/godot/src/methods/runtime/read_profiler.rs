//! `runtime.readProfiler`: monitors of the engine over a window of time, and what bounds its frames.
//!
//! The engine's own monitors of time hold the longest frame of the last second, so the verdict rests on a timer of
//! the extension's own, which sees every frame.

mod frame_timer;
mod metrics;
mod verdict;

use std::{
    cell::Cell,
    time::{Duration, Instant},
};

use didi_engine::{Answer, Task};
use didi_wire::BridgeError;
use serde::Deserialize;
use serde_json::{Value, json};

use self::{
    frame_timer::FrameTimer,
    metrics::{Category, Metrics},
    verdict::Budget,
};
use super::active::Active;
use crate::{
    methods::{Begun, Context},
    params::{self, Params},
    refuse,
};

/// Longest window, and most samples in it.
const MAX_DURATION_MS: u64 = 5_000;
const MAX_SAMPLES: u64 = 120;

/// How many frames a self check stalls.
const CHECKED_FRAMES: usize = 12;

thread_local! {
    static ACTIVE: Cell<bool> = const { Cell::new(false) };
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default = "second")]
    duration_ms: u64,
    #[serde(default = "some")]
    sample_count: u64,
    #[serde(default = "Category::all")]
    categories: Vec<Category>,
    #[serde(default)]
    self_check: bool,
}

fn second() -> u64 {
    1000
}

fn some() -> u64 {
    30
}

pub(crate) fn run(context: &Context, params: &Params) -> Begun {
    let args: Args = params::read(params)?;
    if args.duration_ms > MAX_DURATION_MS || !(1..=MAX_SAMPLES).contains(&args.sample_count) {
        let message = format!("0 to {MAX_DURATION_MS} ms and 1 to {MAX_SAMPLES} samples are taken");
        return Err(refuse::invalid("duration_ms", message));
    }
    if args.duration_ms == 0 && args.sample_count != 1 {
        return Err(refuse::invalid("sample_count", "a window of 0 ms has one sample"));
    }
    let Some(active) = Active::begin(&ACTIVE) else {
        let message = "the engine is being measured already";
        let error = BridgeError::new(423, "profiler_read_active", message);
        return Err(error.with("retry_after_ms", 2000));
    };
    let budget = Budget::read();
    let check = args.self_check.then(|| FrameTimer::stalling(budget.stall())).transpose()?;
    Ok(Box::new(Profile {
        check,
        checked: None,
        window: None,
        kind: context.kind.as_str(),
        budget,
        args,
        _active: active,
    }))
}

/// A measurement: a check of itself first, where that was asked for, then the window.
struct Profile {
    check: Option<FrameTimer>,
    checked: Option<Value>,
    window: Option<Window>,
    kind: &'static str,
    budget: Budget,
    args: Args,
    _active: Active,
}

/// The window that is measured.
struct Window {
    timer: FrameTimer,
    metrics: Metrics,
    began: Instant,
    taken: u64,
}

impl Task for Profile {
    fn poll(&mut self) -> Option<Answer> {
        if let Some(check) = &mut self.check {
            check.frame_ended();
            if check.frames().len() < CHECKED_FRAMES {
                return None;
            }
            self.checked = Some(self.budget.judge_stall(check.frames()));
            self.check = None;
            return None;
        }
        let Some(window) = &mut self.window else {
            return match FrameTimer::watching() {
                Ok(timer) => {
                    let metrics = Metrics::new(&self.args.categories);
                    let began = Instant::now();
                    self.window = Some(Window { timer, metrics, began, taken: 0 });
                    None
                }
                Err(refused) => Some(Err(refused)),
            };
        };
        window.timer.frame_ended();
        let elapsed = window.began.elapsed();
        let length = Duration::from_millis(self.args.duration_ms);
        window.sample(elapsed, length, self.args.sample_count);
        (elapsed >= length).then(|| self.end())
    }
}

impl Window {
    /// Takes a sample when its time has come; several whose time came within one frame are one.
    fn sample(&mut self, elapsed: Duration, length: Duration, wanted: u64) {
        let due = if length.is_zero() {
            wanted
        } else {
            let part = elapsed.as_secs_f64() / length.as_secs_f64();
            #[allow(clippy::cast_precision_loss, reason = "at most a few hundred")]
            let due = (part * wanted as f64).ceil();
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the same")]
            let due = due as u64;
            due.min(wanted)
        };
        if due > self.taken {
            self.metrics.sample(self.timer.frames().last());
            self.taken = due;
        }
    }
}

impl Profile {
    fn end(&mut self) -> Answer {
        let Some(window) = self.window.take() else {
            return Err(refuse::engine("nothing_measured", "no window was opened"));
        };
        let elapsed = u64::try_from(window.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut told = json!({
            "metrics": window.metrics.told(),
            "duration_ms": self.args.duration_ms,
            "actual_elapsed_ms": elapsed,
            "samples_requested": self.args.sample_count,
            "samples_collected": window.metrics.samples(),
            "verdict": self.budget.judge(window.timer.frames(), window.timer.physics_ticks()),
            "session_kind": self.kind,
        });
        if let Some(checked) = self.checked.take() {
            told["self_check"] = checked;
        }
        Ok(told)
    }
}
