//! Whether the open scene's file can hold an edit of a node.
//!
//! A node inside an instance belongs to the instance's own scene, unless its children are marked editable.

use didi_wire::BridgeError;
use godot::{classes::Node, prelude::*};

use crate::{node_path, refuse};

/// The root of the open scene, and a node of it by its path whose edits the scene's file can hold.
///
/// # Errors
/// As [`node_path::edited`] and [`check`].
pub(crate) fn find(path: &str) -> Result<(Gd<Node>, Gd<Node>), BridgeError> {
    let root = node_path::edited_root()?;
    let node = node_path::edited(path)?;
    check(&root, &node)?;
    Ok((root, node))
}

/// Refuses a node whose edits the open scene would not save.
pub(crate) fn check(root: &Gd<Node>, node: &Gd<Node>) -> Result<(), BridgeError> {
    let Some(instance) = closed_instance(root, node) else { return Ok(()) };
    let path = node_path::in_scene(root, node);
    let scene = instance.get_scene_file_path().to_string();
    let message =
        format!("`{path}` belongs to `{scene}`, and the open scene cannot hold an edit of it");
    Err(refuse::conflict("node_not_owned", message)
        .with("owner_scene", scene)
        .with("instance_root", node_path::in_scene(root, &instance)))
}

/// Whether the open scene's file holds the node.
pub(crate) fn holds(root: &Gd<Node>, node: &Gd<Node>) -> bool {
    node == root || node.get_owner().as_ref() == Some(root)
}

/// The root of the instance that keeps the node to itself.
fn closed_instance(root: &Gd<Node>, node: &Gd<Node>) -> Option<Gd<Node>> {
    if node == root {
        return None;
    }
    let mut owner = node.get_owner();
    while let Some(instance) = owner {
        if instance == *root {
            return None;
        }
        if !root.is_editable_instance(&instance) {
            return Some(instance);
        }
        owner = instance.get_owner();
    }
    // Made at run time and saved nowhere.
    node.get_parent()
}
