//! `signal_list_connections`: a node's signals and who listens to each.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{EDITOR, read};

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Or `target_node`, the older name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    emitter_node: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    target_node: Option<String>,
}

pub(crate) fn tool() -> Tool {
    read::<Args>(
        "signal_list_connections",
        "Lists a node's signals and the connections of each; `origin: scene` is saved.",
        EDITOR,
        "signal.listConnections",
    )
    .bounded("256 signals, 16 arguments each, 256 connections per signal, and a byte budget")
    .checked(|args: &Args| check_emitter(args.emitter_node.as_ref(), args.target_node.as_ref()))
}

/// Refuses a node that is named by none of the two arguments, or by both.
pub(super) fn check_emitter(
    emitter: Option<&String>,
    target: Option<&String>,
) -> Result<(), Refusal> {
    if emitter.is_some() == target.is_some() {
        let message = "exactly one of `emitter_node` and `target_node` is needed";
        return Err(Refusal::invalid("emitter_node", message));
    }
    Ok(())
}
