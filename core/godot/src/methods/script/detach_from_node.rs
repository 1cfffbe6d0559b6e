//! `script.detachFromNode`: takes a node's script off, undoably.

use didi_engine::Answer;
use godot::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use super::attach_to_node;
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
}

pub(crate) fn plan(_context: &Context, params: &Params) -> Planned {
    let args: Args = params::read(params)?;
    let (root, node) = owned::find(&args.target_node)?;
    let Some(path) = attach_to_node::script_of(&node) else {
        let message = format!("`{}` has no script", args.target_node);
        return Err(refuse::conflict("no_script_attached", message).with("field", "target_node"));
    };
    let before = json!({ "script": path });
    Ok(Change::now(before, move |before| make(&args, &root, &node, before)))
}

fn make(args: &Args, root: &Gd<Node>, node: &Gd<Node>, before: Value) -> Answer {
    let object: Gd<Object> = node.clone().upcast();
    let mut action = Edit::begin("Detach script", root)?;
    action.watches(node, "script");
    action.sets(&object, "script", &Variant::nil(), &node.get("script"));
    action.commit();
    let observed = attach_to_node::script_of(node);
    if observed.is_some() {
        let message = format!("the engine did not take the script off `{}`", args.target_node);
        return Err(refuse::conflict("script_assignment_rejected", message)
            .with("no_remedy", "the engine keeps the script"));
    }
    Ok(edit::done(json!({
        "target_node": args.target_node,
        "script_path": observed,
        "before": before,
    })))
}
