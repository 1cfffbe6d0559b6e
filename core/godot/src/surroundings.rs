//! What the process was given: the only place that reads the environment and the arguments.
#![allow(clippy::disallowed_methods, reason = "the one place that reads the environment")]

use std::{env, path::PathBuf};

use didi_wire::{
    QUIET_ENGINE_VAR,
    session_dir::{SESSION_DIR_VAR, SessionDir, Surroundings, locate},
};

/// The folder for sockets.
pub(crate) fn temp() -> PathBuf {
    env::temp_dir()
}

/// The folder for descriptors.
pub(crate) fn sessions() -> SessionDir {
    locate(&Surroundings {
        session_dir: env::var_os(SESSION_DIR_VAR),
        runtime_dir: env::var_os("XDG_RUNTIME_DIR"),
        temp: temp(),
    })
}

/// The whole command line; the engine's own copy lacks what the engine has used.
pub(crate) fn arguments() -> Vec<String> {
    env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect()
}

/// Whether this engine was started to answer one question.
pub(crate) fn is_quiet() -> bool {
    env::var_os(QUIET_ENGINE_VAR).is_some_and(|value| !value.is_empty())
}
