//! `script.attachToNode`: gives a node a script, undoably.

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::{
    classes::{ResourceLoader, Script},
    prelude::*,
};
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
    script_path: String,
}

/// A script that can be given to a node.
struct Ready {
    args: Args,
    root: Gd<Node>,
    node: Gd<Node>,
    script: Gd<Script>,
}

pub(crate) fn plan(_context: &Context, params: &Params) -> Planned {
    let args: Args = params::read(params)?;
    let (root, node) = owned::find(&args.target_node)?;
    if let Some(script) = script_of(&node) {
        let message = format!("`{}` has a script already", args.target_node);
        let error =
            refuse::conflict("script_already_attached", message).with("script_path", script);
        let arguments = json!({ "target_node": args.target_node });
        let reason = "takes the script off first";
        return Err(refuse::next_call(error, "script_detach_from_node", arguments, reason));
    }
    let script = load(&args.script_path)?;
    check_base(&script, &node)?;
    let ready = Ready { args, root, node, script };
    Ok(Change::now(json!({ "script": null }), move |before| make(&ready, before)))
}

fn make(ready: &Ready, before: Value) -> Answer {
    let Ready { args, root, node, script } = ready;
    let object: Gd<Object> = node.clone().upcast();
    let mut action = Edit::begin("Attach script", root)?;
    action.watches(node, "script");
    action.sets(&object, "script", &script.to_variant(), &Variant::nil());
    action.commit();
    let observed = script_of(node);
    if observed.as_deref() != Some(args.script_path.as_str()) {
        let message = format!("the engine did not give `{}` the script", args.target_node);
        return Err(
            refuse::conflict("script_assignment_rejected", message).with("field", "script_path")
        );
    }
    Ok(edit::done(json!({
        "target_node": args.target_node,
        "script_path": observed,
        "before": before,
    })))
}

/// The path of a node's script.
pub(crate) fn script_of(node: &Gd<Node>) -> Option<String> {
    let script = node.get_script()?;
    Some(script.get_path().to_string())
}

fn load(path: &str) -> Result<Gd<Script>, BridgeError> {
    let mut loader = ResourceLoader::singleton();
    if !path.starts_with("res://") || !loader.exists(path) {
        let message = format!("there is no script `{path}`");
        return Err(refuse::not_found(
            message,
            "project_list_resources",
            "lists the scripts there are",
        ));
    }
    let loaded = loader.load(path).and_then(|resource| resource.try_cast::<Script>().ok());
    loaded.ok_or_else(|| {
        let message = format!("`{path}` could not be loaded as a script");
        refuse::conflict("script_assignment_rejected", message).with("field", "script_path")
    })
}

/// A script extends a class, and goes onto nodes of that class alone.
fn check_base(script: &Gd<Script>, node: &Gd<Node>) -> Result<(), BridgeError> {
    let base = script.get_instance_base_type().to_string();
    if base.is_empty() || node.is_class(&base) {
        return Ok(());
    }
    let class = node.get_class().to_string();
    let message = format!("the script extends `{base}`, and the node is a `{class}`");
    Err(BridgeError::new(422, "script_base_incompatible", message)
        .with("field", "target_node")
        .with("base_type", base)
        .with("node_class", class))
}
