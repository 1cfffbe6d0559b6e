//! Step six: may this kind of engine serve the call?
//!
//! Which kinds a tool takes stands in its declaration. Without an engine there is nothing to compare.
//!
//! Spec: P-10, session kinds.

use std::sync::Arc;

use didi_plugin_api::{
    desc::{Mode, SessionKind},
    refusal::{Refusal, codes},
};
use didi_wire::descriptor;
use serde_json::json;

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
/// `session_kind_rejected` when the attached engine is of another kind than the tool takes.
pub fn check(routed: Routed) -> Result<Admitted, Refusal> {
    let Routed { call, tool, request_id, route, mode } = routed;
    if let Some(engine) = route.engine() {
        let (kind, allowed) = (engine.kind(), &tool.desc.sessions);
        if !allows(allowed, kind) {
            let message = format!(
                "`{}` does not run in {}, which is what the attached engine is",
                tool.desc.name,
                a(kind)
            );
            return Err(Refusal::new(codes::SESSION_KIND_REJECTED, message)
                .with("selected_session_kind", kind.as_str())
                .with("allowed_session_kinds", json!(allowed))
                .floor());
        }
    }
    Ok(Admitted { call, tool, request_id, route, mode })
}

/// Whether a declaration takes engines of a kind.
pub fn allows(declared: &[SessionKind], kind: descriptor::SessionKind) -> bool {
    let same = |one: &SessionKind| match one {
        SessionKind::Editor => kind == descriptor::SessionKind::Editor,
        SessionKind::Game => kind == descriptor::SessionKind::Game,
    };
    declared.iter().any(same)
}

fn a(kind: descriptor::SessionKind) -> &'static str {
    match kind {
        descriptor::SessionKind::Editor => "an editor",
        descriptor::SessionKind::Game => "a game",
    }
}
