//! One pass over the project's files that finds what names what: files, their uids, their references.
//!
//! Nothing is kept between calls; the files are the truth. What is done with the references is left to the
//! tools.
//!
//! Spec: P-50, references.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Read,
    ops::ControlFlow,
};

use didi_formats::{config::ConfigFile, limits::HEADER_BYTES, resource, uid};
use didi_plugin_api::prelude::*;

use crate::{
    parallel,
    references::{self, Format, Reference, folder_of},
    walk::{self, File},
};

/// What a scan reads at most.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) file_bytes: u64,
    pub(crate) bytes: u64,
    pub(crate) files: usize,
    /// Whether the uids of all files are read.
    pub(crate) uids: bool,
}

/// Largest `.uid` file that is read, in bytes.
const MAX_UID_BYTES: u64 = 1024;

/// Of a read: a cut answer says so.
pub(crate) const READS: Limits =
    Limits { file_bytes: 4 * 1024 * 1024, bytes: 64 * 1024 * 1024, files: 10_000, uids: true };
/// Of a change, which a cut scan refuses.
pub(crate) const CHANGES: Limits = Limits {
    file_bytes: 128 * 1024 * 1024,
    bytes: 2 * 1024 * 1024 * 1024,
    files: 100_000,
    uids: true,
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
    let unreadable = |error: std::io::Error| format!("it can't be read: {error}");
    let mut bytes = Vec::with_capacity(usize::try_from(file.size).unwrap_or(0));
    let opened = fs::File::open(&file.real).map_err(unreadable)?;
    opened.take(max_bytes + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > max_bytes {
        return Err("it grew while it was read".into());
    }
    Ok(bytes)
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

/// What one text file gave.
struct Seen {
    references: Result<Vec<Reference>, String>,
    uid: Option<u64>,
}

/// Scans the project; `wanted` decides by a file's bytes whether its references are looked for.
pub(crate) fn project(
    ctx: &Ctx<'_>,
    limits: &Limits,
    wanted: impl Fn(&File, &[u8]) -> bool + Sync,
) -> Result<Project, Refusal> {
    let files = list(ctx, limits)?;
    let mut references = vec![];
    let mut broken = vec![];
    let mut skipped = vec![];
    let mut uids: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    let mut index = 0;
    parallel::each(
        ctx,
        &files.texts,
        |file| {
            let bytes = read(file, limits.file_bytes)?;
            let uid = limits.uids.then(|| uid_in(file, &bytes)).flatten();
            let references = if wanted(file, &bytes) {
                references::of_file(&file.path, &bytes)
            } else {
                Ok(vec![])
            };
            Ok::<_, String>(Seen { references, uid })
        },
        |file, read| {
            match read {
                Ok(read) => {
                    if let Some((number, at)) = read.uid.zip(owner_of_uid(&files, file)) {
                        uids.entry(number).or_default().push(at);
                    }
                    match read.references {
                        Ok(found) if found.is_empty() => {}
                        Ok(found) => references.push((index, found)),
                        Err(why) => broken.push((file.path.clone(), why)),
                    }
                }
                Err(why) => skipped.push((file.path.clone(), why)),
            }
            index += 1;
            ControlFlow::Continue(())
        },
    )?;
    if limits.uids {
        sidecar_uids(ctx, &files, &mut uids)?;
    }
    let mut files = files;
    files.truncated |= !skipped.is_empty();
    files.skipped.extend(skipped);
    let folders = folders(&files.all);
    Ok(Project { files, folders, uids, references, broken })
}

/// Adds the uids that `.uid` files hold.
fn sidecar_uids(
    ctx: &Ctx<'_>,
    files: &Files,
    uids: &mut BTreeMap<u64, Vec<usize>>,
) -> Result<(), Refusal> {
    let is_sidecar = |file: &&File| file.size <= MAX_UID_BYTES && file.extension() == "uid";
    let sidecars: Vec<&File> = files.all.iter().filter(is_sidecar).collect();
    parallel::each(
        ctx,
        &sidecars,
        |file| {
            let bytes = read(file, MAX_UID_BYTES).ok()?;
            uid::number(uid::parse_uid_file(&bytes).ok()?)
        },
        |file, number| {
            if let Some((number, at)) = number.zip(owner_of_uid(files, file)) {
                uids.entry(number).or_default().push(at);
            }
            ControlFlow::Continue(())
        },
    )
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

/// The uid that a scene, resource or `.import` file gives.
fn uid_in(file: &File, bytes: &[u8]) -> Option<u64> {
    match file.extension().as_str() {
        "tscn" | "tres" => {
            let header = resource::read_header(&bytes[..bytes.len().min(HEADER_BYTES)]).ok()?;
            uid::number(&header.uid?)
        }
        "import" => {
            let config = ConfigFile::parse(bytes).ok()?;
            uid::number(&config.text("remap", "uid")?)
        }
        _ => None,
    }
}

/// The file that a uid in `file` is of: itself, or the one beside a sidecar.
fn owner_of_uid(files: &Files, file: &File) -> Option<usize> {
    let path = file.path.strip_suffix(".import").or_else(|| file.path.strip_suffix(".uid"));
    files.find(path.unwrap_or(&file.path))
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
