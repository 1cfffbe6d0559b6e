//! Room for four connections at once, and who has to make room.
//!
//! A connection that has been idle for longer than the recycle window gives way to one that waits; one that is
//! being answered never does.

use std::{
    sync::{Arc, Condvar, Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::{lock, transport::Peer};

/// Connections served at once.
pub(crate) const MAX_CONNECTIONS: usize = 4;

/// How long a connection may be idle while another waits for its place.
pub(crate) const IDLE_RECYCLE: Duration =
    if cfg!(windows) { Duration::from_secs(1) } else { Duration::from_secs(5) };

/// How long a place is waited for before the session's end is looked for.
const LOOK: Duration = Duration::from_millis(250);

/// The places of a session.
#[derive(Default)]
pub(crate) struct Slots {
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Default)]
struct Inner {
    taken: Vec<Arc<Slot>>,
    closed: bool,
}

/// One place.
pub(crate) struct Slot {
    pub(crate) peer: Peer,
    /// Since when it is idle; `None` while it is being answered.
    idle_since: Mutex<Option<Instant>>,
}

/// A place that is given back when it goes out of use.
pub(crate) struct Place {
    slots: Arc<Slots>,
    pub(crate) slot: Arc<Slot>,
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.slots.inner).taken.retain(|taken| !Arc::ptr_eq(taken, &self.slot));
        self.slots.changed.notify_all();
    }
}

impl Slot {
    /// Has something done during which the place is not given away.
    pub(crate) fn busy<R>(&self, work: impl FnOnce() -> R) -> R {
        *lock(&self.idle_since) = None;
        let result = work();
        *lock(&self.idle_since) = Some(Instant::now());
        result
    }

    fn idle_for(&self, now: Instant) -> Option<Duration> {
        lock(&self.idle_since).map(|since| now.saturating_duration_since(since))
    }
}

impl Slots {
    /// Waits for a place; `None` once the session ends.
    pub(crate) fn take(self: &Arc<Self>, peer: Peer) -> Option<Place> {
        let mut inner = lock(&self.inner);
        while !inner.closed && inner.taken.len() >= MAX_CONNECTIONS {
            if let Some(idle) = inner.longest_idle() {
                idle.peer.end();
            }
            let waited = self.changed.wait_timeout(inner, LOOK);
            inner = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        if inner.closed {
            return None;
        }
        let slot = Arc::new(Slot { peer, idle_since: Mutex::new(Some(Instant::now())) });
        inner.taken.push(Arc::clone(&slot));
        Some(Place { slots: Arc::clone(self), slot })
    }

    /// Ends every connection and gives no place any more.
    pub(crate) fn close(&self) {
        let mut inner = lock(&self.inner);
        inner.closed = true;
        for slot in &inner.taken {
            slot.peer.end();
        }
        self.changed.notify_all();
    }

    /// Whether the session ends.
    pub(crate) fn is_closed(&self) -> bool {
        lock(&self.inner).closed
    }

    /// Ends every connection; new ones are welcome.
    pub(crate) fn end_all(&self) {
        for slot in &lock(&self.inner).taken {
            slot.peer.end();
        }
    }
}

impl Inner {
    fn longest_idle(&self) -> Option<&Arc<Slot>> {
        let now = Instant::now();
        let idle = self.taken.iter().filter_map(|slot| Some((slot.idle_for(now)?, slot)));
        let (idle_for, slot) = idle.max_by_key(|(idle_for, _)| *idle_for)?;
        (idle_for >= IDLE_RECYCLE).then_some(slot)
    }
}
