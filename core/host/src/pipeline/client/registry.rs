//! Where descriptors are, for a client that stands in no project: a folder of the user's own, beside the
//! session descriptors, with one record a descriptor file that a server or a client of Didi has seen.
//!
//! The protocol has no registry, only the file in the project. A record holds that file's path and nothing
//! else: no port, no token. What a record leads to is read and judged as if it had been found in place.
//!
//! Spec: P-70, the client of the Pipeline.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use didi_wire::session_dir::SessionDir;
use sha2::{Digest as _, Sha256};

use crate::source;

/// The folder's name inside that of the sessions.
const FOLDER: &str = "pipeline";
/// The most records that are looked at; of more, the newest.
const MAX_RECORDS: usize = 256;
/// The longest path that a record may hold, in bytes.
const MAX_PATH_BYTES: u64 = 16 * 1024;

/// Writes down where a descriptor is. Once written it stays as long as the folder of the file does.
///
/// # Errors
/// When the folder can't be made, or is not the user's own.
pub fn announce(sessions: &SessionDir, descriptor: &Path) -> io::Result<()> {
    let folder = folder(sessions)?;
    let record = folder.join(record_name(descriptor));
    let text = descriptor.to_string_lossy();
    if fs::read(&record).is_ok_and(|found| found == text.as_bytes()) {
        return Ok(());
    }
    let mut draft = tempfile::Builder::new().prefix(".").tempfile_in(&folder)?;
    draft.write_all(text.as_bytes())?;
    draft.persist(record).map_err(|error| error.error)?;
    Ok(())
}

/// The descriptor files that were written down, in the order of their paths. Records whose folder is gone are
/// removed on the way.
pub fn known(sessions: &SessionDir) -> Vec<PathBuf> {
    let folder = sessions.path.join(FOLDER);
    if !sessions.check().unwrap_or(false) {
        return vec![];
    }
    let Ok(entries) = fs::read_dir(&folder) else { return vec![] };
    let mut records: Vec<_> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.path().extension().is_some_and(|end| end == "record"))
        .filter_map(|entry| Some((entry.metadata().ok()?, entry.path())))
        .filter(|(found, _)| found.is_file() && found.len() <= MAX_PATH_BYTES)
        .map(|(found, path)| (found.modified().ok(), path))
        .collect();
    records.sort_by(|(one, _), (other, _)| other.cmp(one));
    records.truncate(MAX_RECORDS);
    let mut files: Vec<_> = records.into_iter().filter_map(|(_, record)| read(&record)).collect();
    files.sort();
    files.dedup();
    files
}

fn read(record: &Path) -> Option<PathBuf> {
    let file = PathBuf::from(fs::read_to_string(record).ok()?);
    if file.is_absolute() && file.parent().is_some_and(Path::is_dir) {
        return Some(file);
    }
    // It leads nowhere; another client may have removed it meanwhile.
    let _ = fs::remove_file(record);
    None
}

fn folder(sessions: &SessionDir) -> io::Result<PathBuf> {
    sessions.prepare().map_err(io::Error::other)?;
    let folder = sessions.path.join(FOLDER);
    match fs::create_dir(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(folder),
    }
}

fn record_name(descriptor: &Path) -> String {
    let digest = Sha256::digest(descriptor.to_string_lossy().as_bytes());
    format!("{}.record", source::hex(&digest[..16]))
}
