//! One flag per call or job that says whether anybody still wants it.
//!
//! Spec: P-6, cancellation.

use std::{
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use crate::source;

/// A flag that many can hold and any can raise. It never goes down again.
#[derive(Clone, Default)]
pub struct Cancel(Arc<Inner>);

#[derive(Default)]
struct Inner {
    raised: AtomicBool,
    /// From then on it counts as raised.
    ends: Option<Instant>,
    gate: Mutex<()>,
    bell: Condvar,
}

impl Cancel {
    /// A flag that is up once `span` is over, whether or not somebody raises it before.
    pub fn after(span: Duration) -> Self {
        Cancel(Arc::new(Inner { ends: Some(source::now() + span), ..Inner::default() }))
    }

    /// Raises the flag and wakes whoever waits.
    pub fn raise(&self) {
        let _gate = self.0.gate.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.raised.store(true, Ordering::SeqCst);
        self.0.bell.notify_all();
    }

    /// Whether the flag is up.
    pub fn is_raised(&self) -> bool {
        self.0.raised.load(Ordering::SeqCst) || self.left().is_some_and(|left| left.is_zero())
    }

    /// The time until it is up by itself; `None` for one that somebody has to raise.
    fn left(&self) -> Option<Duration> {
        self.0.ends.map(|ends| ends.saturating_duration_since(source::now()))
    }

    /// Waits until the flag is up or `span` is over; answers whether it is up.
    pub fn wait(&self, span: Duration) -> bool {
        let gate = self.0.gate.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_raised() {
            return true;
        }
        let span = self.left().map_or(span, |left| left.min(span));
        let waited = self.0.bell.wait_timeout_while(gate, span, |()| !self.is_raised());
        drop(waited);
        self.is_raised()
    }
}
