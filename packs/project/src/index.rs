//! What the index says of one file: its type, its uid, and the files that it names.
//!
//! A type is that of the ending, as the engine's own file list gives it before it loads anything; the class
//! that a resource declares stands in its header.
//!
//! Spec: P-50, the project's files.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, Read},
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use didi_formats::{config::ConfigFile, limits::HEADER_BYTES, resource, uid};
use didi_plugin_api::prelude::*;

use crate::{
    parallel,
    walk::{self, File, Met},
};

#[cfg(test)]
mod tests;

/// Most files of the index.
pub(crate) const MAX_FILES: usize = 20_000;
/// Bytes of a scene or resource in which names of other files are looked for.
const MAX_SCAN_BYTES: u64 = 4 * 1024 * 1024;
/// Largest `.import` file that is read, in bytes.
pub(crate) const MAX_IMPORT_BYTES: u64 = 1024 * 1024;
/// Largest `.uid` file that is read, in bytes.
const MAX_UID_BYTES: u64 = 4 * 1024;

/// A file of the index.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[schemars(default)]
pub(crate) struct Indexed {
    pub(crate) path: String,
    pub(crate) filename: String,
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resource_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uid: Option<String>,
    pub(crate) file_size: u64,
    pub(crate) dependencies: Vec<String>,
    /// Whether the file is longer than what was looked at.
    #[serde(skip)]
    pub(crate) cut: bool,
}

/// The files of a walk.
pub(crate) struct Listing {
    pub(crate) files: Vec<Indexed>,
    /// Whether a bound or an unreadable folder left something out.
    pub(crate) truncated: bool,
    pub(crate) met: Met,
}

/// Indexes the files below a folder whose path `wanted` takes.
pub(crate) fn list(
    ctx: &Ctx<'_>,
    start: &ProjectPath,
    with_uid: bool,
    wanted: impl Fn(&File) -> bool,
) -> Result<Listing, Refusal> {
    let mut found = vec![];
    let (mut seen, mut full) = (0, false);
    let met = walk::files(ctx, start, |file| {
        if is_sidecar(&file) {
            return ControlFlow::Continue(());
        }
        if seen == MAX_FILES {
            full = true;
            return ControlFlow::Break(());
        }
        seen += 1;
        if wanted(&file) {
            found.push(file);
        }
        ControlFlow::Continue(())
    })?;
    let mut files = Vec::with_capacity(found.len());
    parallel::each(
        ctx,
        &found,
        |file| describe(file, with_uid),
        |_, indexed| {
            files.push(indexed);
            ControlFlow::Continue(())
        },
    )?;
    let truncated = full || met.failed || files.iter().any(|file| file.cut);
    Ok(Listing { files, truncated, met })
}

/// Whether a file only says something about the file beside it.
fn is_sidecar(file: &File) -> bool {
    matches!(file.extension().as_str(), "import" | "uid")
}

/// Reads what the index says of a file. What can't be read is left out.
pub(crate) fn describe(file: &File, with_uid: bool) -> Indexed {
    let extension = file.extension();
    let mut indexed = Indexed {
        path: file.path.clone(),
        filename: file.name().into(),
        kind: kind_of(&extension),
        resource_type: None,
        uid: None,
        file_size: file.size,
        dependencies: vec![],
        cut: false,
    };
    match extension.as_str() {
        "tscn" | "tres" => read_text(file, with_uid, &mut indexed),
        "res" => indexed.resource_type = read_start(&file.real, 1024).ok().and_then(binary_class),
        _ if with_uid => indexed.uid = uid_beside(&file.real),
        _ => {}
    }
    indexed
}

fn read_text(file: &File, with_uid: bool, indexed: &mut Indexed) {
    let Ok(bytes) = read_start(&file.real, MAX_SCAN_BYTES) else { return };
    indexed.cut = file.size > MAX_SCAN_BYTES;
    if let Ok(header) = resource::read_header(&bytes[..bytes.len().min(HEADER_BYTES)]) {
        indexed.resource_type = header.resource_type.map(Into::into);
        indexed.uid = header.uid.filter(|_| with_uid).map(Into::into);
    }
    let mut seen = BTreeSet::new();
    for found in resource::dependencies(whole_characters(&bytes)) {
        let name = if found.path.is_empty() { found.uid.unwrap_or_default() } else { found.path };
        if !name.is_empty() && seen.insert(name.clone()) {
            indexed.dependencies.push(name.into_owned());
        }
    }
}

/// Bytes without the start of a character at their end, which a cut can leave.
fn whole_characters(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
        _ => bytes,
    }
}

/// The uid in the `.uid` or `.import` file beside a file.
fn uid_beside(real: &Path) -> Option<String> {
    if let Ok(bytes) = read_start(&with_ending(real, ".uid"), MAX_UID_BYTES) {
        return uid::parse_uid_file(&bytes).ok().map(Into::into);
    }
    let bytes = read_start(&with_ending(real, ".import"), MAX_IMPORT_BYTES).ok()?;
    let config = ConfigFile::parse(&bytes).ok()?;
    config.text("remap", "uid").filter(|text| uid::is_uid(text)).map(Into::into)
}

pub(crate) fn with_ending(real: &Path, ending: &str) -> PathBuf {
    let mut name = real.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// The first bytes of a regular file, at most `max_bytes`. A link is not followed.
fn read_start(real: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    if !fs::symlink_metadata(real)?.is_file() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let mut bytes = vec![];
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

/// The type by the ending.
pub(crate) fn kind_of(extension: &str) -> &'static str {
    match extension {
        "tscn" | "scn" | "gltf" | "glb" | "fbx" | "blend" | "dae" => "PackedScene",
        "tres" | "res" => "Resource",
        "gd" => "GDScript",
        "cs" => "CSharpScript",
        "gdshader" => "Shader",
        "gdshaderinc" => "ShaderInclude",
        "gdextension" => "GDExtension",
        "png" | "jpg" | "jpeg" | "webp" | "svg" | "bmp" | "tga" | "exr" | "hdr" | "ktx" | "dds" => {
            "Texture2D"
        }
        "wav" => "AudioStreamWAV",
        "ogg" => "AudioStreamOggVorbis",
        "mp3" => "AudioStreamMP3",
        "ogv" => "VideoStreamTheora",
        "obj" => "Mesh",
        "ttf" | "otf" | "ttc" | "otc" | "woff" | "woff2" | "fnt" | "font" => "FontFile",
        "csv" | "po" | "mo" | "translation" => "Translation",
        "json" => "JSON",
        "godot" | "cfg" | "ini" => "ConfigFile",
        "txt" | "md" | "rst" | "log" | "xml" | "yml" | "yaml" | "toml" => "TextFile",
        _ => "OtherFile",
    }
}
