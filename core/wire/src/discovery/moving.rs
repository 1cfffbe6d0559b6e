//! Moving a file onto a name that nothing has yet, as one step.

use std::{fs, io, path::Path};

/// Renames `from` to `to`; where something is at `to` already, nothing is moved.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(super) fn without_replacement(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::{
        fs::{CWD, RenameFlags, renameat_with},
        io::Errno,
    };

    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Some file systems know no such renaming, but all that have links refuse to replace by one.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => by_link(from, to),
        moved => Ok(moved?),
    }
}

/// Renames `from` to `to`; where something is at `to` already, nothing is moved.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(super) fn without_replacement(from: &Path, to: &Path) -> io::Result<()> {
    by_link(from, to)
}

fn by_link(from: &Path, to: &Path) -> io::Result<()> {
    fs::hard_link(from, to)?;
    fs::remove_file(from)
}
