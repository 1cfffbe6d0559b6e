//! Gate 1 and the reading half of gate 2: which file may be a pack, and its bytes.
//!
//! Spec: P-31, gates of the loader.

use std::{
    fs::{self, File, Metadata},
    io::{self, Read, Seek},
    path::{Path, PathBuf},
};

use didi_plugin_api::digest::{sha256_hex, sha256_hex_of};

use super::{Gate, Refused};

/// Largest pack file, in bytes.
const MAX_PACK_BYTES: u64 = 512 * 1024 * 1024;

/// Name that a pack has in a folder which also holds other libraries.
const PACK_MARK: &str = "didi_pack_";

/// Whether a name is worth looking at. In a pack folder every library is, elsewhere only marked ones.
pub fn looks_like_a_pack(path: &Path, shared: bool) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    if !name.ends_with(suffix) || !name.starts_with(prefix) {
        return false;
    }
    !shared || name[prefix.len()..].starts_with(PACK_MARK)
}

/// A file behind gate 1. What is checked, hashed and read is one open file.
pub struct PackFile {
    file: File,
    path: PathBuf,
    size: u64,
}

/// Opens a file behind gate 1.
pub fn open(path: &Path) -> Result<PackFile, Refused> {
    let refuse = |reason: String| refused(path, &reason);
    let say = |error: io::Error| {
        if fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
            return refuse("is a link; copy the pack itself into the folder".into());
        }
        refuse(format!("can't be read: {error}"))
    };
    let file = open_no_follow(path).map_err(say)?;
    let found = file.metadata().map_err(say)?;
    if !found.is_file() {
        return Err(refuse("is not a regular file".into()));
    }
    check_owner("the file", &found).map_err(refuse)?;
    if let Some(folder) = path.parent() {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let found = fs::metadata(folder).map_err(say)?;
        check_owner("its folder", &found).map_err(refuse)?;
    }
    if found.len() > MAX_PACK_BYTES {
        return Err(refuse(format!("has more than {MAX_PACK_BYTES} bytes")));
    }
    Ok(PackFile { file, path: path.to_owned(), size: found.len() })
}

fn refused(path: &Path, reason: &str) -> Refused {
    Refused::new(Gate::File, format!("`{}` {reason}", path.display()))
}

impl PackFile {
    /// Bytes of the file when it was opened.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// SHA-256 of the file, a piece at a time: a pack that is known already is never held as a whole.
    pub fn digest(&mut self) -> Result<String, Refused> {
        let whole = self.rewound()?.take(MAX_PACK_BYTES);
        sha256_hex_of(whole).map_err(|error| self.unreadable(&error))
    }

    /// The bytes of the file, which still have to have this digest.
    pub fn bytes(&mut self, sha256: &str) -> Result<Vec<u8>, Refused> {
        let mut bytes = Vec::with_capacity(usize::try_from(self.size).unwrap_or(0));
        let read = self.rewound()?.take(MAX_PACK_BYTES).read_to_end(&mut bytes);
        read.map_err(|error| self.unreadable(&error))?;
        if sha256_hex(&bytes) == sha256 {
            return Ok(bytes);
        }
        Err(refused(
            &self.path,
            "changed while it was read; it is looked at again at the next start",
        ))
    }

    fn rewound(&mut self) -> Result<&File, Refused> {
        match self.file.rewind() {
            Ok(()) => Ok(&self.file),
            Err(error) => Err(self.unreadable(&error)),
        }
    }

    fn unreadable(&self, error: &io::Error) -> Refused {
        refused(&self.path, &format!("can't be read: {error}"))
    }
}

#[cfg(unix)]
fn open_no_follow(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

#[cfg(not(unix))]
fn open_no_follow(path: &Path) -> io::Result<File> {
    if fs::symlink_metadata(path)?.is_symlink() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    File::open(path)
}

/// Native code is taken from the user or from root, and from nobody who could be somebody else.
#[cfg(unix)]
fn check_owner(what: &str, found: &Metadata) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;
    let (me, my_group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    if found.uid() != me && found.uid() != 0 {
        return Err(format!(
            "is refused: {what} belongs to user {}, not to you or root",
            found.uid()
        ));
    }
    // Many systems give each user a group of their own and make files group-writable.
    let group_may_write = found.mode() & 0o020 != 0 && found.gid() != my_group;
    if found.mode() & 0o002 != 0 || group_may_write {
        return Err(format!(
            "is refused: {what} is writable by others (mode {:o}); run chmod go-w on it",
            found.mode() & 0o7777
        ));
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_owner(_: &str, _: &Metadata) -> Result<(), String> {
    Ok(())
}
