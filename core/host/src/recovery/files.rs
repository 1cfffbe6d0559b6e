//! The files of a project that a checkpoint holds: listed, copied and compared, within bounds.
//!
//! Spec: P-58, managed recovery.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use didi_plugin_api::digest::sha256_hex_of;
use serde::{Deserialize, Serialize};

/// Most files of one checkpoint.
pub(super) const MAX_FILES: usize = 10_000;

/// Most bytes of one checkpoint.
pub(super) const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Folders that no copy has, wherever they lie.
pub(super) const EXCLUDED: [&str; 4] = [".git", ".godot", ".didi", ".worktrees"];

/// One file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// From the project's root, with `/` between its parts.
    pub(super) path: String,
    /// Bytes.
    pub(super) size: u64,
    /// SHA-256 of its bytes, as lower-case hex digits.
    pub(super) sha256: String,
}

/// Every file of a folder that belongs into a checkpoint, sorted by path.
///
/// # Errors
/// One sentence: a link, a file with several names, a special file, a name that is no text, a bound, or the disk's.
pub(super) fn list(root: &Path) -> Result<Vec<Entry>, String> {
    let mut places = vec![];
    let mut open = vec![(root.to_owned(), String::new())];
    while let Some((folder, prefix)) = open.pop() {
        let entries = fs::read_dir(&folder).map_err(|error| at(&folder, &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| at(&folder, &error))?;
            let name = entry.file_name();
            let name = name.to_str().ok_or_else(|| {
                format!("`{}` has a name that is no text", entry.path().display())
            })?;
            if EXCLUDED.contains(&name) {
                continue;
            }
            let path = format!("{prefix}{name}");
            // Not followed: what a link leads to is not looked at.
            let found = entry.metadata().map_err(|error| at(&entry.path(), &error))?;
            if found.is_dir() {
                open.push((entry.path(), format!("{path}/")));
                continue;
            }
            check_plain(&path, &found)?;
            places.push((path, found.len()));
            if places.len() > MAX_FILES {
                return Err(format!("the project has more than {MAX_FILES} files"));
            }
        }
    }
    let total: u64 = places.iter().map(|(_, size)| size).sum();
    if total > MAX_BYTES {
        return Err(format!("the project has {total} bytes, more than {MAX_BYTES}"));
    }
    places.sort_unstable();
    places.into_iter().map(|(path, _)| digest(root, path)).collect()
}

fn digest(root: &Path, path: String) -> Result<Entry, String> {
    let place = root.join(&path);
    let file = open_plain(&place).map_err(|error| at(&place, &error))?;
    let size = file.metadata().map_err(|error| at(&place, &error))?.len();
    let sha256 = sha256_hex_of(file).map_err(|error| at(&place, &error))?;
    Ok(Entry { path, size, sha256 })
}

fn check_plain(path: &str, found: &fs::Metadata) -> Result<(), String> {
    if found.is_symlink() {
        return Err(format!("`{path}` is a link, which a checkpoint can't put back"));
    }
    if !found.is_file() {
        return Err(format!("`{path}` is no regular file"));
    }
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::nlink(found) > 1 {
        return Err(format!("`{path}` is a file with several names (hard links)"));
    }
    Ok(())
}

fn open_plain(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use rustix::fs::{Mode, OFlags};
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
    }
    #[cfg(not(unix))]
    File::open(path)
}

/// Copies listed files into a folder, and checks that each has the bytes that were listed.
///
/// A file that `shared` has under the same path and digest gets a second name there in place of a copy.
///
/// # Errors
/// One sentence; a file that changed since it was listed is one of the reasons.
pub(super) fn copy(
    from: &Path,
    to: &Path,
    entries: &[Entry],
    shared: Option<(&Path, &[Entry])>,
) -> Result<(), String> {
    for entry in entries {
        let (source, target) = (from.join(&entry.path), to.join(&entry.path));
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder).map_err(|error| at(folder, &error))?;
        }
        if share(&target, entry, shared) {
            continue;
        }
        let mut reader = open_plain(&source).map_err(|error| at(&source, &error))?;
        let mut writer = File::create_new(&target).map_err(|error| at(&target, &error))?;
        io::copy(&mut reader, &mut writer).map_err(|error| at(&target, &error))?;
        if let Ok(found) = reader.metadata() {
            let _ = writer.set_permissions(found.permissions());
        }
        verify(to, entry)?;
    }
    Ok(())
}

fn share(target: &Path, entry: &Entry, shared: Option<(&Path, &[Entry])>) -> bool {
    let Some((folder, entries)) = shared else { return false };
    let known = entries.binary_search_by(|one| one.path.cmp(&entry.path));
    let same = known.is_ok_and(|at| entries[at] == *entry);
    same && fs::hard_link(folder.join(&entry.path), target).is_ok()
}

/// Whether a file below a folder has the listed bytes.
///
/// # Errors
/// One sentence.
pub(super) fn verify(root: &Path, entry: &Entry) -> Result<(), String> {
    if digest(root, entry.path.clone())? == *entry {
        return Ok(());
    }
    Err(format!("`{}` has other bytes than when it was listed", entry.path))
}

fn at(path: &Path, error: &io::Error) -> String {
    format!("`{}`: {error}", path.display())
}

/// Removes a folder that this process made, with all in it.
pub(super) fn remove(folder: &Path) {
    if let Err(error) = fs::remove_dir_all(folder) {
        tracing::warn!("`{}` can't be removed: {error}", folder.display());
    }
}

/// Makes a folder that was not there.
///
/// # Errors
/// One sentence.
pub(super) fn make(folder: PathBuf) -> Result<PathBuf, String> {
    fs::create_dir(&folder).map_err(|error| at(&folder, &error))?;
    Ok(folder)
}

#[cfg(test)]
mod tests;
