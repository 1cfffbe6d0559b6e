//! What a file tells of itself and others: its uid, its class, the files that it names.
//!
//! A `.uid` or `.import` file tells the uid of the file beside it. Types by the ending, and what the facts are
//! used for, are left to the packs.
//!
//! Spec: P-50, the project's files.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
};

use didi_formats::{config::ConfigFile, limits::HEADER_BYTES, resource, uid};
use didi_plugin_api::prelude::*;

use crate::{kept::Kept, walk::File};

#[cfg(test)]
mod tests;

/// Bytes of a scene, resource or script in which names are looked for.
pub const MAX_SCAN_BYTES: u64 = 4 * 1024 * 1024;
/// Largest `.import` file that is read, in bytes.
pub const MAX_IMPORT_BYTES: u64 = 1024 * 1024;
/// Largest `.uid` file that is read, in bytes.
const MAX_UID_BYTES: u64 = 4 * 1024;
/// Bytes of a binary resource that hold its header.
const BINARY_HEADER_BYTES: u64 = 1024;
/// Bytes of a script in which its class name is looked for, first and at the most: comments and annotations
/// alone stand before it.
const SCRIPT_HEAD_BYTES: [u64; 2] = [4 * 1024, 64 * 1024];

/// A file that another one names in an `ext_resource` line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Named {
    /// Its path as it stands there; empty where only a uid does.
    pub path: String,
    /// Its uid as it stands there.
    pub uid: Option<String>,
}

/// What a file tells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The uid in a scene's or resource's header, or the one that a `.uid` or `.import` file gives the file
    /// beside it; as it is spelled there.
    pub uid: Option<String>,
    /// The class in a resource's header.
    pub resource_type: Option<String>,
    /// The global class that a script declares.
    pub class_name: Option<String>,
    /// What it names, in order, each once.
    pub names: Vec<Named>,
    /// Whether the file is longer than what was looked at.
    pub cut: bool,
}

/// Whether facts that are kept may be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// Of a file whose state is the one that they were made in.
    Kept,
    /// Of none: all are read again, as a change of the project wants it.
    Files,
}

static FACTS: LazyLock<Kept<Facts>> = LazyLock::new(Kept::default);

/// The facts of these files, in their order. Of a file that can't be read or understood nothing is told.
///
/// # Errors
/// `cancelled` when the caller gave up.
pub fn facts(ctx: &Ctx<'_>, files: &[File], trust: Trust) -> Result<Vec<Arc<Facts>>, Refusal> {
    if trust == Trust::Files {
        FACTS.forget(files);
    }
    FACTS.of(ctx, files, read)
}

/// The file beside which a sidecar lies, or the file itself: a uid in `path` is that of this one.
pub fn owner(path: &str) -> &str {
    path.strip_suffix(".import").or_else(|| path.strip_suffix(".uid")).unwrap_or(path)
}

/// The uid of one file, read now: from its own header, or from the `.uid` or `.import` file beside it.
pub fn uid_of(file: &File) -> Option<String> {
    read(file).uid.or_else(|| uid_beside(&file.real))
}

/// Reads what a file tells, now.
pub fn read(file: &File) -> Facts {
    match file.extension().as_str() {
        "tscn" | "tres" => of_text(file),
        "gd" => of_script(file),
        "res" => Facts {
            resource_type: start_of(&file.real, BINARY_HEADER_BYTES).ok().and_then(binary_class),
            ..Facts::default()
        },
        "uid" => Facts { uid: of_uid_file(&file.real), ..Facts::default() },
        "import" => Facts { uid: of_import_file(&file.real), ..Facts::default() },
        _ => Facts::default(),
    }
}

fn uid_beside(real: &Path) -> Option<String> {
    let beside = |ending: &str| {
        let mut name = real.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    of_uid_file(&beside(".uid")).or_else(|| of_import_file(&beside(".import")))
}

fn of_text(file: &File) -> Facts {
    let Ok(bytes) = start_of(&file.real, MAX_SCAN_BYTES) else { return Facts::default() };
    let mut facts = Facts { cut: file.size > MAX_SCAN_BYTES, ..Facts::default() };
    if let Ok(header) = resource::read_header(&bytes[..bytes.len().min(HEADER_BYTES)]) {
        facts.resource_type = header.resource_type.map(Into::into);
        facts.uid = header.uid.map(Into::into);
    }
    for found in resource::dependencies(whole_characters(&bytes)) {
        let named = Named { path: found.path.into_owned(), uid: found.uid.map(Into::into) };
        if named != Named::default() && !facts.names.contains(&named) {
            facts.names.push(named);
        }
    }
    facts
}

fn of_script(file: &File) -> Facts {
    let [first, most] = SCRIPT_HEAD_BYTES;
    let (ended, class_name) = class_in(&file.real, first);
    let class_name =
        if ended || file.size <= first { class_name } else { class_in(&file.real, most).1 };
    Facts { class_name, ..Facts::default() }
}

/// The class that the first bytes of a script declare, and whether no more of them can declare one.
fn class_in(real: &Path, max_bytes: u64) -> (bool, Option<String>) {
    let bytes = start_of(real, max_bytes).unwrap_or_default();
    let text = didi_gdscript::text_of(whole_characters(&bytes)).unwrap_or_default();
    let head = didi_gdscript::head::of(text);
    (head.ended, head.class_name.map(Into::into))
}

fn of_uid_file(real: &Path) -> Option<String> {
    let bytes = start_of(real, MAX_UID_BYTES).ok()?;
    uid::parse_uid_file(&bytes).ok().map(Into::into)
}

fn of_import_file(real: &Path) -> Option<String> {
    let bytes = start_of(real, MAX_IMPORT_BYTES).ok()?;
    let config = ConfigFile::parse(&bytes).ok()?;
    config.text("remap", "uid").filter(|text| uid::is_uid(text)).map(Into::into)
}

/// Bytes without the start of a character at their end, which a cut can leave.
fn whole_characters(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
        _ => bytes,
    }
}

/// The first bytes of a regular file, at most `max_bytes`. A link is not followed.
fn start_of(real: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let facts = fs::symlink_metadata(real)?;
    if !facts.is_file() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let wanted = facts.len().min(max_bytes);
    let mut bytes = Vec::with_capacity(usize::try_from(wanted).unwrap_or(0));
    fs::File::open(real)?.take(max_bytes).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The class in the header of a binary resource: the mark, seven numbers of the engine's, then a text with
/// its length. Compressed ones do not show it.
fn binary_class(bytes: Vec<u8>) -> Option<String> {
    let rest = bytes.strip_prefix(b"RSRC")?;
    let number = |at: usize| rest.get(at..at + 4).map(|four| [four[0], four[1], four[2], four[3]]);
    let big_endian = number(0)? != [0; 4];
    let length =
        if big_endian { u32::from_be_bytes(number(20)?) } else { u32::from_le_bytes(number(20)?) };
    let text = rest.get(24..24 + usize::try_from(length).ok()?)?;
    let text = std::str::from_utf8(text).ok()?.trim_end_matches('\0');
    (!text.is_empty()).then(|| text.to_owned())
}
