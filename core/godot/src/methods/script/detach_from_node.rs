//! `script.detachFromNode`: takes a node's script off, undoably.

use didi_engine::Answer;
use godot::prelude::*;
use serde::Deserialize;
use serde_json::json;

use super::attach_to_node;
use crate::{
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

pub(crate) fn run(_context: &Context, params: &Params) -> Answer {
    let args: Args = params::read(params)?;
    let (root, node) = owned::find(&args.target_node)?;
    let Some(path) = attach_to_node::script_of(&node) else {
        let message = format!("`{}` has no script", args.target_node);
        return Err(refuse::conflict("no_script_attached", message).with("field", "target_node"));
    };
    let object: Gd<Object> = node.clone().upcast();
    let mut action = Edit::begin("Detach script", &root)?;
    action.sets(&object, "script", &Variant::nil(), &node.get("script"));
    action.commit();
    Ok(edit::done(json!({
        "target_node": args.target_node,
        "script_path": attach_to_node::script_of(&node),
        "before": { "script": path },
    })))
}
