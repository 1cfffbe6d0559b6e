//! The recovery workspace: a new folder with a copy of the project in it.
//!
//! Spec: P-58, managed recovery.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::files;
use crate::{files::ProjectFiles, setup};

/// The folder, and the names in it.
pub(super) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// Makes the workspace and copies the project into it. What fails leaves nothing behind.
    ///
    /// # Errors
    /// One sentence.
    pub(super) fn make(named: &Path, project: &Path) -> Result<Self, String> {
        let named = std::path::absolute(named).map_err(|error| error.to_string())?;
        let folder = named.parent().unwrap_or(Path::new("/"));
        let folder = folder
            .canonicalize()
            .map_err(|error| format!("the workspace's folder `{}`: {error}", folder.display()))?;
        let root = folder.join(named.file_name().ok_or("the workspace has no name")?);
        if root.starts_with(project) || project.starts_with(&root) {
            return Err(format!("the workspace `{}` overlaps the project", root.display()));
        }
        if fs::symlink_metadata(&root).is_ok() {
            return Err(format!("the workspace `{}` is there already", root.display()));
        }
        let workspace = Workspace { root: files::make(root)? };
        workspace.fill(project).inspect_err(|_| files::remove(&workspace.root))?;
        Ok(workspace)
    }

    fn fill(&self, project: &Path) -> Result<(), String> {
        files::make(self.project())?;
        files::make(self.checkpoints())?;
        let entries = files::list(project)?;
        files::copy(project, &self.project(), &entries, None)?;
        setup::install_addon(&ProjectFiles::new(self.project()))
            .map_err(|why| format!("the copy gets no addon: {why}"))
    }

    /// The whole of it.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The copy that tools work on.
    pub(super) fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    /// Where checkpoints are.
    pub(super) fn checkpoints(&self) -> PathBuf {
        self.root.join("checkpoints")
    }

    /// The record of operations.
    pub(super) fn journal(&self) -> PathBuf {
        self.root.join("recovery.json")
    }

    /// What the N-th editor says.
    pub(super) fn log(&self, launch: u32) -> PathBuf {
        self.root.join(format!("editor-{launch}.log"))
    }

    /// Where a checkpoint is put together again.
    pub(super) fn staging(&self) -> PathBuf {
        self.root.join(".restoring")
    }

    /// Where the project goes that a restore replaces.
    pub(super) fn preserved(&self, number: u32, checkpoint: &str) -> PathBuf {
        self.root.join(format!("preserved-{number}-{checkpoint}"))
    }
}
