//! Taking a descriptor out of its folder without touching any other file.
//!
//! The file is opened, compared, moved to a name that nobody can foresee, and compared again. Systems that
//! can delete by handle delete it then; the others keep the tombstone, because a name is no proof of what is
//! behind it.

#[cfg(any(unix, windows))]
use std::fs;
use std::{
    io,
    path::{Path, PathBuf},
};

use super::{file_name, moving};
use crate::{
    descriptor::{Descriptor, MAX_DESCRIPTOR_BYTES, SessionId},
    hex,
    open::{self, OpenFault},
    session_dir::SessionDir,
};

/// What tombstones are called, before the session and 32 more digits.
const TOMBSTONE: &str = ".didi-retired-";

/// What became of a retired descriptor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Retired {
    /// It was not there any more.
    WasGone,
    /// It is kept under this name, which no scan reads.
    Kept(PathBuf),
    /// It was deleted through its handle.
    Deleted,
}

/// Why a descriptor was left where it is.
#[derive(Debug, thiserror::Error)]
pub enum RetireFault {
    /// Another file has its name.
    #[error("`{0}` is not the descriptor that was published")]
    NotThisOne(PathBuf),
    /// It could not be read or moved.
    #[error("`{0}` could not be retired")]
    Io(PathBuf, #[source] io::Error),
}

/// Moves the descriptor's file away if it is exactly this descriptor's.
pub(super) fn retire(dir: &SessionDir, descriptor: &Descriptor) -> Result<Retired, RetireFault> {
    let session = descriptor.identity.session_id;
    let file = dir.path.join(file_name(session));
    let mut opened = match open::regular(&file) {
        Ok(opened) => opened,
        Err(OpenFault::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Retired::WasGone);
        }
        Err(OpenFault::Io(error)) => return Err(RetireFault::Io(file, error)),
        Err(_) => return Err(RetireFault::NotThisOne(file)),
    };
    let text = opened.read(MAX_DESCRIPTOR_BYTES).ok();
    let same =
        text.and_then(|text| Descriptor::from_slice(&text).ok()).as_ref() == Some(descriptor);
    if !same || !opened.is_still_at(&file) {
        return Err(RetireFault::NotThisOne(file));
    }
    let tombstone = dir.path.join(tombstone_name(session));
    moving::without_replacement(&file, &tombstone)
        .map_err(|error| RetireFault::Io(file.clone(), error))?;
    if !opened.is_still_at(&tombstone) {
        return Err(RetireFault::NotThisOne(tombstone));
    }
    drop(opened);
    Ok(dispose(tombstone))
}

fn tombstone_name(session: SessionId) -> String {
    format!("{TOMBSTONE}{session}-{}", hex::text(&hex::random::<16>()))
}

/// Whose tombstone a name is.
#[cfg(any(windows, test))]
pub(super) fn session_of_tombstone(name: &str) -> Option<SessionId> {
    let (session, digits) = name.strip_prefix(TOMBSTONE)?.split_once('-')?;
    hex::bytes::<16>(digits)?;
    SessionId::parse(session)
}

#[cfg(not(windows))]
fn dispose(tombstone: PathBuf) -> Retired {
    Retired::Kept(tombstone)
}

#[cfg(windows)]
fn dispose(tombstone: PathBuf) -> Retired {
    match delete_by_handle(&tombstone) {
        Ok(()) => Retired::Deleted,
        Err(_) => Retired::Kept(tombstone),
    }
}

/// Deletes the file behind the handle that opened it, whatever its name is by then.
#[cfg(windows)]
pub(super) fn delete_by_handle(path: &Path) -> io::Result<()> {
    use std::os::windows::fs::OpenOptionsExt as _;

    const DELETE: u32 = 0x0001_0000;
    const DELETE_ON_CLOSE: u32 = 0x0400_0000;
    const OPEN_REPARSE_POINT: u32 = 0x0020_0000;
    let mut options = fs::OpenOptions::new();
    options.access_mode(DELETE).custom_flags(DELETE_ON_CLOSE | OPEN_REPARSE_POINT);
    options.open(path).map(drop)
}

/// Removes the socket that a gone process left, if it is a socket of the user's own.
#[cfg(unix)]
pub(super) fn remove_socket(endpoint: &Path) -> bool {
    use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};

    let own = fs::symlink_metadata(endpoint).is_ok_and(|found| {
        found.file_type().is_socket() && found.uid() == rustix::process::geteuid().as_raw()
    });
    own && fs::remove_file(endpoint).is_ok()
}

/// A pipe ends with the process that made it.
#[cfg(not(unix))]
pub(super) fn remove_socket(_endpoint: &Path) -> bool {
    false
}
