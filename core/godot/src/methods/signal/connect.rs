//! `signal.connect`: connects a signal to a method, to be saved with the scene, undoably.

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::{
    classes::{Object, Script},
    prelude::*,
};
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

/// What may be set: persist, with deferred, one shot, and where it came from.
const ALLOWED: [i64; 8] = [2, 3, 6, 7, 34, 35, 38, 39];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    emitter_node: String,
    signal_name: String,
    target_node: String,
    target_method: String,
    #[serde(default = "persist")]
    flags: i64,
}

fn persist() -> i64 {
    connections::PERSIST
}

pub(crate) fn plan(_context: &Context, params: &Params) -> Planned {
    let args: Args = params::read(params)?;
    if !ALLOWED.contains(&args.flags) {
        return Err(refuse::invalid("flags", format!("{ALLOWED:?} are accepted")));
    }
    let (root, emitter) = owned::find(&args.emitter_node)?;
    let target = node_path::edited(&args.target_node)?;
    let callable = check(&args, &emitter, &target)?;
    let before = json!({ "connected": false });
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
    let mut action = Edit::begin(&format!("Connect {}", args.signal_name), root)?;
    let made = [signal.clone(), callable.to_variant(), args.flags.to_variant()];
    action.does(&object, "connect", &made);
    action.undoes(&object, "disconnect", &[signal, callable.to_variant()]);
    action.commit();
    Ok(edit::done(json!({
        "connected": emitter.is_connected(args.signal_name.as_str(), callable),
        "before": before,
        "flags": connections::flags(emitter, &args.signal_name, callable),
    })))
}

fn check(args: &Args, emitter: &Gd<Node>, target: &Gd<Node>) -> Result<Callable, BridgeError> {
    let name = args.signal_name.as_str();
    let Some(given) = arity(&emitter.get_signal_list(), name) else {
        let message = format!("`{}` has no signal `{name}`", args.emitter_node);
        let error = BridgeError::new(404, "declared_signal_not_found", message)
            .with("field", "signal_name");
        let arguments = json!({ "emitter_node": args.emitter_node });
        return Err(refuse::next_call(
            error,
            "signal_list_connections",
            arguments,
            "lists its signals",
        ));
    };
    check_script(target)?;
    let methods = target.get_method_list();
    let method = methods.iter_shared().find(|method| text(method, "name") == args.target_method);
    let Some(method) = method else {
        let message = format!("`{}` has no method `{}`", args.target_node, args.target_method);
        return Err(BridgeError::new(404, "target_method_not_found", message)
            .with("field", "target_method"));
    };
    check_arity(args, &method, given)?;
    let callable = Callable::from_object_method(target, args.target_method.as_str());
    if emitter.is_connected(name, &callable) {
        let message = format!("`{name}` is connected to that method already");
        return Err(refuse::already("signal_connection_already_exists", message));
    }
    Ok(callable)
}

/// A script that does not compile has no methods to connect to.
fn check_script(target: &Gd<Node>) -> Result<(), BridgeError> {
    let Some(script) = target.get_script() else { return Ok(()) };
    if script.is_tool() || is_compiled(&script) {
        return Ok(());
    }
    let path = script.get_path().to_string();
    let message = format!("`{path}` does not compile, so its methods are not known");
    Err(refuse::conflict("target_script_not_compiled", message).with("script_path", path))
}

/// An editor makes no instances of scripts that are no tools, so only their methods tell.
fn is_compiled(script: &Gd<Script>) -> bool {
    !script.get_script_method_list().is_empty() || script.get_source_code().is_empty()
}

fn check_arity(args: &Args, method: &VarDictionary, given: usize) -> Result<(), BridgeError> {
    /// The engine's bit for a method that takes any number of arguments.
    const VARARG: i64 = 16;
    let list = |key: &str| {
        let found = method.get(key).and_then(|list| list.try_to::<AnyArray>().ok());
        found.map_or(0, |list| list.len())
    };
    let flags = method.get("flags").and_then(|flags| flags.try_to::<i64>().ok()).unwrap_or(0);
    let most = list("args");
    let least = most.saturating_sub(list("default_args"));
    if flags & VARARG != 0 || (least..=most).contains(&given) {
        return Ok(());
    }
    let message = format!(
        "`{}` gives {given} arguments, and `{}` takes {least} to {most}",
        args.signal_name, args.target_method
    );
    Err(refuse::conflict("signal_target_arity_incompatible", message)
        .with("field", "target_method"))
}

/// How many arguments a signal gives, if there is one of this name.
fn arity(signals: &Array<VarDictionary>, name: &str) -> Option<usize> {
    let signal = signals.iter_shared().find(|signal| text(signal, "name") == name)?;
    let args = signal.get("args")?.try_to::<AnyArray>().ok()?;
    Some(args.len())
}

fn text(entry: &VarDictionary, key: &str) -> String {
    entry.get(key).map(|value| value.stringify().to_string()).unwrap_or_default()
}
