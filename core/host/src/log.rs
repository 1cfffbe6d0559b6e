//! The server's own log: lines on standard error, and the newest of them kept for the control room.
//!
//! Spec: P-14, the log.

use std::{
    collections::VecDeque,
    fmt::Write as _,
    sync::{Arc, Mutex, PoisonError},
};

use clap::ValueEnum;
use serde_json::{Value, json};
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    Layer, filter::LevelFilter, layer::Context, layer::SubscriberExt, util::SubscriberInitExt,
};

use crate::source;

/// Records that are kept.
pub const MAX_RECORDS: usize = 500;

/// Longest message that is kept, in bytes.
const MAX_MESSAGE_BYTES: usize = 2048;

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "UPPER")]
pub enum LogLevel {
    /// Everything.
    Debug,
    /// What is worth knowing.
    Info,
    /// What is odd.
    Warn,
    /// What broke.
    Error,
    /// Nothing.
    None,
}

/// The newest records.
#[derive(Clone, Default)]
pub struct LogRing(Arc<Mutex<VecDeque<Value>>>);

impl LogRing {
    /// Starts logging to standard error and into this ring. A second start is ignored.
    pub fn install(&self, level: LogLevel) {
        let filter = match level {
            LogLevel::Debug => LevelFilter::DEBUG,
            LogLevel::Info => LevelFilter::INFO,
            LogLevel::Warn => LevelFilter::WARN,
            LogLevel::Error => LevelFilter::ERROR,
            LogLevel::None => LevelFilter::OFF,
        };
        let lines = tracing_subscriber::fmt::layer()
            .with_writer(std::io::stderr)
            .with_ansi(false)
            .without_time()
            .with_target(false);
        let _ = tracing_subscriber::registry()
            .with(lines.with_filter(filter))
            .with(Keep(self.clone()).with_filter(LevelFilter::INFO))
            .try_init();
    }

    /// The newest `limit` records, oldest first, and how many are kept.
    pub fn newest(&self, limit: usize) -> (Vec<Value>, usize) {
        let ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let from = ring.len().saturating_sub(limit);
        (ring.iter().skip(from).cloned().collect(), ring.len())
    }

    fn push(&self, record: Value) {
        let mut ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if ring.len() == MAX_RECORDS {
            ring.pop_front();
        }
        ring.push_back(record);
    }
}

struct Keep(LogRing);

impl<S: Subscriber> Layer<S> for Keep {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut text = Text::default();
        event.record(&mut text);
        let level = match *event.metadata().level() {
            Level::ERROR => "error",
            Level::WARN => "warning",
            Level::INFO => "info",
            _ => "debug",
        };
        self.0.push(
            json!({"at": source::iso8601(source::now_ms()), "level": level, "message": text.cut()}),
        );
    }
}

#[derive(Default)]
struct Text(String);

impl Text {
    fn cut(mut self) -> String {
        let mut end = MAX_MESSAGE_BYTES.min(self.0.len());
        while !self.0.is_char_boundary(end) {
            end -= 1;
        }
        self.0.truncate(end);
        self.0
    }
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        // Writing into a String can't fail.
        if field.name() == "message" {
            let _ = write!(self.0, "{value:?}");
        } else {
            let _ = write!(self.0, " {}={value:?}", field.name());
        }
    }
}
