//! One flag per call or job that says whether anybody still wants it.
//!
//! Spec: P-6, cancellation.

use std::{
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// A flag that many can hold and any can raise. It never goes down again.
#[derive(Clone, Default)]
pub struct Cancel(Arc<Inner>);

#[derive(Default)]
struct Inner {
    raised: AtomicBool,
    gate: Mutex<()>,
    bell: Condvar,
}

impl Cancel {
    /// Raises the flag and wakes whoever waits.
    pub fn raise(&self) {
        let _gate = self.0.gate.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.raised.store(true, Ordering::SeqCst);
        self.0.bell.notify_all();
    }

    /// Whether the flag is up.
    pub fn is_raised(&self) -> bool {
        self.0.raised.load(Ordering::SeqCst)
    }

    /// Waits until the flag is up or `span` is over; answers whether it is up.
    pub fn wait(&self, span: Duration) -> bool {
        let gate = self.0.gate.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_raised() {
            return true;
        }
        let waited = self.0.bell.wait_timeout_while(gate, span, |()| !self.is_raised());
        drop(waited);
        self.is_raised()
    }
}
