//! What both ends of the bridge agree on: bytes and files in, values out.
//!
//! A server and an engine meet through a session descriptor, a small private file, and speak in frames over
//! a local socket. This crate knows the files, the names, the frames and the table of methods. It opens no
//! socket, decides no deadline and knows neither MCP nor packs.
//!
//! * [`frame`]: the length prefix, an encoder and an incremental decoder.
//! * [`envelope`]: requests, answers, and errors with their outcome.
//! * [`methods`]: the one table of bridge methods.
//! * [`descriptor`]: who listens where; its public form has no token.
//! * [`discovery`]: finding, publishing and retiring descriptors. [`lock`]: one client a session.
//! * [`endpoint`], [`session_dir`]: names. [`process`]: whether the process is still the one that was meant.
//! * [`addon`]: where the engine's end lies in a project, and how a build of it is known.
//! * [`token`]: the secret that the descriptor hands from one end to the other.
#![deny(missing_docs)]

pub mod addon;
pub mod descriptor;
pub mod discovery;
pub mod endpoint;
pub mod envelope;
pub mod frame;
mod hex;
pub mod lock;
pub mod methods;
mod open;
pub mod process;
pub mod session_dir;
pub mod token;

pub use descriptor::{Descriptor, Identity, SessionId, SessionKind};
pub use envelope::{BridgeError, Outcome, Request, RequestId, Response};
pub use token::SessionToken;

/// The version of the link, which both ends echo and compare.
pub const PROTOCOL_VERSION: &str = "1.3";

/// The member of a request's parameters that carries the token; stripped before a method sees them.
pub const TOKEN_PARAM: &str = "_didi_session_token";

/// The member of a request's parameters that names the step of undo which its change is part of; stripped, too. At most
/// [`MAX_UNDO_GROUP_BYTES`] long.
pub const UNDO_GROUP_PARAM: &str = "_didi_undo_group";

/// Longest name of a step that several changes share.
pub const MAX_UNDO_GROUP_BYTES: usize = 64;

/// Set to anything but nothing in the environment of an engine that answers one question: it publishes no
/// session.
pub const QUIET_ENGINE_VAR: &str = "DIDI_NO_SESSION";
