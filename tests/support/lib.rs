//! Support of the tests: the built server as a process, fixture projects, redaction.
//!
//! Everything goes through the program's own front door: text in, text out, files on disk. Nothing here
//! looks at the server's insides.

#![allow(
    clippy::disallowed_methods,
    clippy::missing_panics_doc,
    reason = "tests start programs, write files and read the clock themselves"
)]

#[cfg(unix)]
pub mod caller;
pub mod engine;
pub mod executable;
#[cfg(unix)]
pub mod faulty;
pub mod http;
pub mod json;
#[cfg(unix)]
pub mod live;
pub mod pipeline;
pub mod process;
pub mod project;
pub mod redact;
pub mod scripted;
pub mod server;
pub mod unity;
pub mod wait;

use std::{
    env,
    path::{Path, PathBuf},
    sync::OnceLock,
};

#[cfg(unix)]
pub use caller::Caller;
pub use engine::{godot, stub_engine};
pub use pipeline::Pipeline;
pub use process::runs;
#[cfg(unix)]
pub use process::{Signal, signal};
pub use project::{Project, Tree};
pub use server::{Closed, Launch, Server, modern};
pub use wait::{until, until_gone, until_ok};

/// Members of a refusal's data that say what fixes it.
pub const REMEDIES: [&str; 10] = [
    "retry_with",
    "field",
    "argument",
    "parameter",
    "missing",
    "did_you_mean",
    "next_call",
    "restart_with",
    "retry_after_ms",
    "no_remedy",
];

/// Folder with the built program and packs: the one above the running test binary's.
///
/// # Panics
/// When the test binary does not lie in a cargo target folder.
pub fn built_folder() -> PathBuf {
    let binary = env::current_exe().expect("a test knows its own file");
    let deps = binary.parent().expect("a file lies in a folder");
    deps.parent().expect("`deps` lies in the profile's folder").to_owned()
}

/// The built program.
///
/// # Panics
/// When it was not built.
pub fn didi() -> PathBuf {
    let file = built_folder().join(format!("didi{}", env::consts::EXE_SUFFIX));
    assert!(file.is_file(), "`{}` is missing: run `cargo build --workspace` first", file.display());
    file
}

/// Folder of private pack copies that every server of this target folder shares, so that a pack is tried once.
pub fn pack_cache() -> &'static Path {
    static CACHE: OnceLock<PathBuf> = OnceLock::new();
    CACHE.get_or_init(|| built_folder().join("test-pack-cache"))
}

/// The tests' own folder in the repository.
pub fn tests_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The repository.
///
/// # Panics
/// Never: the tests' folder lies in it.
pub fn repository() -> PathBuf {
    tests_folder().parent().expect("the tests lie in the repository").to_owned()
}
