//! One client a session, held by the kernel: a lock ends with the process that took it, however it ends.
//!
//! The file says who holds the lock, for people; it has no token, and its being there means nothing. It stays
//! when the lock is released, because somebody may be waiting on it; [`crate::discovery::sweep`] removes it
//! once its session is gone.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use fs2::FileExt as _;
use serde::{Deserialize, Serialize};

use crate::{
    descriptor::SessionId,
    open,
    session_dir::{SessionDir, SessionDirFault},
};

#[cfg(test)]
mod tests;

/// Most that is read of a lock's file, in bytes.
const MAX_HOLDER_BYTES: u64 = 4096;

/// How often a file is opened anew that a sweep removed while it was being locked.
const MAX_ATTEMPTS: usize = 8;

/// Who holds a lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Its process.
    pub pid: u32,
    /// Its name, such as `didi 0.1.0`.
    pub name: String,
    /// Since when, in milliseconds since 1970.
    pub since_ms: u64,
}

/// The right to be a session's one client, until it is dropped.
#[derive(Debug)]
pub struct SessionLock {
    file: File,
    session: SessionId,
}

/// Why a lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockFault {
    /// Another client has it; who, where that could be read.
    #[error("the session is held by another client")]
    Held(Option<Holder>),
    /// The folder cannot be used.
    #[error("the session folder cannot be used")]
    Folder(#[from] SessionDirFault),
    /// The file cannot be opened or locked.
    #[error("`{0}` cannot be locked")]
    Io(PathBuf, #[source] io::Error),
}

/// Takes a session's lock, or says at once who has it.
///
/// # Errors
/// When another client has it, in this process or another, or the folder or file cannot be used.
pub fn acquire(
    dir: &SessionDir,
    session: SessionId,
    holder: &Holder,
) -> Result<SessionLock, LockFault> {
    dir.prepare()?;
    let path = path_of(dir, session);
    let io_fault = |error| LockFault::Io(path.clone(), error);
    for _ in 0..MAX_ATTEMPTS {
        let mut file = open(&path, true).map_err(io_fault)?;
        if let Err(error) = file.try_lock_exclusive() {
            return Err(if is_contended(&error) {
                LockFault::Held(read_holder(&mut file))
            } else {
                io_fault(error)
            });
        }
        // A sweep may have removed the file between its opening and its locking.
        if is_at(&file, &path) {
            describe(&mut file, holder).map_err(io_fault)?;
            return Ok(SessionLock { file, session });
        }
    }
    Err(io_fault(io::Error::other("it was removed again and again")))
}

impl SessionLock {
    /// Whose lock it is.
    pub fn session(&self) -> SessionId {
        self.session
    }
}

impl Drop for SessionLock {
    fn drop(&mut self) {
        // Closing the file would release it as well, but not while a child process has inherited it.
        let _ = self.file.set_len(0);
        let _ = fs2::FileExt::unlock(&self.file);
    }
}

/// Who holds a session's lock, in its own words; `None` when nobody does, or the system keeps a locked file from being
/// read.
pub fn holder(dir: &SessionDir, session: SessionId) -> Option<Holder> {
    // A lock that was given back is empty, so there is no need to try it.
    read_holder(&mut open(&path_of(dir, session), false).ok()?)
}

/// Removes the lock's file if nobody holds it and `orphan` still says so once it is held here.
pub(crate) fn remove_unheld(
    dir: &SessionDir,
    session: SessionId,
    orphan: impl FnOnce() -> bool,
) -> bool {
    let path = path_of(dir, session);
    let Ok(file) = open(&path, false) else { return false };
    file.try_lock_exclusive().is_ok()
        && is_at(&file, &path)
        && orphan()
        && fs::remove_file(&path).is_ok()
}

fn path_of(dir: &SessionDir, session: SessionId) -> PathBuf {
    dir.path.join(format!("{session}.lock"))
}

fn open(path: &Path, create: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(create);
    #[cfg(any(unix, windows))]
    open::without_following(&mut options);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

fn is_contended(error: &io::Error) -> bool {
    error.raw_os_error() == fs2::lock_contended_error().raw_os_error()
}

/// The holder's own words. Windows keeps a locked file from being read, so there is none there.
fn read_holder(file: &mut File) -> Option<Holder> {
    let mut text = vec![];
    file.take(MAX_HOLDER_BYTES).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

fn describe(file: &mut File, holder: &Holder) -> io::Result<()> {
    file.set_len(0)?;
    file.write_all(&serde_json::to_vec(holder)?)?;
    file.flush()
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    let identity = |found: fs::Metadata| (found.dev(), found.ino());
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(own), Ok(there)) => identity(own) == identity(there),
        _ => false,
    }
}

/// Windows does not remove a file that is open.
#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> bool {
    path.is_file()
}
