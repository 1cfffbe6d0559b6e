//! One test binary over the built server: every test starts the program and looks at what it says.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests start programs, write files and read the clock themselves"
)]
#[cfg(unix)]
mod arc;
mod bridge;
mod cli;
mod contracts;
mod control_room;
#[cfg(unix)]
mod faults;
mod godot;
#[cfg(unix)]
mod live;
#[cfg(unix)]
mod live_many;
#[cfg(unix)]
mod live_tools;
mod normalization;
mod packs;
mod pages;
mod paths;
mod pipeline;
mod pipeline_client;
#[cfg(target_os = "linux")]
mod recovery;
mod refusals;
mod renames;
mod scenarios;
mod server;
mod setup;
mod surface;
mod tidy;
mod transcripts;
mod two_servers;
