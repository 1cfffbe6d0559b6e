//! Engines for tests: a real Godot where one is found, and a program that plays one.

use std::path::{Path, PathBuf};

use crate::executable::write_executable;

/// A real Godot: `DIDI_TEST_GODOT`, `GODOT_BIN`, the usual place, or the search path.
///
/// Says that a test is left out when there is none.
///
/// # Panics
/// When there is none and `CI` is `true`.
pub fn godot() -> Option<PathBuf> {
    didi_plugin_api::testkit::real_engine()
}

/// Writes a shell script that plays Godot: it answers `--version`, and `body` is what it does otherwise.
///
/// # Panics
/// When the file can't be written.
pub fn stub_engine(folder: &Path, body: &str) -> PathBuf {
    let file = folder.join("godot-stub");
    let text = format!(
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 4.6.3.stable.test; exit 0; fi\n{body}\n"
    );
    write_executable(&file, text.as_bytes());
    file
}
