//! Finding the sessions that a folder's descriptors tell of.
//!
//! A scan reads, judges and changes nothing: what is not a sound descriptor of a living process becomes a
//! diagnostic and stays where it is. [`publish`](publish()) and [`Published::retire`] are the engine's side,
//! [`sweep`](sweep()) tidies up after processes that are provably gone. Which session is attached is left to
//! the server.

use std::{fs, io};

use crate::{
    descriptor::{Descriptor, MAX_DESCRIPTOR_BYTES, SessionId},
    open::{self, OpenFault},
    process::{self, Liveness},
    session_dir::{SessionDir, SessionDirFault},
};

mod moving;
mod publish;
mod retire;
mod sweep;
#[cfg(test)]
mod tests;

pub use publish::{PublishFault, Published, publish};
pub use retire::{RetireFault, Retired};
pub use sweep::{Swept, sweep};

/// Most entries of a folder that one scan looks at; the rest is a diagnostic.
pub const MAX_ENTRIES: usize = 4096;

/// What a folder holds.
#[derive(Debug, Clone, Default)]
pub struct Scan {
    /// Sessions whose process is alive, in the order of their names.
    pub sessions: Vec<Descriptor>,
    /// Descriptors whose process is provably gone; each has a diagnostic too.
    pub stale: Vec<Descriptor>,
    /// Files that are not served, with the reason.
    pub diagnostics: Vec<Diagnostic>,
}

/// A file that is not served. It holds nothing of the file's contents but what may be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file's name in the folder.
    pub file: String,
    /// Why, as a word for programs.
    pub code: DiagnosticCode,
    /// Why, in a sentence without a final stop.
    pub message: String,
}

/// Why a file is not served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiagnosticCode {
    /// It could not be opened or read.
    Unreadable,
    /// A link, a folder, a pipe: anything but a regular file.
    NotRegular,
    /// Others than its owner may read or write it, or somebody else owns it.
    NotPrivate,
    /// It is longer than a descriptor may be.
    TooLong,
    /// It is no descriptor of this version.
    Malformed,
    /// Its name is not that of the session inside.
    NameDisagrees,
    /// Its process has ended, or its pid belongs to a later one.
    ProcessGone,
    /// Whether its process runs could not be established.
    ProcessUnknown,
    /// The folder holds more than [`MAX_ENTRIES`].
    TooMany,
}

impl DiagnosticCode {
    /// The word for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            DiagnosticCode::Unreadable => "unreadable",
            DiagnosticCode::NotRegular => "not_regular",
            DiagnosticCode::NotPrivate => "not_private",
            DiagnosticCode::TooLong => "too_long",
            DiagnosticCode::Malformed => "malformed",
            DiagnosticCode::NameDisagrees => "name_disagrees",
            DiagnosticCode::ProcessGone => "process_gone",
            DiagnosticCode::ProcessUnknown => "process_unknown",
            DiagnosticCode::TooMany => "too_many",
        }
    }
}

/// Reads every descriptor of a folder; a folder that is not there has none.
///
/// # Errors
/// When the folder is not private or cannot be listed.
pub fn scan(dir: &SessionDir) -> Result<Scan, SessionDirFault> {
    let mut scan = Scan::default();
    if !dir.check()? {
        return Ok(scan);
    }
    for file in json_files(dir, &mut scan)? {
        match read(dir, &file) {
            Ok(descriptor) => scan.judge(file, descriptor),
            Err((code, message)) => scan.diagnostics.push(Diagnostic { file, code, message }),
        }
    }
    Ok(scan)
}

impl Scan {
    /// Files a sound descriptor by what its process is.
    fn judge(&mut self, file: String, descriptor: Descriptor) {
        let identity = &descriptor.identity;
        let (pid, started) = (identity.pid, identity.started_at_ms);
        let (code, message) = match process::liveness(pid, started) {
            Liveness::Alive => return self.sessions.push(descriptor),
            Liveness::Gone => {
                self.stale.push(descriptor);
                let message = format!("process {pid} has ended, or is a later one");
                (DiagnosticCode::ProcessGone, message)
            }
            Liveness::Unknown(reason) => {
                let message = format!("process {pid} could not be looked at: {}", reason.as_str());
                (DiagnosticCode::ProcessUnknown, message)
            }
        };
        self.diagnostics.push(Diagnostic { file, code, message });
    }
}

/// Names that end in `.json`, sorted.
fn json_files(dir: &SessionDir, scan: &mut Scan) -> Result<Vec<String>, SessionDirFault> {
    let mut files = vec![];
    for (seen, entry) in fs::read_dir(&dir.path).map_err(|error| fault(dir, error))?.enumerate() {
        if seen >= MAX_ENTRIES {
            let message = format!("the folder holds more than {MAX_ENTRIES} entries");
            let code = DiagnosticCode::TooMany;
            scan.diagnostics.push(Diagnostic { file: String::new(), code, message });
            break;
        }
        let name = entry.map_err(|error| fault(dir, error))?.file_name();
        let name = name.to_string_lossy();
        if name.ends_with(".json") {
            files.push(name.into_owned());
        }
    }
    files.sort_unstable();
    Ok(files)
}

fn fault(dir: &SessionDir, error: io::Error) -> SessionDirFault {
    SessionDirFault::Io(dir.path.clone(), error)
}

/// Reads one file through the handle that was checked.
fn read(dir: &SessionDir, file: &str) -> Result<Descriptor, (DiagnosticCode, String)> {
    let denied = |fault: OpenFault| (code_of(&fault), format!("`{file}` {fault}"));
    let mut opened = open::regular(&dir.path.join(file)).map_err(denied)?;
    opened.check_private().map_err(denied)?;
    let text = opened.read(MAX_DESCRIPTOR_BYTES).map_err(denied)?;
    let descriptor = Descriptor::from_slice(&text)
        .map_err(|fault| (DiagnosticCode::Malformed, format!("`{file}`: {fault}")))?;
    if file_name(descriptor.identity.session_id) != file {
        let message = format!("`{file}` holds a session of another name");
        return Err((DiagnosticCode::NameDisagrees, message));
    }
    Ok(descriptor)
}

fn code_of(fault: &OpenFault) -> DiagnosticCode {
    match fault {
        OpenFault::NotRegular => DiagnosticCode::NotRegular,
        OpenFault::NotPrivate => DiagnosticCode::NotPrivate,
        OpenFault::TooLong(_) => DiagnosticCode::TooLong,
        OpenFault::Io(_) => DiagnosticCode::Unreadable,
    }
}

/// The name of a session's descriptor.
fn file_name(session: SessionId) -> String {
    format!("{session}.json")
}
