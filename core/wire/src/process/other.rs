//! Systems that this crate cannot ask when a process started: there, who runs stays unidentified.

use super::Sight;

pub(super) fn look(pid: u32) -> Sight {
    super::signal::look(pid, || None)
}
