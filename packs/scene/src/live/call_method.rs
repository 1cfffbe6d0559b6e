//! `scene_call_method`: calls a method that a node's own tool script declares.
//!
//! It runs the project's code in the editor, so it is confirmed; what it changed is known to nobody but itself.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{EDITOR, NODE_CODES, codes};

const METHOD: &str = "scene.callMethod";

/// The script declares no method of this name.
const METHOD_NOT_DECLARED: Code = Code::new(404, "method_not_declared");
/// Its name begins with an underscore.
const METHOD_PRIVATE: Code = Code::new(403, "method_private");
/// The script does not run in the editor.
const SCRIPT_NOT_TOOL: Code = Code::new(422, "script_not_tool");
/// The node has no script, whose methods alone are called.
const NODE_HAS_NO_SCRIPT: Code = Code::new(422, "node_has_no_script");
/// More or fewer arguments than the method takes.
const COUNT_MISMATCH: Code = Code::new(409, "argument_count_mismatch");
/// An argument of another type than the method's.
const TYPE_MISMATCH: Code = Code::new(409, "argument_type_mismatch");

/// Deepest nesting of an argument, and most bytes of all of them.
const MAX_DEPTH: usize = 4;
const MAX_BYTES: usize = 8 * 1024;

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 1024))]
    target_node: String,
    #[schemars(length(min = 1, max = 128))]
    method_name: String,
    /// At most 4 levels deep, 8 KiB in all.
    #[serde(default)]
    #[schemars(length(max = 8))]
    arguments: Vec<AnyValue>,
    /// For a coroutine.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 120))]
    timeout_seconds: u32,
}

fn ten() -> u32 {
    10
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "scene_call_method",
        "Calls a method of a node's own @tool script in the editor and returns its value.",
        Effects::CHANGES,
        EDITOR,
        METHOD,
    )
    .probed(METHOD, |args: &Args| &args.target_node)
    .checked(check)
    .confirm(Confirmation::Always)
    .leaves(&[Work::Save])
    .refuses(NODE_CODES)
    .refuses(&[
        codes::UNKNOWN_OUTCOME,
        METHOD_NOT_DECLARED,
        METHOD_PRIVATE,
        SCRIPT_NOT_TOOL,
        NODE_HAS_NO_SCRIPT,
        COUNT_MISMATCH,
        TYPE_MISMATCH,
    ])
}

fn check(args: &Args) -> Result<(), Refusal> {
    if args.arguments.iter().any(|one| depth(&one.0) > MAX_DEPTH) {
        let message = format!("an argument is nested at most {MAX_DEPTH} levels deep");
        return Err(Refusal::invalid("arguments", message));
    }
    let bytes = serde_json::to_vec(&args.arguments).map_or(usize::MAX, |text| text.len());
    if bytes > MAX_BYTES {
        return Err(Refusal::invalid("arguments", format!("{bytes} bytes are over {MAX_BYTES}")));
    }
    Ok(())
}

/// How many containers lie in one another.
pub(super) fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}
