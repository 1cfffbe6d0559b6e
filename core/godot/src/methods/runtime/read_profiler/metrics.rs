//! Ten numbers of the engine, in a fixed order, over the samples of a window.

use godot::{
    classes::{DisplayServer, Performance, performance::Monitor},
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::frame_timer::Frame;

/// A group of numbers.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Category {
    Frame,
    Process,
    Physics,
    Render,
}

impl Category {
    pub(super) fn all() -> Vec<Self> {
        vec![Category::Frame, Category::Process, Category::Physics, Category::Render]
    }
}

/// Where a number comes from.
#[derive(Clone, Copy)]
enum Source {
    /// Monitors of the engine, added up.
    Monitors(&'static [Monitor]),
    /// A part of the last frame.
    Part(fn(&Frame) -> f64),
}

/// Name, unit, group, source.
type Kind = (&'static str, &'static str, Category, Source);

const KINDS: [Kind; 10] = [
    ("fps", "frames_per_second", Category::Frame, Source::Monitors(&[Monitor::TIME_FPS])),
    ("frame_time", "ms", Category::Frame, Source::Part(|frame| frame.whole)),
    ("process_time", "ms", Category::Process, Source::Part(|frame| frame.process)),
    ("objects", "count", Category::Process, Source::Monitors(&[Monitor::OBJECT_COUNT])),
    ("nodes", "count", Category::Process, Source::Monitors(&[Monitor::OBJECT_NODE_COUNT])),
    ("physics_time", "ms", Category::Physics, Source::Part(|frame| frame.physics)),
    (
        "active_bodies",
        "count",
        Category::Physics,
        Source::Monitors(&[Monitor::PHYSICS_2D_ACTIVE_OBJECTS, Monitor::PHYSICS_3D_ACTIVE_OBJECTS]),
    ),
    (
        "draw_calls",
        "count",
        Category::Render,
        Source::Monitors(&[Monitor::RENDER_TOTAL_DRAW_CALLS_IN_FRAME]),
    ),
    (
        "primitives",
        "count",
        Category::Render,
        Source::Monitors(&[Monitor::RENDER_TOTAL_PRIMITIVES_IN_FRAME]),
    ),
    (
        "video_memory",
        "bytes",
        Category::Render,
        Source::Monitors(&[Monitor::RENDER_VIDEO_MEM_USED]),
    ),
];

/// The numbers of one window.
pub(super) struct Metrics {
    series: Vec<(Kind, Series)>,
    samples: u64,
    draws: bool,
}

#[derive(Default)]
struct Series {
    valid: u64,
    invalid: u64,
    least: f64,
    most: f64,
    sum: f64,
    last: f64,
}

impl Metrics {
    pub(super) fn new(categories: &[Category]) -> Self {
        let wanted = KINDS.iter().filter(|(_, _, category, _)| categories.contains(category));
        Metrics {
            series: wanted.map(|kind| (*kind, Series::default())).collect(),
            samples: 0,
            draws: DisplayServer::singleton().get_name() != "headless",
        }
    }

    /// Reads all of them now.
    pub(super) fn sample(&mut self, frame: Option<&Frame>) {
        self.samples += 1;
        let performance = Performance::singleton();
        for ((.., source), series) in &mut self.series {
            let value = match source {
                Source::Monitors(monitors) => {
                    Some(monitors.iter().map(|monitor| performance.get_monitor(*monitor)).sum())
                }
                Source::Part(part) => frame.map(part),
            };
            series.add(value.filter(|value: &f64| value.is_finite()));
        }
    }

    pub(super) fn samples(&self) -> u64 {
        self.samples
    }

    pub(super) fn told(&self) -> Vec<Value> {
        self.series.iter().map(|(kind, series)| self.one(kind, series)).collect()
    }

    fn one(&self, (name, unit, category, source): &Kind, series: &Series) -> Value {
        let hidden = *category == Category::Render && !self.draws;
        let basis = match source {
            _ if hidden => "a headless engine draws nothing",
            Source::Monitors(_) => "the engine's own monitor",
            Source::Part(_) => "the extension's timer of frames",
        };
        let available = !hidden && series.valid > 0;
        let number = |value: f64| if available { json!(value) } else { Value::Null };
        json!({
            "name": name,
            "unit": unit,
            "available": available,
            "availability_basis": basis,
            "valid_samples": if hidden { 0 } else { series.valid },
            "invalid_samples": if hidden { self.samples } else { series.invalid },
            "min": number(series.least),
            "max": number(series.most),
            "mean": number(series.mean()),
            "last": number(series.last),
        })
    }
}

impl Series {
    fn add(&mut self, value: Option<f64>) {
        let Some(value) = value else {
            self.invalid += 1;
            return;
        };
        (self.least, self.most) = match self.valid {
            0 => (value, value),
            _ => (self.least.min(value), self.most.max(value)),
        };
        self.valid += 1;
        self.sum += value;
        self.last = value;
    }

    #[allow(clippy::cast_precision_loss, reason = "at most a few hundred samples")]
    fn mean(&self) -> f64 {
        self.sum / self.valid.max(1) as f64
    }
}
