//! Games that a call starts for itself: an engine of the call's own, found by its session, spoken to over a
//! route of its own, and ended with the call unless it is to be kept.
//!
//! Spec: P-54, running games.

use std::{
    collections::BTreeMap,
    sync::{Arc, MutexGuard, PoisonError},
    time::Duration,
};

use didi_plugin_api::{
    ctx::{GameCall, GameEnd, GameEnded, GameSpec, GameStarted},
    refusal::{Refusal, codes},
};
use didi_wire::QUIET_ENGINE_VAR;
use serde_json::{Map, Value, json};

use super::{MAX_CHILD_OUTPUT_BYTES, Services, cancelled, cannot_start};
use crate::{
    bridge::{Route, routes::Foreign},
    child::{Running, Spec},
    source,
};

/// How often the session folder is looked through for a game that was started.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Longest wait for a game's session.
const MAX_START: Duration = Duration::from_secs(120);
/// Longest wait for a game to end by itself.
const MAX_END: Duration = Duration::from_secs(30);
/// How long a game may take to answer that it stops.
const STOP_LIMIT: Duration = Duration::from_secs(3);

/// A game of this call.
pub(super) struct Game {
    route: Arc<Route>,
    running: Running,
}

impl Services {
    /// Starts a game and waits for its session.
    pub(super) fn start_game(&self, spec: &GameSpec) -> Result<GameStarted, Refusal> {
        let engine = self.shared.engines.find()?;
        let mut running = Running::start(&Spec {
            program: &engine.executable,
            args: &spec.args,
            // Unlike an engine that answers one question, a game is to be found.
            env: &[(QUIET_ENGINE_VAR.into(), String::new())],
            folder: self.shared.files.root().folder(),
            limit: MAX_START,
            max_output_bytes: spec.max_output_bytes.min(MAX_CHILD_OUTPUT_BYTES),
            ends_with_us: !spec.keep,
        })
        .map_err(|error| cannot_start(&engine.executable, &error))?;
        let pid = running.pid();
        let Some(session) = self.session_of(&mut running, spec.wait_ms)? else {
            if spec.keep && running.is_running() {
                running.leave();
                return Ok(GameStarted { pid, session: None, ended: None });
            }
            let ended = running.end_by(source::now(), &self.cancel);
            return Ok(GameStarted { pid, session: None, ended: Some(ended) });
        };
        if spec.keep {
            running.leave();
            return Ok(GameStarted { pid, session: Some(self.select(&session)), ended: None });
        }
        let route = self.shared.routes.named(&session, "session_id")?;
        let identity = json!(route.identity());
        self.games().insert(session, Game { route, running });
        Ok(GameStarted { pid, session: Some(identity), ended: None })
    }

    /// Selects a kept game's session; answers who it is, or why it could not be attached.
    fn select(&self, session: &str) -> Value {
        match self.shared.routes.attach(session, Foreign::Refused) {
            Ok(route) => json!(route.identity()),
            Err(refusal) => json!({"session_id": session, "attach_error": refusal.message}),
        }
    }

    /// The session that a game's process publishes, in time and while it runs.
    fn session_of(&self, running: &mut Running, wait_ms: u64) -> Result<Option<String>, Refusal> {
        let deadline = source::now() + Duration::from_millis(wait_ms).min(MAX_START);
        let pid = running.pid();
        loop {
            let seen = self.shared.routes.scan()?.sessions;
            if let Some(found) = seen.iter().find(|one| one.identity.pid == pid) {
                return Ok(Some(found.identity.session_id.to_string()));
            }
            if !running.is_running() || source::now() >= deadline {
                return Ok(None);
            }
            if self.cancel.wait(LOOK_EVERY) {
                return Err(cancelled());
            }
        }
    }

    /// Calls a method of a game that this call started.
    pub(super) fn call_game(&self, call: &GameCall) -> Result<Value, Refusal> {
        let route = self.games().get(&call.session_id).map(|game| Arc::clone(&game.route));
        let route = route.ok_or_else(|| not_ours(&call.session_id))?;
        let limit = Duration::from_millis(call.timeout_ms);
        self.take_in(route.call(&call.method, &call.params, limit, &self.cancel)?)
    }

    /// Asks a game to end, and sees to it.
    pub(super) fn end_game(&self, end: &GameEnd) -> Result<GameEnded, Refusal> {
        let game = self.games().remove(&end.session_id);
        let Game { route, mut running } = game.ok_or_else(|| not_ours(&end.session_id))?;
        let started = source::now();
        let asked = route.call("runtime.stop", &Map::new(), STOP_LIMIT, &self.cancel);
        let deadline = started + Duration::from_millis(end.wait_ms).min(MAX_END);
        let report = running.end_by(deadline, &self.cancel);
        route.retire();
        let seen = self.shared.routes.scan()?.sessions;
        let waited = source::now().saturating_duration_since(started);
        Ok(GameEnded {
            stop_requested: asked.is_ok(),
            session_gone: seen.iter().all(|one| one.identity != *route.identity()),
            waited_ms: u64::try_from(waited.as_millis()).unwrap_or(u64::MAX),
            report,
        })
    }

    fn games(&self) -> MutexGuard<'_, BTreeMap<String, Game>> {
        self.games.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn not_ours(session: &str) -> Refusal {
    Refusal::new(codes::NOT_FOUND, format!("the call started no game with the session `{session}`"))
        .no_remedy("the tool's pack is at fault")
}
