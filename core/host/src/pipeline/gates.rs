//! Whether the attached editor is at rest: still settling after its start, or blocked by a dialog.
//!
//! An editor is looked at from a thread of this module's own and never from its main thread, so that the probes, which
//! only read what was seen, answer at once whatever the editor does. What they tell is at most [`LOOK_EVERY`] old.
//! A command looks itself in two cases: before it runs, where no editor is known and one would be attached for it, which
//! takes as long as attaching does; and after it ran in one, for the dialogs that came and went meanwhile, which is given
//! up when the editor does not answer soon.
//!
//! Spec: P-67, readiness.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::{Map, Value, json};

use crate::{
    cancel::Cancel,
    lane::{Lane, Turn},
    source,
};

/// How often the editor is looked at.
pub const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Dialogs that are remembered after they went away.
const MAX_REMEMBERED: usize = 64;

/// Looks at the editor. The call may take a moment; it must not need the editor's main thread.
pub trait Watched: Send + Sync {
    /// What is seen; `None` while no editor is attached. With `may_attach` the one that a command would attach now is
    /// attached first. What a look tells that was cut short by `cancel` is not taken in.
    fn look(&self, may_attach: bool, cancel: &Cancel) -> Option<Sight>;
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
    /// Dialogs that it says were open and are not, the newest last.
    pub closed: Vec<Dialog>,
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
    /// When it was gone, as the editor says or as it was seen, in milliseconds since 1970.
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
    fn look(&self, _may_attach: bool, _cancel: &Cancel) -> Option<Sight> {
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
    /// Held by whoever looks, so that what is seen is taken in in the order in which it was.
    looking: Lane,
    state: Mutex<State>,
    /// Whether [`State::standing`] is [`Standing::Ready`], which is asked for more often than all else.
    is_ready: AtomicBool,
}

#[derive(Default)]
struct State {
    /// The session that was at rest once.
    settled: Option<String>,
    seen: Option<Sight>,
    /// When a look that might attach an editor found none.
    missed: Option<Instant>,
    gone: VecDeque<Dialog>,
}

impl Gates {
    /// Gates over an editor; nothing is looked at yet.
    pub fn new(watched: Arc<dyn Watched>) -> Self {
        Gates {
            watched,
            looking: Lane::default(),
            state: Mutex::default(),
            is_ready: AtomicBool::new(true),
        }
    }

    /// Looks once, now; leaves it when that takes until `cancel` is up.
    pub fn look(&self, cancel: &Cancel) {
        if let Some(turn) = self.looking.enter(cancel) {
            self.take_in(&turn, false, cancel);
        }
    }

    /// How it stands for a command that was asked for at an instant, where that is known without attaching an editor.
    pub fn known_for_command(&self, asked: Instant) -> Option<Standing> {
        let state = self.lock();
        let was_looked_for = |missed: Instant| asked.saturating_duration_since(missed) < LOOK_EVERY;
        let is_known = state.seen.is_some() || state.missed.is_some_and(was_looked_for);
        is_known.then(|| state.standing())
    }

    /// As it is for a command that is about to run in the editor: one that would be attached for it is looked at first,
    /// which may take as long as a handshake and a call.
    pub fn standing_for_command(&self, asked: Instant) -> Standing {
        if let Some(known) = self.known_for_command(asked) {
            return known;
        }
        let to_its_end = Cancel::default();
        let Some(turn) = self.looking.enter(&to_its_end) else { return self.standing() };
        // Whoever looked meanwhile looked for this one, too.
        self.known_for_command(asked).unwrap_or_else(|| self.take_in(&turn, true, &to_its_end))
    }

    /// Looks, and says how it then stands.
    fn take_in(&self, _turn: &Turn<'_>, may_attach: bool, cancel: &Cancel) -> Standing {
        let seen = self.watched.look(may_attach, cancel);
        let mut state = self.lock();
        if cancel.is_raised() {
            return state.standing();
        }
        if seen.is_none() && may_attach {
            state.missed = Some(source::now());
        }
        state.take_in(seen, source::now_ms());
        let standing = state.standing();
        self.is_ready.store(standing == Standing::Ready, Ordering::Release);
        standing
    }

    /// Looks until the flag is up.
    pub fn look_after(&self, end: &Cancel) {
        loop {
            self.look(end);
            if end.wait(LOOK_EVERY) {
                return;
            }
        }
    }

    /// As it was seen last.
    pub fn standing(&self) -> Standing {
        if self.is_ready.load(Ordering::Acquire) { Standing::Ready } else { self.lock().standing() }
    }

    /// Whether an editor was there when it was looked last.
    pub fn knows_editor(&self) -> bool {
        self.lock().seen.is_some()
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

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take_in(&mut self, mut seen: Option<Sight>, now_ms: u64) {
        let closed = seen.as_mut().map(|seen| std::mem::take(&mut seen.closed));
        closed.into_iter().flatten().for_each(|dialog| self.remember(dialog));
        let open = seen.as_ref().map(|seen| &seen.dialogs[..]).unwrap_or_default();
        // An editor that tells of none, or has gone with them.
        let before = self.seen.take().map(|before| before.dialogs).unwrap_or_default();
        for mut dialog in before.into_iter().filter(|one| !open.iter().any(|it| it.id == one.id)) {
            dialog.dismissed_ms.get_or_insert(now_ms);
            self.remember(dialog);
        }
        if let Some(seen) = &seen
            && seen.at_rest
        {
            self.settled = Some(seen.session.clone());
        }
        self.seen = seen;
    }

    /// Keeps a dialog that is gone; one that is told of again and again is kept once.
    fn remember(&mut self, dialog: Dialog) {
        if self.gone.iter().any(|one| one.id == dialog.id && one.opened_ms == dialog.opened_ms) {
            return;
        }
        if self.gone.len() == MAX_REMEMBERED {
            self.gone.pop_front();
        }
        self.gone.push_back(dialog);
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
