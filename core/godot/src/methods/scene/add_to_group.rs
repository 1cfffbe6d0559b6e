//! `scene.addToGroup`: puts a node into a group, undoably.

use didi_engine::Answer;
use godot::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

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
    #[serde(default = "params::yes")]
    persistent: bool,
}

pub(crate) fn plan(_context: &Context, params: &Params) -> Planned {
    let args: Args = params::read(params)?;
    let (root, node) = owned::find(&args.target_node)?;
    let group = args.group.as_str();
    if group.is_empty() || group.contains(['/', ':', '\0']) {
        return Err(refuse::invalid("group", "a group's name has no path separators"));
    }
    if node.is_in_group(group) {
        let message = format!("`{}` is in the group `{group}` already", args.target_node);
        return Err(refuse::already("already_exists", message));
    }
    let before = json!({ "in_group": false });
    Ok(Change::now(before, move |before| make(&args, &root, &node, before)))
}

fn make(args: &Args, root: &Gd<Node>, node: &Gd<Node>, before: Value) -> Answer {
    let group = args.group.as_str();
    let object: Gd<Object> = node.clone().upcast();
    let name = group.to_variant();
    let mut action = Edit::begin(&format!("Add to group {group}"), root)?;
    action.does(&object, "add_to_group", &[name.clone(), args.persistent.to_variant()]);
    action.undoes(&object, "remove_from_group", &[name]);
    action.commit();
    Ok(edit::done(json!({
        "target_node": args.target_node,
        "group": group,
        "before": before,
        "in_group": node.is_in_group(group),
    })))
}
