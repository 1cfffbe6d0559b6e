//! What both ends of the Unity Pipeline protocol agree on: what a command is, how a command line becomes its
//! parameters, the bodies that go over the wire, and the file in which an instance says where it listens.
//!
//! No socket, no engine and no tool is known here; the host's `pipeline` module has those.
//!
//! Spec: P-60, the Unity Pipeline.

pub mod bind;
pub mod command;
pub mod descriptor;
pub mod listing;
pub mod reply;
pub mod request;
pub mod tokens;
