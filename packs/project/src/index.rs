//! What the index says of one file: its type, its uid, and the files that it names.
//!
//! A type is that of the ending, as the engine's own file list gives it before it loads anything; the class
//! that a resource declares stands in its header.
//!
//! Spec: P-50, the project's files.

use std::{
    collections::{BTreeSet, HashMap},
    ops::ControlFlow,
    sync::Arc,
};

use didi_plugin_api::prelude::*;
use didi_project::{
    facts::{self, Facts, Trust},
    walk::{self, File, Met},
};

#[cfg(test)]
mod tests;

/// Most files of the index.
pub(crate) const MAX_FILES: usize = 20_000;

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
    let (mut found, mut sidecars) = (vec![], vec![]);
    let (mut seen, mut full) = (0, false);
    let met = walk::files(ctx, start, |file| {
        if is_sidecar(&file) {
            sidecars.push(file);
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
    let facts = facts::facts(ctx, &found, Trust::Kept)?;
    let mut files: Vec<Indexed> =
        found.iter().zip(facts).map(|(file, facts)| indexed(file, &facts, with_uid)).collect();
    if with_uid {
        add_uids_beside(ctx, &mut files, sidecars)?;
    }
    let truncated = full || met.failed || files.iter().any(|file| file.cut);
    Ok(Listing { files, truncated, met })
}

/// Whether a file only says something about the file beside it.
fn is_sidecar(file: &File) -> bool {
    matches!(file.extension().as_str(), "import" | "uid")
}

/// Gives files without a uid of their own the one beside them; a `.uid` file counts before an `.import` file.
fn add_uids_beside(
    ctx: &Ctx<'_>,
    files: &mut [Indexed],
    mut sidecars: Vec<File>,
) -> Result<(), Refusal> {
    let places: HashMap<String, usize> =
        files.iter().enumerate().map(|(at, file)| (file.path.clone(), at)).collect();
    sidecars.retain(|file| places.contains_key(facts::owner(&file.path)));
    sidecars.sort_by_key(|file| file.extension() != "uid");
    let facts: Vec<Arc<Facts>> = facts::facts(ctx, &sidecars, Trust::Kept)?;
    for (sidecar, facts) in sidecars.iter().zip(facts) {
        let owner = &mut files[places[facts::owner(&sidecar.path)]];
        if owner.uid.is_none() {
            owner.uid.clone_from(&facts.uid);
        }
    }
    Ok(())
}

/// Reads what the index says of one file, now. What can't be read is left out.
pub(crate) fn describe(file: &File) -> Indexed {
    Indexed { uid: facts::uid_of(file), ..indexed(file, &facts::read(file), true) }
}

fn indexed(file: &File, facts: &Facts, with_uid: bool) -> Indexed {
    let mut seen = BTreeSet::new();
    let names = facts.names.iter().map(|named| match &named.uid {
        Some(uid) if named.path.is_empty() => uid,
        _ => &named.path,
    });
    Indexed {
        path: file.path.clone(),
        filename: file.name().into(),
        kind: kind_of(&file.extension()),
        resource_type: facts.resource_type.clone(),
        uid: facts.uid.clone().filter(|_| with_uid),
        file_size: file.size,
        dependencies: names.filter(|name| seen.insert(name.as_str())).cloned().collect(),
        cut: facts.cut,
    }
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
