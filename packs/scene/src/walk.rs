//! The project's files as the engine sees them: nothing hidden, and nothing beside a `.gdignore`.
//!
//! Spec: P-52, scenes.

use std::{
    fs::{self, File},
    io::Read as _,
    path::{Path, PathBuf},
};

use didi_formats::{limits::HEADER_BYTES, resource, uid};
use didi_plugin_api::prelude::*;

/// Folders and files visited at the most.
const MAX_ENTRIES: usize = 200_000;

/// Files with an ending, by name inside each folder.
pub(crate) fn files(ctx: &Ctx<'_>, extension: &str) -> Result<Vec<ProjectPath>, Refusal> {
    let mut found = vec![];
    each(ctx, |path| {
        if path.extension().is_some_and(|end| end == extension) {
            found.push(path.to_owned());
        }
        false
    })?;
    found.iter().map(|path| as_project_path(ctx, path)).collect()
}

/// Shows every file until one is taken; answers that one.
pub(crate) fn each(
    ctx: &Ctx<'_>,
    mut take: impl FnMut(&Path) -> bool,
) -> Result<Option<PathBuf>, Refusal> {
    let mut folders = vec![ctx.project().root().folder().to_owned()];
    let mut entries = 0;
    while let Some(folder) = folders.pop() {
        ctx.check()?;
        for path in listing(&folder) {
            entries += 1;
            if entries > MAX_ENTRIES {
                return Ok(None);
            }
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else if take(&path) {
                return Ok(Some(path));
            }
        }
    }
    Ok(None)
}

/// The file with an ending whose own header holds a uid.
pub(crate) fn by_uid(
    ctx: &Ctx<'_>,
    extension: &str,
    number: u64,
) -> Result<Option<PathBuf>, Refusal> {
    each(ctx, |path| {
        path.extension().is_some_and(|end| end == extension) && uid_of(path) == Some(number)
    })
}

fn uid_of(path: &Path) -> Option<u64> {
    let mut head = vec![];
    File::open(path).ok()?.take(HEADER_BYTES as u64).read_to_end(&mut head).ok()?;
    uid::number(resource::read_header(&head).ok()?.uid.as_deref()?)
}

/// The uid in the `.uid` file beside a script.
pub(crate) fn sidecar_uid(path: &Path) -> Option<u64> {
    let mut sidecar = path.as_os_str().to_owned();
    sidecar.push(".uid");
    let mut text = vec![];
    File::open(sidecar).ok()?.take(HEADER_BYTES as u64).read_to_end(&mut text).ok()?;
    uid::number(uid::parse_uid_file(&text).ok()?)
}

/// A file below the project as a place inside it.
pub(crate) fn as_project_path(ctx: &Ctx<'_>, path: &Path) -> Result<ProjectPath, Refusal> {
    let project = ctx.project();
    let inner = path.strip_prefix(project.root().folder()).unwrap_or(path);
    let parts: Vec<_> = inner.iter().map(|part| part.to_string_lossy()).collect();
    project.resolve(&format!("res://{}", parts.join("/")), "path")
}

fn listing(folder: &Path) -> Vec<PathBuf> {
    if folder.join(".gdignore").exists() {
        return vec![];
    }
    let Ok(entries) = fs::read_dir(folder) else { return vec![] };
    let shown = |path: &PathBuf| {
        path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.'))
    };
    let mut found: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(shown).collect();
    found.sort();
    found
}
