//! The Didi server as a library; the binary is a thin shell around it.
//!
//! Data flows one way: [`front`] bytes to messages, [`mcp`] the protocol, [`dispatch`] the gates of a call,
//! [`catalog`] the tools, [`loader`] the packs behind them, [`answer`] what goes back. `docs/architecture.md`
//! draws the map.

pub mod answer;
pub mod bridge;
pub mod builtin;
pub mod cancel;
pub mod catalog;
pub mod child;
pub mod cli;
pub mod dispatch;
pub mod engine;
pub mod files;
pub mod front;
pub mod heap;
pub mod jobs;
pub mod journal;
pub mod jsonrpc;
pub mod lane;
pub mod loader;
pub mod log;
pub mod mcp;
pub mod packs_cmd;
pub mod page;
pub mod pipeline;
pub mod recovery;
pub mod serve;
pub mod services;
pub mod setup;
#[cfg(unix)]
pub mod signals;
pub mod source;
pub mod text;
pub mod tour;
pub mod watch;
