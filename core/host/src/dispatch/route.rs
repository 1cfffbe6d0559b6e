//! Step five: which engine serves the call.
//!
//! A modern request is served by the session that it names and by no other; a legacy one by the session that the
//! process has selected, or that is clearly meant. Without an engine a tool that can answer from the files does,
//! and one that can't is refused with the way to an engine.
//!
//! Spec: P-9, routes.

use std::sync::Arc;

use didi_plugin_api::{desc::Mode, refusal::Refusal};
use serde_json::Value;

use super::{Call, Caller, schema::Validated};
use crate::{
    bridge::{self, Routes},
    catalog::Tool,
    services,
};

/// Where a call is served.
#[derive(Clone)]
pub enum Route {
    /// By no engine.
    Unattached,
    /// By this one.
    Attached(Arc<bridge::Route>),
}

impl Route {
    /// The generation that a confirmation is bound to: it moves when an engine is attached or lost.
    pub fn generation(&self) -> u64 {
        match self {
            Route::Unattached => 0,
            Route::Attached(route) => route.generation(),
        }
    }

    /// The session that serves.
    pub fn session(&self) -> Option<String> {
        match self {
            Route::Unattached => None,
            Route::Attached(route) => Some(route.identity().session_id.to_string()),
        }
    }

    /// The engine behind it.
    pub fn engine(&self) -> Option<&Arc<bridge::Route>> {
        match self {
            Route::Unattached => None,
            Route::Attached(route) => Some(route),
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
/// `not_connected` for a live tool without an engine; what opening a named session gives.
pub fn choose(validated: Validated, routes: &Routes) -> Result<Routed, Refusal> {
    let Validated { call, tool, request_id } = validated;
    let found =
        if tool.desc.modes.contains(&Mode::Live) { engine_of(&call.caller, routes)? } else { None };
    if let Some(route) = found {
        let route = Route::Attached(route);
        return Ok(Routed { call, tool, request_id, route, mode: Mode::Live });
    }
    match tool.offline_mode() {
        Some(mode) => Ok(Routed { call, tool, request_id, route: Route::Unattached, mode }),
        None => Err(none_attached(&tool.desc.name, &call.caller, routes)),
    }
}

/// The engine that a caller's requests are served by.
///
/// # Errors
/// What opening a named session gives; `session_detached`, once, after a person sent this process away.
pub fn engine_of(caller: &Caller, routes: &Routes) -> Result<Option<Arc<bridge::Route>>, Refusal> {
    match (&caller.session, caller.modern) {
        (Some(session), _) => routes.named(session, SESSION_FIELD).map(Some),
        (None, true) => Ok(None),
        (None, false) => {
            routes.tell_of_detachment()?;
            Ok(routes.selected_or_found())
        }
    }
}

/// Where a modern request names its session.
pub const SESSION_FIELD: &str = "_meta.didi.runtime_session_id";

fn none_attached(tool: &str, caller: &Caller, routes: &Routes) -> Refusal {
    let mut refusal = services::not_connected(&format!("`{tool}`"));
    if caller.modern {
        refusal = refusal.with("field", SESSION_FIELD);
    }
    let candidates = routes.candidates();
    if candidates.is_empty() {
        refusal
    } else {
        refusal.with("candidates", Value::Array(candidates))
    }
}
