//! `scene.reparentNode`: moves a branch below another node, undoably.

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use super::remove_node;
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
    new_parent_path: String,
    #[serde(default = "params::yes")]
    keep_global_transform: bool,
}

/// A move that can be made.
struct Move {
    args: Args,
    root: Gd<Node>,
    node: Gd<Node>,
    old: Gd<Node>,
    new: Gd<Node>,
}

pub(crate) fn plan(_context: &Context, params: &Params) -> Planned {
    let args: Args = params::read(params)?;
    let root = node_path::edited_root()?;
    let node = node_path::edited(&args.target_node)?;
    let parent = node_path::edited(&args.new_parent_path)?;
    let Some(old) = node.get_parent().filter(|_| node != root) else {
        return Err(refuse::invalid(
            "target_node",
            "the root of the edited scene has no other place",
        ));
    };
    remove_node::check(&root, &node)?;
    owned::check(&root, &parent)?;
    if parent == node || node.is_ancestor_of(&parent) {
        return Err(refuse::invalid("new_parent_path", "a node cannot be moved below itself"));
    }
    let before = json!({
        "path": node_path::in_scene(&root, &node),
        "parent": node_path::in_scene(&root, &old),
    });
    let moved = Move { args, root, node, old, new: parent };
    Ok(Change::now(before, move |before| make(&moved, before)))
}

fn make(moved: &Move, before: Value) -> Answer {
    let Move { args, root, node, .. } = moved;
    let requested = node.get_name().to_string();
    commit(&format!("Reparent {requested}"), moved)?;
    let mut told = json!({
        "target_node": args.target_node,
        "before": before,
        "node_path": node_path::in_scene(root, node),
    });
    let name = node.get_name().to_string();
    if name != requested {
        told["requested_name"] = requested.into();
        told["node_name"] = name.into();
        told["name_substituted"] = true.into();
    }
    Ok(edit::done(told))
}

fn commit(name: &str, moved: &Move) -> Result<(), BridgeError> {
    let Move { args, root, node, old, new } = moved;
    let object: Gd<Object> = node.clone().upcast();
    let (from, to) = (old.clone().upcast::<Object>(), new.clone().upcast::<Object>());
    let owners = remove_node::owners(node);
    let index = node.get_index();
    let mut action = Edit::begin(name, root)?;
    action.does(&from, "remove_child", &[node.to_variant()]);
    action.does(&to, "add_child", &[node.to_variant(), true.to_variant()]);
    action.undoes(&to, "remove_child", &[node.to_variant()]);
    // Its name may have been changed to be the only one of its kind.
    action.undoes(&object, "set_name", &[node.get_name().to_variant()]);
    action.undoes(&from, "add_child", &[node.to_variant(), true.to_variant()]);
    action.undoes(&from, "move_child", &[node.to_variant(), index.to_variant()]);
    for (inner, owner) in owners {
        let inner: Gd<Object> = inner.upcast();
        action.does(&inner, "set_owner", &[owner.to_variant()]);
        action.undoes(&inner, "set_owner", &[owner.to_variant()]);
    }
    if let Some(place) = Place::of(node) {
        if args.keep_global_transform {
            let global = node.get(place.global);
            action.does(&object, "set", &[place.global.to_variant(), global]);
        }
        for part in place.stored {
            action.undoes(&object, "set", &[part.to_variant(), node.get(*part)]);
        }
    }
    action.commit();
    Ok(())
}

/// The properties that say where a node is.
struct Place {
    /// In the world.
    global: &'static str,
    /// Below its parent, as its file holds it. A whole that is put together of these does not give them back: a turn
    /// by more than a full one, a mirrored axis, a control that its file has smaller than its text.
    stored: &'static [&'static str],
}

/// In the order in which a file gives them. A container sets them all, a frame after it has got its child.
const OF_CONTROL: [&str; 8] = [
    "anchor_left",
    "anchor_top",
    "anchor_right",
    "anchor_bottom",
    "offset_left",
    "offset_top",
    "offset_right",
    "offset_bottom",
];

impl Place {
    fn of(node: &Gd<Node>) -> Option<Self> {
        let is = |class: &str| node.is_class(class);
        if is("Node2D") {
            let stored = &["position", "rotation", "scale", "skew"];
            Some(Place { global: "global_transform", stored })
        } else if is("Node3D") {
            Some(Place { global: "global_transform", stored: &["transform"] })
        } else if is("Control") {
            Some(Place { global: "global_position", stored: &OF_CONTROL })
        } else {
            None
        }
    }
}
