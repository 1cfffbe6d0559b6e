//! Signals between nodes of the edited scene.

pub(crate) mod connect;
