//! What a scene's file names, and whether it can be loaded whole.

use std::{collections::BTreeSet, path::Path};

use didi_wire::BridgeError;
use godot::{
    classes::{ConfigFile, FileAccess, PackedScene, ResourceLoader, ResourceUid},
    global::Error,
    prelude::*,
};
use serde_json::json;

use crate::refuse;

/// Most files that are looked at for one scene.
const MAX_FILES: usize = 4096;

/// A file that a scene's file names.
pub(super) struct Dependency {
    uid: Option<String>,
    pub(super) path: String,
}

impl Dependency {
    /// Whether it can be loaded from its place, or under its uid from another.
    fn is_there(&self) -> bool {
        let moved = || {
            let uids = ResourceUid::singleton();
            let id = self.uid.as_ref().map(|uid| uids.text_to_id(uid))?;
            uids.has_id(id).then(|| uids.get_id_path(id).to_string())
        };
        is_loadable(&self.path) || moved().is_some_and(|path| is_loadable(&path))
    }
}

/// Whether a file is there, and what was imported of it, where it is imported.
fn is_loadable(path: &str) -> bool {
    let mut settings = ConfigFile::new_gd();
    if settings.load(&format!("{path}.import")) != Error::OK {
        return FileAccess::file_exists(path) || ResourceLoader::singleton().exists(path);
    }
    if settings.get_value_ex("remap", "valid").default(&true.to_variant()).done()
        == false.to_variant()
    {
        return false;
    }
    // `path`, or `path.s3tc` and its like.
    let keys = settings.get_section_keys("remap").to_vec();
    let mut imported = keys
        .iter()
        .map(ToString::to_string)
        .filter(|key| key == "path" || key.starts_with("path."))
        .map(|key| settings.get_value("remap", &key).stringify())
        .peekable();
    // What is kept as it is has none.
    if imported.peek().is_none() {
        return FileAccess::file_exists(path);
    }
    imported.any(|imported| FileAccess::file_exists(&imported))
}

/// Files that a scene's file names.
pub(super) fn dependencies(path: &str) -> impl Iterator<Item = Dependency> {
    let found = ResourceLoader::singleton().get_dependencies(path).to_vec();
    found.into_iter().map(|one| {
        // `uid::type::path`, or a path alone.
        let text = one.to_string();
        let mut parts = text.split("::");
        let uid = parts.next().filter(|first| first.starts_with("uid://")).map(str::to_owned);
        let path = text.rsplit("::").next().unwrap_or(&text).to_owned();
        Dependency { uid, path }
    })
}

/// Refuses a scene that names files which are not there: an editor loads it without them, and what is saved then lacks them
/// for good.
///
/// # Errors
/// `packed_scene_dependencies_missing` (422), with `missing`.
pub(super) fn check_whole(path: &str) -> Result<(), BridgeError> {
    let missing: Vec<String> =
        dependencies(path).filter(|one| !one.is_there()).map(|one| one.path).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let message = format!("`{path}` names files that are not there");
    Err(lacks(message).with("missing", json!(missing)))
}

/// The same of all that it names in turn: an editor that opens it asks a person about any of them.
///
/// # Errors
/// As [`check_whole`].
pub(super) fn check_whole_deep(path: &str) -> Result<(), BridgeError> {
    let mut seen = BTreeSet::from([path.to_owned()]);
    let mut open = vec![path.to_owned()];
    let mut missing = BTreeSet::new();
    while let Some(next) = open.pop() {
        for one in dependencies(&next) {
            if seen.len() == MAX_FILES || !seen.insert(one.path.clone()) {
                continue;
            }
            if !one.is_there() {
                missing.insert(one.path);
            } else if names_others(&one.path) {
                open.push(one.path);
            }
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let message = format!("`{path}` names files that are not there, itself or through others");
    Err(lacks(message).with("missing", json!(missing)))
}

/// Whether a file is of a kind that names others.
fn names_others(path: &str) -> bool {
    let ending = Path::new(path).extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ["tscn", "tres", "scn", "res"].contains(&ending))
}

/// Loads a scene.
///
/// # Errors
/// `packed_scene_dependencies_missing` (422) for what can't be loaded, `not_a_packed_scene` (422) for another resource.
pub(super) fn load(path: &str) -> Result<Gd<PackedScene>, BridgeError> {
    let resource = ResourceLoader::singleton().load(path);
    let resource = resource.ok_or_else(|| lacks(format!("`{path}` could not be loaded")))?;
    let class = resource.get_class();
    resource.try_cast::<PackedScene>().map_err(|_| {
        let message = format!("`{path}` is a `{class}` and no scene");
        BridgeError::new(422, "not_a_packed_scene", message).with("field", "scene_path")
    })
}

/// A scene that can't be loaded whole.
fn lacks(message: String) -> BridgeError {
    let error = BridgeError::new(422, "packed_scene_dependencies_missing", message);
    let reason = "finds what it names and is not there";
    refuse::next_call(error, "project_audit_assets", json!({}), reason)
}
