//! Where session descriptors are kept: a folder that is its owner's alone.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

#[cfg(unix)]
use crate::open;

#[cfg(test)]
mod tests;

/// Overrides the folder; who may enter such a folder is its operator's matter.
pub const SESSION_DIR_VAR: &str = "DIDI_SESSION_DIR";

/// The folder's name where it is not overridden.
const FOLDER: &str = "didi-sessions";

/// What of the environment decides; read by whoever owns the environment.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// [`SESSION_DIR_VAR`].
    pub session_dir: Option<OsString>,
    /// `XDG_RUNTIME_DIR`.
    pub runtime_dir: Option<OsString>,
    /// The system's folder for temporary files.
    pub temp: PathBuf,
}

/// The folder of descriptors, and whether it has to be private.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionDir {
    /// Its path; it may not exist yet.
    pub path: PathBuf,
    /// Whether its owner and mode are checked: not when it was named by the operator.
    pub checked: bool,
}

/// A folder that others could have written into.
#[derive(Debug, thiserror::Error)]
pub enum SessionDirFault {
    /// It belongs to somebody else, is open to others, or is no folder.
    #[error("`{0}` is not a folder of the user's own that is closed to others")]
    NotPrivate(PathBuf),
    /// It cannot be read or made.
    #[error("`{0}` cannot be used")]
    Io(PathBuf, #[source] io::Error),
}

/// The folder that both ends use in given surroundings.
pub fn locate(surroundings: &Surroundings) -> SessionDir {
    if let Some(folder) = surroundings.session_dir.as_ref().filter(|folder| !folder.is_empty()) {
        return SessionDir { path: folder.into(), checked: false };
    }
    SessionDir { path: default_path(surroundings), checked: true }
}

#[cfg(unix)]
fn default_path(surroundings: &Surroundings) -> PathBuf {
    let runtime = surroundings.runtime_dir.as_ref().map(PathBuf::from);
    if let Some(folder) = runtime.filter(|folder| folder.is_absolute()) {
        return folder.join(FOLDER);
    }
    let user = rustix::process::geteuid().as_raw();
    surroundings.temp.join(format!("{FOLDER}-{user}"))
}

#[cfg(not(unix))]
fn default_path(surroundings: &Surroundings) -> PathBuf {
    surroundings.temp.join(FOLDER)
}

impl SessionDir {
    /// Makes the folder for its owner alone, if need be, and checks it.
    ///
    /// # Errors
    /// When it cannot be made or is not private.
    pub fn prepare(&self) -> Result<(), SessionDirFault> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder
            .create(&self.path)
            .map_err(|error| SessionDirFault::Io(self.path.clone(), error))?;
        self.check().map(|_| ())
    }

    /// Whether the folder is there; an absent one is no fault, as no engine has run yet.
    ///
    /// # Errors
    /// When it is there and not private.
    pub fn check(&self) -> Result<bool, SessionDirFault> {
        let found = match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(SessionDirFault::Io(self.path.clone(), error)),
            Ok(found) => found,
        };
        if self.checked && !is_private(&self.path, &found) {
            return Err(SessionDirFault::NotPrivate(self.path.clone()));
        }
        Ok(true)
    }
}

#[cfg(unix)]
fn is_private(_path: &Path, found: &fs::Metadata) -> bool {
    found.is_dir() && open::owner_only(found)
}

/// The temporary folder of Windows is the user's own, and so is what is made in it.
#[cfg(not(unix))]
fn is_private(_path: &Path, found: &fs::Metadata) -> bool {
    found.is_dir()
}
