//! Pictures of what an editor or a game shows.

pub(crate) mod capture_viewport;
