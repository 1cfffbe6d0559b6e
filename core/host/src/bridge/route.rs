//! One engine that this process holds: its lock, its connections, and calls to it.
//!
//! Connections are made when they are needed and kept for the next call. A call that fails on the way retires
//! the route, that one and no later one; a read is asked once more before that, a change never.
//!
//! Spec: P-9, routes.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use didi_plugin_api::refusal::{Code, Refusal, codes};
use didi_wire::{
    descriptor::{Descriptor, Identity, SessionKind},
    envelope::BridgeError,
    lock::SessionLock,
    methods::{self, Lookup},
    process::{self, Liveness},
};
use serde_json::{Map, Value, json};

use super::{
    failure::{self, Failure, Reason},
    link::{Asked, Goodbye, Link},
};
use crate::{answer::floor::gate_codes::SESSION_DETACHED, cancel::Cancel, source};

/// Longest wait for an ordinary call, connecting and writing included.
pub const CALL_DEADLINE: Duration = Duration::from_secs(17);
/// Longest wait for a handshake: three seconds, and the time in which an engine frees an idle connection.
pub const HANDSHAKE_DEADLINE: Duration =
    Duration::from_secs(if cfg!(windows) { 3 + 1 } else { 3 + 5 });
/// A connection that was idle for longer may have been taken away by the engine, so a new one is made.
const MAX_IDLE: Duration = Duration::from_millis(if cfg!(windows) { 500 } else { 4_000 });
/// Connections that are kept; an engine serves four at once.
const MAX_KEPT: usize = 3;
/// The method by which an engine says who it is.
pub const HANDSHAKE: &str = "session.handshake";

/// The engine is not who its descriptor says.
const IDENTITY_REJECTED: Code = Code::new(409, "protocol_version_rejected");

#[cfg(test)]
mod tests;

/// An engine that this process holds.
pub struct Route {
    descriptor: Descriptor,
    generation: u64,
    retired: AtomicBool,
    stop_requested: AtomicBool,
    /// A person sent this process away.
    sent_away: AtomicBool,
    /// An answer said so already.
    told: AtomicBool,
    idle: Mutex<Vec<Link>>,
    _lock: SessionLock,
}

/// An answer of an engine.
#[derive(Debug, Default)]
pub struct Answered {
    /// The result.
    pub result: Value,
    /// What the engine printed meanwhile.
    pub diagnostics: Map<String, Value>,
    /// How often the request was sent anew.
    pub repeats: u32,
}

impl Route {
    /// Opens a route: the lock is held already, the handshake has to tell the same identity.
    ///
    /// # Errors
    /// `session_token_rejected` and others of the engine's own; `protocol_version_rejected` when it is another
    /// engine; a failure of the transport.
    pub fn open(
        descriptor: Descriptor,
        lock: SessionLock,
        generation: u64,
    ) -> Result<Self, Refusal> {
        let route = Route {
            descriptor,
            generation,
            retired: AtomicBool::new(false),
            stop_requested: AtomicBool::new(false),
            sent_away: AtomicBool::new(false),
            told: AtomicBool::new(false),
            idle: Mutex::default(),
            _lock: lock,
        };
        route.handshake(&Cancel::default())?;
        Ok(route)
    }

    /// Who the engine is.
    pub fn identity(&self) -> &Identity {
        &self.descriptor.identity
    }

    /// Editor or game.
    pub fn kind(&self) -> SessionKind {
        self.descriptor.identity.kind
    }

    /// Which of this process's routes it is; no two have the same number.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Whether it was given up after a failure.
    pub fn is_retired(&self) -> bool {
        self.retired.load(Ordering::Acquire)
    }

    /// Whether its engine was asked to end.
    pub fn stop_requested(&self) -> bool {
        self.stop_requested.load(Ordering::Acquire)
    }

    /// Whether a person sent this process away, and no answer has said so yet.
    pub fn owes_word(&self) -> bool {
        self.was_sent_away() && !self.told.load(Ordering::Acquire)
    }

    /// Whether a person sent this process away.
    pub fn was_sent_away(&self) -> bool {
        self.sent_away.load(Ordering::Acquire)
    }

    /// Reads what the engine may have said over a connection that nobody uses; a route whose client was sent away is
    /// given up, so that its lock is free for others.
    pub fn look(&self) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sent_away = false;
        idle.retain_mut(|link| match link.goodbye() {
            Goodbye::StillThere => true,
            Goodbye::Closed => false,
            Goodbye::Said(error) => {
                sent_away |= is_sent_away(&error);
                false
            }
        });
        drop(idle);
        if sent_away {
            self.sent_away.store(true, Ordering::Release);
            self.retire();
        }
    }

    /// Whether its engine's process has provably ended.
    pub fn is_gone(&self) -> bool {
        let identity = self.identity();
        process::liveness(identity.pid, identity.started_at_ms) == Liveness::Gone
    }

    /// Asks the engine who it is, and compares.
    ///
    /// # Errors
    /// As [`Route::open`].
    pub fn handshake(&self, cancel: &Cancel) -> Result<Value, Refusal> {
        let answer = self.call_within(HANDSHAKE, &Map::new(), HANDSHAKE_DEADLINE, cancel)?.result;
        let mut members = answer.as_object().cloned().unwrap_or_default();
        let status = members.shift_remove("status");
        let told: Option<Identity> = serde_json::from_value(Value::Object(members)).ok();
        if status.as_ref().and_then(Value::as_str) == Some("ok")
            && told.as_ref() == Some(self.identity())
        {
            return Ok(answer);
        }
        self.retire();
        let message = "the engine at this endpoint is not the one that its descriptor tells of";
        Err(Refusal::new(IDENTITY_REJECTED, message)
            .next_call("runtime_list_sessions", "lists the sessions as they are now"))
    }

    /// Calls a method of the bridge.
    ///
    /// # Errors
    /// The engine's refusal, or a failure of the transport, after which the route is retired.
    pub fn call(
        &self,
        method: &str,
        params: &Map<String, Value>,
        limit: Duration,
        cancel: &Cancel,
    ) -> Result<Answered, Refusal> {
        let answered = self.call_within(method, params, longest(method, params, limit), cancel)?;
        if method == "runtime.stop" {
            self.stop_requested.store(true, Ordering::Release);
        }
        Ok(answered)
    }

    fn call_within(
        &self,
        method: &str,
        params: &Map<String, Value>,
        limit: Duration,
        cancel: &Cancel,
    ) -> Result<Answered, Refusal> {
        let deadline = source::now() + limit;
        let first = match self.once(method, params, deadline, cancel) {
            Ok(body) => return self.read(method, body, 0),
            Err(failure) => failure,
        };
        let may_repeat = first.reason != Reason::Stopped
            && matches!(methods::lookup(method), Lookup::Method(known) if known.may_repeat(params));
        if !may_repeat {
            return Err(self.fail(method, &first, false));
        }
        // Asking again is what settles whether the engine is there; it changes nothing.
        match self.once(method, params, source::now() + limit, cancel) {
            Ok(body) => self.read(method, body, 1),
            Err(second) => Err(self.fail(method, &second, true)),
        }
    }

    fn once(
        &self,
        method: &str,
        params: &Map<String, Value>,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<Result<Value, BridgeError>, Failure> {
        let started = source::now();
        let before = |error: &std::io::Error| {
            let reason = match error.kind() {
                std::io::ErrorKind::ConnectionRefused | std::io::ErrorKind::NotFound => {
                    Reason::PeerClosed
                }
                _ => Reason::IoError,
            };
            let waited = source::now().saturating_duration_since(started);
            Failure::before(reason, format!("it can't be connected to: {error}"), waited)
        };
        let mut link = match self.kept() {
            Some(link) => link,
            None => Link::connect(&self.identity().endpoint).map_err(|error| before(&error))?,
        };
        let token = &self.descriptor.token;
        let body = link.ask(&Asked { method, params, token, deadline, cancel })?;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_KEPT {
            idle.push(link);
        }
        Ok(body)
    }

    fn kept(&self) -> Option<Link> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain_mut(|link| link.idle() < MAX_IDLE && link.is_open());
        idle.pop()
    }

    fn read(
        &self,
        method: &str,
        body: Result<Value, BridgeError>,
        repeats: u32,
    ) -> Result<Answered, Refusal> {
        match body {
            Ok(mut result) => {
                let diagnostics =
                    result.as_object_mut().map(failure::take_diagnostics).unwrap_or_default();
                Ok(Answered { result, diagnostics, repeats })
            }
            Err(error) if is_sent_away(&error) => {
                self.told.store(true, Ordering::Release);
                self.sent_away.store(true, Ordering::Release);
                self.retire();
                Err(sent_away(&self.identity().session_id.to_string()))
            }
            Err(error) => {
                if error.asks_for_quarantine() || error.code == 401 {
                    self.retire();
                }
                Err(failure::refused(method, error))
            }
        }
    }

    fn fail(&self, method: &str, failure: &Failure, repeated: bool) -> Refusal {
        if failure.reason == Reason::Stopped {
            // Nobody waits for the answer, and the connection that it would come over is closed.
            return Refusal::new(codes::CANCELLED, "the caller gave up before the engine answered")
                .retry_after_ms(0);
        }
        self.retire();
        failure.refusal(method, self.identity(), repeated)
    }

    /// Gives the route up: no call uses it again. Its lock goes with its last user.
    pub fn retire(&self) {
        self.retired.store(true, Ordering::Release);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

fn is_sent_away(error: &BridgeError) -> bool {
    error.code_name() == Some(&*SESSION_DETACHED.name)
}

/// The refusal of a call after a person sent this process away.
pub fn sent_away(session: &str) -> Refusal {
    let message = "a person detached this server in the editor, and the call was not made";
    Refusal::new(SESSION_DETACHED, message).next_call_with(
        "runtime_attach_session",
        json!({"session_id": session}),
        "attaches again, once the person wants that; ask first",
    )
}

/// How long a call may take: as its caller says, or the usual deadline; a call that watches a window has the
/// window's length on top.
fn longest(method: &str, params: &Map<String, Value>, limit: Duration) -> Duration {
    let most = match methods::lookup(method) {
        Lookup::Method(known) => CALL_DEADLINE + known.extra_time(params),
        _ => CALL_DEADLINE,
    };
    if limit.is_zero() { most } else { limit.min(most) }
}
