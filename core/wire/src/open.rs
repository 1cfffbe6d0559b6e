//! Opening a small file of a session folder without following links, and reading it through its handle.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _},
    path::Path,
};

/// A regular file that was opened, and what is known of it by its handle.
pub(crate) struct Opened {
    pub(crate) file: File,
    pub(crate) metadata: fs::Metadata,
}

/// Why a file is not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenFault {
    #[error("is no regular file")]
    NotRegular,
    #[error("is open to others than its owner")]
    NotPrivate,
    #[error("is over the limit of {0} bytes")]
    TooLong(usize),
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
}

/// Opens a regular file; neither a link in its place nor a pipe that would block is followed.
pub(crate) fn regular(path: &Path) -> Result<Opened, OpenFault> {
    let mut options = OpenOptions::new();
    options.read(true);
    without_following(&mut options);
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if is_link_error(&error) => return Err(OpenFault::NotRegular),
        Err(error) => return Err(error.into()),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() || is_reparse_point(&metadata) {
        return Err(OpenFault::NotRegular);
    }
    Ok(Opened { file, metadata })
}

impl Opened {
    /// The whole file, which may hold at most `limit` bytes.
    pub(crate) fn read(&mut self, limit: usize) -> Result<Vec<u8>, OpenFault> {
        let mut bytes = vec![];
        let bound = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
        (&mut self.file).take(bound).read_to_end(&mut bytes)?;
        if bytes.len() > limit {
            return Err(OpenFault::TooLong(limit));
        }
        Ok(bytes)
    }

    /// Whether it is the user's own and closed to everybody else.
    pub(crate) fn check_private(&self) -> Result<(), OpenFault> {
        if owner_only(&self.metadata) { Ok(()) } else { Err(OpenFault::NotPrivate) }
    }

    /// Whether what a path names now is this very file.
    #[cfg(unix)]
    pub(crate) fn is_still_at(&self, path: &Path) -> bool {
        use std::os::unix::fs::MetadataExt as _;

        fs::symlink_metadata(path)
            .is_ok_and(|now| (now.dev(), now.ino()) == (self.metadata.dev(), self.metadata.ino()))
    }

    /// Whether a path still names a regular file; its number is not to be had without unsafe code, so
    /// callers compare the contents as well.
    #[cfg(not(unix))]
    pub(crate) fn is_still_at(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|now| now.is_file())
    }
}

/// Whether something is the user's own and closed to everybody else.
#[cfg(unix)]
pub(crate) fn owner_only(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    /// Read, write and execute for the group and for everybody.
    const OTHERS: u32 = 0o077;
    let own = metadata.uid() == rustix::process::geteuid().as_raw();
    own && metadata.mode() & OTHERS == 0
}

/// On Windows the folder's own access list decides.
#[cfg(not(unix))]
fn owner_only(_metadata: &fs::Metadata) -> bool {
    true
}

#[cfg(unix)]
pub(crate) fn without_following(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt as _;

    use rustix::fs::OFlags;

    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    options.custom_flags(i32::try_from(flags.bits()).unwrap_or(0));
}

#[cfg(windows)]
pub(crate) fn without_following(options: &mut OpenOptions) {
    use std::os::windows::fs::OpenOptionsExt as _;

    /// Opens the link itself: `FILE_FLAG_OPEN_REPARSE_POINT`.
    const OPEN_REPARSE_POINT: u32 = 0x0020_0000;
    options.custom_flags(OPEN_REPARSE_POINT);
}

#[cfg(unix)]
fn is_link_error(error: &io::Error) -> bool {
    let number = error.raw_os_error();
    number == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(not(unix))]
fn is_link_error(_error: &io::Error) -> bool {
    false
}

#[cfg(windows)]
fn is_reparse_point(metadata: &fs::Metadata) -> bool {
    use std::os::windows::fs::MetadataExt as _;

    /// `FILE_ATTRIBUTE_REPARSE_POINT`.
    const REPARSE_POINT: u32 = 0x400;
    metadata.file_attributes() & REPARSE_POINT != 0
}

#[cfg(not(windows))]
fn is_reparse_point(_metadata: &fs::Metadata) -> bool {
    false
}
