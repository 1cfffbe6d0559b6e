//! What keeps an engine from taking commands up, told without its main thread: the first import, a later one, and
//! dialogs that wait for a person.
//!
//! The main thread writes down what it sees in its frames; connections read it at any time, also while that thread
//! is stuck. Dialogs are told from the moment a frame saw them, and a few that were closed are remembered.
//!
//! Spec: P-67, readiness.

use std::{
    collections::VecDeque,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use serde::Serialize;
use serde_json::{Value, json};

use crate::{lock, now_ms};

#[cfg(test)]
mod tests;

/// Closed dialogs that are remembered.
const MAX_PAST: usize = 16;

/// Shortest time between two looks at dialogs.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Where an engine stands.
#[derive(Debug, Default)]
pub struct Activity {
    /// One way: an engine that has come to rest once is not settling again.
    settled: AtomicBool,
    importing: AtomicBool,
    dialogs: Mutex<Dialogs>,
    frame: Mutex<Option<Instant>>,
}

#[derive(Debug, Default)]
struct Dialogs {
    looked: Option<Instant>,
    open: Vec<Dialog>,
    past: VecDeque<Dialog>,
}

/// A dialog as a frame sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenDialog {
    /// The same as long as it exists, also when it is hidden and shown again.
    pub id: i64,
    /// Its class in the engine.
    pub class: String,
    /// Its title.
    pub title: String,
    /// Its text; empty where it has more than a text.
    pub message: String,
    /// The labels of its buttons.
    pub buttons: Vec<String>,
}

/// A dialog over time.
#[derive(Debug, Clone, Serialize)]
struct Dialog {
    id: String,
    class: String,
    title: String,
    message: String,
    buttons: Vec<String>,
    opened_at_ms: u64,
    dismissed_at_ms: Option<u64>,
    #[serde(skip)]
    seen: i64,
}

impl Activity {
    /// A frame has come; `settled` and `importing` are what it found.
    pub fn frame(&self, settled: bool, importing: bool) {
        self.settled.fetch_or(settled, Ordering::AcqRel);
        self.importing.store(importing, Ordering::Release);
        *lock(&self.frame) = Some(Instant::now());
    }

    /// Writes down the dialogs that are open, if the last look is old enough; `look` is asked only then.
    pub fn look_at_dialogs(&self, look: impl FnOnce() -> Vec<SeenDialog>) {
        let now = Instant::now();
        let mut dialogs = lock(&self.dialogs);
        if dialogs.looked.is_some_and(|last| now.saturating_duration_since(last) < LOOK_EVERY) {
            return;
        }
        dialogs.looked = Some(now);
        dialogs.take(look(), now_ms());
    }

    /// All of it, as it goes over the bridge.
    pub fn report(&self) -> Value {
        let frame_age = lock(&self.frame).map(|frame| frame.elapsed().as_millis());
        let dialogs = lock(&self.dialogs);
        json!({
            "settled": self.settled.load(Ordering::Acquire),
            "importing": self.importing.load(Ordering::Acquire),
            "frame_age_ms": frame_age.and_then(|age| u64::try_from(age).ok()),
            "dialogs": dialogs.open,
            "closed_dialogs": dialogs.past,
        })
    }
}

impl Dialogs {
    fn take(&mut self, seen: Vec<SeenDialog>, at_ms: u64) {
        let is_open = |open: &Dialog| seen.iter().any(|one| one.id == open.seen);
        let (open, closed): (Vec<_>, Vec<_>) = self.open.drain(..).partition(is_open);
        self.open = open;
        for mut dialog in closed {
            dialog.dismissed_at_ms = Some(at_ms);
            self.past.push_back(dialog);
        }
        while self.past.len() > MAX_PAST {
            self.past.pop_front();
        }
        for one in seen {
            match self.open.iter_mut().find(|open| open.seen == one.id) {
                Some(open) => open.renew(one),
                None => self.open.push(Dialog::opened(one, at_ms)),
            }
        }
    }
}

impl Dialog {
    fn opened(seen: SeenDialog, at_ms: u64) -> Self {
        let SeenDialog { id, class, title, message, buttons } = seen;
        // One dialog of the engine is shown again and again; each time is one of its own.
        let name = format!("{id}-{at_ms}");
        Dialog {
            id: name,
            class,
            title,
            message,
            buttons,
            opened_at_ms: at_ms,
            dismissed_at_ms: None,
            seen: id,
        }
    }

    /// Its words may change while it is open.
    fn renew(&mut self, seen: SeenDialog) {
        (self.title, self.message, self.buttons) = (seen.title, seen.message, seen.buttons);
    }
}
