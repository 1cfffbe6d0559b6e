//! `scene.duplicateNode`: a copy of a branch beside it, undoably.

use didi_engine::Answer;
use godot::prelude::*;
use serde::Deserialize;
use serde_json::json;

use super::remove_node;
use crate::{
    change::{Change, Planned},
    edit::{self, Edit},
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

pub(crate) fn plan(_context: &Context, params: &Params) -> Planned {
    let args: Args = params::read(params)?;
    let root = node_path::edited_root()?;
    let node = node_path::edited(&args.target_node)?;
    let Some(parent) = node.get_parent().filter(|_| node != root) else {
        return Err(refuse::invalid(
            "target_node",
            "the root of the edited scene has no place for a copy",
        ));
    };
    remove_node::check(&root, &node)?;
    let before = json!({
        "path": node_path::in_scene(&root, &node),
        "parent": node_path::in_scene(&root, &parent),
    });
    Ok(Change::now(before, move |_| make(&args, &root, &node, &parent)))
}

fn make(args: &Args, root: &Gd<Node>, node: &Gd<Node>, parent: &Gd<Node>) -> Answer {
    let Some(mut copy) = node.duplicate_node_ex().done_or_null() else {
        return Err(refuse::engine("branch_not_copied", "the engine did not copy the branch"));
    };
    copy.set_name(&format!("{}Copy", node.get_name()));
    let above: Gd<Object> = parent.clone().upcast();
    let mut action = Edit::begin(&format!("Duplicate {}", node.get_name()), root)?;
    action.does(&above, "add_child", &[copy.to_variant(), true.to_variant()]);
    for owned in owned_copies(root, node, &copy) {
        action.does(&owned.upcast(), "set_owner", &[root.to_variant()]);
    }
    action.keeps_done(&copy.clone().upcast());
    action.undoes(&above, "remove_child", &[copy.to_variant()]);
    action.commit();
    Ok(edit::done(json!({
        "target_node": args.target_node,
        "duplicated_node": node_path::in_scene(root, &copy),
    })))
}

/// Copies of the nodes that the scene owns, in the order of the originals.
fn owned_copies(root: &Gd<Node>, node: &Gd<Node>, copy: &Gd<Node>) -> Vec<Gd<Node>> {
    let mut found = vec![];
    let mut open = vec![(node.clone(), copy.clone())];
    while let Some((original, copied)) = open.pop() {
        if original.get_owner().as_ref() == Some(root) {
            found.push(copied.clone());
        }
        for at in 0..original.get_child_count().min(copied.get_child_count()) {
            if let (Some(from), Some(to)) = (original.get_child(at), copied.get_child(at)) {
                open.push((from, to));
            }
        }
    }
    found
}
