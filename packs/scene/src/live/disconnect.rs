//! `signal_disconnect`: takes a saved connection out of the open scene.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::edit;

const METHOD: &str = "signal.disconnect";

/// The engine or the editor made the connection, and no scene holds it.
const FOREIGN_CONNECTION: Code = Code::new(409, "unsupported_existing_connection_flags");
/// There is no such connection.
const MISSING_CONNECTION: Code = Code::new(409, "missing_or_ambiguous_signal_connection");

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
}

pub(crate) fn tool() -> Tool {
    edit::<Args>(
        "signal_disconnect",
        "Removes a saved connection of a node's signal. Undoable.",
        Effects::CHANGES,
        METHOD,
        |args| &args.emitter_node,
    )
    .refuses(&[FOREIGN_CONNECTION, MISSING_CONNECTION])
}
