//! Scene files: their paths, and waiting until the editor shows one.

use std::{path::Path, time::Duration};

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::{
    classes::{EditorInterface, ProjectSettings, ResourceUid},
    prelude::*,
};
use serde_json::{Value, json};

use super::packed;
use crate::{refuse, waiting};

/// How long the editor may take to show a scene.
pub(super) const OPEN_LIMIT: Duration = Duration::from_secs(10);

/// Frames after which an editor that loads a scene has shown it, by a wide margin.
const FRAMES_TO_SHOW: u32 = 10;

/// Checks a path to write to: within the project, normalised, of a text scene.
pub(super) fn check_target(path: &str, field: &str) -> Result<(), BridgeError> {
    let inner = path.strip_prefix("res://").unwrap_or("..");
    let normal = inner.split('/').all(|part| !matches!(part, "" | "." | ".."));
    let text = Path::new(inner).extension().is_some_and(|ending| ending == "tscn");
    if normal && text && !inner.contains(['\\', ':', '\0']) {
        return Ok(());
    }
    let message = format!("`{path}` is no normalised `res://` path that ends in `.tscn`");
    Err(refuse::invalid(field, message))
}

/// Checks a path to write to, where nothing may be unless it is to be overwritten.
pub(super) fn check_free(path: &str, overwrite: bool) -> Result<(), BridgeError> {
    check_target(path, "scene_path")?;
    if overwrite || !on_disk(path).exists() {
        return Ok(());
    }
    let error = refuse::conflict("already_exists", format!("`{path}` is there already"));
    Err(error.with("retry_with", json!({ "overwrite": true })))
}

/// What is at a path before it is written.
pub(super) fn before(path: &str) -> Value {
    let found = std::fs::metadata(on_disk(path)).ok();
    json!({ "exists": found.is_some(), "bytes": found.map(|found| found.len()) })
}

/// Where a path is on disk.
pub(super) fn on_disk(path: &str) -> std::path::PathBuf {
    ProjectSettings::singleton().globalize_path(path).to_string().into()
}

/// The file of the edited scene; empty before it was saved.
pub(super) fn edited() -> Option<String> {
    let root = EditorInterface::singleton().get_edited_scene_root()?;
    Some(root.get_scene_file_path().to_string())
}

/// Whether the editor shows this scene now.
pub(super) fn is_edited(path: &str) -> bool {
    edited().as_deref() == Some(path)
}

/// Has the editor show a scene, and waits until it does. One that it can't load is refused soon: the editor tells a person so,
/// and goes on with another.
pub(super) fn show(
    path: String,
    then: impl FnOnce() -> Answer + 'static,
) -> Box<dyn didi_engine::Task> {
    let mut then = Some(then);
    let mut asked = false;
    let mut frames = 0;
    waiting::Until::boxed(OPEN_LIMIT, not_shown, move || {
        if !is_edited(&path) {
            // In a frame of its own: the editor ignores it in a frame in which it changes scenes.
            if !asked {
                asked = true;
                EditorInterface::singleton().open_scene_from_path(path.as_str());
            }
            if !is_edited(&path) {
                frames += 1;
                let refused = (frames == FRAMES_TO_SHOW).then(|| packed::load(&path).err())?;
                return refused.map(Err);
            }
        }
        then.take().map(|then| then())
    })
}

fn not_shown() -> BridgeError {
    let message = "the editor did not show the scene in time";
    BridgeError::new(504, "scene_not_shown", message)
        .with("outcome", "unknown_outcome")
        .with("retry_after_ms", 2000)
}

/// The uid in the file, and whether the engine knows it.
pub(super) fn uid(path: &str) -> (Value, bool) {
    let loader = godot::classes::ResourceLoader::singleton();
    let id = loader.get_resource_uid(path);
    if id < 0 {
        return (Value::Null, false);
    }
    let uids = ResourceUid::singleton();
    (uids.id_to_text(id).to_string().into(), uids.has_id(id))
}
