//! Changing several files in one pass.
//!
//! Everything is resolved, locked in one order, compared and prepared before the first file is touched; then
//! finished files are renamed into place, files are moved, and files are removed. A step that fails takes the
//! steps before it back. Each single file is whole at any moment, whatever kills the process.
//!
//! Spec: P-43, changing several files.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

use didi_plugin_api::{
    ctx::{Change, Expect, Splice, Written},
    digest::{sha256_hex, sha256_hex_beside},
    project_path::ProjectPath,
    refusal::{Refusal, codes},
};

use super::{
    FileLock, ProjectFiles, WriteRecord, check_expected, read_present, refuse_kept, unwritable,
};
use crate::cancel::Cancel;

/// Changes of one pass.
pub(super) const MAX_CHANGES: usize = 10_000;

/// The locks of a pass by path, taken in that order.
type Locks = BTreeMap<String, FileLock>;

/// A change that was compared and prepared.
struct Prepared {
    place: ProjectPath,
    shown: String,
    before: Option<Vec<u8>>,
    /// Of `before`.
    digest: Option<String>,
    act: Act,
}

enum Act {
    /// A finished file lies beside the place.
    Write { finished: PathBuf, bytes: Vec<u8>, digest: String, changed: bool },
    /// The file goes to another place.
    Move { to: ProjectPath, to_shown: String },
    /// The file goes.
    Remove,
}

impl ProjectFiles {
    /// Applies changes, all or none.
    ///
    /// # Errors
    /// `already_exists`, `conflict`, `not_found`, `project_file_busy`, `forbidden`, `invalid_arguments`.
    pub fn apply(
        &self,
        changes: &[Change],
        cancel: &Cancel,
    ) -> Result<(Vec<Written>, Vec<WriteRecord>), Refusal> {
        if changes.len() > MAX_CHANGES {
            let message =
                format!("{} changes were sent, and one pass takes {MAX_CHANGES}", changes.len());
            return Err(Refusal::invalid("arguments", message));
        }
        let names = self.names(changes)?;
        let mut pass = Pass::default();
        for name in names {
            let lock = self.lock(&name, cancel)?;
            pass.locks.insert(name, lock);
        }
        for change in changes {
            let prepared = self.prepare(change, &pass.locks)?;
            pass.steps.push(prepared);
        }
        pass.commit(self)?;
        pass.report()
    }

    /// Every path that the changes name, sorted, so that two passes can't wait for each other.
    fn names(&self, changes: &[Change]) -> Result<BTreeSet<String>, Refusal> {
        let mut names = BTreeSet::new();
        for change in changes {
            let paths: &[&String] = match change {
                Change::Write { path, .. }
                | Change::Edit { path, .. }
                | Change::Remove { path, .. } => &[path],
                Change::Move { from, to, .. } => &[from, to],
            };
            for path in paths {
                let shown = self.resolve(path)?.res_path();
                refuse_kept(&shown)?;
                names.insert(shown);
            }
        }
        Ok(names)
    }

    fn prepare(&self, change: &Change, locks: &Locks) -> Result<Prepared, Refusal> {
        let (path, expect) = match change {
            Change::Write { path, expect, .. }
            | Change::Edit { path, expect, .. }
            | Change::Remove { path, expect } => (path, expect),
            Change::Move { from, expect, .. } => (from, expect),
        };
        let place = self.resolve(path)?;
        let shown = place.res_path();
        let before = read_present(&place)?;
        // Worked out beside the digest, and used once the digest is the expected one.
        let (after, digest) = match &before {
            Some(before) => {
                let (after, digest) = sha256_hex_beside(before, || edit_of(change, &shown, before));
                (after, Some(digest))
            }
            None => (None, None),
        };
        check_expected(&shown, expect, digest.as_deref())?;
        let act = match change {
            Change::Write { text, .. } => {
                let text = text.clone().into_bytes();
                self.prepare_write(locks, &shown, &place, before.as_deref(), text)?
            }
            Change::Edit { .. } => {
                let after = after.ok_or_else(|| missing(&shown))??;
                self.prepare_write(locks, &shown, &place, before.as_deref(), after)?
            }
            Change::Move { to, .. } => self.prepare_move(&shown, before.as_ref(), &place, to)?,
            Change::Remove { .. } if before.is_none() => return Err(missing(&shown)),
            Change::Remove { .. } => Act::Remove,
        };
        Ok(Prepared { place, shown, before, digest, act })
    }

    fn prepare_write(
        &self,
        locks: &Locks,
        shown: &str,
        place: &ProjectPath,
        before: Option<&[u8]>,
        bytes: Vec<u8>,
    ) -> Result<Act, Refusal> {
        let (finished, digest) = sha256_hex_beside(&bytes, || {
            lock_of(locks, shown).and_then(|lock| self.finish(lock, place.real(), &bytes))
        });
        let finished = finished.map_err(|error| unwritable(shown, &error))?;
        let changed = before != Some(&bytes);
        Ok(Act::Write { finished, bytes, digest, changed })
    }

    fn prepare_move(
        &self,
        shown: &str,
        before: Option<&Vec<u8>>,
        from: &ProjectPath,
        to: &str,
    ) -> Result<Act, Refusal> {
        if before.is_none() {
            return Err(missing(shown));
        }
        let target = self.resolve(to)?;
        // On a disk that ignores letter case the two names are one file, and its letters may change.
        let same_file = same_file(from.real(), target.real());
        if target.real().exists() && !same_file {
            check_expected(&target.res_path(), &Expect::Absent, Some(""))?;
        }
        Ok(Act::Move { to_shown: to.to_owned(), to: target })
    }

    /// Writes a finished file beside a place; its folder is made and looked at where it really is.
    fn finish(&self, lock: &FileLock, real: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
        self.contained_folder(real)?;
        let finished = lock.stage(real)?;
        super::write_finished(&finished, real, bytes).inspect_err(|_| {
            let _ = fs::remove_file(&finished);
        })?;
        Ok(finished)
    }
}

/// What an edit makes of a file; nothing where the change is another.
fn edit_of(change: &Change, shown: &str, before: &[u8]) -> Option<Result<Vec<u8>, Refusal>> {
    match change {
        Change::Edit { splices, .. } => Some(edited(shown, before, splices)),
        _ => None,
    }
}

/// A file with splices in it; a text stays one.
fn edited(shown: &str, before: &[u8], splices: &[Splice]) -> Result<Vec<u8>, Refusal> {
    let is_text = |bytes: &[u8]| std::str::from_utf8(bytes).is_ok();
    let after = Splice::apply(splices, before);
    after.filter(|after| is_text(after) || !is_text(before)).ok_or_else(|| {
        let message = format!("an edit of `{shown}` does not fit the file");
        Refusal::new(codes::INTERNAL_ERROR, message)
            .no_remedy("the tool worked out its edit from other bytes")
    })
}

/// The lock of a path, which was taken before anything else.
fn lock_of<'l>(locks: &'l Locks, shown: &str) -> io::Result<&'l FileLock> {
    let moved = || io::Error::other("the path leads elsewhere than when it was locked");
    locks.get(shown).ok_or_else(moved)
}

fn missing(shown: &str) -> Refusal {
    Refusal::new(codes::NOT_FOUND, format!("no file `{shown}` in the project"))
        .next_call("project_list_resources", "lists the project's files")
}

#[cfg(unix)]
fn same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |path| fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()));
    identity(one).is_some_and(|found| identity(other) == Some(found))
}

#[cfg(not(unix))]
fn same_file(one: &Path, other: &Path) -> bool {
    one.to_string_lossy().to_lowercase() == other.to_string_lossy().to_lowercase()
}

/// The steps of one pass. Finished files that were not used go with it, and the locks after them.
#[derive(Default)]
struct Pass {
    steps: Vec<Prepared>,
    done: usize,
    locks: Locks,
}

impl Pass {
    /// Does the steps in order; a failure takes back what was done.
    fn commit(&mut self, files: &ProjectFiles) -> Result<(), Refusal> {
        while let Some(step) = self.steps.get(self.done) {
            if let Err(error) = step.perform(files) {
                let refusal = unwritable(&step.shown, &error);
                self.take_back(files);
                return Err(refusal);
            }
            self.done += 1;
        }
        Ok(())
    }

    fn take_back(&self, files: &ProjectFiles) {
        for step in self.steps[..self.done].iter().rev() {
            if let Err(error) = step.undo(files, &self.locks) {
                tracing::error!(path = %step.shown, "a step could not be taken back: {error}");
            }
        }
    }

    /// What the disk holds now, compared with what was asked.
    fn report(&self) -> Result<(Vec<Written>, Vec<WriteRecord>), Refusal> {
        let mut written = vec![];
        let mut records = vec![];
        for step in &self.steps {
            let now = step.now()?;
            if now.changed {
                let length = step.before.as_ref().map(|bytes| bytes.len() as u64);
                let before = length.zip(step.digest.clone());
                let after = (now.size_bytes, now.digest.clone());
                records.push(WriteRecord { path: now.path.to_owned(), before, after });
            }
            written.push(Written {
                path: now.path.to_owned(),
                replaced: step.before.is_some(),
                changed: now.changed,
                size_bytes: now.size_bytes,
                sha256: now.digest,
            });
        }
        Ok((written, records))
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        for step in &self.steps {
            if let Act::Write { finished, .. } = &step.act {
                let _ = fs::remove_file(finished);
            }
        }
    }
}

/// What a step left on the disk.
struct Now<'p> {
    path: &'p str,
    size_bytes: u64,
    digest: String,
    changed: bool,
}

impl Prepared {
    fn perform(&self, files: &ProjectFiles) -> io::Result<()> {
        match &self.act {
            Act::Write { changed: false, .. } => Ok(()),
            Act::Write { finished, .. } => {
                files.contained_folder(self.place.real())?;
                fs::rename(finished, self.place.real())
            }
            Act::Move { to, .. } => {
                files.contained_folder(to.real())?;
                fs::rename(self.place.real(), to.real())
            }
            Act::Remove => fs::remove_file(self.place.real()),
        }
    }

    fn undo(&self, files: &ProjectFiles, locks: &Locks) -> io::Result<()> {
        let real = self.place.real();
        match (&self.act, &self.before) {
            (Act::Move { to, .. }, _) => fs::rename(to.real(), real),
            (Act::Write { .. }, None) => fs::remove_file(real),
            (_, Some(before)) => files.replace(lock_of(locks, &self.shown)?, real, before),
            (Act::Remove, None) => Ok(()),
        }
    }

    /// Reads back what the step left.
    fn now(&self) -> Result<Now<'_>, Refusal> {
        let differs = |shown: &str| {
            Refusal::new(
                codes::INTERNAL_ERROR,
                format!("`{shown}` does not hold what was put there"),
            )
            .no_remedy("another program changed the file at the same moment")
        };
        let before = || (self.before.as_deref().unwrap_or_default(), self.digest.as_deref());
        let (place, path, (bytes, digest), changed) = match &self.act {
            Act::Write { bytes, digest, changed, .. } => {
                (&self.place, &self.shown, (&bytes[..], Some(&**digest)), *changed)
            }
            Act::Move { to, to_shown } => (to, to_shown, before(), true),
            Act::Remove if self.place.real().exists() => return Err(differs(&self.shown)),
            Act::Remove => {
                let digest = sha256_hex(&[]);
                return Ok(Now { path: &self.shown, size_bytes: 0, digest, changed: true });
            }
        };
        if !place.holds(bytes)? {
            return Err(differs(path));
        }
        let digest = digest.unwrap_or_default().to_owned();
        Ok(Now { path, size_bytes: bytes.len() as u64, digest, changed })
    }
}

#[cfg(test)]
mod tests;
