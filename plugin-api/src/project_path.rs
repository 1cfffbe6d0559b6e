//! `res://` paths kept inside the project, by the real path on the disk.
//!
//! The engine itself follows `res://..`, links and absolute paths. This module does not: a path is taken
//! apart by its text, then the longest part that exists is resolved on the disk, links included, and has to
//! lie below the project. A link that stays inside is fine. The host checks again at the moment of writing.
//!
//! Spec: P-40, paths.

use std::{
    fmt, fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use crate::refusal::{Refusal, codes};

/// Bytes of a file that are compared at a time.
const PIECE_BYTES: usize = 64 * 1024;

/// Longest path in characters.
pub const MAX_PATH_CHARS: usize = 1024;

/// Names that Windows keeps for devices, in any case and with any ending.
const DEVICE_NAMES: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8",
    "com9", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// Whether the usual disks of this system find a file under other letter cases; the letters of the disk are
/// then asked for.
const DISK_FOLDS_CASE: bool = cfg!(any(windows, target_os = "macos"));

/// Why a path is not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathFault {
    path: String,
    why: String,
}

impl PathFault {
    fn new(path: &str, why: impl Into<String>) -> Self {
        let shown = path.chars().take(120).collect::<String>().escape_debug().to_string();
        PathFault { path: shown, why: why.into() }
    }

    /// The refusal that names the argument at fault.
    pub fn refusal(&self, field: &str) -> Refusal {
        Refusal::invalid(field, self.to_string())
    }
}

impl fmt::Display for PathFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "`{}` {}; a path starts with `res://` and stays inside the project",
            self.path, self.why
        )
    }
}

impl std::error::Error for PathFault {}

/// The project's folder.
#[derive(Debug, Clone)]
pub struct ProjectRoot(PathBuf);

impl ProjectRoot {
    /// Takes a folder that is canonical already.
    pub fn canonical(folder: PathBuf) -> Self {
        ProjectRoot(folder)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// Resolves a `res://` path to a place inside the project, whether or not something is there.
    ///
    /// # Errors
    /// A [`PathFault`] that says which rule the path breaks.
    pub fn resolve(&self, path: &str) -> Result<ProjectPath, PathFault> {
        let parts = parts_of(path)?;
        let mut real = self.0.clone();
        let mut parts = parts.into_iter().peekable();
        // Follow what exists, part by part, so that a link in the middle is judged where it points.
        while let Some(part) = parts.peek() {
            let next = real.join(part);
            let Ok(found) = fs::symlink_metadata(&next) else { break };
            if found.is_symlink() || DISK_FOLDS_CASE {
                real = fs::canonicalize(&next)
                    .map_err(|_| PathFault::new(path, "goes through a link that leads nowhere"))?;
                if !real.starts_with(&self.0) {
                    return Err(PathFault::new(path, "leads outside the project through a link"));
                }
            } else {
                real = next;
            }
            parts.next();
        }
        real.extend(parts);
        Ok(ProjectPath { root: self.0.clone(), real })
    }
}

/// The parts of a `res://` path, judged by their text alone.
fn parts_of(path: &str) -> Result<Vec<&str>, PathFault> {
    let fault = |why: &str| Err(PathFault::new(path, why));
    let Some(inner) = path.strip_prefix("res://") else {
        return fault("is not a `res://` path");
    };
    if path.chars().count() > MAX_PATH_CHARS {
        return fault("is longer than 1,024 characters");
    }
    let mut parts = vec![];
    for part in inner.split('/') {
        match part {
            "" | "." => continue,
            ".." => return fault("climbs with `..`"),
            _ => {}
        }
        if part.chars().any(char::is_control) {
            return fault("holds a control character");
        }
        if part.contains(['\\', ':', '*', '?', '"', '<', '>', '|']) {
            return fault(
                "holds a character that file names can't have everywhere (one of \\ : * ? \" < > |)",
            );
        }
        if part.to_ascii_lowercase().contains("%2e%2e") {
            return fault("holds `..` in an encoded form");
        }
        if part.ends_with(['.', ' ']) {
            return fault("has a part that ends in a dot or a space");
        }
        let stem = part.split('.').next().unwrap_or(part).to_ascii_lowercase();
        if DEVICE_NAMES.contains(&stem.as_str()) {
            return fault("has a part that is a device name on Windows");
        }
        parts.push(part);
    }
    Ok(parts)
}

/// A place inside the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectPath {
    root: PathBuf,
    real: PathBuf,
}

impl ProjectPath {
    /// The place on the disk.
    pub fn real(&self) -> &Path {
        &self.real
    }

    /// The `res://` form, in the letters of the disk.
    pub fn res_path(&self) -> String {
        let inner = self.real.strip_prefix(&self.root).unwrap_or(Path::new(""));
        let parts: Vec<_> = inner.iter().map(|part| part.to_string_lossy()).collect();
        format!("res://{}", parts.join("/"))
    }

    /// The last part, or an empty string for the project itself.
    pub fn file_name(&self) -> String {
        if self.real == self.root {
            return String::new();
        }
        self.real.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The file's ending in lower case, without the dot.
    pub fn extension(&self) -> String {
        self.real.extension().map(|end| end.to_string_lossy().to_lowercase()).unwrap_or_default()
    }

    /// Whether a regular file is there.
    pub fn is_file(&self) -> bool {
        self.real.is_file()
    }

    /// Whether a folder is there.
    pub fn is_dir(&self) -> bool {
        self.real.is_dir()
    }

    /// Reads a whole file of at most `max_bytes`.
    ///
    /// # Errors
    /// `not_found`, `forbidden`, `file_too_large`, each naming the path.
    pub fn read(&self, max_bytes: u64) -> Result<Vec<u8>, Refusal> {
        let shown = self.res_path();
        // Asked before opening: opening a pipe waits for a writer.
        let size = fs::metadata(&self.real).map_err(|error| unreadable(&shown, &error))?;
        if !size.is_file() {
            return Err(Refusal::new(codes::NOT_FOUND, format!("`{shown}` is not a file")).floor());
        }
        if size.len() > max_bytes {
            return Err(too_large(&shown, size.len(), max_bytes));
        }
        let file = fs::File::open(&self.real).map_err(|error| unreadable(&shown, &error))?;
        let mut bytes = Vec::with_capacity(usize::try_from(size.len()).unwrap_or(0));
        // The file may grow while it is read: the bound holds all the same.
        file.take(max_bytes + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| unreadable(&shown, &error))?;
        if bytes.len() as u64 > max_bytes {
            return Err(too_large(&shown, bytes.len() as u64, max_bytes));
        }
        Ok(bytes)
    }

    /// Whether the file holds exactly these bytes. It is read in pieces, and as far as it does.
    ///
    /// # Errors
    /// `not_found`, `forbidden`, `unprocessable` as [`ProjectPath::read`].
    pub fn holds(&self, bytes: &[u8]) -> Result<bool, Refusal> {
        let unread = |error: io::Error| unreadable(&self.res_path(), &error);
        let found = fs::metadata(&self.real).map_err(unread)?;
        if !found.is_file() || found.len() != bytes.len() as u64 {
            return Ok(false);
        }
        let mut file = fs::File::open(&self.real).map_err(unread)?;
        let mut piece = vec![0; PIECE_BYTES.min(bytes.len().max(1))];
        for wanted in bytes.chunks(PIECE_BYTES) {
            let piece = &mut piece[..wanted.len()];
            match file.read_exact(piece) {
                Ok(()) if piece == wanted => {}
                Ok(()) => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
                Err(error) => return Err(unread(error)),
            }
        }
        // It may have grown meanwhile.
        Ok(file.read(&mut piece[..1]).map_err(unread)? == 0)
    }
}

fn too_large(shown: &str, size: u64, max_bytes: u64) -> Refusal {
    let message = format!("`{shown}` has {size} bytes, and at most {max_bytes} are read");
    Refusal::new(codes::FILE_TOO_LARGE, message)
        .no_remedy("the file is larger than this tool reads")
}

fn unreadable(shown: &str, error: &io::Error) -> Refusal {
    if error.kind() == io::ErrorKind::NotFound || error.kind() == io::ErrorKind::NotADirectory {
        return Refusal::new(codes::NOT_FOUND, format!("no file `{shown}` in the project"))
            .next_call("project_list_resources", "lists the project's files");
    }
    Refusal::new(codes::FORBIDDEN, format!("`{shown}` can't be read: {error}"))
        .with("reason", "unreadable")
        .no_remedy("the file's permissions keep the server from reading it")
}

#[cfg(test)]
mod tests;
