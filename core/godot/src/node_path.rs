//! Nodes by their paths: `/root/<Scene>/...` in an editor, the tree's own paths in a game.
//!
//! An editor keeps the edited scene deep in its own tree; to a client it stands below `/root`, as it will in a
//! game, and nothing of the editor can be reached.

use didi_wire::{BridgeError, SessionKind};
use godot::{
    classes::{EditorInterface, Engine, Node, SceneTree, Window},
    prelude::*,
};
use serde_json::json;

use crate::refuse;

/// The root of the scene that is being edited.
///
/// # Errors
/// `no_edited_scene` (409) when none is open.
pub(crate) fn edited_root() -> Result<Gd<Node>, BridgeError> {
    EditorInterface::singleton().get_edited_scene_root().ok_or_else(|| {
        let error = refuse::conflict("no_edited_scene", "no scene is open in the editor");
        refuse::next_call(error, "scene_open", json!({}), "opens one")
    })
}

/// The running tree.
pub(crate) fn scene_tree() -> Result<Gd<SceneTree>, BridgeError> {
    Engine::singleton()
        .get_main_loop()
        .and_then(|main_loop| main_loop.try_cast::<SceneTree>().ok())
        .ok_or_else(|| BridgeError::new(503, "engine_not_ready", "there is no scene tree"))
}

/// The window of the running tree.
pub(crate) fn window() -> Result<Gd<Window>, BridgeError> {
    scene_tree()?
        .get_root()
        .ok_or_else(|| BridgeError::new(503, "engine_not_ready", "the scene tree has no root"))
}

/// Where a walk over everything begins: the edited scene's root, or the game's window.
///
/// # Errors
/// `no_edited_scene`.
pub(crate) fn root(kind: SessionKind) -> Result<Gd<Node>, BridgeError> {
    match kind {
        SessionKind::Editor => edited_root(),
        SessionKind::Game => Ok(window()?.upcast()),
    }
}

/// A node of the edited scene.
///
/// # Errors
/// `no_edited_scene`; `not_found` (404) where the path leads to nothing or out of the scene.
pub(crate) fn edited(path: &str) -> Result<Gd<Node>, BridgeError> {
    let root = edited_root()?;
    let rest = below(path, &root.get_name().to_string());
    find(&root, rest).ok_or_else(|| refuse::no_node(path, "is no node of the edited scene"))
}

/// A node of either kind of session.
pub(crate) fn any(kind: SessionKind, path: &str) -> Result<Gd<Node>, BridgeError> {
    match kind {
        SessionKind::Editor => edited(path),
        SessionKind::Game => running(path),
    }
}

/// A node of the running tree.
fn running(path: &str) -> Result<Gd<Node>, BridgeError> {
    let root = root(SessionKind::Game)?;
    let rest = path.strip_prefix("/root").map_or(path, |rest| rest.trim_start_matches('/'));
    find(&root, rest).ok_or_else(|| refuse::no_node(path, "is no node of the running tree"))
}

/// What a path says below the edited scene's root.
fn below<'p>(path: &'p str, root: &str) -> &'p str {
    let Some(rest) = path.strip_prefix("/root") else { return path.trim_start_matches("./") };
    let rest = rest.trim_start_matches('/');
    match rest.strip_prefix(root) {
        Some("") => "",
        Some(inner) if inner.starts_with('/') => inner.trim_start_matches('/'),
        _ => rest,
    }
}

fn find(root: &Gd<Node>, rest: &str) -> Option<Gd<Node>> {
    let rest = rest.trim_end_matches('/');
    if matches!(rest, "" | ".") {
        return Some(root.clone());
    }
    let climbs = rest.starts_with('/') || rest.split('/').any(|part| part == "..");
    if climbs || rest.contains(':') {
        return None;
    }
    root.get_node_or_null(rest)
}

/// How a client names a node.
pub(crate) fn of(kind: SessionKind, node: &Gd<Node>) -> String {
    match kind {
        SessionKind::Game => node.get_path().to_string(),
        SessionKind::Editor => match EditorInterface::singleton().get_edited_scene_root() {
            Some(root) => in_scene(&root, node),
            None => node.get_path().to_string(),
        },
    }
}

/// How a client names a node of the edited scene.
pub(crate) fn in_scene(root: &Gd<Node>, node: &Gd<Node>) -> String {
    let name = root.get_name();
    if node == root {
        return format!("/root/{name}");
    }
    format!("/root/{name}/{}", root.get_path_to(node))
}
