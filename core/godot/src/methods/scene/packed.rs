//! What a scene's file names, and whether it can be loaded whole.

use didi_wire::BridgeError;
use godot::{
    classes::{FileAccess, PackedScene, ResourceLoader},
    prelude::*,
};
use serde_json::json;

use crate::refuse;

/// A file that a scene's file names.
pub(super) struct Dependency {
    uid: Option<String>,
    pub(super) path: String,
}

impl Dependency {
    /// Whether the file is in its place, imported or not, or under its uid in another.
    fn is_there(&self) -> bool {
        let mut loader = ResourceLoader::singleton();
        FileAccess::file_exists(&self.path)
            || loader.exists(&self.path)
            || self.uid.as_ref().is_some_and(|uid| loader.exists(uid))
    }
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
