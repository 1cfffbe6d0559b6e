//! Finds the scene file that a call means.
//!
//! Spec: P-52, scenes.

use didi_formats::{FormatError, config::ConfigFile, uid};
use didi_plugin_api::prelude::*;

use crate::walk;

const FIELD: &str = "root_path";
/// Largest scene read, in bytes.
const MAX_SCENE_BYTES: u64 = 256 << 20;
/// Largest `project.godot` read, in bytes.
const MAX_SETTINGS_BYTES: u64 = 4 << 20;
const PROJECT_FILE: &str = "res://project.godot";

/// The file of a call.
pub(super) struct Found {
    pub(super) path: ProjectPath,
    /// Whether the main scene stands in for an edited one.
    pub(super) substituted: bool,
}

/// Whether a path names a file rather than a node.
pub(super) fn is_resource(root_path: &str) -> bool {
    root_path.contains("://")
}

pub(super) fn locate(ctx: &Ctx<'_>, root_path: &str) -> Result<Found, Refusal> {
    if is_resource(root_path) {
        return Ok(Found { path: scene_at(ctx, root_path)?, substituted: false });
    }
    if !matches!(root_path.trim_end_matches('/'), "" | "." | "/root") {
        let shown: String = root_path.escape_debug().take(120).collect();
        let message = format!(
            "no editor is attached to look for the node `{shown}` in; a `res://` path of a `.tscn` \
             file is read without one"
        );
        return Err(Refusal::new(codes::NOT_CONNECTED, message)
            .with("blocked_on", "no_live_session")
            .with("offline_alternative", "send a `res://` scene path as `root_path`")
            .field(FIELD));
    }
    let main = main_scene(ctx)?;
    Ok(Found { path: scene_at(ctx, &main)?, substituted: true })
}

/// The scene that a `res://` or `uid://` path names.
fn scene_at(ctx: &Ctx<'_>, path: &str) -> Result<ProjectPath, Refusal> {
    let place = match uid::number(path) {
        Some(number) => by_uid(ctx, path, number)?,
        None => ctx.project().resolve(path, FIELD)?,
    };
    if place.extension() != "tscn" {
        let message = format!("`{}` is not a text scene, which ends in `.tscn`", place.res_path());
        return Err(Refusal::invalid(FIELD, message));
    }
    Ok(place)
}

pub(super) fn read(ctx: &Ctx<'_>, path: &ProjectPath) -> Result<Vec<u8>, Refusal> {
    ctx.project().read(path, MAX_SCENE_BYTES)
}

pub(super) fn unparseable(path: &ProjectPath, error: &FormatError) -> Refusal {
    Refusal::new(codes::UNPROCESSABLE, format!("`{}` can't be read: {error}", path.res_path()))
        .with("line", error.line)
        .with("column", error.column)
        .field(FIELD)
}

fn main_scene(ctx: &Ctx<'_>) -> Result<String, Refusal> {
    let place = ctx.project().resolve(PROJECT_FILE, FIELD)?;
    let none = |why: &str| {
        Refusal::new(codes::NOT_FOUND, format!("no main scene stands in for an edited one: {why}"))
            .with("field", FIELD)
            .next_call("project_list_resources", "lists the project's scenes")
    };
    if !place.is_file() {
        return Err(none("the folder has no `project.godot`"));
    }
    let bytes = ctx.project().read(&place, MAX_SETTINGS_BYTES)?;
    let settings = ConfigFile::parse(&bytes).map_err(|error| unparseable(&place, &error))?;
    let set = settings.text("application", "run/main_scene").filter(|path| !path.is_empty());
    let set = set.ok_or_else(|| none("`application/run/main_scene` is not set"))?;
    Ok(set.into_owned())
}

/// The scene whose own header holds a uid. The engine's cache of them is a binary file of its own.
fn by_uid(ctx: &Ctx<'_>, text: &str, number: u64) -> Result<ProjectPath, Refusal> {
    if let Some(found) = walk::by_uid(ctx, "tscn", number)? {
        return Ok(found);
    }
    let shown: String = text.chars().take(64).collect();
    Err(Refusal::new(
        codes::NOT_FOUND,
        format!("no text scene in the project has the uid `{shown}`"),
    )
    .with("field", FIELD)
    .next_call("project_list_resources", "lists the project's scenes"))
}
