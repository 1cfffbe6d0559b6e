//! Refusals that several methods share, each with its way out.

use didi_wire::BridgeError;
use serde_json::{Value, json};

/// An argument that is not taken.
pub(crate) fn invalid(field: &str, message: impl Into<String>) -> BridgeError {
    BridgeError::new(400, "invalid_arguments", message).with("field", field)
}

/// Something that is not there; `tool` lists what is.
pub(crate) fn not_found(message: impl Into<String>, tool: &str, reason: &str) -> BridgeError {
    next_call(BridgeError::new(404, "not_found", message), tool, json!({}), reason)
}

/// A node that is not in the tree.
pub(crate) fn no_node(path: &str, why: &str) -> BridgeError {
    let message = format!("`{path}` {why}");
    let error = BridgeError::new(404, "not_found", message).with("target_node", path);
    next_call(error, "scene_get_hierarchy", json!({ "summary": true }), "lists the nodes there are")
}

/// A state that the call cannot go on from, without a remedy of its own.
pub(crate) fn conflict(code: &str, message: impl Into<String>) -> BridgeError {
    BridgeError::new(409, code, message)
}

/// The state that was asked for is there already.
pub(crate) fn already(code: &str, message: impl Into<String>) -> BridgeError {
    BridgeError::new(409, code, message).with("no_remedy", "what was asked for is so already")
}

/// The engine did not do what it should have.
pub(crate) fn engine(code: &str, message: impl Into<String>) -> BridgeError {
    BridgeError::new(500, code, message)
}

/// The same with a call to make first.
pub(crate) fn next_call(
    error: BridgeError,
    tool: &str,
    arguments: Value,
    reason: &str,
) -> BridgeError {
    error.with("next_call", json!({ "tool": tool, "arguments": arguments, "reason": reason }))
}
