//! Navigation maps of an edited scene or a running game.

pub(crate) mod query_path;
