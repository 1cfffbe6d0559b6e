//! Whether a process is still the one that was meant: by its pid, and by the time at which it started.
//!
//! A pid alone is not enough, because a later process may have it. What cannot be established is said
//! ([`Liveness::Unknown`]) and never folded into [`Liveness::Gone`].

#[cfg(test)]
mod tests;

#[cfg(unix)]
mod signal;
#[cfg_attr(target_os = "linux", path = "process/linux.rs")]
#[cfg_attr(target_os = "macos", path = "process/macos.rs")]
#[cfg_attr(windows, path = "process/windows.rs")]
#[cfg_attr(not(any(target_os = "linux", target_os = "macos", windows)), path = "process/other.rs")]
mod system;

/// How far two readings of one start time may lie apart, in milliseconds: systems count it in ticks from a
/// start-up time that they correct with their clock.
pub const START_TOLERANCE_MS: u64 = 2_000;

/// What is known of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// It runs, and started when it should have.
    Alive,
    /// No process has the pid, or a later one has it.
    Gone,
    /// It could not be established.
    Unknown(UnknownReason),
}

/// Why it could not be established.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownReason {
    /// The system did not let it be looked at, with the system's number of the error.
    OpenDenied {
        /// As the system counts them.
        os_error: i32,
    },
    /// Something with that pid runs, and whether it is the one could not be told.
    RunningButUnidentified,
}

/// What one look at a pid found.
enum Sight {
    /// It runs since then, in milliseconds since 1970; `None` when that could not be read.
    Running(Option<u64>),
    Absent,
    Denied(i32),
}

impl Liveness {
    /// `alive`, `gone` or `unknown`.
    pub fn as_str(self) -> &'static str {
        match self {
            Liveness::Alive => "alive",
            Liveness::Gone => "gone",
            Liveness::Unknown(_) => "unknown",
        }
    }
}

impl UnknownReason {
    /// `open_denied` or `running_but_unidentified`.
    pub fn as_str(self) -> &'static str {
        match self {
            UnknownReason::OpenDenied { .. } => "open_denied",
            UnknownReason::RunningButUnidentified => "running_but_unidentified",
        }
    }

    /// The system's number of the error, where it denied the look.
    pub fn os_error(self) -> Option<i32> {
        match self {
            UnknownReason::OpenDenied { os_error } => Some(os_error),
            UnknownReason::RunningButUnidentified => None,
        }
    }
}

/// When this process started, in milliseconds since 1970, as descriptors carry it.
///
/// `None` where the system does not tell; a session can then not be published.
pub fn own_start_ms() -> Option<u64> {
    match system::look(std::process::id()) {
        Sight::Running(started) => started,
        Sight::Absent | Sight::Denied(_) => None,
    }
}

/// Whether the process that had `pid` and started at `started_at_ms` still runs.
pub fn liveness(pid: u32, started_at_ms: u64) -> Liveness {
    match system::look(pid) {
        Sight::Denied(os_error) => Liveness::Unknown(UnknownReason::OpenDenied { os_error }),
        Sight::Running(None) => Liveness::Unknown(UnknownReason::RunningButUnidentified),
        Sight::Running(Some(found)) if found.abs_diff(started_at_ms) <= START_TOLERANCE_MS => {
            Liveness::Alive
        }
        // A later process has its pid.
        Sight::Absent | Sight::Running(Some(_)) => Liveness::Gone,
    }
}

/// Whether any process has `pid`, where nobody wrote down when the one that was meant started.
pub fn running(pid: u32) -> Liveness {
    match system::look(pid) {
        Sight::Denied(os_error) => Liveness::Unknown(UnknownReason::OpenDenied { os_error }),
        Sight::Running(_) => Liveness::Alive,
        Sight::Absent => Liveness::Gone,
    }
}
