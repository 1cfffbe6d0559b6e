//! `signal.disconnect`: takes a saved connection away, undoably.

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use super::connections;
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
    emitter_node: String,
    signal_name: String,
    target_node: String,
    target_method: String,
}

pub(crate) fn plan(_context: &Context, params: &Params) -> Planned {
    let args: Args = params::read(params)?;
    let (root, emitter) = owned::find(&args.emitter_node)?;
    let target = node_path::edited(&args.target_node)?;
    let callable = Callable::from_object_method(&target, args.target_method.as_str());
    let Some(flags) = connections::flags(&emitter, &args.signal_name, &callable) else {
        return Err(missing(&args));
    };
    if flags & connections::PERSIST == 0 {
        let message = "the connection is none of the scene's own";
        return Err(refuse::conflict("unsupported_existing_connection_flags", message)
            .with("flags", flags)
            .with("no_remedy", "the engine or the editor made it"));
    }
    let before = json!({ "connected": true, "flags": flags });
    Ok(Change::now(before, move |before| make(&args, &root, &emitter, &callable, before)))
}

fn make(
    args: &Args,
    root: &Gd<Node>,
    emitter: &Gd<Node>,
    callable: &Callable,
    before: Value,
) -> Answer {
    let object: Gd<Object> = emitter.clone().upcast();
    let signal = args.signal_name.to_variant();
    let flags = before["flags"].as_i64().unwrap_or_default();
    let mut action = Edit::begin(&format!("Disconnect {}", args.signal_name), root)?;
    action.does(&object, "disconnect", &[signal.clone(), callable.to_variant()]);
    action.undoes(&object, "connect", &[signal, callable.to_variant(), flags.to_variant()]);
    action.commit();
    Ok(edit::done(json!({
        "disconnected": !emitter.is_connected(args.signal_name.as_str(), callable),
        "before": before,
        "flags": flags,
    })))
}

fn missing(args: &Args) -> BridgeError {
    let message = format!("`{}` is not connected to that method", args.signal_name);
    let error = refuse::conflict("missing_or_ambiguous_signal_connection", message);
    let arguments = json!({ "emitter_node": args.emitter_node });
    refuse::next_call(error, "signal_list_connections", arguments, "lists its connections")
}
