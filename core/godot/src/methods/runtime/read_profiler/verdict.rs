//! What bounds the frames: the part that takes the most of a frame that does not fit into its time.
//!
//! Sums of medians are judged, so that one slow frame is told of and does not decide. What is as long as something else
//! is contested, and too few frames are unknown: a guess is worse than none.

use std::time::Duration;

use godot::{
    classes::{DisplayServer, Engine, ProjectSettings, display_server::VSyncMode},
    prelude::*,
};
use serde_json::{Value, json};

use super::frame_timer::Frame;

/// Frames below which nothing is said.
const FEWEST: usize = 5;

/// What a frame may take of its time before it counts as bound by something.
const FULL: f64 = 0.85;

/// How near the second part has to come to the first to contest it.
const NEAR: f64 = 0.8;

/// A frame is slow when it takes this much of its time.
const SLOW: f64 = 1.5;

/// The least of a stall that a self check has to find again.
const FOUND: f64 = 0.8;

/// How long a frame may take, and why so long.
pub(super) struct Budget {
    millis: f64,
    basis: &'static str,
    separate_thread: bool,
}

impl Budget {
    /// As this engine runs.
    pub(super) fn read() -> Self {
        let display = DisplayServer::singleton();
        let shows = display.get_name() != "headless";
        let refresh = if shows { f64::from(display.screen_get_refresh_rate()) } else { 0.0 };
        let max_fps = f64::from(Engine::singleton().get_max_fps());
        let synced = shows && display.window_get_vsync_mode() != VSyncMode::DISABLED;
        let (rate, basis) = if synced && refresh > 0.0 {
            (refresh, "vsync")
        } else if max_fps > 0.0 {
            (max_fps, "max_fps")
        } else if refresh > 0.0 {
            (refresh, "display_refresh")
        } else {
            (60.0, "assumed_60_fps")
        };
        let model =
            ProjectSettings::singleton().get_setting("rendering/driver/threads/thread_model");
        let separate_thread = model.try_to::<i64>().is_ok_and(|model| model == 2);
        Budget { millis: 1000.0 / rate, basis, separate_thread }
    }

    /// A stall that no frame can hide.
    pub(super) fn stall(&self) -> Duration {
        Duration::from_secs_f64((self.millis * 2.0 / 1000.0).clamp(0.02, 0.1))
    }

    /// What bounds frames.
    pub(super) fn judge(&self, frames: &[Frame], ticks: u64) -> Value {
        let median = |part: fn(&Frame) -> f64| median(frames.iter().map(part).collect());
        let parts = Parts {
            physics: median(|frame| frame.physics),
            process: median(|frame| frame.process),
            draw: median(|frame| frame.draw),
            gpu: median(|frame| frame.gpu),
        };
        let gpu_measured = frames.iter().any(|frame| frame.gpu > 0.0);
        let bound =
            if frames.len() < FEWEST { "unknown" } else { parts.bound(self.millis, gpu_measured) };
        let confidence = match frames.len() {
            60.. => "high",
            20.. => "medium",
            _ => "low",
        };
        let threshold = self.millis * SLOW;
        let busy = |frame: &Frame| frame.physics + frame.process + frame.draw;
        let slow = frames.iter().filter(|frame| busy(frame) > threshold).count();
        let worst = frames.iter().map(busy).fold(0.0, f64::max);
        #[allow(clippy::cast_precision_loss, reason = "numbers of frames are small")]
        let ticks_a_frame = ticks as f64 / frames.len().max(1) as f64;
        json!({
            "bound": bound,
            "confidence": confidence,
            "frames": frames.len(),
            "frame_budget_ms": round(self.millis),
            "budget_basis": self.basis,
            "median_ms": {
                "frame": round(median(|frame| frame.whole)),
                "physics": round(parts.physics),
                "process": round(parts.process),
                "draw": round(parts.draw),
                "gpu": gpu_measured.then(|| round(parts.gpu)),
            },
            "physics_ticks_per_frame": round(ticks_a_frame),
            "gpu_measured": gpu_measured,
            "render_thread": if self.separate_thread { "separate" } else { "main" },
            "slow_frames": {
                "count": slow,
                "threshold_ms": round(threshold),
                "worst": round(worst),
                "at_least": frames.len() < FEWEST,
            },
            "next": next(bound),
        })
    }

    /// Whether frames that were stalled are seen to be.
    pub(super) fn judge_stall(&self, frames: &[Frame]) -> Value {
        let stall_ms = self.stall().as_secs_f64() * 1000.0;
        let verdict = self.judge(frames, 0);
        let process = median(frames.iter().map(|frame| frame.process).collect());
        let passed = verdict["bound"] == "cpu" && process >= stall_ms * FOUND;
        json!({
            "stall_ms": round(stall_ms),
            "bound": verdict["bound"],
            "process_ms": round(process),
            "frames": frames.len(),
            "passed": passed,
            "note": "the processing of these frames was made longer by the stall, before the window began",
        })
    }
}

/// Medians in milliseconds.
#[derive(Debug, Clone, Copy)]
struct Parts {
    physics: f64,
    process: f64,
    draw: f64,
    gpu: f64,
}

impl Parts {
    fn bound(self, budget: f64, gpu_measured: bool) -> &'static str {
        let busy = self.physics + self.process + self.draw;
        if busy.max(self.gpu) <= budget * FULL {
            return "none";
        }
        // Drawing on the main thread waits for the device, so without its own time it may be either.
        let drawing = if gpu_measured { ("gpu", self.gpu) } else { ("unknown", self.draw) };
        let mut parts = [("physics", self.physics), ("cpu", self.process), drawing];
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        if parts[1].1 >= parts[0].1 * NEAR { "contested" } else { parts[0].0 }
    }
}

fn next(bound: &str) -> &'static str {
    match bound {
        "cpu" => {
            "look at what `_process` and signals do in each frame, in the scripts of the scene"
        }
        "gpu" => "look at what is drawn: shaders, lights, overdraw, the size of the window",
        "physics" => "look at `_physics_process`, at the number of bodies and at the tick rate",
        "contested" => "two parts take about as long; make either shorter and measure again",
        "none" => "the frames fit into their time",
        _ => "measure longer, or with a window of the game's own",
    }
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(0.0)
}

/// To a thousandth.
fn round(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests;
