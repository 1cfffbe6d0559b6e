//! `scene.removeFromGroup`: takes a node out of a group, undoably.

use didi_engine::Answer;
use godot::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use super::groups;
use crate::{
    change::{Change, Planned},
    edit::{self, Edit, owned},
    methods::Context,
    params::{self, Params},
    refuse,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    target_node: String,
    group: String,
}

pub(crate) fn plan(_context: &Context, params: &Params) -> Planned {
    let args: Args = params::read(params)?;
    let (root, node) = owned::find(&args.target_node)?;
    let group = args.group.clone();
    if !node.is_in_group(group.as_str()) {
        let message = format!("`{}` is not in the group `{group}`", args.target_node);
        let error = didi_wire::BridgeError::new(404, "not_found", message).with("field", "group");
        let arguments = json!({ "target_node": args.target_node });
        return Err(refuse::next_call(error, "scene_list_groups", arguments, "lists its groups"));
    }
    let persistent = groups::is_persistent(&node, &group);
    let before = json!({ "in_group": true, "persistent": persistent });
    Ok(Change::now(before, move |before| make(&args, &root, &node, before)))
}

fn make(args: &Args, root: &Gd<Node>, node: &Gd<Node>, before: Value) -> Answer {
    let group = args.group.as_str();
    let object: Gd<Object> = node.clone().upcast();
    let mut action = Edit::begin(&format!("Remove from group {group}"), root)?;
    action.does(&object, "remove_from_group", &[group.to_variant()]);
    let back = [group.to_variant(), before["persistent"].as_bool().unwrap_or(true).to_variant()];
    action.undoes(&object, "add_to_group", &back);
    action.commit();
    Ok(edit::done(json!({
        "target_node": args.target_node,
        "group": group,
        "before": before,
        "in_group": node.is_in_group(group),
    })))
}
