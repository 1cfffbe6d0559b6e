//! Step five: which engine serves the call.
//!
//! The bridge is not part of this build, so the only state is "no engine attached": a tool that can answer
//! from the files does, and one that can't is refused with the way to an engine.
//!
//! Spec: P-9, routes.

use std::sync::Arc;

use didi_plugin_api::{
    desc::Mode,
    refusal::{Refusal, codes},
};

use super::{Call, schema::Validated};
use crate::{catalog::Tool, services};

/// Where a call is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    /// By no engine.
    Unattached,
}

impl Route {
    /// The generation that a confirmation is bound to: it moves when an engine is attached or lost.
    pub fn generation(&self) -> u64 {
        match self {
            Route::Unattached => 0,
        }
    }
}

/// A call with its route and mode.
pub struct Routed {
    pub(super) call: Call,
    pub(super) tool: Arc<Tool>,
    pub(super) request_id: Option<String>,
    pub(super) route: Route,
    pub(super) mode: Mode,
}

/// Chooses the route.
///
/// # Errors
/// `not_connected` for a live tool, and for a modern request that names a session which is not there.
pub fn choose(validated: Validated) -> Result<Routed, Refusal> {
    let Validated { call, tool, request_id } = validated;
    if let Some(session) = &call.caller.session
        && tool.desc.modes.contains(&Mode::Live)
    {
        let message = format!("no runtime session `{session}` is there");
        return Err(Refusal::new(codes::NOT_CONNECTED, message)
            .with("field", "_meta.didi.runtime_session_id")
            .next_call("runtime_list_sessions", "lists the sessions that can be named"));
    }
    match tool.offline_mode() {
        Some(mode) => Ok(Routed { call, tool, request_id, route: Route::Unattached, mode }),
        None => Err(services::not_connected(&format!("`{}`", tool.desc.name))),
    }
}
