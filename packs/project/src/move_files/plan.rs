//! What moves, what has to be rewritten for it, and what is left.
//!
//! Spec: P-50, moving files.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
};

use didi_formats::config::ConfigFile;
use didi_plugin_api::{
    ctx::{Change, Expect},
    digest::sha256_hex,
    prelude::*,
};
use didi_project::{
    facts::MAX_IMPORT_BYTES,
    walk::{self, File},
};
use memchr::memmem;

use crate::{
    references::{self, Reference, folder_of},
    scan::{self, CHANGES, Project, Wanted},
    settings::SETTINGS,
};

/// Files that one call moves, sidecars included.
const MAX_FILES: usize = 4_000;
/// Largest file that is moved, in bytes; the host reads it back.
const MAX_FILE_BYTES: u64 = 256 * 1024 * 1024;
/// Largest binary resource that is searched for old paths, in bytes.
const MAX_BINARY_BYTES: u64 = 32 * 1024 * 1024;
/// Folders that tools do not write.
const KEPT: [&str; 3] = [".git", ".godot", ".didi"];
/// Sidecars that belong to the file beside them.
const SIDECARS: [&str; 2] = [".uid", ".import"];

/// One file that moves.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Step {
    pub(super) from: String,
    pub(super) to: String,
}

/// One place that is rewritten.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Edit {
    /// The file before the moves.
    pub(super) path: String,
    /// The file afterwards, when it moves itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) now_at: Option<String>,
    pub(super) line: u32,
    pub(super) kind: Cow<'static, str>,
    pub(super) before: String,
    pub(super) after: String,
}

/// A place that is left as it is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Left {
    pub(super) path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<u32>,
    pub(super) text: String,
    pub(super) why: String,
}

/// The whole plan.
#[derive(Serialize, Deserialize)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    pub(super) edits: Vec<Edit>,
    pub(super) left: Vec<Left>,
    pub(super) emptied: Vec<String>,
    pub(super) changes: Vec<Change>,
    digests: BTreeMap<String, String>,
}

impl Plan {
    /// The state that the plan counts on: each file that is moved or rewritten, by its digest.
    pub(super) fn before(&self) -> Value {
        json!({"files": self.digests})
    }
}

/// What the caller asked to move, checked.
struct Asked {
    from: String,
    to: String,
    folder: bool,
}

pub(super) fn build(ctx: &Ctx<'_>, moves: &[(&str, &str)]) -> Result<Plan, Refusal> {
    let mut asked = vec![];
    for (from, to) in moves {
        asked.push(check(ctx, from, to)?);
    }
    refuse_overlaps(&asked)?;
    let map = moved_files(ctx, &asked)?;
    let project = scan::project(ctx, &CHANGES, &Wanted::All)?;
    if project.files.truncated {
        let skipped: Vec<Value> =
            project.files.skipped.iter().take(20).map(|(path, _)| path.as_str().into()).collect();
        let message = "not every file of the project can be read, and a reference could be missed";
        return Err(Refusal::new(codes::CONFLICT, message)
            .with("skipped_files", skipped)
            .no_remedy("the files named have to be readable and within the limits of size"));
    }
    let mut planner = Planner {
        asked: &asked,
        map: &map,
        project: &project,
        plan: Plan {
            steps: vec![],
            edits: vec![],
            left: vec![],
            emptied: emptied(&map, &project),
            changes: vec![],
            digests: BTreeMap::new(),
        },
        written: BTreeSet::new(),
    };
    planner.rewrite(ctx)?;
    planner.relocate(ctx)?;
    planner.broken(ctx)?;
    planner.binaries(ctx)?;
    Ok(planner.plan)
}

fn check(ctx: &Ctx<'_>, from: &str, to: &str) -> Result<Asked, Refusal> {
    let project = ctx.project();
    let source = project.resolve(from, "from")?;
    let target = project.resolve(to, "to")?;
    let (shown, wanted) = (plain(from), with_letters_of(&target.res_path(), &plain(to)));
    for (path, field) in [(&shown, "from"), (&wanted, "to")] {
        refuse_kept(path, field)?;
    }
    // A move leaves the folders themselves; without a file they count as nothing.
    if is_nothing(ctx, &source)? {
        let already = !is_nothing(ctx, &target)?;
        let message = if already {
            format!("no `{shown}` in the project, and `{wanted}` is there: it was moved already")
        } else {
            format!("no file or folder `{shown}` in the project")
        };
        return Err(Refusal::new(codes::NOT_FOUND, message).field("from"));
    }
    if source.res_path() != shown {
        let real = source.res_path();
        let why = if real.to_lowercase() == shown.to_lowercase() {
            format!("`{shown}` is written `{real}` on the disk")
        } else {
            format!("`{shown}` goes through a link to `{real}`, which would be moved instead")
        };
        return Err(Refusal::invalid("from", why));
    }
    if shown == wanted {
        return Err(Refusal::invalid("to", format!("`{wanted}` is where it is already")));
    }
    let only_letters = shown.to_lowercase() == wanted.to_lowercase();
    let free = is_nothing(ctx, &target)? && (source.is_dir() || !target.real().exists());
    let itself = only_letters && target.real() == source.real();
    if !free && !itself {
        let message = format!("`{wanted}` is there already, and nothing is replaced or merged");
        return Err(Refusal::new(codes::ALREADY_EXISTS, message).field("to"));
    }
    refuse_sidecar(ctx, &shown)?;
    refuse_ignored(ctx, &wanted)?;
    Ok(Asked { folder: source.is_dir(), from: shown, to: wanted })
}

/// Whether nothing is at a place, or only folders without a file.
fn is_nothing(ctx: &Ctx<'_>, place: &ProjectPath) -> Result<bool, Refusal> {
    if !place.is_dir() {
        return Ok(!place.real().exists());
    }
    let mut empty = true;
    let met = walk::all_files(ctx, place, |_| {
        empty = false;
        ControlFlow::Break(())
    })?;
    Ok(empty && met.links == 0 && !met.failed && met.undecodable_count == 0)
}

/// A path by its text alone, without empty parts.
fn plain(path: &str) -> String {
    let inner = path.trim_start_matches("res://");
    let parts: Vec<&str> =
        inner.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    format!("res://{}", parts.join("/"))
}

/// The resolved path with the last part as the caller writes it: a disk may not care for letter case.
fn with_letters_of(resolved: &str, wanted: &str) -> String {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    if name(resolved).to_lowercase() == name(wanted).to_lowercase() {
        return in_folder(folder_of(resolved), &name(wanted));
    }
    resolved.to_owned()
}

fn refuse_kept(path: &str, field: &str) -> Result<(), Refusal> {
    let inner = path.trim_start_matches("res://");
    let first = inner.split('/').next().unwrap_or_default().to_ascii_lowercase();
    if inner.is_empty() {
        return Err(Refusal::invalid(field, "the project's own folder can't be moved or replaced"));
    }
    if KEPT.contains(&first.as_str()) {
        return Err(Refusal::invalid(
            field,
            format!("`{path}` lies in `{first}`, which tools do not write"),
        ));
    }
    if path == SETTINGS || path == "res://export_presets.cfg" {
        return Err(Refusal::invalid(
            field,
            format!("the engine looks for `{path}` at this very place"),
        ));
    }
    Ok(())
}

fn refuse_sidecar(ctx: &Ctx<'_>, path: &str) -> Result<(), Refusal> {
    for ending in SIDECARS {
        let Some(owner) = path.strip_suffix(ending) else { continue };
        if ctx.project().resolve(owner, "from")?.is_file() {
            let message = format!("`{path}` moves along with `{owner}`, which is to be named");
            return Err(Refusal::invalid("from", message));
        }
    }
    Ok(())
}

/// A place that the engine does not look into would cut all references.
fn refuse_ignored(ctx: &Ctx<'_>, to: &str) -> Result<(), Refusal> {
    let mut folder = folder_of(to);
    while folder != "res://" {
        let hidden = folder.rsplit('/').next().is_some_and(|name| name.starts_with('.'));
        let real = ctx.project().resolve(folder, "to")?;
        let real = real.real();
        if hidden || real.join(".gdignore").exists() || real.join("project.godot").exists() {
            return Err(Refusal::invalid(
                "to",
                format!("the engine does not look into `{folder}`"),
            ));
        }
        folder = folder_of(folder);
    }
    Ok(())
}

/// Whether a path is a folder's or lies below it.
fn within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn refuse_overlaps(asked: &[Asked]) -> Result<(), Refusal> {
    for (index, one) in asked.iter().enumerate() {
        if one.folder && within(&one.to, &one.from) {
            let message = format!("`{}` can't be moved into itself", one.from);
            return Err(Refusal::invalid("moves", message));
        }
        for (other_index, other) in asked.iter().enumerate() {
            let twice = index < other_index
                && (within(&one.from, &other.from)
                    || within(&other.from, &one.from)
                    || within(&one.to, &other.to)
                    || within(&other.to, &one.to));
            let chained = index != other_index
                && (within(&one.to, &other.from) || within(&other.from, &one.to));
            if twice || chained {
                let message = format!(
                    "the moves of `{}` and `{}` overlap; make them in calls of their own",
                    one.from, other.from
                );
                return Err(Refusal::invalid("moves", message));
            }
        }
    }
    Ok(())
}

/// Every file that moves, with where it goes.
fn moved_files(ctx: &Ctx<'_>, asked: &[Asked]) -> Result<BTreeMap<String, String>, Refusal> {
    let mut map = BTreeMap::new();
    for one in asked {
        if one.folder {
            files_below(ctx, one, &mut map)?;
        } else {
            with_companions(ctx, one, &mut map)?;
        }
        if map.len() > MAX_FILES {
            let message = format!("more than {MAX_FILES} files would move in one call");
            return Err(Refusal::invalid("moves", message));
        }
    }
    let mut places: BTreeSet<&str> = BTreeSet::new();
    for to in map.values() {
        let real = ctx.project().resolve(to, "to")?;
        let same = map.get(&real.res_path()).is_some_and(|own| own == to);
        if !places.insert(to) || (real.real().exists() && !same) {
            let message = format!("`{to}` is there already, and nothing is replaced or merged");
            return Err(Refusal::new(codes::ALREADY_EXISTS, message).field("to"));
        }
    }
    Ok(map)
}

fn files_below(
    ctx: &Ctx<'_>,
    one: &Asked,
    map: &mut BTreeMap<String, String>,
) -> Result<(), Refusal> {
    let start = ctx.project().resolve(&one.from, "from")?;
    let before = map.len();
    let mut large = None;
    let met = walk::all_files(ctx, &start, |file| {
        if file.size > MAX_FILE_BYTES {
            large = Some(file);
            return ControlFlow::Break(());
        }
        let to = format!("{}{}", one.to, &file.path[one.from.len()..]);
        map.insert(file.path, to);
        if map.len() > MAX_FILES { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    if let Some(file) = large {
        return Err(too_large(&file.path, file.size));
    }
    if met.links > 0 || met.failed || met.undecodable_count > 0 {
        let message = format!(
            "`{}` holds links, names that are not UTF-8 or folders that can't be read",
            one.from
        );
        return Err(Refusal::invalid("from", message));
    }
    if map.len() == before {
        return Err(Refusal::invalid("from", format!("`{}` holds no file", one.from)));
    }
    Ok(())
}

fn too_large(path: &str, size: u64) -> Refusal {
    let message = format!("`{path}` has {size} bytes, and at most {MAX_FILE_BYTES} are moved");
    Refusal::new(codes::FILE_TOO_LARGE, message)
        .no_remedy("files of that size are not moved by this server")
}

/// A file with its sidecars, and with what its import made beside it.
fn with_companions(
    ctx: &Ctx<'_>,
    one: &Asked,
    map: &mut BTreeMap<String, String>,
) -> Result<(), Refusal> {
    let place = ctx.project().resolve(&one.from, "from")?;
    let size = place.real().metadata().map_or(0, |facts| facts.len());
    if size > MAX_FILE_BYTES {
        return Err(too_large(&one.from, size));
    }
    map.insert(one.from.clone(), one.to.clone());
    for ending in SIDECARS {
        let sidecar = format!("{}{ending}", one.from);
        let place = ctx.project().resolve(&sidecar, "from")?;
        if !place.is_file() {
            continue;
        }
        map.insert(sidecar, format!("{}{ending}", one.to));
        if ending == ".import"
            && let Ok(bytes) = place.read(MAX_IMPORT_BYTES)
        {
            for made in products(&bytes) {
                let to = product_place(one, &made);
                if ctx.project().resolve(&made, "from")?.is_file() {
                    map.insert(made, to);
                }
            }
        }
    }
    Ok(())
}

/// Files that an import put into the project itself, such as translations of a table.
fn products(import: &[u8]) -> Vec<String> {
    let Ok(config) = ConfigFile::parse(import) else { return vec![] };
    let Some(value) = config.get("deps", "dest_files") else { return vec![] };
    references::string_spans(value.text, true)
        .into_iter()
        .map(|span| value.text[span].to_owned())
        .filter(|path| path.starts_with("res://") && !path.starts_with("res://.godot/"))
        .collect()
}

/// `a/texts.en.translation` goes with `a/texts.csv` to `b/words.csv` as `b/words.en.translation`.
fn product_place(one: &Asked, made: &str) -> String {
    if let Some(rest) = made.strip_prefix(stem(&one.from)) {
        return format!("{}{rest}", stem(&one.to));
    }
    in_folder(folder_of(&one.to), made.rsplit('/').next().unwrap_or_default())
}

/// A path without its ending.
fn stem(path: &str) -> &str {
    match path.rsplit_once('.') {
        Some((stem, ending)) if !ending.contains('/') => stem,
        _ => path,
    }
}

fn in_folder(folder: &str, name: &str) -> String {
    if folder == "res://" { format!("{folder}{name}") } else { format!("{folder}/{name}") }
}

/// Folders whose files all go.
fn emptied(map: &BTreeMap<String, String>, project: &Project) -> Vec<String> {
    let mut folders = BTreeSet::new();
    for file in map.keys() {
        folders.insert(folder_of(file));
    }
    let stays = |folder: &str| {
        project
            .files
            .all
            .iter()
            .any(|file| within(&file.path, folder) && !map.contains_key(&file.path))
            || map.values().any(|to| within(to, folder))
    };
    folders
        .into_iter()
        .filter(|folder| *folder != "res://" && !stays(folder))
        .map(ToOwned::to_owned)
        .collect()
}

struct Planner<'p> {
    asked: &'p [Asked],
    map: &'p BTreeMap<String, String>,
    project: &'p Project,
    plan: Plan,
    /// Files that move with a new content.
    written: BTreeSet<String>,
}

/// Where a reference leads after the moves.
enum Lead {
    /// It stays right.
    Same,
    /// To another place.
    To(String),
    /// It looks like one of the moved, and names nothing.
    Nothing,
}

impl Planner<'_> {
    fn lead(&self, target: &str) -> Lead {
        if let Some(to) = self.map.get(target) {
            return Lead::To(to.clone());
        }
        let Some(one) = self.asked.iter().find(|one| one.folder && within(target, &one.from))
        else {
            return Lead::Same;
        };
        if self.project.exists(target) || target == one.from {
            return Lead::To(format!("{}{}", one.to, &target[one.from.len()..]));
        }
        Lead::Nothing
    }

    /// The new text of a place, when it has to change.
    fn text_for(&self, holder: &str, reference: &Reference) -> Option<String> {
        if reference.by_uid() {
            return None;
        }
        let now_at = self.map.get(holder).map_or(holder, |to| to);
        match self.lead(&reference.target) {
            Lead::To(to) => Some(reference.written(now_at, &to)),
            Lead::Same if reference.relative && now_at != holder => {
                let there = self.project.exists(&reference.target);
                there.then(|| reference.written(now_at, &reference.target))
            }
            Lead::Same | Lead::Nothing => None,
        }
    }

    /// Plans the new content of every file that names something moved.
    fn rewrite(&mut self, ctx: &Ctx<'_>) -> Result<(), Refusal> {
        for (at, found) in &self.project.references {
            ctx.check()?;
            let file = &self.project.files.texts[*at];
            for reference in found {
                if matches!(self.lead(&reference.target), Lead::Nothing) {
                    self.plan.left.push(Left {
                        path: file.path.clone(),
                        line: Some(reference.line),
                        text: reference.target.clone(),
                        why: "nothing of that name is there".into(),
                    });
                }
            }
            if found.iter().any(|reference| self.text_for(&file.path, reference).is_some()) {
                self.rewrite_file(file)?;
            }
        }
        Ok(())
    }

    fn rewrite_file(&mut self, file: &File) -> Result<(), Refusal> {
        let changed = |why: &str| {
            Refusal::new(codes::CONFLICT, format!("`{}` {why}", file.path)).retry_after_ms(0)
        };
        let bytes = scan::read(file, CHANGES.file_bytes).map_err(|why| changed(&why))?;
        let found = references::of_file(&file.path, &bytes).map_err(|why| changed(&why))?;
        let mut splices = vec![];
        let now_at = self.map.get(&file.path);
        for reference in &found {
            let Some(after) = self.text_for(&file.path, reference) else { continue };
            let before = String::from_utf8_lossy(&bytes[reference.span.clone()]).into_owned();
            if before == after {
                continue;
            }
            self.plan.edits.push(Edit {
                path: file.path.clone(),
                now_at: now_at.cloned(),
                line: reference.line,
                kind: reference.kind.impact().into(),
                before,
                after: after.clone(),
            });
            splices.push(Splice::new(reference.span.clone(), after));
        }
        if splices.is_empty() {
            return Ok(());
        }
        splices.sort_by_key(|splice| splice.start);
        let text = Splice::apply(&splices, &bytes)
            .ok_or_else(|| changed("names one place twice"))
            .and_then(|text| String::from_utf8(text).map_err(|_| changed("is not UTF-8 text")))?;
        let digest = sha256_hex(&bytes);
        self.plan.digests.insert(file.path.clone(), digest.clone());
        let (path, expect) = match now_at {
            Some(to) => (to.clone(), Expect::Absent),
            None => (file.path.clone(), Expect::Sha256(digest)),
        };
        self.written.insert(file.path.clone());
        self.plan.changes.push(Change::Write { path, text, expect });
        Ok(())
    }

    /// Plans the moves themselves; a file with a new content is written there and removed here.
    fn relocate(&mut self, ctx: &Ctx<'_>) -> Result<(), Refusal> {
        let mut removals = vec![];
        for (from, to) in self.map {
            ctx.check()?;
            self.plan.steps.push(Step { from: from.clone(), to: to.clone() });
            if let Some(digest) =
                self.plan.digests.get(from).filter(|_| self.written.contains(from))
            {
                let expect = Expect::Sha256(digest.clone());
                removals.push(Change::Remove { path: from.clone(), expect });
                continue;
            }
            let bytes = ctx.project().resolve(from, "from")?.read(MAX_FILE_BYTES)?;
            let digest = sha256_hex(&bytes);
            self.plan.digests.insert(from.clone(), digest.clone());
            let expect = Expect::Sha256(digest);
            self.plan.changes.push(Change::Move { from: from.clone(), to: to.clone(), expect });
        }
        self.plan.changes.extend(removals);
        Ok(())
    }

    /// Files that can't be understood and hold an old path.
    fn broken(&mut self, ctx: &Ctx<'_>) -> Result<(), Refusal> {
        for (path, why) in &self.project.broken {
            ctx.check()?;
            let Some(at) = self.project.files.find(path) else { continue };
            let file = &self.project.files.all[at];
            let Ok(bytes) = scan::read(file, CHANGES.file_bytes) else { continue };
            self.mentions(path, &bytes, why);
        }
        Ok(())
    }

    /// Binary resources that hold an old path.
    fn binaries(&mut self, ctx: &Ctx<'_>) -> Result<(), Refusal> {
        for file in &self.project.files.all {
            if !matches!(file.extension().as_str(), "res" | "scn") || file.size > MAX_BINARY_BYTES {
                continue;
            }
            ctx.check()?;
            let Ok(bytes) = scan::read(file, MAX_BINARY_BYTES) else { continue };
            self.mentions(&file.path, &bytes, "a binary resource; save it again in the editor");
        }
        Ok(())
    }

    fn mentions(&mut self, path: &str, bytes: &[u8], why: &str) {
        for one in self.asked {
            let finder = memmem::Finder::new(one.from.as_bytes());
            let hit = finder.find_iter(bytes).any(|at| {
                let behind = bytes.get(at + one.from.len());
                behind.is_none_or(|byte| {
                    *byte == b'/' && one.folder
                        || !byte.is_ascii_alphanumeric() && !b"_-./".contains(byte)
                })
            });
            if hit {
                self.plan.left.push(Left {
                    path: path.to_owned(),
                    line: None,
                    text: one.from.clone(),
                    why: why.to_owned(),
                });
            }
        }
    }
}
