//! Groups: what nodes are in, and who is in one.

use godot::{classes::PackedScene, global::Error, prelude::*};

/// Whether a membership is saved with the scene, which only a packed node tells.
pub(super) fn is_persistent(node: &Gd<Node>, group: &str) -> Option<bool> {
    let copy = node.duplicate_node_ex().done_or_null()?;
    let mut scene = PackedScene::new_gd();
    // Children are packed as far as the copy owns them, which is not at all.
    let packed = scene.pack(&copy);
    copy.free();
    if packed != Error::OK {
        return None;
    }
    let groups = scene.get_state()?.get_node_groups(0);
    Some(groups.as_slice().iter().any(|name| *name == group))
}

/// The groups of a node, sorted; the engine's own begin with an underscore and are left out.
pub(super) fn of(node: &Gd<Node>) -> Vec<String> {
    let mut groups: Vec<String> =
        node.get_groups().iter_shared().map(|one| one.to_string()).collect();
    groups.retain(|name| !name.starts_with('_'));
    groups.sort_unstable();
    groups
}
