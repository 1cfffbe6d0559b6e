//! The engine's end of the bridge, without an engine.
//!
//! Whoever embeds it gives it a [`Backend`] that carries out commands on the main thread, and calls
//! [`Pump::frame`] once a frame. Sockets, tokens, deadlines and the log are kept here, so all of it is tested
//! without an engine; what a method does is left to the backend.
//!
//! * [`session`]: opening and closing: bind first, then publish.
//! * [`server`]: connections, the token check, methods answered beside the main thread.
//! * [`queue`]: commands for the main thread and their deadline. [`pump`]: the main thread's side.
//! * [`ring`]: bounded records and cursors. [`diagnostics`]: what was printed while a call ran.
//! * [`sandbox`]: the read-only expressions that may be evaluated.
//! * [`clients`]: who is attached, what it last did, and sending it away. [`activity`]: what keeps commands waiting.
//! * [`debugger`]: who debugs a game. [`debug_adapter`]: the stack of a game that stands, out of an editor's adapter.
//! * [`pace`]: how long a frame may wait for the next command. [`detached`]: work that outlives its call.
#![deny(missing_docs)]

pub mod activity;
pub mod backend;
pub mod clients;
pub mod debug_adapter;
pub mod debugger;
pub mod detached;
pub mod diagnostics;
pub mod pace;
pub mod pump;
pub mod queue;
pub mod ring;
pub mod sandbox;
pub mod server;
pub mod session;
mod transport;

pub use backend::{Answer, Backend, Call, Step, Task};
pub use pump::Pump;
pub use session::{Session, SessionConfig};

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970.
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// A lock that a panic elsewhere has not made useless: what it guards is whole between statements.
fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
