//! Navigation maps of an edited scene or a running game.

pub(crate) mod bake_mesh;
pub(crate) mod query_path;
