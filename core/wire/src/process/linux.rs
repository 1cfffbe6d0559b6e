//! Linux: the process's own line in `/proc`, whose start is counted in ticks since the system came up.

use std::fs;

use super::{Sight, signal};

pub(super) fn look(pid: u32) -> Sight {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok();
    let stat = stat.as_deref().and_then(Stat::parse);
    if stat.as_ref().is_some_and(Stat::has_ended) {
        return Sight::Absent;
    }
    signal::look(pid, || Some(boot_ms()? + stat?.start_ms()))
}

/// The kernel's flag of a process that is being taken down, `PF_EXITING`.
const EXITING: u32 = 0x4;

/// What is read of `/proc/<pid>/stat`.
struct Stat {
    state: char,
    flags: u32,
    start_ticks: u64,
}

impl Stat {
    /// The program's name stands in brackets and may hold any text, brackets included.
    fn parse(line: &str) -> Option<Self> {
        let (_, rest) = line.rsplit_once(')')?;
        let mut fields = rest.split_whitespace();
        let state = fields.next()?.chars().next()?;
        // Counted from 1, the state is field 3, the flags are field 9 and the start is field 22.
        let flags = fields.nth(5)?.parse().ok()?;
        let start_ticks = fields.nth(12)?.parse().ok()?;
        Some(Stat { state, flags, start_ticks })
    }

    /// One that only waits to be asked for its exit code is gone, and so is one on its way there: its sockets are
    /// closed before it is a zombie, and whoever was just hung up on looks in between.
    fn has_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X' | 'x') || self.flags & EXITING != 0
    }

    fn start_ms(&self) -> u64 {
        let per_second = rustix::param::clock_ticks_per_second().max(1);
        let whole = self.start_ticks / per_second * 1000;
        whole + self.start_ticks % per_second * 1000 / per_second
    }
}

/// When the system came up, in milliseconds since 1970.
fn boot_ms() -> Option<u64> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let seconds = stat.lines().find_map(|line| line.strip_prefix("btime "))?;
    Some(seconds.trim().parse::<u64>().ok()? * 1000)
}

#[cfg(test)]
mod tests {
    use super::Stat;

    #[test]
    fn a_programs_name_may_hold_brackets_and_blanks() {
        let line = "77 (a) Z (b) S 1 77 77 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 12345 0 0";
        let stat = Stat::parse(line).unwrap();
        assert_eq!((stat.state, stat.start_ticks), ('S', 12_345));
        assert!(!stat.has_ended());
        assert!(Stat::parse("77 (a) S 1 2").is_none());
        assert!(Stat::parse("").is_none());
    }

    #[test]
    fn one_that_is_being_taken_down_has_ended() {
        let line = |state: char, flags: u32| {
            format!("7 (a) {state} 1 7 7 0 -1 {flags} 1 0 0 0 0 0 0 0 20 0 1 0 12345 0 0")
        };
        let ended = |state, flags| Stat::parse(&line(state, flags)).unwrap().has_ended();
        assert!(!ended('R', 0x40_0040) && !ended('T', 0x40_0040));
        assert!(ended('Z', 0x40_0000) && ended('R', 0x40_0044));
    }
}
