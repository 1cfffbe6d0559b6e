//! `script_attach_to_node`: gives a node of the open scene a script.
//!
//! Spec: P-53, scripts.

use didi_plugin_api::prelude::*;

const METHOD: &str = "script.attachToNode";
pub(crate) const EDITOR: &[SessionKind] = &[SessionKind::Editor];

/// The node has a script.
const ALREADY_ATTACHED: Code = Code::new(409, "script_already_attached");
/// The script extends another class than the node's.
const BASE_INCOMPATIBLE: Code = Code::new(422, "script_base_incompatible");
/// The engine did not take the script.
pub(crate) const ASSIGNMENT_REJECTED: Code = Code::new(409, "script_assignment_rejected");

/// What every tool about a node of the open scene may be refused with.
pub(crate) const NODE_CODES: &[Code] =
    &[codes::INVALID_ARGUMENTS, codes::NOT_CONNECTED, codes::NO_EDITED_SCENE, codes::NOT_FOUND];

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 1024))]
    target_node: String,
    #[schemars(length(min = 1, max = 1024))]
    script_path: String,
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "script_attach_to_node",
        "Gives a node of the open scene an existing script. Undoable.",
        Effects::CHANGES,
        EDITOR,
        METHOD,
    )
    .core()
    .probed(METHOD, |args: &Args| &args.target_node)
    .leaves(&[Work::Save])
    .refuses(NODE_CODES)
    .refuses(&[
        codes::NODE_NOT_OWNED,
        ALREADY_ATTACHED,
        BASE_INCOMPATIBLE,
        ASSIGNMENT_REJECTED,
    ])
}
