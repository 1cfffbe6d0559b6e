//! `signal.emit`: emits a signal of a node of the edited scene, its arguments checked against its declaration.

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::{builtin::VariantType, prelude::*};
use serde::Deserialize;
use serde_json::{Value, json};

use super::connections;
use crate::{
    change::{Change, Planned},
    json::{self, Wanted},
    methods::Context,
    node_path,
    params::{self, Params},
    refuse,
};

/// Most arguments, and most bytes of all of them in JSON.
const MAX_ARGUMENTS: usize = 16;
const MAX_BYTES: usize = 64 * 1024;

/// Deepest nesting, most entries of a container, and longest text of an argument.
const MAX_DEPTH: usize = 8;
const MAX_ENTRIES: usize = 64;
const MAX_TEXT: usize = 4096;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    signal_name: String,
    emitter_node: Option<String>,
    target_node: Option<String>,
    #[serde(default)]
    arguments: Vec<Value>,
}

pub(crate) fn plan(_context: &Context, params: &Params) -> Planned {
    let args: Args = params::read(params)?;
    let path = connections::emitter(args.emitter_node.as_deref(), args.target_node.as_deref())?;
    let node = node_path::edited(path)?;
    let declared = declared(&node, &args.signal_name, path)?;
    let values = values(&args.arguments, &declared)?;
    let count = connections::of(&node, &args.signal_name).len();
    let before = json!({ "connection_count": count });
    Ok(Change::now(before, move |_| make(&args, node, &values, count)))
}

fn make(args: &Args, mut node: Gd<Node>, values: &[Variant], count: usize) -> Answer {
    if count > 0 {
        node.emit_signal(args.signal_name.as_str(), values);
    }
    Ok(json!({
        "emitted": count > 0,
        "connection_count": count,
        "limitation": "what the listeners did is not known, and undo does not take it back",
    }))
}

/// The types of a signal's arguments.
fn declared(node: &Gd<Node>, name: &str, path: &str) -> Result<Vec<VariantType>, BridgeError> {
    let signals = node.get_signal_list();
    let named =
        |signal: &VarDictionary| signal.get("name").is_some_and(|one| one.stringify() == name);
    let Some(signal) = signals.iter_shared().find(named) else {
        let message = format!("`{path}` has no signal `{name}`");
        let error = BridgeError::new(404, "declared_signal_not_found", message);
        let arguments = json!({ "emitter_node": path });
        return Err(refuse::next_call(
            error,
            "signal_list_connections",
            arguments,
            "lists its signals",
        ));
    };
    let arguments = signal.get("args").and_then(|args| args.try_to::<AnyArray>().ok());
    let kind = |argument: Variant| {
        let argument = argument.try_to::<VarDictionary>().ok()?;
        VariantType::try_from_ord(argument.get("type")?.try_to::<i32>().ok()?)
    };
    Ok(arguments
        .map_or_else(Vec::new, |arguments| arguments.iter_shared().filter_map(kind).collect()))
}

fn values(sent: &[Value], declared: &[VariantType]) -> Result<Vec<Variant>, BridgeError> {
    let refuse = |status, code: &str, message: String| {
        Err(BridgeError::new(status, code, message).with("field", "arguments"))
    };
    if sent.len() > MAX_ARGUMENTS {
        let message = format!("at most {MAX_ARGUMENTS} arguments are taken");
        return refuse(400, "signal_emit_argument_count_exceeded", message);
    }
    if json!(sent).to_string().len() > MAX_BYTES {
        let message = format!("the arguments are over {MAX_BYTES} bytes");
        return refuse(413, "signal_emit_arguments_too_large", message);
    }
    if sent.len() != declared.len() {
        let message =
            format!("the signal has {} arguments, and {} were sent", declared.len(), sent.len());
        return refuse(400, "signal_emit_arity_mismatch", message);
    }
    let mut values = vec![];
    for (index, (value, kind)) in sent.iter().zip(declared).enumerate() {
        if let Some(fault) = too_large(value, 0) {
            let message = format!("argument {index}: {fault}");
            return refuse(413, "signal_emit_arguments_too_large", message);
        }
        if matches!(*kind, VariantType::CALLABLE | VariantType::SIGNAL | VariantType::RID) {
            let message =
                format!("argument {index}: a `{}` has no form in JSON", json::type_name(*kind));
            return refuse(400, "unsupported_signal_emit_argument", message);
        }
        match json::read(value, &Wanted::of(*kind)) {
            Ok(value) => values.push(value),
            Err(fault) => {
                let message = format!("argument {index}: {fault}");
                return refuse(400, "signal_emit_argument_type_mismatch", message);
            }
        }
    }
    Ok(values)
}

/// What of a value is over the bounds.
fn too_large(value: &Value, depth: usize) -> Option<String> {
    let inside = |values: Vec<&Value>| {
        if depth == MAX_DEPTH {
            return Some(format!("a value is nested at most {MAX_DEPTH} levels deep"));
        }
        if values.len() > MAX_ENTRIES {
            return Some(format!("a container has at most {MAX_ENTRIES} entries"));
        }
        values.into_iter().find_map(|value| too_large(value, depth + 1))
    };
    match value {
        Value::String(text) if text.len() > MAX_TEXT => {
            Some(format!("a text has at most {MAX_TEXT} bytes"))
        }
        Value::Array(items) => inside(items.iter().collect()),
        Value::Object(members) => inside(members.values().collect()),
        _ => None,
    }
}
