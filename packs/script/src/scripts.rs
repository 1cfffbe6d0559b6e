//! The scripts of the project, as far as their heads tell which classes they declare.
//!
//! Spec: P-53, scripts.

use std::{
    fs,
    io::Read,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

/// Scripts looked into for a `class_name`.
const MAX_SCRIPTS: usize = 5000;
/// Folders and files visited on the way.
const MAX_ENTRIES: usize = 50_000;
/// Start of a script in which its `class_name` is looked for, in bytes.
const HEAD_BYTES: u64 = 64 << 10;

/// Whether a script declares a global class. Lines are enough: nothing but an annotation stands before it.
pub(crate) fn declares(script: &str, name: &str) -> bool {
    declared(script).any(|declared| declared == name)
}

/// The global class that a script declares.
pub(crate) fn class_name(script: &str) -> Option<&str> {
    declared(script).next()
}

fn declared(script: &str) -> impl Iterator<Item = &str> {
    script.lines().filter_map(|line| line.split_once("class_name")).filter_map(|(before, after)| {
        let own = before.trim().is_empty() || before.trim_start().starts_with('@');
        let declared = after.trim_start().split(|letter: char| !is_word(letter)).next();
        declared.filter(|name| own && after.starts_with([' ', '\t']) && !name.is_empty())
    })
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Hands over the scripts whose start mentions a class name, each with that start, until `take` breaks.
pub(crate) fn each(root: &Path, mut take: impl FnMut(&Path, &str) -> ControlFlow<()>) {
    let mut scripts = 0;
    let mut entries = 0;
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in listing(&folder) {
            entries += 1;
            if entries > MAX_ENTRIES || scripts > MAX_SCRIPTS {
                return;
            }
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "gd") {
                scripts += 1;
                let head = head_of(&path, HEAD_BYTES).unwrap_or_default();
                let head = String::from_utf8_lossy(&head);
                if head.contains("class_name") && take(&path, &head).is_break() {
                    return;
                }
            }
        }
    }
}

/// What the engine would see in a folder: nothing hidden, and nothing beside a `.gdignore`.
fn listing(folder: &Path) -> Vec<PathBuf> {
    if folder.join(".gdignore").exists() {
        return vec![];
    }
    let Ok(entries) = fs::read_dir(folder) else { return vec![] };
    let hidden = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
    };
    entries.flatten().map(|entry| entry.path()).filter(|path| !hidden(path)).collect()
}

/// The first bytes of a file.
pub(crate) fn head_of(path: &Path, max_bytes: u64) -> Option<Vec<u8>> {
    let mut bytes = vec![];
    fs::File::open(path).ok()?.take(max_bytes).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
