//! Gate 1 and the reading half of gate 2: which file may be a pack, and its bytes.
//!
//! Spec: P-31, gates of the loader.

use std::{
    fs::{self, File, Metadata},
    io::{self, Read},
    path::Path,
};

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

/// Reads the file behind gate 1. What is checked and what is read is one open file.
pub fn read(path: &Path) -> Result<Vec<u8>, Refused> {
    let refuse =
        |reason: String| Refused::new(Gate::File, format!("`{}` {reason}", path.display()));
    let say = |error: io::Error| {
        if fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
            return refuse("is a link; copy the pack itself into the folder".into());
        }
        refuse(format!("can't be read: {error}"))
    };
    let mut file = open_no_follow(path).map_err(say)?;
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
    let mut bytes = Vec::with_capacity(usize::try_from(found.len()).unwrap_or(0));
    file.by_ref().take(MAX_PACK_BYTES).read_to_end(&mut bytes).map_err(say)?;
    Ok(bytes)
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
