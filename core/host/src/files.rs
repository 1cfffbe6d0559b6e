//! Writing below the project: contained, locked, atomic, read back.
//!
//! A write is a compare-and-swap: the caller says what has to be there, the check and the replacement happen
//! under one lock between processes, and the answer is what the disk holds afterwards. A file is replaced by
//! renaming a finished one over it, so a crash leaves the old file or the new one, whole.
//!
//! Spec: P-41, writing a file.

mod apply;
mod lock;

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use didi_plugin_api::{
    ctx::{Expect, RunRecord, WriteOptions, Written},
    digest::sha256_hex,
    project_path::{ProjectPath, ProjectRoot},
    refusal::{Refusal, codes},
};

pub use self::lock::{FileLock, LOCK_WAIT, allow_many_files};
use crate::cancel::Cancel;

/// Largest file that is written or compared, in bytes.
pub const MAX_FILE_BYTES: u64 = 256 * 1024 * 1024;

/// Where records of runs are, and how large one may be, in bytes.
const RECORD_FOLDER: &str = ".didi/scenarios";
const MAX_RECORD_BYTES: usize = 1024 * 1024;

/// Folders below the project that no tool writes into, and the one exception.
const KEPT_FOLDERS: [&str; 3] = [".git", ".godot", ".didi"];
const PACK_FOLDER: &str = ".didi/blackboard";

/// The files of one project.
#[derive(Clone)]
pub struct ProjectFiles {
    root: ProjectRoot,
}

/// What one write changed, for the journal.
#[derive(Debug, Clone)]
pub struct WriteRecord {
    /// `res://` path.
    pub path: String,
    /// Size and digest before; `None` when nothing was there.
    pub before: Option<(u64, String)>,
    /// Size and digest after.
    pub after: (u64, String),
}

impl ProjectFiles {
    /// The files below a canonical folder.
    pub fn new(folder: PathBuf) -> Self {
        ProjectFiles { root: ProjectRoot::canonical(folder) }
    }

    /// The project's folder.
    pub fn root(&self) -> &ProjectRoot {
        &self.root
    }

    /// Reads a `res://` file.
    ///
    /// # Errors
    /// What [`ProjectPath::read`] refuses.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, Refusal> {
        self.resolve(path)?.read(MAX_FILE_BYTES)
    }

    /// Replaces or makes a file for a tool.
    ///
    /// # Errors
    /// `already_exists`, `conflict`, `project_file_busy`, `forbidden`, `file_too_large`.
    pub fn write(
        &self,
        path: &str,
        data: &[u8],
        options: &WriteOptions,
        cancel: &Cancel,
    ) -> Result<(Written, WriteRecord), Refusal> {
        let place = self.resolve(path)?;
        let shown = place.res_path();
        refuse_kept(&shown)?;
        if data.len() as u64 > MAX_FILE_BYTES {
            let message = format!(
                "`{shown}` would have {} bytes, and at most {MAX_FILE_BYTES} are written",
                data.len()
            );
            return Err(Refusal::new(codes::FILE_TOO_LARGE, message)
                .no_remedy("files of that size are not written by this server"));
        }
        let lock = self.lock(&shown, cancel)?;
        self.swap(&lock, &place, &shown, data, &options.expect)
    }

    /// Keeps the record of a run, and answers its `res://` path.
    ///
    /// # Errors
    /// `invalid_arguments` for a name or document past its bounds; as [`ProjectFiles::write`].
    pub fn write_record(&self, record: &RunRecord, cancel: &Cancel) -> Result<String, Refusal> {
        let invalid = |message: &str| Err(Refusal::invalid("name", message));
        let legal = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
        let starts = record.name.starts_with(|letter: char| letter.is_ascii_alphanumeric());
        if !starts || record.name.len() > 64 || !record.name.chars().all(legal) {
            return invalid("a record's name is 1 to 64 of letters, digits, `_` and `-`");
        }
        let bytes = record.document.to_string().into_bytes();
        if bytes.len() > MAX_RECORD_BYTES || !record.document.is_object() {
            return invalid("a record is a JSON object of at most 1 MiB");
        }
        let path = format!("res://{RECORD_FOLDER}/{}.json", record.name);
        let place = self.resolve(&path)?;
        let lock = self.lock(&path, cancel)?;
        self.swap(&lock, &place, &path, &bytes, &Expect::Anything)?;
        Ok(path)
    }

    /// Replaces or makes a file for the program itself, in any folder of the project.
    ///
    /// # Errors
    /// As [`ProjectFiles::write`].
    pub fn write_own(
        &self,
        path: &str,
        data: &[u8],
        expect: &Expect,
        cancel: &Cancel,
    ) -> Result<Written, Refusal> {
        let place = self.resolve(path)?;
        let lock = self.lock(path, cancel)?;
        self.swap(&lock, &place, path, data, expect).map(|(written, _)| written)
    }

    fn resolve(&self, path: &str) -> Result<ProjectPath, Refusal> {
        self.root.resolve(path).map_err(|fault| fault.refusal("path"))
    }

    fn swap(
        &self,
        lock: &FileLock,
        place: &ProjectPath,
        shown: &str,
        data: &[u8],
        expect: &Expect,
    ) -> Result<(Written, WriteRecord), Refusal> {
        let before = read_present(place)?;
        let before_digest = before.as_ref().map(|bytes| (bytes.len() as u64, sha256_hex(bytes)));
        check_expected(shown, expect, before_digest.as_ref().map(|(_, digest)| digest.as_str()))?;
        let changed = before.as_deref() != Some(data);
        if changed {
            self.replace(lock, place.real(), data).map_err(|error| unwritable(shown, &error))?;
        }
        if !place.holds(data)? {
            let message = format!("`{shown}` does not hold what was written to it");
            return Err(Refusal::new(codes::INTERNAL_ERROR, message)
                .no_remedy("another program changed the file at the same moment"));
        }
        let (size_bytes, digest) = (data.len() as u64, sha256_hex(data));
        let record = WriteRecord {
            path: shown.to_owned(),
            before: before_digest,
            after: (size_bytes, digest.clone()),
        };
        let written = Written {
            path: shown.to_owned(),
            replaced: before.is_some(),
            changed,
            size_bytes,
            sha256: digest,
        };
        Ok((written, record))
    }

    /// Renames a finished file over the place, having looked again where the folder really is.
    pub(crate) fn replace(&self, lock: &FileLock, real: &Path, data: &[u8]) -> io::Result<()> {
        self.contained_folder(real)?;
        let finished = lock.stage(real)?;
        rename_over(&finished, real, data, || self.contained_folder(real).map(|_| ()))
    }

    /// Makes the folder of a place, and looks where it really is.
    fn contained_folder(&self, real: &Path) -> io::Result<PathBuf> {
        let folder = real.parent().ok_or(io::ErrorKind::InvalidInput)?;
        fs::create_dir_all(folder)?;
        if fs::canonicalize(folder)?.starts_with(self.root.folder()) {
            return Ok(folder.to_owned());
        }
        Err(io::Error::other("the folder now leads outside the project"))
    }
}

/// The bytes of a file that may be missing.
fn read_present(place: &ProjectPath) -> Result<Option<Vec<u8>>, Refusal> {
    match place.read(MAX_FILE_BYTES) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(refusal) if refusal.code == codes::NOT_FOUND && !place.real().exists() => Ok(None),
        Err(refusal) => Err(refusal),
    }
}

fn refuse_kept(shown: &str) -> Result<(), Refusal> {
    let inner = shown.trim_start_matches("res://");
    let first = inner.split('/').next().unwrap_or_default().to_ascii_lowercase();
    let kept = KEPT_FOLDERS.contains(&first.as_str());
    if !kept || inner.starts_with(&format!("{PACK_FOLDER}/")) {
        return Ok(());
    }
    let message = format!("`{shown}` lies in `{first}`, which tools do not write");
    Err(Refusal::invalid("path", message))
}

fn check_expected(shown: &str, expect: &Expect, have: Option<&str>) -> Result<(), Refusal> {
    match (expect, have) {
        (Expect::Absent, Some(_)) => {
            Err(Refusal::new(codes::ALREADY_EXISTS, format!("`{shown}` is there already")).floor())
        }
        (Expect::Sha256(want), have) if have != Some(want) => {
            let now = if have.is_some() { "changed" } else { "was removed" };
            let message = format!("`{shown}` {now} since it was read");
            Err(Refusal::new(codes::CONFLICT, message).retry_after_ms(0))
        }
        _ => Ok(()),
    }
}

fn unwritable(shown: &str, error: &io::Error) -> Refusal {
    Refusal::new(codes::FORBIDDEN, format!("`{shown}` can't be written: {error}"))
        .with("reason", "unwritable")
        .no_remedy("the permissions or the disk keep the server from writing it")
}

/// Writes a finished file beside `real` and renames it over; the old file's permissions are kept.
///
/// For files outside of a project, where no lock says what is staged.
///
/// # Errors
/// Whatever the disk says; the old file is then untouched and the new one removed.
pub fn replace_file(real: &Path, data: &[u8]) -> io::Result<()> {
    rename_over(&lock::beside(real)?, real, data, || Ok(()))
}

/// `still_right` is asked once more just before the rename.
fn rename_over(
    finished: &Path,
    real: &Path,
    data: &[u8],
    still_right: impl Fn() -> io::Result<()>,
) -> io::Result<()> {
    let written = write_finished(finished, real, data)
        .and_then(|()| still_right())
        .and_then(|()| fs::rename(finished, real));
    if written.is_err() {
        let _ = fs::remove_file(finished);
    }
    written
}

/// Writes a whole file that is to replace `real`, with the permissions of the old one.
fn write_finished(finished: &Path, real: &Path, data: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(finished)?;
    if let Ok(old) = fs::metadata(real) {
        file.set_permissions(old.permissions())?;
    }
    file.write_all(data)?;
    file.sync_data()
}

#[cfg(test)]
mod tests;
