//! The walk over the project's files that every index and search shares.
//!
//! Left out are folders of tools and builds, links, folders that the engine ignores (`.gdignore`) and other
//! projects inside this one. What a repository ignores is not left out: the engine reads those files.
//!
//! Spec: P-50, the project's files.

use std::{fs::Metadata, ops::ControlFlow, path::PathBuf};

use didi_plugin_api::prelude::*;
use ignore::{DirEntry, WalkBuilder};

use crate::kept::Stamp;

/// Folders of other tools and of builds, at any depth.
const LEFT_OUT: [&str; 9] =
    [".git", ".godot", ".gemini", ".worktrees", ".didi", ".vs", "out", "bin", "build"];
/// Most names that are not UTF-8 and are listed.
const MAX_UNDECODABLE: usize = 100;
/// Files between two looks at whether the caller gave up.
const FILES_PER_CHECK: usize = 256;

/// A file of the project.
#[derive(Debug, Clone)]
pub struct File {
    /// `res://` path.
    pub path: String,
    /// Where it lies.
    pub real: PathBuf,
    /// Its bytes.
    pub size: u64,
    /// The state that it was in.
    pub stamp: Stamp,
}

impl File {
    /// The regular file at a place; `None` when there is none.
    pub fn at(place: &ProjectPath) -> Option<Self> {
        let facts = place.real().metadata().ok().filter(Metadata::is_file)?;
        let (path, real) = (place.res_path(), place.real().to_owned());
        Some(File { path, real, size: facts.len(), stamp: Stamp::of(&facts) })
    }

    /// Its name in its folder.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// The ending in lower case, without the dot; empty without one.
    pub fn extension(&self) -> String {
        self.name().rsplit_once('.').map(|(_, end)| end.to_lowercase()).unwrap_or_default()
    }
}

/// What a walk met beside the files.
#[derive(Debug, Default)]
pub struct Met {
    /// Whether a folder or file could not be read.
    pub failed: bool,
    /// How many links were passed over.
    pub links: usize,
    /// How many names are not UTF-8.
    pub undecodable_count: usize,
    /// Those names with replacement characters, the first of them.
    pub undecodable: Vec<String>,
}

/// The folder that a call names, if it is one of the project. A folder that the engine ignores is taken when
/// it is named itself.
pub fn folder(ctx: &Ctx<'_>, path: &str, field: &str) -> Result<ProjectPath, Refusal> {
    let start = ctx.project().resolve(path, field)?;
    let shown = start.res_path();
    if start.is_file() {
        return Err(invalid(field, format!("`{shown}` is a file, and a folder is needed")));
    }
    if !start.is_dir() {
        let message = format!("no folder `{shown}` in the project");
        return Err(Refusal::new(codes::NOT_FOUND, message).field(field));
    }
    if let Some(part) = shown.trim_start_matches("res://").split('/').find(|part| left_out(part)) {
        let message = format!(
            "`{shown}` lies in `{part}`, which is left out of the index as `{}` and `build-*` are",
            LEFT_OUT.join("`, `")
        );
        return Err(invalid(field, message));
    }
    Ok(start)
}

/// Hands every file below a folder to `each`, ordered by path, until it breaks.
pub fn files(
    ctx: &Ctx<'_>,
    start: &ProjectPath,
    each: impl FnMut(File) -> ControlFlow<()>,
) -> Result<Met, Refusal> {
    walk(ctx, start, belongs, each)
}

/// As [`files`], with all files that the engine reads: those in `bin` and its like, too.
pub fn engine_files(
    ctx: &Ctx<'_>,
    start: &ProjectPath,
    each: impl FnMut(File) -> ControlFlow<()>,
) -> Result<Met, Refusal> {
    walk(ctx, start, engine_reads, each)
}

/// As [`files`], with everything that lies there, links but for.
pub fn all_files(
    ctx: &Ctx<'_>,
    start: &ProjectPath,
    each: impl FnMut(File) -> ControlFlow<()>,
) -> Result<Met, Refusal> {
    walk(ctx, start, |_| true, each)
}

fn walk(
    ctx: &Ctx<'_>,
    start: &ProjectPath,
    takes: impl Fn(&DirEntry) -> bool + Send + Sync + 'static,
    mut each: impl FnMut(File) -> ControlFlow<()>,
) -> Result<Met, Refusal> {
    let root = ctx.project().root().folder().to_owned();
    let mut met = Met::default();
    let walk = WalkBuilder::new(start.real())
        .standard_filters(false)
        .follow_links(false)
        .sort_by_file_name(Ord::cmp)
        .filter_entry(takes)
        .build();
    for (count, entry) in walk.enumerate() {
        if count % FILES_PER_CHECK == 0 {
            ctx.check()?;
        }
        let Ok(entry) = entry else {
            met.failed = true;
            continue;
        };
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            met.links += usize::from(entry.path_is_symlink());
            continue;
        }
        let (Ok(inner), Ok(facts)) = (entry.path().strip_prefix(&root), entry.metadata()) else {
            met.failed = true;
            continue;
        };
        let Some(parts) = inner.iter().map(|part| part.to_str()).collect::<Option<Vec<_>>>() else {
            met.undecodable_count += 1;
            if met.undecodable.len() < MAX_UNDECODABLE {
                met.undecodable.push(format!("res://{}", inner.to_string_lossy()));
            }
            continue;
        };
        let path = format!("res://{}", parts.join("/"));
        let (size, stamp) = (facts.len(), Stamp::of(&facts));
        let file = File { path, size, stamp, real: entry.into_path() };
        if each(file).is_break() {
            break;
        }
    }
    Ok(met)
}

fn left_out(name: &str) -> bool {
    LEFT_OUT.contains(&name) || name.starts_with("build-")
}

/// Whether the walk takes an entry. The folder where it starts is not asked.
fn belongs(entry: &DirEntry) -> bool {
    if !entry.file_type().is_some_and(|kind| kind.is_dir()) {
        return true;
    }
    let folder = entry.path();
    !entry.file_name().to_str().is_some_and(left_out)
        && !folder.join(".gdignore").exists()
        && !folder.join("project.godot").exists()
}

/// Whether the engine looks into an entry. The folder where the walk starts is not asked.
fn engine_reads(entry: &DirEntry) -> bool {
    if !entry.file_type().is_some_and(|kind| kind.is_dir()) {
        return true;
    }
    let folder = entry.path();
    !entry.file_name().to_str().is_some_and(|name| name.starts_with('.'))
        && !folder.join(".gdignore").exists()
        && !folder.join("project.godot").exists()
}

fn invalid(field: &str, message: String) -> Refusal {
    Refusal::new(codes::INVALID_ARGUMENTS, message).field(field)
}
