//! The signals that end a process of ours, which takes what it started along.
//!
//! Spec: P-6, the end.

use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};

/// Listens for a hang-up, an interrupt and a termination, but not for those that whoever started this process had it
/// ignore: what `nohup` started outlives its terminal.
///
/// # Errors
/// What the system says.
pub fn ending() -> std::io::Result<Signals> {
    let ignored = ignored();
    let is_heard = |signal: &i32| ignored & (1 << (signal - 1)) == 0;
    Signals::new([SIGHUP, SIGINT, SIGTERM].iter().filter(|signal| is_heard(signal)))
}

/// The signals that this process ignores, a bit each; none where the system does not say.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
