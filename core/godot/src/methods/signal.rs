//! Signals between nodes of the edited scene.

pub(crate) mod connect;
mod connections;
pub(crate) mod disconnect;
pub(crate) mod list_connections;
