//! Locks between processes, which also say what their holder has staged.
//!
//! A finished file lies beside its place until it is renamed. A process that is killed in between leaves it
//! there, so its name goes into the lock's file first, and out when the lock is given back. Whoever takes a
//! lock with names in it knows that its holder died, since the system freed the lock, and removes those files.
//! Nothing has to be searched, and a file that a living process still works on is never taken away.
//!
//! Spec: P-41, writing a file.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use didi_plugin_api::{
    digest::sha256_hex,
    project_path::ProjectRoot,
    refusal::{Refusal, codes},
};
use fs2::FileExt;

use super::{ProjectFiles, unwritable};
use crate::{cancel::Cancel, source};

/// How long a file's lock is waited for.
pub const LOCK_WAIT: Duration = Duration::from_secs(5);

/// Where the project's locks are.
const LOCK_FOLDER: &str = ".didi/locks";

/// Longest record of staged files that is read, in bytes.
const MAX_RECORD_BYTES: u64 = 64 * 1024;

/// What the name of a finished file begins and ends with, and how many hex digits are between.
const FINISHED: (&str, usize, &str) = (".didi-", 16, ".tmp");

/// A held lock; the kernel frees it with the file.
pub struct FileLock {
    root: ProjectRoot,
    file: File,
}

impl FileLock {
    /// A place beside `real` for its finished content, noted in the lock before anything is there.
    ///
    /// # Errors
    /// Whatever the disk says.
    pub(super) fn stage(&self, real: &Path) -> io::Result<PathBuf> {
        let finished = beside(real)?;
        // A folder outside the project is no place that a sweep would look at.
        if let Ok(inner) = finished.strip_prefix(self.root.folder()) {
            let line = format!("{}\n", inner.to_string_lossy());
            (&self.file).seek(io::SeekFrom::End(0))?;
            (&self.file).write_all(line.as_bytes())?;
        }
        Ok(finished)
    }

    /// Removes what a dead holder had staged.
    fn sweep(&self) -> io::Result<()> {
        if self.file.metadata()?.len() == 0 {
            return Ok(());
        }
        let mut record = Vec::new();
        (&self.file).rewind()?;
        (&self.file).take(MAX_RECORD_BYTES).read_to_end(&mut record)?;
        let record = String::from_utf8_lossy(&record);
        // A name whose line is not whole was never used: the file is made after the line is written.
        for line in record.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
            self.remove_staged(Path::new(line));
        }
        self.file.set_len(0)
    }

    /// Removes one file if it lies in the project and is called as a finished file is.
    fn remove_staged(&self, inner: &Path) {
        let Some(name) = inner.file_name().filter(|name| is_finished(&name.to_string_lossy()))
        else {
            return;
        };
        let folder = self.root.folder().join(inner.parent().unwrap_or(Path::new("")));
        let Ok(folder) = fs::canonicalize(folder) else { return };
        let staged = folder.join(name);
        let is_file = fs::symlink_metadata(&staged).is_ok_and(|found| found.is_file());
        if folder.starts_with(self.root.folder()) && is_file && fs::remove_file(&staged).is_ok() {
            tracing::info!(file = %staged.display(), "removed what a killed server had staged");
        }
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        if self.file.metadata().is_ok_and(|found| found.len() > 0) {
            let _ = self.file.set_len(0);
        }
    }
}

impl ProjectFiles {
    /// Takes the lock that all Didi processes share for this path.
    ///
    /// # Errors
    /// `project_file_busy` after [`LOCK_WAIT`].
    pub fn lock(&self, name: &str, cancel: &Cancel) -> Result<FileLock, Refusal> {
        let folder = self.lock_folder();
        let shown = format!("res://{LOCK_FOLDER}");
        let busy = |why: &str| {
            Refusal::new(codes::PROJECT_FILE_BUSY, format!("`{name}` {why}")).retry_after_ms(1000)
        };
        fs::create_dir_all(&folder).map_err(|error| unwritable(&shown, &error))?;
        let file = folder.join(format!("{}.lock", &sha256_hex(name.as_bytes())[..16]));
        let file = open(&file, true).map_err(|error| unwritable(&shown, &error))?;
        let deadline = source::now() + LOCK_WAIT;
        while FileExt::try_lock_exclusive(&file).is_err() {
            if source::now() >= deadline {
                return Err(busy("is locked by another process"));
            }
            if cancel.wait(Duration::from_millis(5)) {
                return Err(busy("was not waited for, as the caller gave up"));
            }
        }
        let lock = FileLock { root: self.root.clone(), file };
        lock.sweep().map_err(|error| unwritable(&shown, &error))?;
        Ok(lock)
    }

    /// Removes what servers that were killed had staged in this project. Locks that are held are left alone.
    pub fn sweep(&self) {
        let Ok(entries) = fs::read_dir(self.lock_folder()) else { return };
        for entry in entries.flatten() {
            let records = entry.metadata().is_ok_and(|found| found.is_file() && found.len() > 0);
            if !records || entry.path().extension().is_none_or(|ending| ending != "lock") {
                continue;
            }
            let Ok(file) = open(&entry.path(), false) else { continue };
            if FileExt::try_lock_exclusive(&file).is_ok() {
                let _ = FileLock { root: self.root.clone(), file }.sweep();
            }
        }
    }

    fn lock_folder(&self) -> PathBuf {
        self.root.folder().join(LOCK_FOLDER)
    }
}

/// Open files that a process may want: a lock for each path of the largest pass, and some room.
#[cfg(unix)]
const WANTED_FILES: u64 = 2 * super::apply::MAX_CHANGES as u64 + 512;

/// Raises how many files the process may have open, as far as the system lets it: a shell's default is less than
/// a large pass has locks.
#[cfg(unix)]
pub fn allow_many_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(WANTED_FILES, |most| most.min(WANTED_FILES));
    if current.is_some_and(|now| now < wanted) {
        let raised = Rlimit { current: Some(wanted), maximum };
        if let Err(error) = setrlimit(Resource::Nofile, raised) {
            tracing::debug!("the limit of open files stays as it is: {error}");
        }
    }
}

/// Other systems have no such limit.
#[cfg(not(unix))]
pub fn allow_many_files() {}

fn open(file: &Path, create: bool) -> io::Result<File> {
    OpenOptions::new().create(create).truncate(false).read(true).write(true).open(file)
}

/// A new name beside a place, for its finished content.
pub(super) fn beside(real: &Path) -> io::Result<PathBuf> {
    let folder = real.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let (begin, _, end) = FINISHED;
    Ok(folder.join(format!("{begin}{}{end}", source::random_hex::<8>())))
}

fn is_finished(name: &str) -> bool {
    let (begin, digits, end) = FINISHED;
    let inner = name.strip_prefix(begin).and_then(|rest| rest.strip_suffix(end));
    inner.is_some_and(|hex| hex.len() == digits && hex.bytes().all(|one| one.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests;
