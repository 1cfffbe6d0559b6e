//! Who is attached, what it last did, and a person's wish to be rid of it.
//!
//! A client is one server at a time: it holds the session's lock. A person sends it away from inside the engine; from
//! then on its requests are refused, until somebody attaches under a lock that was taken later. Whoever shows this
//! looks at [`Clients::revision`], which moves only when there is something new.

use std::sync::{
    Mutex,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use didi_wire::{BridgeError, lock::Holder};

use crate::{lock, now_ms};

#[cfg(test)]
mod tests;

/// The code by which a client learns that a person sent it away.
pub const SESSION_DETACHED: &str = "session_detached";

/// The clients of a session, over time.
#[derive(Debug, Default)]
pub struct Clients {
    inner: Mutex<View>,
    away: Mutex<Away>,
    revision: AtomicU64,
    wish: AtomicBool,
}

/// Whether a person sent the newest client away.
#[derive(Debug, Default)]
enum Away {
    #[default]
    Nobody,
    /// Who it was, where its lock could be read.
    Sent(Option<Holder>),
}

/// What can be shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct View {
    /// Whether a client has open connections.
    pub attached: bool,
    /// Who it says it is, where the system lets its lock be read.
    pub holder: Option<Holder>,
    /// The newest command of the main thread that ended.
    pub last: Option<Done>,
    /// Whether a person sent the newest client away.
    pub sent_away: bool,
}

/// A command that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// Its method.
    pub method: &'static str,
    /// The code of its refusal; `None` when it was done.
    pub refused: Option<String>,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
}

impl Clients {
    /// What can be shown now.
    pub fn view(&self) -> View {
        View { sent_away: self.is_sent_away(), ..lock(&self.inner).clone() }
    }

    /// Moves whenever the view does.
    pub fn revision(&self) -> u64 {
        self.revision.load(Ordering::Acquire)
    }

    /// A person wants the client gone; carried out by whoever takes the wish.
    pub fn wish_gone(&self) {
        self.wish.store(true, Ordering::Release);
    }

    /// Whether somebody wished so since the last time.
    pub fn take_wish(&self) -> bool {
        self.wish.swap(false, Ordering::AcqRel)
    }

    pub(crate) fn attached(&self, holder: Option<Holder>) {
        self.change(|view| {
            view.attached = true;
            view.holder = holder;
        });
    }

    pub(crate) fn gone(&self) {
        self.change(|view| view.attached = false);
    }

    pub(crate) fn ended(&self, method: &'static str, refused: Option<&str>) {
        let refused = refused.map(ToOwned::to_owned);
        self.change(|view| view.last = Some(Done { method, refused, at_ms: now_ms() }));
    }

    /// Whoever holds the session now is not served any more.
    pub(crate) fn send_away(&self, holder: Option<Holder>) {
        *lock(&self.away) = Away::Sent(holder);
        self.moved();
    }

    /// Whether the newest client was sent away and none has come since.
    pub fn is_sent_away(&self) -> bool {
        matches!(*lock(&self.away), Away::Sent(_))
    }

    /// A handshake: a client that took the lock later than the one sent away is welcome.
    pub(crate) fn welcome(
        &self,
        holder: impl FnOnce() -> Option<Holder>,
    ) -> Result<(), BridgeError> {
        let mut away = lock(&self.away);
        let Away::Sent(before) = &*away else { return Ok(()) };
        let now = holder();
        if now.is_some() && now == *before {
            return Err(sent_away_error());
        }
        *away = Away::Nobody;
        drop(away);
        self.moved();
        Ok(())
    }

    /// Any other request: refused while the client is one that was sent away.
    pub(crate) fn may_ask(&self) -> Result<(), BridgeError> {
        if self.is_sent_away() { Err(sent_away_error()) } else { Ok(()) }
    }

    fn change(&self, change: impl FnOnce(&mut View)) {
        change(&mut lock(&self.inner));
        self.moved();
    }

    fn moved(&self) {
        self.revision.fetch_add(1, Ordering::AcqRel);
    }
}

/// What a client that was sent away gets in place of an answer.
pub(crate) fn sent_away_error() -> BridgeError {
    let message = "a person detached the client in the editor, and nothing was done";
    BridgeError::new(409, SESSION_DETACHED, message)
}
