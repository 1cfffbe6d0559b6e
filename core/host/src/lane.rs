//! The one lane of changes: a call that changes the project holds it while it runs, wherever it came from.
//!
//! Each front has its own order of what it runs; the lane only keeps two of them from changing at the same time. A job of
//! standard input (P-8) holds it until its thread is started and no longer, unless managed recovery has its call wait for
//! it: what a job writes is kept whole by the locks of the files. A job of the Pipeline is run by the queue, and holds it
//! to its end.
//!
//! Spec: P-7, the path of a call.

use std::{
    sync::{Condvar, Mutex, PoisonError},
    time::Duration,
};

use crate::cancel::Cancel;

/// How often one who waits looks whether it is still wanted.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The lane.
#[derive(Default)]
pub struct Lane {
    held: Mutex<bool>,
    freed: Condvar,
}

/// The lane, held until this is dropped.
pub struct Turn<'a>(&'a Lane);

impl Lane {
    /// Waits for the lane; `None` when the caller is cancelled before it is free.
    pub fn enter(&self, cancel: &Cancel) -> Option<Turn<'_>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        while *held {
            if cancel.is_raised() {
                return None;
            }
            let waited = self.freed.wait_timeout(held, LOOK_EVERY);
            held = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *held = true;
        Some(Turn(self))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.held.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests;
