//! Values made of files, kept as long as the files stay as they were.
//!
//! A value belongs to one state of a file: its size, its times and its place on the disk, taken before it was
//! read. A file that changed while the clock of its file system could not tell is not believed either: what was
//! made of a file that had just changed is not kept.
//!
//! Spec: P-50, the project's files.

use std::{
    collections::HashMap,
    fs::Metadata,
    ops::ControlFlow,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use didi_plugin_api::prelude::*;

use crate::{parallel, walk::File};

#[cfg(test)]
mod tests;

/// Files that values are kept of. A project with more is read each time, as far as it is beyond.
const MAX_KEPT: usize = 200_000;
/// A file that changed less than this before it was looked at may change again unseen: the coarsest file system
/// in use counts in steps of two seconds.
const SETTLED: Duration = Duration::from_secs(2);

/// The state of a file, as its folder tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    size: u64,
    modified: Option<SystemTime>,
    /// Seconds and nanoseconds of the last change of the file or its entry, and its number: neither can be set
    /// by a program, as the time of the last modification can.
    entry: (i64, i64, u64),
}

impl Stamp {
    /// The state that these facts tell.
    pub fn of(facts: &Metadata) -> Self {
        Stamp { size: facts.len(), modified: facts.modified().ok(), entry: entry(facts) }
    }

    /// When the file changed last, as far as anything tells.
    fn changed(&self) -> Option<SystemTime> {
        let (seconds, nanoseconds, _) = self.entry;
        let seconds = u64::try_from(seconds).ok().filter(|seconds| *seconds > 0);
        let nanoseconds = u32::try_from(nanoseconds).unwrap_or(0);
        let entry =
            seconds.map(|seconds| SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds));
        entry.max(self.modified)
    }

    /// Whether every later change will be seen: the last one lies far enough back.
    fn is_settled(&self, now: SystemTime) -> bool {
        let age = self.changed().and_then(|changed| now.duration_since(changed).ok());
        age.is_some_and(|age| age >= SETTLED)
    }
}

#[cfg(unix)]
fn entry(facts: &Metadata) -> (i64, i64, u64) {
    use std::os::unix::fs::MetadataExt;
    (facts.ctime(), facts.ctime_nsec(), facts.ino())
}

#[cfg(not(unix))]
fn entry(_: &Metadata) -> (i64, i64, u64) {
    (0, 0, 0)
}

/// Values of one kind, by file.
#[derive(Debug)]
pub struct Kept<T> {
    values: Mutex<HashMap<PathBuf, (Stamp, Arc<T>)>>,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Kept { values: Mutex::default() }
    }
}

impl<T: Send + Sync> Kept<T> {
    /// The values of these files, in their order. Those that are not kept are made, many at once.
    ///
    /// # Errors
    /// `cancelled` when the caller gave up.
    pub fn of(
        &self,
        ctx: &Ctx<'_>,
        files: &[File],
        make: impl Fn(&File) -> T + Sync,
    ) -> Result<Vec<Arc<T>>, Refusal> {
        let mut values = self.known(files);
        let missing: Vec<&File> = files
            .iter()
            .zip(&values)
            .filter(|(_, value)| value.is_none())
            .map(|(file, _)| file)
            .collect();
        let mut made = Vec::with_capacity(missing.len());
        parallel::each(
            ctx,
            &missing,
            |file| make(file),
            |_, value| {
                made.push(Arc::new(value));
                ControlFlow::Continue(())
            },
        )?;
        self.keep(ctx, &missing, &made);
        let mut made = made.into_iter();
        for value in &mut values {
            if value.is_none() {
                *value = made.next();
            }
        }
        Ok(values.into_iter().flatten().collect())
    }

    /// Forgets what is known of these files, so that they are read again.
    pub fn forget(&self, files: &[File]) {
        let mut values = self.lock();
        for file in files {
            values.remove(&file.real);
        }
    }

    fn known(&self, files: &[File]) -> Vec<Option<Arc<T>>> {
        let values = self.lock();
        let known = |file: &File| {
            let (stamp, value) = values.get(&file.real)?;
            (*stamp == file.stamp).then(|| Arc::clone(value))
        };
        files.iter().map(known).collect()
    }

    fn keep(&self, ctx: &Ctx<'_>, files: &[&File], made: &[Arc<T>]) {
        let now = SystemTime::UNIX_EPOCH + Duration::from_millis(ctx.now_ms());
        let mut values = self.lock();
        if values.len() + files.len() > MAX_KEPT {
            values.clear();
        }
        let settled = files.iter().zip(made).filter(|(file, _)| file.stamp.is_settled(now));
        for (file, value) in settled.take(MAX_KEPT) {
            values.insert(file.real.clone(), (file.stamp, Arc::clone(value)));
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, (Stamp, Arc<T>)>> {
        // A value is put in whole, so a panic elsewhere leaves nothing half done.
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
