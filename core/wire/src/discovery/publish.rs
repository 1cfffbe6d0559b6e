//! Writing a descriptor so that a reader sees all of it or nothing.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use super::{file_name, moving, retire};
use crate::{
    descriptor::{Descriptor, DescriptorFault},
    hex,
    session_dir::{SessionDir, SessionDirFault},
};

/// What a file is called while it is written; no scan looks at it.
const UNFINISHED: &str = ".didi-new-";

/// A descriptor that stands in the folder, until it is retired.
#[derive(Debug)]
pub struct Published {
    dir: SessionDir,
    descriptor: Descriptor,
}

/// Why a descriptor was not published.
#[derive(Debug, thiserror::Error)]
pub enum PublishFault {
    /// It would not be read by any server.
    #[error("the descriptor is not sound")]
    Unsound(#[from] DescriptorFault),
    /// The folder cannot be used.
    #[error("the session folder cannot be used")]
    Folder(#[from] SessionDirFault),
    /// The file could not be written, or its name is taken.
    #[error("the descriptor could not be written")]
    Io(#[from] io::Error),
}

/// Publishes a descriptor for its owner alone. The endpoint has to be bound before.
///
/// # Errors
/// When the descriptor is unsound, the folder is not private, or the session's name is taken.
pub fn publish(dir: &SessionDir, descriptor: Descriptor) -> Result<Published, PublishFault> {
    descriptor.identity.check()?;
    dir.prepare()?;
    let unfinished = dir.path.join(format!("{UNFINISHED}{}", hex::text(&hex::random::<16>())));
    let published = write_private(&unfinished, &descriptor.to_private_json()).and_then(|()| {
        let file = dir.path.join(file_name(descriptor.identity.session_id));
        moving::without_replacement(&unfinished, &file)
    });
    if let Err(error) = published {
        let _ = fs::remove_file(&unfinished);
        return Err(error.into());
    }
    Ok(Published { dir: dir.clone(), descriptor })
}

impl Published {
    /// The descriptor's file.
    pub fn path(&self) -> PathBuf {
        self.dir.path.join(file_name(self.descriptor.identity.session_id))
    }

    /// What was published.
    pub fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    /// Takes the descriptor out of the folder, if it is exactly what was published.
    ///
    /// # Errors
    /// When another file has its name; that one stays.
    pub fn retire(&self) -> Result<retire::Retired, retire::RetireFault> {
        retire::retire(&self.dir, &self.descriptor)
    }
}

fn write_private(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, crate::endpoint::SOCKET_MODE);
    let mut file = options.open(path)?;
    file.write_all(text)?;
    file.sync_all()
}
