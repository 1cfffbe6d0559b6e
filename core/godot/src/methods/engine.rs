//! What the engine knows.

pub(crate) mod class_exists;
