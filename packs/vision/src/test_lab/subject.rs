//! What a resource is, so far as a file tells: its class, its uid, and how it can stand in a scene.
//!
//! Spec: P-55, pictures.

use std::{
    borrow::Cow,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use didi_formats::{config::ConfigFile, limits::HEADER_BYTES, resource, uid};
use didi_plugin_api::prelude::*;

/// Largest `.import` and `.uid` file read, in bytes.
const MAX_SIDECAR_BYTES: usize = 1 << 20;

/// How a resource stands in a 3D scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Instance,
    Mesh,
    Material,
    Texture,
    /// Not at all; it is named in the metadata.
    Named,
}

pub(super) struct Subject {
    pub(super) type_name: String,
    pub(super) uid: Option<String>,
    pub(super) standing: Standing,
    /// Whether it is a source file that was not imported yet, so that no engine can load it.
    pub(super) needs_import: bool,
}

impl Subject {
    pub(super) fn read(target: &ProjectPath) -> Self {
        match target.extension().as_str() {
            "tscn" => Self::of_text(target, "PackedScene"),
            "tres" => Self::of_text(target, "Resource"),
            "scn" => Self::plain(target, "PackedScene"),
            "mesh" => Self::plain(target, "ArrayMesh"),
            "material" => Self::plain(target, "Material"),
            "glb" | "gltf" | "fbx" | "blend" | "dae" => Self::imported(target, "PackedScene"),
            "obj" => Self::imported(target, "Mesh"),
            "png" | "jpg" | "jpeg" | "webp" | "svg" | "bmp" | "tga" | "exr" | "hdr" | "ktx"
            | "dds" => Self::imported(target, "Texture2D"),
            "gd" => Self::plain(target, "GDScript"),
            "gdshader" => Self::plain(target, "Shader"),
            _ => Self::plain(target, "Resource"),
        }
    }

    pub(super) fn is_in_scene(&self) -> bool {
        self.standing != Standing::Named
    }

    fn new(type_name: &str, uid: Option<String>) -> Self {
        let type_name = type_name.to_owned();
        Subject { standing: standing(&type_name), type_name, uid, needs_import: false }
    }

    /// A text scene or resource, whose header says its class and uid.
    fn of_text(target: &ProjectPath, otherwise: &str) -> Self {
        let head = head_of(target.real(), HEADER_BYTES).unwrap_or_default();
        let Ok(header) = resource::read_header(&head) else {
            return Subject { standing: Standing::Named, ..Self::new(otherwise, None) };
        };
        let type_name = header.resource_type.as_deref().unwrap_or(otherwise);
        Self::new(type_name, header.uid.as_deref().map(str::to_owned))
    }

    /// A file whose uid, if any, is in a `.uid` file beside it.
    fn plain(target: &ProjectPath, type_name: &str) -> Self {
        let sidecar = head_of(&beside(target, "uid"), MAX_SIDECAR_BYTES);
        let uid = sidecar.and_then(|bytes| uid::parse_uid_file(&bytes).ok().map(str::to_owned));
        Self::new(type_name, uid)
    }

    /// A source file, for which the `.import` file beside it says what it becomes.
    fn imported(target: &ProjectPath, otherwise: &str) -> Self {
        let sidecar = head_of(&beside(target, "import"), MAX_SIDECAR_BYTES);
        let Some(file) = sidecar.as_deref().and_then(|bytes| ConfigFile::parse(bytes).ok()) else {
            return Subject { needs_import: true, ..Self::new(otherwise, None) };
        };
        let text = |key: &str| file.text("remap", key);
        // A file that the project keeps as it is, or skips, has no class.
        match text("type") {
            Some(type_name) => Self::new(&type_name, text("uid").map(Cow::into_owned)),
            None => Subject { standing: Standing::Named, ..Self::new("Resource", None) },
        }
    }
}

fn standing(type_name: &str) -> Standing {
    match type_name {
        "PackedScene" => Standing::Instance,
        "MultiMesh" | "MeshLibrary" => Standing::Named,
        name if name.ends_with("Mesh") => Standing::Mesh,
        "Material" | "StandardMaterial3D" | "ORMMaterial3D" | "ShaderMaterial" => {
            Standing::Material
        }
        name if name.ends_with("Texture2D")
            || matches!(
                name,
                "GradientTexture1D" | "CurveTexture" | "AtlasTexture" | "ImageTexture"
            ) =>
        {
            Standing::Texture
        }
        _ => Standing::Named,
    }
}

fn beside(target: &ProjectPath, ending: &str) -> PathBuf {
    target.real().with_file_name(format!("{}.{ending}", target.file_name()))
}

fn head_of(path: &Path, max_bytes: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![];
    File::open(path).ok()?.take(max_bytes as u64).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
