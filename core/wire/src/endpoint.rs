//! Names of the sockets and pipes that engines listen on. Binding and connecting is left to both ends.
//!
//! A name holds the project, the process and the session, so two engines never meet on one.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::{
    descriptor::{Identity, SessionId},
    hex,
};

#[cfg(test)]
mod tests;

/// What every name begins with.
const PREFIX: &str = "godot_didi_";

/// Where Windows keeps its pipes.
const PIPES: &str = r"\\.\pipe\";

/// Digits of the session in the name of a socket, whose path has to be short.
const SOCKET_SESSION_DIGITS: usize = 12;

/// Who may use a pipe on Windows, as a security descriptor: local administrators and the owner. An engine
/// that cannot set it listens on nothing.
pub const PIPE_SECURITY: &str = "D:(A;;GA;;;BA)(A;;GA;;;OW)";

/// Who may use a socket elsewhere, as a mode: the owner.
pub const SOCKET_MODE: u32 = 0o600;

/// The project's part of a name: 16 hex digits of the digest of its canonical path.
pub fn project_key(project_path: &str) -> String {
    let digest = Sha256::digest(project_path.as_bytes());
    hex::text(&digest[..8])
}

/// The name that a session listens on on this system.
///
/// `temp` is the folder for sockets, [`std::env::temp_dir`] outside of tests; Windows has no use for it.
pub fn name(temp: &Path, project_path: &str, pid: u32, session: SessionId) -> String {
    let key = project_key(project_path);
    if cfg!(windows) {
        return format!("{PIPES}{PREFIX}{key}_{pid}_{session}");
    }
    let file = socket_file(&key, pid, session);
    temp.join(file).to_string_lossy().into_owned()
}

/// Whether an endpoint is the one that its session has to have: a pipe or socket named for exactly this
/// project, process and session. The folder of a socket is the engine's choice.
pub fn has_exact_shape(identity: &Identity) -> bool {
    let key = project_key(&identity.project_path);
    let (pid, session) = (identity.pid, identity.session_id);
    if cfg!(windows) {
        return identity.endpoint == format!("{PIPES}{PREFIX}{key}_{pid}_{session}");
    }
    let path = PathBuf::from(&identity.endpoint);
    let expected = socket_file(&key, pid, session);
    path.is_absolute()
        && path.file_name().and_then(|name| name.to_str()) == Some(&expected)
        && path
            .parent()
            .is_some_and(|folder| folder.join(&expected).as_os_str() == path.as_os_str())
        && !identity.endpoint.contains('\0')
        && !path.components().any(|part| part.as_os_str() == "..")
}

fn socket_file(key: &str, pid: u32, session: SessionId) -> String {
    let session = session.to_string();
    format!("{PREFIX}{key}_{pid}_{}.sock", &session[..SOCKET_SESSION_DIGITS])
}
