//! Whether the attached editor is at rest: still settling after its start, or blocked by a dialog.
//!
//! An editor is looked at from a thread of this module's own, never from its main thread and never by whoever
//! asks, so that the probes answer at once whatever the editor does. What it says is at most [`LOOK_EVERY`] old.
//!
//! Spec: P-67, readiness.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde_json::{Map, Value, json};

use crate::{cancel::Cancel, source};

/// How often the editor is looked at.
pub const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Dialogs that are remembered after they went away.
const MAX_REMEMBERED: usize = 64;

/// Looks at the editor. The call may take a moment; it must not need the editor's main thread.
pub trait Watched: Send + Sync {
    /// What is seen; `None` while no editor is attached. With `may_attach` the one that a command would attach now is
    /// attached first.
    fn look(&self, may_attach: bool) -> Option<Sight>;
}

/// An attached editor, as it is seen.
#[derive(Debug, Clone, Default)]
pub struct Sight {
    /// Its session. A session that was at rest once never settles again.
    pub session: String,
    /// Whether it neither imports nor compiles.
    pub at_rest: bool,
    /// The dialogs that are open now.
    pub dialogs: Vec<Dialog>,
    /// What else is told of it in `editor_status`, as members of its own.
    pub facts: Map<String, Value>,
}

/// A dialog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialog {
    /// Tells it from the others of its session.
    pub id: String,
    /// What opened it.
    pub source: String,
    /// Its title.
    pub title: String,
    /// What it says.
    pub message: String,
    /// `info`, `warning` or `error`.
    pub level: String,
    /// The words on its buttons.
    pub buttons: Vec<String>,
    /// When it was first seen, in milliseconds since 1970.
    pub opened_ms: u64,
    /// When it was gone, in milliseconds since 1970.
    pub dismissed_ms: Option<u64>,
}

impl Dialog {
    /// As it goes over the wire.
    pub fn shown(&self) -> Value {
        json!({
            "id": self.id,
            "source": self.source,
            "title": self.title,
            "message": self.message,
            "level": self.level,
            "buttons": self.buttons,
            "openedAt": source::iso8601(self.opened_ms),
            "dismissedAt": self.dismissed_ms.map(source::iso8601),
        })
    }
}

/// No editor is ever seen: nothing is gated.
pub struct Nobody;

impl Watched for Nobody {
    fn look(&self, _may_attach: bool) -> Option<Sight> {
        None
    }
}

/// Whether commands that need the main thread can run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// They can.
    Ready,
    /// It was not at rest yet since it started.
    Settling,
    /// Dialogs are open.
    Blocked(Vec<Dialog>),
}

impl Standing {
    /// The word of `/api/status`.
    pub fn word(&self) -> &'static str {
        match self {
            Standing::Ready => "ready",
            Standing::Settling => "settling",
            Standing::Blocked(_) => "blocked_by_dialog",
        }
    }

    /// The dialogs that are open.
    pub fn dialogs(&self) -> &[Dialog] {
        match self {
            Standing::Blocked(dialogs) => dialogs,
            _ => &[],
        }
    }
}

/// The gates of one process.
pub struct Gates {
    watched: Arc<dyn Watched>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The session that was at rest once.
    settled: Option<String>,
    seen: Option<Sight>,
    gone: VecDeque<Dialog>,
}

impl Gates {
    /// Gates over an editor; nothing is looked at yet.
    pub fn new(watched: Arc<dyn Watched>) -> Self {
        Gates { watched, state: Mutex::default() }
    }

    /// Looks once, now.
    pub fn look(&self) {
        self.take_in(false);
    }

    fn take_in(&self, may_attach: bool) {
        let seen = self.watched.look(may_attach);
        self.lock().take_in(seen, source::now_ms());
    }

    /// As it is for a command that is about to run in the editor: one that would be attached for it is looked at first.
    pub fn standing_for_command(&self) -> Standing {
        if self.lock().seen.is_none() {
            self.take_in(true);
        }
        self.standing()
    }

    /// Looks until the flag is up.
    pub fn look_after(&self, end: &Cancel) {
        loop {
            self.look();
            if end.wait(LOOK_EVERY) {
                return;
            }
        }
    }

    /// As it was seen last.
    pub fn standing(&self) -> Standing {
        self.lock().standing()
    }

    /// What the editor told of itself last; `None` without an editor.
    pub fn facts(&self) -> Option<Map<String, Value>> {
        self.lock().seen.as_ref().map(|seen| seen.facts.clone())
    }

    /// Dialogs that were open at some time since an instant in milliseconds since 1970.
    pub fn dialogs_since(&self, ms: u64) -> Vec<Dialog> {
        let state = self.lock();
        let lasted = |dialog: &&Dialog| dialog.dismissed_ms.is_none_or(|at| at >= ms);
        let open = state.seen.iter().flat_map(|seen| &seen.dialogs);
        state.gone.iter().chain(open).filter(lasted).cloned().collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take_in(&mut self, seen: Option<Sight>, now_ms: u64) {
        let open = seen.as_ref().map(|seen| &seen.dialogs[..]).unwrap_or_default();
        let before = self.seen.take().map(|before| before.dialogs).unwrap_or_default();
        for mut dialog in before.into_iter().filter(|one| !open.iter().any(|it| it.id == one.id)) {
            dialog.dismissed_ms.get_or_insert(now_ms);
            if self.gone.len() == MAX_REMEMBERED {
                self.gone.pop_front();
            }
            self.gone.push_back(dialog);
        }
        if let Some(seen) = &seen
            && seen.at_rest
        {
            self.settled = Some(seen.session.clone());
        }
        self.seen = seen;
    }

    fn standing(&self) -> Standing {
        let Some(seen) = &self.seen else { return Standing::Ready };
        if !seen.dialogs.is_empty() {
            return Standing::Blocked(seen.dialogs.clone());
        }
        let settled = self.settled.as_ref() == Some(&seen.session);
        if settled { Standing::Ready } else { Standing::Settling }
    }
}

#[cfg(test)]
mod tests;
