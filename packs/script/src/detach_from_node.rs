//! `script_detach_from_node`: takes a node's script off.
//!
//! Spec: P-53, scripts.

use didi_plugin_api::prelude::*;

use crate::attach_to_node::{ASSIGNMENT_REJECTED, EDITOR, NODE_CODES};

const METHOD: &str = "script.detachFromNode";

/// The node has no script.
const NO_SCRIPT_ATTACHED: Code = Code::new(409, "no_script_attached");

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 1024))]
    target_node: String,
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "script_detach_from_node",
        "Takes the script off a node of the open scene. Undoable.",
        Effects::CHANGES,
        EDITOR,
        METHOD,
    )
    .probed(METHOD, |args: &Args| &args.target_node)
    .leaves(&[Work::Save])
    .refuses(NODE_CODES)
    .refuses(&[codes::NODE_NOT_OWNED, NO_SCRIPT_ATTACHED, ASSIGNMENT_REJECTED])
}
