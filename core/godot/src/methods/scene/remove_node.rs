//! `scene.removeNode`: takes a node out of the scene, and keeps it for undo.

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::{classes::PackedScene, prelude::*};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    change::{Change, Planned},
    edit::{self, Edit, owned},
    methods::Context,
    node_path,
    params::{self, Params},
    refuse,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    target_node: String,
}

/// A node that can be taken out.
struct Ready {
    args: Args,
    root: Gd<Node>,
    node: Gd<Node>,
    parent: Gd<Node>,
}

pub(crate) fn plan(_context: &Context, params: &Params) -> Planned {
    let args: Args = params::read(params)?;
    let root = node_path::edited_root()?;
    let node = node_path::edited(&args.target_node)?;
    let Some(parent) = node.get_parent().filter(|_| node != root) else {
        let message = "the root of the edited scene cannot be removed";
        return Err(refuse::invalid("target_node", message));
    };
    check(&root, &node)?;
    let before = json!({
        "path": node_path::in_scene(&root, &node),
        "parent": node_path::in_scene(&root, &parent),
        "index": node.get_index(),
        "type": node.get_class().to_string(),
    });
    let ready = Ready { args, root, node, parent };
    Ok(Change::now(before, move |before| make(&ready, before)))
}

fn make(ready: &Ready, before: Value) -> Answer {
    let Ready { args, root, node, parent } = ready;
    let index = node.get_index();
    let (object, above) = (node.clone().upcast::<Object>(), parent.clone().upcast::<Object>());
    let mut action = Edit::begin(&format!("Remove {}", node.get_name()), root)?;
    action.does(&above, "remove_child", &[node.to_variant()]);
    action.undoes(&above, "add_child", &[node.to_variant(), true.to_variant()]);
    action.undoes(&above, "move_child", &[node.to_variant(), index.to_variant()]);
    for (inner, owner) in owners(node) {
        action.undoes(&inner.upcast(), "set_owner", &[owner.to_variant()]);
    }
    action.keeps_undone(&object);
    action.commit();
    Ok(edit::done(json!({
        "target_node": args.target_node,
        "exists": node.is_inside_tree(),
        "before": before,
    })))
}

/// Refuses what this scene's file cannot leave out.
pub(super) fn check(root: &Gd<Node>, node: &Gd<Node>) -> Result<(), BridgeError> {
    owned::check(root, node)?;
    if !owned::holds(root, node) {
        // In an instance whose children are editable, a node can be changed and not left out.
        let instance = node.get_owner().unwrap_or_else(|| root.clone());
        let scene = instance.get_scene_file_path().to_string();
        let message = format!("the node is part of `{scene}`, and an instance cannot leave it out");
        return Err(refuse::conflict("node_not_owned", message)
            .with("owner_scene", scene)
            .with("instance_root", node_path::in_scene(root, &instance)));
    }
    match base_scene(root, node) {
        None => Ok(()),
        Some(base) => {
            let message = format!("the node comes from `{base}`, which this scene inherits");
            Err(refuse::conflict("node_inherited", message).with("base_scene", base))
        }
    }
}

/// The scene that the open one inherits the node from.
fn base_scene(root: &Gd<Node>, node: &Gd<Node>) -> Option<String> {
    let file = root.get_scene_file_path();
    if file.is_empty() {
        return None;
    }
    let scene = try_load::<PackedScene>(&file).ok()?;
    let mut base = scene.get_state()?.get_base_scene_state()?;
    let path = format!("./{}", root.get_path_to(node));
    loop {
        let found = (0..base.get_node_count()).any(|at| base.get_node_path(at).to_string() == path);
        if found {
            return Some(base.get_path().to_string());
        }
        base = base.get_base_scene_state()?;
    }
}

/// Every node at and below one whose owner goes with the branch.
pub(super) fn owners(node: &Gd<Node>) -> Vec<(Gd<Node>, Gd<Node>)> {
    let mut found = vec![];
    let mut open = vec![node.clone()];
    while let Some(next) = open.pop() {
        let owner = next.get_owner();
        // An owner inside the branch stays the owner; one outside is lost when the branch is taken out.
        if let Some(owner) = owner.filter(|owner| owner != node && !node.is_ancestor_of(owner)) {
            found.push((next.clone(), owner));
        }
        open.extend(next.get_children().iter_shared());
    }
    found
}
