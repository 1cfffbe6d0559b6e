//! `signal_connect`: connects a signal to a method, to be saved with the scene.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::edit;

const METHOD: &str = "signal.connect";

/// The node has no signal of this name.
pub(super) const DECLARED_SIGNAL_NOT_FOUND: Code = Code::new(404, "declared_signal_not_found");
/// The node has no method of this name.
const TARGET_METHOD_NOT_FOUND: Code = Code::new(404, "target_method_not_found");
/// The script does not compile, so its methods are not known.
const TARGET_SCRIPT_NOT_COMPILED: Code = Code::new(409, "target_script_not_compiled");
/// The signal is connected to that method.
const ALREADY_CONNECTED: Code = Code::new(409, "signal_connection_already_exists");
/// The method can't take what the signal gives.
const ARITY_INCOMPATIBLE: Code = Code::new(409, "signal_target_arity_incompatible");

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 1024))]
    emitter_node: String,
    #[schemars(length(min = 1, max = 128))]
    signal_name: String,
    #[schemars(length(min = 1, max = 1024))]
    target_node: String,
    #[schemars(length(min = 1, max = 128))]
    target_method: String,
    /// The engine's: 2 persist, 1 deferred, 4 one shot, 32 provenance.
    #[serde(default = "persist")]
    #[schemars(extend("enum" = [2, 3, 6, 7, 34, 35, 38, 39]))]
    flags: i64,
}

fn persist() -> i64 {
    2
}

pub(crate) fn tool() -> Tool {
    edit::<Args>(
        "signal_connect",
        "Connects a node's signal to a method of another node, saved with the scene. Undoable.",
        Effects::ADDS,
        METHOD,
        |args| &args.emitter_node,
    )
    .core()
    .refuses(&[
        DECLARED_SIGNAL_NOT_FOUND,
        TARGET_METHOD_NOT_FOUND,
        TARGET_SCRIPT_NOT_COMPILED,
        ALREADY_CONNECTED,
        ARITY_INCOMPATIBLE,
    ])
}
