//! Waiting for what comes by itself: looked for again and again, with a bound, never for a time alone.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::{process::runs, server::PATIENCE};

/// Between two looks, so that who is waited for has the processor.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// Waits until something is there.
///
/// # Panics
/// When it does not come in the tests' patience.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    until_ok(PATIENCE, || look().ok_or_else(|| format!("this did not come: {what}")))
}

/// Waits until a look succeeds; one that does not says what it saw.
///
/// # Panics
/// With what the last look saw, when none succeeds in time.
pub fn until_ok<T>(span: Duration, mut look: impl FnMut() -> Result<T, String>) -> T {
    let deadline = Instant::now() + span;
    loop {
        match look() {
            Ok(found) => return found,
            Err(seen) => assert!(Instant::now() < deadline, "after {span:?} {seen}"),
        }
        thread::sleep(BETWEEN_LOOKS);
    }
}

/// Waits for the end of a process.
///
/// # Panics
/// When it does not end.
pub fn until_gone(pid: u32) {
    until("end of the process", || (!runs(pid)).then_some(()));
}
