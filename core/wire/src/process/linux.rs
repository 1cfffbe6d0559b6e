//! Linux: the process's own line in `/proc`, whose start is counted in ticks since the system came up.

use std::fs;

use super::{Sight, signal};

pub(super) fn look(pid: u32) -> Sight {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok();
    let stat = stat.as_deref().and_then(Stat::parse);
    // One that has ended and only waits to be asked for its exit code is gone.
    if stat.as_ref().is_some_and(|stat| matches!(stat.state, 'Z' | 'X' | 'x')) {
        return Sight::Absent;
    }
    signal::look(pid, || Some(boot_ms()? + stat?.start_ms()))
}

/// What is read of `/proc/<pid>/stat`.
struct Stat {
    state: char,
    start_ticks: u64,
}

impl Stat {
    /// The program's name stands in brackets and may hold any text, brackets included.
    fn parse(line: &str) -> Option<Self> {
        let (_, rest) = line.rsplit_once(')')?;
        let mut fields = rest.split_whitespace();
        let state = fields.next()?.chars().next()?;
        // Counted from 1, the state is field 3 and the start field 22.
        let start_ticks = fields.nth(18)?.parse().ok()?;
        Some(Stat { state, start_ticks })
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
        assert!(Stat::parse("77 (a) S 1 2").is_none());
        assert!(Stat::parse("").is_none());
    }
}
