//! The walk over the project's files that every index and search shares.
//!
//! Left out are folders of tools and builds, links, folders that the engine ignores (`.gdignore`) and other
//! projects inside this one. What a repository ignores is not left out: the engine reads those files.
//!
//! Spec: P-50, the project's files.

use std::{
    fs::Metadata,
    ops::ControlFlow,
    path::{MAIN_SEPARATOR, Path, PathBuf},
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use didi_plugin_api::prelude::*;
use ignore::{DirEntry, WalkBuilder, WalkState};

use crate::{kept::Stamp, parallel};

/// Folders of other tools and of builds, at any depth.
const LEFT_OUT: [&str; 9] =
    [".git", ".godot", ".gemini", ".worktrees", ".didi", ".vs", "out", "bin", "build"];
/// Most names that are not UTF-8 and are listed.
const MAX_UNDECODABLE: usize = 100;
/// Entries that a thread of the walk gathers before it hands them over: waking whoever takes them costs as much as
/// reading a small file.
const HANDED_OVER: usize = 128;
/// How long a walk that finds nothing goes on before it looks whether the caller gave up.
const LOOK_EVERY: Duration = Duration::from_millis(50);

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
        extension(&self.path)
    }
}

/// The ending of a `res://` path in lower case, without the dot; empty without one.
pub fn extension(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').map(|(_, end)| end.to_lowercase()).unwrap_or_default()
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

impl Met {
    fn add_undecodable(&mut self, name: String) {
        self.undecodable_count += 1;
        self.undecodable.push(name);
    }
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
    list(ctx, start, belongs, each)
}

/// A file that a walk met.
pub enum Seen<T> {
    /// It was asked for, with what was said of it.
    File(File, T),
    /// It was not: its `res://` path, and nothing of it was read. These come first, in no order, and all of them.
    Passed(String),
}

/// As [`files`], of the files that `asks` for by their `res://` path, with what `look` said of each on the thread of
/// the walk that met it, in no order.
pub fn files_looked_at<T: Send>(
    ctx: &Ctx<'_>,
    start: &ProjectPath,
    asks: impl Fn(&str) -> bool + Sync,
    look: impl Fn(&File) -> T + Sync,
    each: impl FnMut(Seen<T>) -> ControlFlow<()>,
) -> Result<Met, Refusal> {
    walk(ctx, start, belongs, asks, look, each)
}

/// Every file, with nothing said of it.
fn list(
    ctx: &Ctx<'_>,
    start: &ProjectPath,
    takes: impl Fn(&DirEntry) -> bool + Send + Sync + 'static,
    mut each: impl FnMut(File) -> ControlFlow<()>,
) -> Result<Met, Refusal> {
    walk(
        ctx,
        start,
        takes,
        |_| true,
        |_| (),
        |seen| match seen {
            Seen::File(file, ()) => each(file),
            Seen::Passed(_) => ControlFlow::Continue(()),
        },
    )
}

/// As [`files`], with all files that the engine reads: those in `bin` and its like, too.
pub fn engine_files(
    ctx: &Ctx<'_>,
    start: &ProjectPath,
    each: impl FnMut(File) -> ControlFlow<()>,
) -> Result<Met, Refusal> {
    list(ctx, start, engine_reads, each)
}

/// As [`files`], with everything that lies there, links but for.
pub fn all_files(
    ctx: &Ctx<'_>,
    start: &ProjectPath,
    each: impl FnMut(File) -> ControlFlow<()>,
) -> Result<Met, Refusal> {
    list(ctx, start, |_| true, each)
}

/// An entry as a thread of the walk found it.
enum Found<T> {
    File(Listed<T>),
    Passed(String),
    Link,
    Undecodable(String),
    Failed,
}

/// A file that was asked for, and the text that it is ordered by.
struct Listed<T> {
    key: String,
    file: File,
    said: T,
}

/// What one thread of the walk found and did not hand over yet. The rest goes with it.
struct Gathered<T> {
    found: Vec<Found<T>>,
    sender: mpsc::Sender<Vec<Found<T>>>,
}

impl<T> Gathered<T> {
    /// Takes one more; whether anybody still wants them.
    fn add(&mut self, one: Found<T>) -> bool {
        self.found.push(one);
        self.found.len() < HANDED_OVER || self.hand_over()
    }

    fn hand_over(&mut self) -> bool {
        self.sender.send(std::mem::take(&mut self.found)).is_ok()
    }
}

impl<T> Drop for Gathered<T> {
    fn drop(&mut self) {
        self.hand_over();
    }
}

/// Lists with several threads, then hands the files over in order: what a folder is asked of the system costs more
/// than all else.
fn walk<T: Send>(
    ctx: &Ctx<'_>,
    start: &ProjectPath,
    takes: impl Fn(&DirEntry) -> bool + Send + Sync + 'static,
    asks: impl Fn(&str) -> bool + Sync,
    look: impl Fn(&File) -> T + Sync,
    mut each: impl FnMut(Seen<T>) -> ControlFlow<()>,
) -> Result<Met, Refusal> {
    let walker = WalkBuilder::new(start.real())
        .standard_filters(false)
        .follow_links(false)
        .filter_entry(takes)
        .threads(parallel::threads())
        .build_parallel();
    let root = ctx.project().root().folder().to_owned();
    let given_up = AtomicBool::new(false);
    let (sender, entries) = mpsc::channel();
    let mut met = Met::default();
    let mut files = vec![];
    thread::scope(|scope| {
        scope.spawn(|| {
            // Moved in, so that the channel ends with the walk.
            let sender = sender;
            walker.run(|| {
                let mut gathered = Gathered { found: vec![], sender: sender.clone() };
                let (root, given_up, asks, look) = (&root, &given_up, &asks, &look);
                Box::new(move |entry| {
                    let found = sort_out(root, entry, asks, look);
                    if given_up.load(Ordering::Relaxed)
                        || found.is_some_and(|one| !gathered.add(one))
                    {
                        return WalkState::Quit;
                    }
                    WalkState::Continue
                })
            });
        });
        loop {
            let found = match entries.recv_timeout(LOOK_EVERY) {
                Ok(found) => found,
                Err(RecvTimeoutError::Timeout) => vec![],
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            for one in found {
                match one {
                    Found::File(listed) => files.push(listed),
                    Found::Passed(path) => _ = each(Seen::Passed(path)),
                    Found::Link => met.links += 1,
                    Found::Undecodable(name) => met.add_undecodable(name),
                    Found::Failed => met.failed = true,
                }
            }
            ctx.check().inspect_err(|_| given_up.store(true, Ordering::Relaxed))?;
        }
    })?;
    ctx.check()?;
    met.undecodable.sort();
    met.undecodable.truncate(MAX_UNDECODABLE);
    files.sort_unstable_by(|one: &Listed<T>, other| one.key.cmp(&other.key));
    for Listed { file, said, .. } in files {
        if each(Seen::File(file, said)).is_break() {
            break;
        }
    }
    Ok(met)
}

/// What an entry is; nothing for a folder.
fn sort_out<T>(
    root: &Path,
    entry: Result<DirEntry, ignore::Error>,
    asks: impl Fn(&str) -> bool,
    look: impl Fn(&File) -> T,
) -> Option<Found<T>> {
    let Ok(entry) = entry else { return Some(Found::Failed) };
    if !entry.file_type().is_some_and(|kind| kind.is_file()) {
        return entry.path_is_symlink().then_some(Found::Link);
    }
    let Ok(inner) = entry.path().strip_prefix(root) else { return Some(Found::Failed) };
    let Some(path) = res_path(inner) else {
        return Some(Found::Undecodable(format!("res://{}", inner.to_string_lossy())));
    };
    if !asks(&path) {
        return Some(Found::Passed(path));
    }
    // Folder by folder, each by name: the mark between names counts before every letter.
    let key = path.replace('/', "\0");
    let Ok(facts) = entry.metadata() else { return Some(Found::Failed) };
    let (size, stamp) = (facts.len(), Stamp::of(&facts));
    let file = File { path, size, stamp, real: entry.into_path() };
    let said = look(&file);
    Some(Found::File(Listed { key, file, said }))
}

/// The path below the project as the engine spells it; `None` for a name that is not UTF-8.
fn res_path(inner: &Path) -> Option<String> {
    if MAIN_SEPARATOR == '/' {
        return Some(format!("res://{}", inner.to_str()?));
    }
    let parts = inner.iter().map(|part| part.to_str()).collect::<Option<Vec<_>>>()?;
    Some(format!("res://{}", parts.join("/")))
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
