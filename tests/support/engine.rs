//! Engines for tests: a real Godot where one is found, and a program that plays one.

use std::{
    env, fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// A real Godot: `DIDI_TEST_GODOT`, `GODOT_BIN`, the usual place, or the search path.
///
/// Says that a test is left out when there is none.
///
/// # Panics
/// When there is none and `CI` is `true`.
pub fn godot() -> Option<PathBuf> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = FOUND.get_or_init(find).clone();
    if found.is_none() {
        assert!(env::var("CI").as_deref() != Ok("true"), "CI has to have a Godot: set GODOT_BIN");
        say("left out: no Godot was found; set DIDI_TEST_GODOT to run this test");
    }
    found
}

fn find() -> Option<PathBuf> {
    let named = ["DIDI_TEST_GODOT", "GODOT_BIN"].iter().filter_map(env::var_os).map(PathBuf::from);
    let usual = std::iter::once(PathBuf::from("/usr/local/bin/godot"));
    let path = env::var_os("PATH").unwrap_or_default();
    let searched = env::split_paths(&path)
        .flat_map(|folder| ["godot", "godot4", "godot.exe"].map(|name| folder.join(name)));
    named.chain(usual).chain(searched).find(|file| file.is_file())
}

#[expect(clippy::print_stderr, reason = "a test that is left out says so")]
fn say(text: &str) {
    eprintln!("{text}");
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
    fs::write(&file, text).expect("the stub can be written");
    make_executable(&file);
    file
}

#[cfg(unix)]
fn make_executable(file: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755))
        .expect("it is the test's own file");
}

#[cfg(not(unix))]
fn make_executable(_: &Path) {}
