//! The bridge in a real editor and a real game, spoken to directly. Effects are looked at in saved files and by
//! a separate engine, never in a method's own answer.

pub(crate) mod activity;
mod assets;
mod authoring;
mod expressions;
pub(crate) mod game;
pub(crate) mod parts;
mod pictures;
mod previews;
mod project;
mod resources;
mod sessions;
mod status;
mod strain;
mod values;
