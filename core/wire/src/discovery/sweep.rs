//! Tidying up after processes that are provably gone.
//!
//! Nothing whose owner is alive or could not be looked at is touched, and nothing that is malformed.

use std::{fs, path::Path};

use super::{Scan, file_name, retire};
use crate::{
    descriptor::SessionId,
    lock,
    session_dir::{SessionDir, SessionDirFault},
};

/// What a sweep took away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// Descriptors retired.
    pub descriptors: usize,
    /// Sockets removed that these descriptors named.
    pub sockets: usize,
    /// Lock files removed that had no descriptor and that nobody held.
    pub locks: usize,
    /// Tombstones removed, on Windows only.
    pub tombstones: usize,
}

/// Retires what a scan found stale, and removes locks that nobody holds and no descriptor needs.
///
/// # Errors
/// When the folder is not private or cannot be listed. A file that resists is left.
pub fn sweep(dir: &SessionDir, scan: &Scan) -> Result<Swept, SessionDirFault> {
    let mut swept = Swept::default();
    if !dir.check()? {
        return Ok(swept);
    }
    for descriptor in &scan.stale {
        if retire::retire(dir, descriptor).is_ok() {
            swept.descriptors += 1;
            let endpoint = Path::new(&descriptor.identity.endpoint);
            swept.sockets += usize::from(retire::remove_socket(endpoint));
        }
    }
    let entries =
        fs::read_dir(&dir.path).map_err(|error| SessionDirFault::Io(dir.path.clone(), error))?;
    for entry in entries.take(super::MAX_ENTRIES).flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        if let Some(session) = name.strip_suffix(".lock").and_then(SessionId::parse) {
            swept.locks += usize::from(sweep_lock(dir, session));
        }
        swept.tombstones += usize::from(reap(dir, name));
    }
    Ok(swept)
}

fn sweep_lock(dir: &SessionDir, session: SessionId) -> bool {
    let orphan = || !dir.path.join(file_name(session)).exists();
    orphan() && lock::remove_unheld(dir, session, orphan)
}

/// Elsewhere tombstones stay: no portable way deletes a file by what it is and not by its name.
#[cfg(not(windows))]
fn reap(_dir: &SessionDir, _name: &str) -> bool {
    false
}

/// Deletes a tombstone whose owner died between the move and the deletion.
#[cfg(windows)]
fn reap(dir: &SessionDir, name: &str) -> bool {
    use crate::{
        descriptor::{Descriptor, MAX_DESCRIPTOR_BYTES},
        open,
        process::{Liveness, liveness},
    };

    let Some(session) = retire::session_of_tombstone(name) else { return false };
    let path = dir.path.join(name);
    let read = open::regular(&path).and_then(|mut opened| opened.read(MAX_DESCRIPTOR_BYTES));
    let Some(descriptor) = read.ok().and_then(|text| Descriptor::from_slice(&text).ok()) else {
        return false;
    };
    let identity = &descriptor.identity;
    identity.session_id == session
        && liveness(identity.pid, identity.started_at_ms) == Liveness::Gone
        && retire::delete_by_handle(&path).is_ok()
}
