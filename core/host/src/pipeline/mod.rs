//! The Unity Pipeline: the tools of the catalog as commands over HTTP on loopback, and in this very process.
//!
//! [`http`] is thin: it knows requests, sizes and deadlines. [`exec`] takes a body and gives a reply, so that a client
//! without a server calls the same function. [`queue`] runs one command at a time, [`commands`] are the tools as
//! commands, [`batch`] many as one, [`gates`] whether an engine is at rest, [`advert`] port, token and descriptor.
//!
//! Spec: P-60, the Unity Pipeline.

pub mod advert;
pub mod batch;
pub mod cli;
pub mod client;
pub mod commands;
pub mod editor;
pub mod exec;
pub mod gates;
pub mod http;
pub mod probes;
pub mod queue;
pub mod run;
pub mod serve;
