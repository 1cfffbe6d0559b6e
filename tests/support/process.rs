//! Processes by their numbers: what they do, and signals to them.

use std::fs;

#[cfg(unix)]
pub use rustix::process::Signal;

/// The letter by which the system names what a process does.
pub fn state_of(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

/// Whether a process runs; one that ended and was not asked after does not.
pub fn runs(pid: u32) -> bool {
    state_of(pid).is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

/// A process by its number.
///
/// # Panics
/// When the number is none.
#[cfg(unix)]
pub fn pid_of(number: u32) -> rustix::process::Pid {
    let number = i32::try_from(number).ok();
    number.and_then(rustix::process::Pid::from_raw).expect("a process has a number")
}

/// Sends a process a signal.
///
/// # Panics
/// When the system refuses.
#[cfg(unix)]
pub fn signal(pid: u32, signal: Signal) {
    let sent = rustix::process::kill_process(pid_of(pid), signal);
    sent.unwrap_or_else(|error| panic!("{signal:?} to {pid}: {error}"));
}
