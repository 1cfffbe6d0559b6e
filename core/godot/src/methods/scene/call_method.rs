//! `scene.callMethod`: calls a method that a node's own tool script declares, and waits for a coroutine.

use std::{cell::RefCell, rc::Rc, time::Duration};

use didi_engine::{Answer, Task};
use didi_wire::BridgeError;
use godot::{builtin::VariantType, classes::Script, prelude::*};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    change::{Change, Planned},
    json::{self, Wanted},
    methods::{Begun, Context},
    node_path,
    params::{self, Params},
    refuse,
    waiting::Until,
};

/// Most arguments, and most bytes of all of them in JSON.
const MAX_ARGUMENTS: usize = 8;
const MAX_BYTES: usize = 8 * 1024;

/// Longest wait for a coroutine, in seconds.
const MAX_SECONDS: u64 = 120;

/// What a call of a coroutine gives until it has come to its end.
const COROUTINE: &str = "GDScriptFunctionState";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    target_node: String,
    method_name: String,
    #[serde(default)]
    arguments: Vec<Value>,
    #[serde(default = "ten")]
    timeout_seconds: u64,
}

fn ten() -> u64 {
    10
}

pub(crate) fn plan(_context: &Context, params: &Params) -> Planned {
    let args: Args = params::read(params)?;
    if !(1..=MAX_SECONDS).contains(&args.timeout_seconds) {
        return Err(refuse::invalid("timeout_seconds", format!("1 to {MAX_SECONDS} are taken")));
    }
    let node = node_path::edited(&args.target_node)?;
    let method = declared(&args, &node)?;
    let values = values(&args.arguments, &method)?;
    let before = json!({
        "method_name": args.method_name,
        "method_exists": true,
        "script_is_tool": true,
        "signature": signature(&method),
    });
    Ok(Change::later(before, move |_| make(args, node, &values)))
}

fn make(args: Args, mut node: Gd<Node>, values: &[Variant]) -> Begun {
    let returned = node.call(args.method_name.as_str(), values);
    let limit = Duration::from_secs(args.timeout_seconds);
    let state = returned.try_to::<Gd<Object>>().ok().filter(|state| state.is_class(COROUTINE));
    Ok(match state {
        None => {
            let mut answer = Some(told(&args, false, &returned));
            Until::boxed(limit, late, move || answer.take())
        }
        Some(state) => awaited(args, state, limit),
    })
}

/// Waits for the end of a coroutine, which tells what it returned.
fn awaited(args: Args, mut state: Gd<Object>, limit: Duration) -> Box<dyn Task> {
    let ended: Rc<RefCell<Option<Variant>>> = Rc::default();
    let slot = Rc::clone(&ended);
    let end = Callable::from_fn("didi_coroutine_end", move |given| {
        let value = given.first().map(|value| (*value).clone()).unwrap_or_default();
        *slot.borrow_mut() = Some(value);
    });
    state.connect("completed", &end);
    Until::boxed(limit, late, move || {
        // Held until then, because a coroutine that nobody holds is never told of.
        let _held = &state;
        ended.borrow_mut().take().map(|value| told(&args, true, &value))
    })
}

fn told(args: &Args, awaited: bool, returned: &Variant) -> Answer {
    Ok(json!({
        "target_node": args.target_node,
        "method_name": args.method_name,
        "awaited": awaited,
        "returned": json::write(returned).unwrap_or_default(),
        "limitation": "what the method changed is not on the undo stack, and not saved",
    }))
}

/// The method as the node's own script declares it.
fn declared(args: &Args, node: &Gd<Node>) -> Result<VarDictionary, BridgeError> {
    let name = args.method_name.as_str();
    if name.starts_with('_') {
        let message = format!("`{name}` is private, as its underscore says");
        return Err(BridgeError::new(403, "method_private", message).with("field", "method_name"));
    }
    let Some(script) = node.get_script() else {
        let message =
            format!("`{}` has no script, whose methods alone are called", args.target_node);
        return Err(BridgeError::new(422, "node_has_no_script", message)
            .with("field", "target_node")
            .with("use_tool", "scene_set_property"));
    };
    if !script.is_tool() {
        let message = "the script is no tool script, so it does not run in the editor";
        return Err(BridgeError::new(422, "script_not_tool", message).with("field", "target_node"));
    }
    let methods = methods(script);
    let found = methods.iter().find(|(method, _)| method == name);
    found.map(|(_, method)| method.clone()).ok_or_else(|| {
        let names: Vec<&String> =
            methods.iter().map(|(name, _)| name).filter(|name| !name.starts_with('_')).collect();
        BridgeError::new(404, "method_not_declared", format!("the script declares no `{name}`"))
            .with("field", "method_name")
            .with("declared", json!(names))
    })
}

/// Methods of a script and of those that it extends.
fn methods(script: Gd<Script>) -> Vec<(String, VarDictionary)> {
    let mut found = vec![];
    let mut next = Some(script);
    while let Some(script) = next {
        for method in script.get_script_method_list().iter_shared() {
            let name = method.get("name").unwrap_or_default().stringify().to_string();
            found.push((name, method));
        }
        next = script.get_base_script();
    }
    found
}

/// The names and types of a method's parameters.
fn signature(method: &VarDictionary) -> Vec<Value> {
    let list = method.get("args").and_then(|list| list.try_to::<AnyArray>().ok());
    let told = |argument: Variant| {
        let argument = argument.try_to::<VarDictionary>().ok()?;
        let kind =
            argument.get("type")?.try_to::<i32>().ok().and_then(VariantType::try_from_ord)?;
        let name = argument.get("name")?.stringify().to_string();
        Some(json!({ "name": name, "type": json::type_name(kind) }))
    };
    list.map_or_else(Vec::new, |list| list.iter_shared().filter_map(told).collect())
}

fn values(sent: &[Value], method: &VarDictionary) -> Result<Vec<Variant>, BridgeError> {
    if sent.len() > MAX_ARGUMENTS || json!(sent).to_string().len() > MAX_BYTES {
        let message = format!("at most {MAX_ARGUMENTS} arguments in {MAX_BYTES} bytes are taken");
        return Err(refuse::invalid("arguments", message));
    }
    let list = |name: &str| method.get(name).and_then(|list| list.try_to::<AnyArray>().ok());
    let declared: Vec<VarDictionary> = list("args").map_or_else(Vec::new, |list| {
        list.iter_shared().filter_map(|argument| argument.try_to().ok()).collect()
    });
    let optional = list("default_args").map_or(0, |list| list.len());
    let required = declared.len().saturating_sub(optional);
    if !(required..=declared.len()).contains(&sent.len()) {
        let message = format!("{required} to {} arguments are taken", declared.len());
        return Err(refuse::conflict("argument_count_mismatch", message)
            .with("field", "arguments")
            .with("expected", declared.len())
            .with("required", required)
            .with("given", sent.len()));
    }
    let mut values = vec![];
    for (index, (value, argument)) in sent.iter().zip(&declared).enumerate() {
        let kind = argument.get("type").and_then(|kind| kind.try_to::<i32>().ok());
        let kind = kind.and_then(VariantType::try_from_ord).unwrap_or(VariantType::NIL);
        values.push(json::read(value, &Wanted::of(kind)).map_err(|fault| {
            refuse::conflict("argument_type_mismatch", format!("argument {index}: {fault}"))
                .with("field", "arguments")
                .with("argument_index", index)
        })?);
    }
    Ok(values)
}

fn late() -> BridgeError {
    BridgeError::new(504, "unknown_outcome", "the coroutine had not ended in time, and goes on")
        .with("outcome", "unknown_outcome")
        .with("retryable", false)
}
