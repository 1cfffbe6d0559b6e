//! Whether a pid is taken, asked with a signal that does nothing.

use rustix::{
    io::Errno,
    process::{Pid, test_kill_process},
};

use super::Sight;

/// What a pid is, by what could be learnt of its start.
pub(super) fn look(pid: u32, started: impl FnOnce() -> Option<u64>) -> Sight {
    let Some(process) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return Sight::Absent;
    };
    match test_kill_process(process) {
        Ok(()) => Sight::Running(started()),
        Err(Errno::SRCH) => Sight::Absent,
        // Somebody else's process may not be signalled, and may still be looked at.
        Err(error) => match started() {
            Some(started) => Sight::Running(Some(started)),
            None => Sight::Denied(error.raw_os_error()),
        },
    }
}
