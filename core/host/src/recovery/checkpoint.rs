//! Checkpoints: taken whole or not at all, verified before they are used, the newest five kept.
//!
//! Spec: P-58, managed recovery.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::files::{self, Entry};
use crate::{files as project_files, source};

/// Checkpoints that are kept.
pub(super) const MAX_KEPT: usize = 5;

/// How often a project that changes meanwhile is listed anew.
const MAX_ATTEMPTS: usize = 3;

/// What a folder's name begins with while it is not whole.
const STAGED: &str = ".staging-";

/// What a checkpoint holds, in `manifest.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    pub(super) checkpoint_id: String,
    /// In milliseconds since 1970.
    pub(super) created_ms: u64,
    /// What it was taken for.
    pub(super) reason: String,
    /// Sorted by path.
    pub(super) files: Vec<Entry>,
}

/// The checkpoints of a workspace, oldest first.
pub(super) struct Checkpoints {
    folder: PathBuf,
    kept: Vec<Manifest>,
    next: u32,
}

impl Checkpoints {
    /// None yet, in a folder that is empty.
    pub(super) fn new(folder: PathBuf) -> Self {
        Checkpoints { folder, kept: vec![], next: 1 }
    }

    /// All that are kept, oldest first.
    pub(super) fn kept(&self) -> &[Manifest] {
        &self.kept
    }

    /// The newest.
    pub(super) fn newest(&self) -> Option<&Manifest> {
        self.kept.last()
    }

    /// One by its name.
    pub(super) fn get(&self, id: &str) -> Option<&Manifest> {
        self.kept.iter().find(|one| one.checkpoint_id == id)
    }

    /// Where a checkpoint's files are.
    pub(super) fn files_of(&self, id: &str) -> PathBuf {
        self.folder.join(id).join("files")
    }

    /// Takes one of a project; where nothing differs from the newest, that is the answer.
    ///
    /// # Errors
    /// One sentence; nothing is left then.
    pub(super) fn take(&mut self, project: &Path, reason: &str) -> Result<String, String> {
        let mut failed = String::new();
        for _ in 0..MAX_ATTEMPTS {
            let entries = files::list(project)?;
            if let Some(newest) = self.newest().filter(|newest| newest.files == entries) {
                return Ok(newest.checkpoint_id.clone());
            }
            match self.stage(project, entries, reason) {
                Ok(manifest) => return self.keep(manifest),
                Err(why) => failed = why,
            }
        }
        Err(failed)
    }

    fn staged(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{STAGED}{id}"))
    }

    fn stage(&self, project: &Path, entries: Vec<Entry>, reason: &str) -> Result<Manifest, String> {
        let id = format!("cp-{:06}-{}", self.next, source::random_hex::<4>());
        let manifest = Manifest {
            checkpoint_id: id,
            created_ms: source::now_ms(),
            reason: reason.to_owned(),
            files: entries,
        };
        let staged = self.staged(&manifest.checkpoint_id);
        fs::create_dir(&staged)
            .map_err(|error| format!("the folder of checkpoints can't be written: {error}"))?;
        self.fill(&staged, project, &manifest).inspect_err(|_| files::remove(&staged))?;
        Ok(manifest)
    }

    fn fill(&self, staged: &Path, project: &Path, manifest: &Manifest) -> Result<(), String> {
        let inner = files::make(staged.join("files"))?;
        let newest = self
            .newest()
            .map(|newest| (self.files_of(&newest.checkpoint_id), newest.files.as_slice()));
        let shared = newest.as_ref().map(|(folder, entries)| (folder.as_path(), *entries));
        files::copy(project, &inner, &manifest.files, shared)?;
        // The project as it now is, so that no half of a change is kept as a whole.
        if files::list(project)? != manifest.files {
            return Err("files changed while the checkpoint was taken".into());
        }
        let text = serde_json::to_vec_pretty(manifest).map_err(|error| error.to_string())?;
        project_files::replace_file(&staged.join("manifest.json"), &text)
            .map_err(|error| error.to_string())
    }

    fn keep(&mut self, manifest: Manifest) -> Result<String, String> {
        let id = manifest.checkpoint_id.clone();
        let staged = self.staged(&id);
        fs::rename(&staged, self.folder.join(&id)).map_err(|error| {
            files::remove(&staged);
            format!("the checkpoint can't be kept: {error}")
        })?;
        self.next += 1;
        self.kept.push(manifest);
        while self.kept.len() > MAX_KEPT {
            let oldest = self.kept.remove(0);
            files::remove(&self.folder.join(oldest.checkpoint_id));
        }
        Ok(id)
    }

    /// Puts a checkpoint's files into a new folder; every digest is checked.
    ///
    /// # Errors
    /// One sentence; the folder is gone then.
    pub(super) fn unpack(&self, id: &str, to: &Path) -> Result<(), String> {
        let manifest = self.get(id).ok_or_else(|| format!("no checkpoint `{id}` is kept"))?;
        let written = fs::read(self.folder.join(id).join("manifest.json"))
            .map_err(|error| format!("the manifest of `{id}`: {error}"))?;
        let written: Manifest = serde_json::from_slice(&written)
            .map_err(|error| format!("the manifest of `{id}`: {error}"))?;
        if written.files != manifest.files {
            return Err(format!("the manifest of `{id}` was changed"));
        }
        let to = files::make(to.to_owned())?;
        let copied = files::copy(&self.files_of(id), &to, &manifest.files, None);
        copied.inspect_err(|_| files::remove(&to))
    }
}

#[cfg(test)]
mod tests;
