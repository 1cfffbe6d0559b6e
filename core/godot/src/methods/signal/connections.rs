//! Connections of a signal as the engine lists them.

use didi_wire::BridgeError;
use godot::{builtin::Callable, prelude::*};

use crate::refuse;

/// The engine's bit for a connection that is saved with the scene.
pub(super) const PERSIST: i64 = 2;

/// The node whose signals are meant: by its name, or by the older one.
///
/// # Errors
/// `invalid_arguments` (400) unless there is exactly one of the two.
pub(super) fn emitter<'a>(
    emitter_node: Option<&'a str>,
    target_node: Option<&'a str>,
) -> Result<&'a str, BridgeError> {
    match (emitter_node, target_node) {
        (Some(path), None) | (None, Some(path)) => Ok(path),
        _ => {
            let message = "exactly one of `emitter_node` and `target_node` is needed";
            Err(refuse::invalid("emitter_node", message))
        }
    }
}

/// One connection.
pub(super) struct Connection {
    pub(super) callable: Callable,
    pub(super) flags: i64,
}

/// All connections of a signal.
pub(super) fn of(emitter: &Gd<Node>, signal: &str) -> Vec<Connection> {
    let list = emitter.get_signal_connection_list(signal);
    list.iter_shared()
        .filter_map(|one| {
            let callable = one.get("callable")?.try_to::<Callable>().ok()?;
            let flags = one.get("flags")?.try_to::<i64>().ok()?;
            Some(Connection { callable, flags })
        })
        .collect()
}

/// The flags of a connection, where there is one.
pub(super) fn flags(emitter: &Gd<Node>, signal: &str, callable: &Callable) -> Option<i64> {
    let found = of(emitter, signal).into_iter().find(|one| one.callable == *callable);
    found.map(|one| one.flags)
}
