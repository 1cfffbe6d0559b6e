//! The files of an export: room before it, a look afterwards, and the way back.
//!
//! Spec: P-56, exports.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use didi_plugin_api::prelude::*;

use super::{SOURCES, outcome};

/// Files named in an answer.
const MAX_FILES: usize = 100;

/// Room for an artifact: its folder is there, and what was in its place is put aside.
pub(super) struct Room {
    output: ProjectPath,
    /// Folders that were made, outermost first.
    made: Vec<PathBuf>,
    /// Where the artifact of before is kept meanwhile.
    aside: Option<PathBuf>,
    /// Files beside the artifact that were there before.
    before: BTreeSet<PathBuf>,
}

impl Room {
    pub(super) fn make(output: &ProjectPath) -> Result<Self, Refusal> {
        let failed = |error: io::Error| {
            let message = format!("no room for `{}`: {error}", output.res_path());
            Refusal::new(codes::FORBIDDEN, message).field("output_path")
        };
        let folder = output.real().parent().unwrap_or(output.real()).to_owned();
        let made = missing_folders(&folder);
        fs::create_dir_all(&folder).map_err(failed)?;
        let mut room =
            Room { output: output.clone(), made, aside: None, before: relatives(output.real()) };
        if output.is_file() {
            // The engine passes over hidden files, so that this one is not exported.
            let aside = folder.join(format!(".{}.previous", output.file_name()));
            fs::rename(output.real(), &aside).map_err(failed)?;
            room.aside = Some(aside);
        }
        Ok(room)
    }

    /// Ends a good run. Answers the artifact and its files, as `res://` paths.
    pub(super) fn keep(self) -> Vec<String> {
        if let Some(aside) = &self.aside {
            let _ = fs::remove_file(aside);
        }
        let inner = self.output.res_path();
        let folder = inner.rsplit_once('/').map_or("res:/", |(folder, _)| folder);
        let names = relatives(self.output.real()).into_iter().take(MAX_FILES);
        names
            .filter_map(|path| Some(format!("{folder}/{}", path.file_name()?.to_string_lossy())))
            .collect()
    }

    /// Ends a failed run: what it made is removed, and what was there comes back.
    ///
    /// As far as it goes: the refusal says why the export failed, which is worth more than a second one.
    pub(super) fn restore(self) {
        for path in relatives(self.output.real()) {
            if path == self.output.real() || !self.before.contains(&path) {
                let _ = fs::remove_file(path);
            }
        }
        if let Some(aside) = &self.aside {
            let _ = fs::rename(aside, self.output.real());
        }
        // Only empty ones go.
        for folder in self.made.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

fn missing_folders(folder: &Path) -> Vec<PathBuf> {
    let missing = folder.ancestors().take_while(|one| !one.exists()).map(Path::to_owned);
    let mut missing: Vec<PathBuf> = missing.collect();
    missing.reverse();
    missing
}

/// The artifact and the files that an export puts beside it: those with its name up to the ending.
/// A source file is never one of them.
fn relatives(output: &Path) -> BTreeSet<PathBuf> {
    let stem = output.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let (Some(stem), Some(folder)) = (stem, output.parent()) else { return BTreeSet::new() };
    let Ok(entries) = fs::read_dir(folder) else { return BTreeSet::new() };
    let related = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let rest = name.as_deref().and_then(|name| name.strip_prefix(stem.as_str()));
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        let is_source = ending.is_some_and(|ending| SOURCES.contains(&ending.as_str()));
        !is_source
            && path.is_file()
            && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    entries.flatten().map(|entry| entry.path()).filter(related).collect()
}

/// The size of a good artifact.
pub(super) fn verify(output: &ProjectPath, pack: bool, ran: &ChildReport) -> Result<u64, Refusal> {
    let shown = output.res_path();
    let size = fs::metadata(output.real()).ok().filter(fs::Metadata::is_file).map(|one| one.len());
    let wrong = |reason: &str, why: &str| {
        Err(outcome::engine_refused(
            reason,
            &format!("the engine ended well, yet `{shown}` {why}"),
            ran,
        ))
    };
    match size {
        None => wrong("artifact_missing", "is not there"),
        Some(0) => wrong("artifact_empty", "is empty"),
        Some(size) if !pack || has_magic(output) => Ok(size),
        Some(_) => wrong("artifact_malformed", "does not begin like a pack"),
    }
}

fn has_magic(output: &ProjectPath) -> bool {
    let want: &[u8] = if output.extension() == "zip" { b"PK\x03\x04" } else { b"GDPC" };
    let mut head = [0; 4];
    let read = File::open(output.real()).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head == want
}
