//! How a call over the bridge fails: on the way, or in the engine's own words.
//!
//! A failure of the transport does not say whether the engine did what it was asked, so it says what is known:
//! whether the request went out, how long was waited, and whether the engine's process still lives.
//!
//! Spec: P-9, routes.

use std::time::Duration;

use didi_plugin_api::refusal::{Code, Refusal, Unfinished};
use didi_wire::{
    descriptor::Identity,
    envelope::{BridgeError, Outcome},
    process::{self, Liveness},
};
use serde_json::{Map, Value, json};

use super::route::HANDSHAKE;
use crate::answer::floor::gate_codes::{LIVE_SESSION_ENDED, ROUTE_DEADLINE_EXCEEDED};

/// Why a connection gave no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The other end hung up.
    PeerClosed,
    /// This end ran out of time.
    Deadline,
    /// The system reported an error, or what came is no answer to this request.
    IoError,
    /// The caller gave up.
    Stopped,
}

impl Reason {
    fn as_str(self) -> &'static str {
        match self {
            Reason::PeerClosed => "peer_closed",
            Reason::Deadline => "deadline",
            Reason::IoError => "io_error",
            Reason::Stopped => "stopped",
        }
    }
}

/// A call that got no answer.
#[derive(Debug, Clone)]
pub struct Failure {
    /// Why.
    pub reason: Reason,
    /// What went wrong, in a few words.
    pub detail: String,
    /// Whether a byte of the request may have reached the engine.
    pub request_started: bool,
    /// How long was waited for this request.
    pub waited: Duration,
}

impl Failure {
    /// A failure before anything was sent.
    pub fn before(reason: Reason, detail: impl Into<String>, waited: Duration) -> Self {
        Failure { reason, detail: detail.into(), request_started: false, waited }
    }

    /// The refusal of a call to `method` that failed so; `repeated` when a second try failed, too.
    pub fn refusal(&self, method: &str, identity: &Identity, repeated: bool) -> Refusal {
        let liveness = process::liveness(identity.pid, identity.started_at_ms);
        let gone = matches!(liveness, Liveness::Gone);
        let code = if gone { LIVE_SESSION_ENDED } else { ROUTE_DEADLINE_EXCEEDED };
        let message = format!(
            "`{method}` got no answer from the {}: {}",
            identity.kind.as_str(),
            self.detail
        );
        // What the caller asked for comes after the handshake.
        let may_be_done = self.request_started && method != HANDSHAKE;
        let outcome = if may_be_done { Outcome::Unknown } else { Outcome::NotStarted };
        let mut transport = json!({
            "request_started": self.request_started,
            "outcome_unknown": may_be_done,
            "timed_out": self.reason == Reason::Deadline,
            "reason": self.reason.as_str(),
            "waited_ms": u64::try_from(self.waited.as_millis()).unwrap_or(u64::MAX),
        });
        if repeated {
            transport["repeated"] = true.into();
        }
        let refusal = Refusal::new(code, message)
            .with("transport", transport)
            .with("outcome", outcome.as_str())
            .with("route_quarantine", true);
        engine_state(refusal, liveness).next_call(
            "runtime_list_sessions",
            "shows whether the engine still runs; read back what a change may have done before it is sent again",
        )
    }
}

/// Says what became of the engine's process, and why that is not known.
fn engine_state(refusal: Unfinished, liveness: Liveness) -> Unfinished {
    let refusal = refusal.with("engine", liveness.as_str());
    let Liveness::Unknown(reason) = liveness else { return refusal };
    let refusal = refusal.with("engine_reason", reason.as_str());
    match reason.os_error() {
        Some(number) => refusal.with("engine_os_error", number),
        None => refusal,
    }
}

/// The refusal that an engine gave, with its remedy where it named one.
pub fn refused(method: &str, error: BridgeError) -> Refusal {
    let BridgeError { code, message, data } = error;
    let mut data = data;
    let name = match data.remove("code") {
        Some(Value::String(name)) if is_code(&name) => name,
        _ => "engine_refused".to_owned(),
    };
    let status = if (400..600).contains(&code) { code } else { 502 };
    let message = if message.is_empty() { format!("`{method}` was refused") } else { message };
    let mut refusal = Refusal::new(Code { status, name: name.into() }, message).floor();
    *refusal.data = data;
    refusal
}

fn is_code(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// What an engine printed while a call ran, taken out of its result or its error.
pub fn take_diagnostics(members: &mut Map<String, Value>) -> Map<String, Value> {
    const NAMES: [&str; 3] =
        ["engine_diagnostics", "engine_diagnostics_omitted", "engine_diagnostics_note"];
    let taken =
        NAMES.into_iter().filter_map(|name| Some((name.to_owned(), members.shift_remove(name)?)));
    taken.collect()
}
