//! Step six: may this kind of engine serve the call?
//!
//! Which kinds a tool takes stands in its declaration. Without an engine there is nothing to compare; the
//! step has its place so that the bridge adds a comparison and not a path.
//!
//! Spec: P-10, session kinds.

use std::sync::Arc;

use didi_plugin_api::{desc::Mode, refusal::Refusal};

use super::{
    Call,
    route::{Route, Routed},
};
use crate::catalog::Tool;

/// A call that its route may serve.
pub struct Admitted {
    pub(super) call: Call,
    pub(super) tool: Arc<Tool>,
    pub(super) request_id: Option<String>,
    pub(super) route: Route,
    pub(super) mode: Mode,
}

/// Compares the kinds.
///
/// # Errors
/// `session_kind_rejected`, once engines can be attached.
#[allow(clippy::unnecessary_wraps, reason = "an attached engine of the wrong kind is refused here")]
pub fn check(routed: Routed) -> Result<Admitted, Refusal> {
    let Routed { call, tool, request_id, route, mode } = routed;
    match route {
        Route::Unattached => Ok(Admitted { call, tool, request_id, route, mode }),
    }
}
