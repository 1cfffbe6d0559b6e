//! The Unity Pipeline.

pub mod client;
pub mod cli;
