//! One pass over the project's files that finds what names what: files, their uids, their references.
//!
//! A read skips files that can't hold what it looks for, by what is kept of each file's state; a change reads
//! every file. What is done with the references is left to the tools.
//!
//! Spec: P-50, references.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Read,
    ops::ControlFlow,
    sync::Arc,
};

use didi_formats::uid;
use didi_plugin_api::prelude::*;
use didi_project::{
    facts::{self, Trust},
    parallel,
    walk::{self, File},
    words::{self, Words},
};

use crate::references::{self, Format, Reference, folder_of};

/// What a scan reads at most.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) file_bytes: u64,
    pub(crate) bytes: u64,
    pub(crate) files: usize,
    /// Whether what is kept of unchanged files is believed.
    pub(crate) trust: Trust,
}

/// Of a read: a cut answer says so.
pub(crate) const READS: Limits = Limits {
    file_bytes: 4 * 1024 * 1024,
    bytes: 64 * 1024 * 1024,
    files: 10_000,
    trust: Trust::Kept,
};
/// Of a change, which a cut scan refuses.
pub(crate) const CHANGES: Limits = Limits {
    file_bytes: 128 * 1024 * 1024,
    bytes: 2 * 1024 * 1024 * 1024,
    files: 100_000,
    trust: Trust::Files,
};

/// Files of a project and those of them that are read.
#[derive(Default)]
pub(crate) struct Files {
    /// All, ordered by path.
    pub(crate) all: Vec<File>,
    /// Text formats within the limits.
    pub(crate) texts: Vec<File>,
    /// Left out by a limit, or unreadable: path and why.
    pub(crate) skipped: Vec<(String, String)>,
    /// Whether something was left out.
    pub(crate) truncated: bool,
    pub(crate) undecodable_count: usize,
    pub(crate) undecodable: Vec<String>,
}

/// Lists the project's files.
pub(crate) fn list(ctx: &Ctx<'_>, limits: &Limits) -> Result<Files, Refusal> {
    let root = ctx.project().resolve("res://", "project")?;
    let mut files = Files::default();
    let mut bytes = 0;
    let met = walk::engine_files(ctx, &root, |file| {
        if files.all.len() >= limits.files.saturating_mul(4) {
            files.truncated = true;
            return ControlFlow::Break(());
        }
        if Format::of(&file.path).is_some() {
            if file.size > limits.file_bytes {
                let why =
                    format!("{} bytes, and at most {} are read", file.size, limits.file_bytes);
                files.skipped.push((file.path.clone(), why));
            } else if files.texts.len() >= limits.files || bytes + file.size > limits.bytes {
                files.skipped.push((file.path.clone(), "the scan's limit was reached".into()));
            } else {
                bytes += file.size;
                files.texts.push(file.clone());
            }
        }
        files.all.push(file);
        ControlFlow::Continue(())
    })?;
    files.truncated |= met.failed || !files.skipped.is_empty();
    files.undecodable_count = met.undecodable_count;
    files.undecodable = met.undecodable;
    // A walk sorts folder by folder, and `a.b` comes before `a/b`; look-ups need the order of the text.
    files.all.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

/// Reads a file whole; the error is a sentence.
pub(crate) fn read(file: &File, max_bytes: u64) -> Result<Vec<u8>, String> {
    let mut bytes = vec![];
    read_into(file, max_bytes, &mut bytes)?;
    Ok(bytes)
}

/// As [`read`], in place of what a buffer held.
pub(crate) fn read_into(file: &File, max_bytes: u64, bytes: &mut Vec<u8>) -> Result<(), String> {
    let unreadable = |error: std::io::Error| format!("it can't be read: {error}");
    let mut opened = fs::File::open(&file.real).map_err(unreadable)?;
    // Room for one byte more than it had: a read that leaves it empty has seen the end.
    let room = usize::try_from(file.size.min(max_bytes)).unwrap_or(0) + 1;
    bytes.resize(room, 0);
    let first = opened.read(bytes).map_err(unreadable)?;
    bytes.truncate(first);
    if first + 1 != room {
        opened.take(max_bytes + 1 - first as u64).read_to_end(bytes).map_err(unreadable)?;
    }
    if bytes.len() as u64 > max_bytes {
        return Err("it grew while it was read".into());
    }
    Ok(())
}

/// What names what in a project.
pub(crate) struct Project {
    pub(crate) files: Files,
    /// Every folder with a file below it.
    pub(crate) folders: BTreeSet<String>,
    /// Files by uid, as indexes of `files.all`.
    pub(crate) uids: BTreeMap<u64, Vec<usize>>,
    /// References by the file that holds them, as indexes of `files.texts`.
    pub(crate) references: Vec<(usize, Vec<Reference>)>,
    /// Files that can't be understood: path and why.
    pub(crate) broken: Vec<(String, String)>,
}

/// Which files' references are looked for.
pub(crate) enum Wanted<'w> {
    /// All of them.
    All,
    /// None: the uids are enough.
    None,
    /// Those of files that can hold the words and whose bytes then say so.
    Where(&'w (dyn Fn(&Words) -> bool + Sync), &'w (dyn Fn(&[u8]) -> bool + Sync)),
}

/// Scans the project.
pub(crate) fn project(
    ctx: &Ctx<'_>,
    limits: &Limits,
    wanted: &Wanted<'_>,
) -> Result<Project, Refusal> {
    let mut files = list(ctx, limits)?;
    let mut references = vec![];
    let mut broken = vec![];
    let mut skipped = vec![];
    let candidates = candidates(ctx, &files, limits, wanted)?;
    parallel::each(
        ctx,
        &candidates,
        |at| {
            let file = &files.texts[*at];
            let bytes = read(file, limits.file_bytes)?;
            Ok::<_, String>(match wanted {
                Wanted::Where(_, surely) if !surely(&bytes) => Ok(vec![]),
                _ => references::of_file(&file.path, &bytes),
            })
        },
        |at, found| {
            let path = || files.texts[*at].path.clone();
            match found {
                Ok(Ok(found)) if found.is_empty() => {}
                Ok(Ok(found)) => references.push((*at, found)),
                Ok(Err(why)) => broken.push((path(), why)),
                Err(why) => skipped.push((path(), why)),
            }
            ControlFlow::Continue(())
        },
    )?;
    let uids = uids(ctx, &files, limits.trust)?;
    files.truncated |= !skipped.is_empty();
    files.skipped.extend(skipped);
    let folders = folders(&files.all);
    Ok(Project { files, folders, uids, references, broken })
}

/// The texts whose references are to be looked for, as indexes.
fn candidates(
    ctx: &Ctx<'_>,
    files: &Files,
    limits: &Limits,
    wanted: &Wanted<'_>,
) -> Result<Vec<usize>, Refusal> {
    let all = 0..files.texts.len();
    match wanted {
        Wanted::None => Ok(vec![]),
        Wanted::Where(maybe, _) if limits.trust == Trust::Kept => {
            let words = words_of(ctx, files, limits)?;
            Ok(all.filter(|at| maybe(&words[*at])).collect())
        }
        _ => Ok(all.collect()),
    }
}

/// The words that each text can hold.
pub(crate) fn words_of(
    ctx: &Ctx<'_>,
    files: &Files,
    limits: &Limits,
) -> Result<Vec<Arc<Words>>, Refusal> {
    words::of_files(ctx, &files.texts, |file| read(file, limits.file_bytes).ok())
}

/// Files by uid, as indexes of `files.all`.
fn uids(ctx: &Ctx<'_>, files: &Files, trust: Trust) -> Result<BTreeMap<u64, Vec<usize>>, Refusal> {
    let mut found: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (file, facts) in files.all.iter().zip(facts::facts(ctx, &files.all, trust)?) {
        let number = facts.uid.as_deref().and_then(uid::number);
        if let Some((number, at)) = number.zip(files.find(facts::owner(&file.path))) {
            let owners = found.entry(number).or_default();
            if !owners.contains(&at) {
                owners.push(at);
            }
        }
    }
    Ok(found)
}

fn folders(files: &[File]) -> BTreeSet<String> {
    let mut folders = BTreeSet::new();
    for file in files {
        let mut folder = folder_of(&file.path);
        while folders.insert(folder.to_owned()) && folder != "res://" {
            folder = folder_of(folder);
        }
    }
    folders
}

impl Files {
    /// The index of a file in `all`.
    pub(crate) fn find(&self, path: &str) -> Option<usize> {
        self.all.binary_search_by(|file| file.path.as_str().cmp(path)).ok()
    }
}

impl Project {
    /// The file or folder that a reference names, when it is there; a uid is looked up.
    pub(crate) fn resolve<'s>(&'s self, target: &'s str) -> Option<&'s str> {
        if let Some(number) = uid::number(target) {
            let at = self.uids.get(&number)?.first()?;
            return Some(&self.files.all[*at].path);
        }
        self.exists(target).then_some(target)
    }

    pub(crate) fn exists(&self, path: &str) -> bool {
        self.files.find(path).is_some() || self.folders.contains(path)
    }
}
