//! Connections of a signal as the engine lists them.

use godot::{builtin::Callable, prelude::*};

/// The engine's bit for a connection that is saved with the scene.
pub(super) const PERSIST: i64 = 2;

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
