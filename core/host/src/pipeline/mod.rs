//! The Unity Pipeline.

pub mod client;
