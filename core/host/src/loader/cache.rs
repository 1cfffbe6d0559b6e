//! The private copies, named by digest, and what their packs declare.
//!
//! The file that a studio overwrites is never opened. A copy lies in a folder that only the user can enter,
//! written once and renamed into place; its digest is checked again before it is mapped. Beside it lies what
//! the trial child found, so that a later start opens no library at all.
//!
//! Spec: P-31, gates of the loader.

use std::{
    ffi::OsStr,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use didi_plugin_api::{desc::PackDesc, digest::sha256_hex_of, stamp::API_VERSION};
use serde::{Deserialize, Serialize};

use super::{Gate, Refused, image::Stamp, trial};
use crate::source;

/// Copies of one file name that are kept whatever their age.
const KEPT_COPIES: usize = 16;

/// How long a copy that nobody took up stays beyond that.
const KEPT_FOR: Duration = Duration::from_secs(7 * 24 * 3600);

/// How exactly a copy's time says when it was last taken up.
const TOUCHED_EVERY: Duration = Duration::from_secs(24 * 3600);

/// What the trial of one digest found, under this host's version.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Finding {
    Described(Box<PackDesc>),
    Refused(Refused),
}

/// What is written down beside a copy, so that a later start need not look into it.
#[derive(Serialize, Deserialize)]
struct Note {
    stamp: Stamp,
    finding: Finding,
}

/// A digest that was tried before.
pub struct Known {
    /// What the file says of itself.
    pub stamp: Stamp,
    /// The private copy.
    pub copy: PathBuf,
    /// What the pack declares, or why it is not served.
    pub result: Result<PackDesc, Refused>,
}

/// The folder of copies.
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// Nothing is made before the first pack is taken up.
    pub fn new(folder: PathBuf) -> Self {
        Cache { folder }
    }

    /// What an earlier start found out about a digest, where the copy is there, too.
    pub fn known(&self, sha256: &str, file: &Path, size: u64) -> Option<Known> {
        let copy = self.whole_copy(sha256, file, size)?;
        let note = fs::read(self.note(sha256)).ok()?;
        let Note { stamp, finding } = serde_json::from_slice(&note).ok()?;
        let result = match finding {
            Finding::Described(desc) => Ok(*desc),
            Finding::Refused(refused) => Err(refused),
        };
        Some(Known { stamp, copy, result })
    }

    /// The copy, if it has the file's length; its digest is checked when it is opened.
    fn whole_copy(&self, sha256: &str, file: &Path, size: u64) -> Option<PathBuf> {
        let copy = self.place(sha256).join(file.file_name()?);
        if fs::metadata(&copy).ok()?.len() != size {
            return None;
        }
        touch(&copy);
        Some(copy)
    }

    fn note(&self, sha256: &str) -> PathBuf {
        let version = env!("CARGO_PKG_VERSION");
        self.place(sha256).join(format!("trial-{API_VERSION}-{version}.json"))
    }

    /// The private copy of a file's bytes.
    pub fn copy(&self, sha256: &str, file: &Path, bytes: &[u8]) -> Result<PathBuf, Refused> {
        let name = file.file_name().unwrap_or_default();
        if let Some(copy) = self.whole_copy(sha256, file, bytes.len() as u64) {
            return Ok(copy);
        }
        let copy = self.place(sha256).join(name);
        let made = private_folder(&self.folder)
            .and_then(|()| private_folder(&self.place(sha256)))
            .and_then(|()| write_once(&copy, bytes));
        self.sweep(name);
        made.map(|()| copy).map_err(|error| {
            let folder = self.folder.display();
            Refused::new(
                Gate::Pin,
                format!("its private copy can't be written to `{folder}`: {error}; name another folder with --pack-cache"),
            )
        })
    }

    /// Runs the trial of a copy, and answers what the pack declares.
    pub fn describe(&self, sha256: &str, copy: &Path, stamp: &Stamp) -> Result<PackDesc, Refused> {
        verify(copy, sha256)?;
        let (finding, lasting) = match trial::run(copy, stamp) {
            Ok(desc) => (Finding::Described(Box::new(desc)), true),
            Err(trial::Failed { refused, lasting }) => (Finding::Refused(refused), lasting),
        };
        let note = Note { stamp: stamp.clone(), finding };
        if lasting && let Ok(bytes) = serde_json::to_vec(&note) {
            // Without the note the trial is only run again at the next start.
            let _ = write_once(&self.note(sha256), &bytes);
        }
        match note.finding {
            Finding::Described(desc) => Ok(*desc),
            Finding::Refused(refused) => Err(refused),
        }
    }

    /// Every build leaves a copy, and a studio builds often: old copies of a file that was copied anew go.
    fn sweep(&self, name: &OsStr) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut copies: Vec<(SystemTime, PathBuf)> = entries
            .filter_map(|entry| {
                let found = fs::metadata(entry.path().join(name)).ok()?;
                Some((found.modified().ok()?, entry.path()))
            })
            .collect();
        copies.sort_by_key(|(taken_up, _)| std::cmp::Reverse(*taken_up));
        for (taken_up, folder) in copies.into_iter().skip(KEPT_COPIES) {
            if age(taken_up) > KEPT_FOR {
                // A copy that can't be removed is only a file too many.
                let _ = fs::remove_dir_all(folder);
            }
        }
    }

    fn place(&self, sha256: &str) -> PathBuf {
        self.folder.join(&sha256[..32])
    }
}

fn age(of: SystemTime) -> Duration {
    let now = UNIX_EPOCH + Duration::from_millis(source::now_ms());
    now.duration_since(of).unwrap_or_default()
}

/// Notes that a copy was taken up, once a day; without the note it only goes earlier.
fn touch(copy: &Path) {
    let stale = |found: SystemTime| age(found) > TOUCHED_EVERY;
    if fs::metadata(copy).and_then(|found| found.modified()).is_ok_and(stale) {
        let now = UNIX_EPOCH + Duration::from_millis(source::now_ms());
        let _ = File::options().append(true).open(copy).and_then(|file| file.set_modified(now));
    }
}

/// The copy still has the digest that it is named by.
pub fn verify(copy: &Path, sha256: &str) -> Result<(), Refused> {
    let refuse = |why: String| {
        let file = copy.display();
        Err(Refused::new(Gate::Pin, format!("its private copy `{file}` {why}; remove that folder")))
    };
    match File::open(copy).and_then(sha256_hex_of) {
        Ok(found) if found == sha256 => Ok(()),
        Ok(_) => refuse("was changed".into()),
        Err(error) => refuse(format!("can't be read: {error}")),
    }
}

fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(folder)?;
    owned_by_me(folder)
}

/// A folder of somebody else's, prepared before ours was made, is not used.
#[cfg(unix)]
fn owned_by_me(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let found = fs::symlink_metadata(folder)?;
    let mine = found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o022 == 0;
    if mine && found.is_dir() {
        return Ok(());
    }
    Err(io::Error::other("the folder is not yours alone"))
}

#[cfg(not(unix))]
fn owned_by_me(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Never written in place: several servers may start at once.
fn write_once(place: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = place.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let finished = folder.join(format!(".{}.tmp", source::random_hex::<8>()));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let written = options
        .open(&finished)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| fs::rename(&finished, place));
    if written.is_err() {
        let _ = fs::remove_file(&finished);
    }
    written
}

#[cfg(test)]
mod tests;
