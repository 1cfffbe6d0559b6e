//! The life of the owned editor: brought up, found, brought to rest, seen to end, started anew once.
//!
//! Spec: P-58, managed recovery.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use didi_wire::{
    process::{self, Liveness},
    session_dir::SESSION_DIR_VAR,
};
use serde_json::{Map, Value};

use super::{
    Ensured, Recovery, State, ask,
    editor::{Life, Start},
};
use crate::{
    bridge::{Route, routes::Foreign},
    cancel::Cancel,
    source,
};

/// How much longer a call waits for an editor that is on its way than that may take.
const WAIT_MORE: Duration = Duration::from_secs(15);

/// How long a process whose first thread has ended may take to be gone whole.
const LAST_BREATH: Duration = Duration::from_secs(5);

/// Readings in a row that have to find the editor at rest.
const QUIET_POLLS: u32 = 4;

/// How often the editor is looked at while it comes up.
const POLL_EVERY: Duration = Duration::from_millis(100);

impl Recovery {
    /// Starts an editor and waits until it is ready; answers the state that it came to.
    pub(super) fn bring_up(&self, again: bool) -> State {
        let deadline = source::now() + self.ready_limit;
        let state = match self.launch().and_then(|pid| self.make_ready(pid, deadline)) {
            Ok(()) => self.reopen(again),
            Err(failed) => {
                self.lock().ends_it = true;
                self.editor.end();
                failed
            }
        };
        self.enter(state);
        state
    }

    fn launch(&self) -> Result<u32, State> {
        let launch = {
            let mut inner = self.lock();
            inner.launches += 1;
            inner.ends_it = false;
            (inner.session, inner.pid, inner.started_ms) = (None, None, None);
            inner.unprotected.clear();
            inner.launches
        };
        let folder = self.routes().map(|routes| routes.folder().clone());
        let named = folder.filter(|folder| !folder.checked);
        let env = named
            .map(|folder| (SESSION_DIR_VAR.to_owned(), folder.path.to_string_lossy().into_owned()));
        let started = self.editor.start(Start {
            program: self.engine.executable.clone(),
            project: self.workspace.project(),
            log: self.workspace.log(launch),
            env: env.into_iter().collect(),
        });
        let pid = started.map_err(|error| {
            tracing::warn!("the owned editor can't be started: {error}");
            State::LaunchFailed
        })?;
        let mut inner = self.lock();
        inner.pid = Some(pid);
        inner.state = State::WaitingForFiles;
        drop(inner);
        self.moved.notify_all();
        Ok(pid)
    }

    /// Finds it by its process id, attaches it, and waits until it and its files have come to rest.
    fn make_ready(&self, pid: u32, deadline: Instant) -> Result<(), State> {
        let routes = self.routes().ok_or(State::AttachFailed)?;
        let found = self.until(deadline, State::IdentityUnavailable, || {
            let sessions = routes.scan().ok()?.sessions;
            sessions.into_iter().find(|one| one.identity.pid == pid)
        })?;
        let session = found.identity.session_id.to_string();
        // The launcher of an engine may be a script: what it became has this id, and no other does.
        let route = self.until(deadline, State::AttachFailed, || {
            routes.attach(&session, Foreign::Refused).ok()
        })?;
        {
            let mut inner = self.lock();
            inner.session = Some(session);
            inner.started_ms = Some(found.identity.started_at_ms);
        }
        let mut quiet = 0;
        self.until(deadline, State::ReadinessFailed, || {
            let read = ask(&route, "editor.getRecoveryState", Map::new());
            let rests = read.is_ok_and(|state| state["filesystem_scanning"] == false);
            quiet = if rests { quiet + 1 } else { 0 };
            (quiet >= QUIET_POLLS).then_some(())
        })?;
        self.until(deadline, State::ReadinessFailed, || {
            let project = self.workspace.project();
            self.lock().checkpoints.take(&project, "ready").ok()
        })?;
        Ok(())
    }

    /// Looks until something is there, the time is over, or the editor has ended.
    fn until<R>(
        &self,
        deadline: Instant,
        late: State,
        mut look: impl FnMut() -> Option<R>,
    ) -> Result<R, State> {
        loop {
            if let Some(found) = look() {
                return Ok(found);
            }
            if !matches!(self.editor.life(), Life::Runs(_)) {
                return Err(State::LaunchFailed);
            }
            if source::now() >= deadline {
                return Err(late);
            }
            Cancel::default().wait(POLL_EVERY);
        }
    }

    /// Opens the scene that was open before, where the file is still there.
    fn reopen(&self, again: bool) -> State {
        let scene = self.lock().scene.clone().filter(|_| again);
        let Some(scene) = scene else { return State::Ready };
        let file = self.workspace.project().join(scene.trim_start_matches("res://"));
        if !file.is_file() {
            return State::Ready;
        }
        let params = Map::from_iter([("scene_path".to_owned(), Value::from(scene))]);
        match self.route().map(|route| ask(&route, "scene.open", params)) {
            Some(Ok(_)) => State::Ready,
            _ => State::SceneReopenFailed,
        }
    }

    /// The route to the owned editor, while it is attached.
    pub(super) fn route(&self) -> Option<Arc<Route>> {
        let session = self.lock().session.clone()?;
        self.routes()?.held_by_name(&session)
    }

    fn is_gone(&self) -> bool {
        let identity = {
            let inner = self.lock();
            inner.pid.zip(inner.started_ms)
        };
        identity.is_some_and(|(pid, started)| process::liveness(pid, started) == Liveness::Gone)
    }

    /// Moves the state along when the editor has ended.
    pub(super) fn look(&self) {
        if !self.lock().state.has_editor() {
            return;
        }
        let mut life = self.editor.life();
        let deadline = source::now() + LAST_BREATH;
        while matches!(life, Life::Runs(_)) && self.is_gone() && source::now() < deadline {
            // Its first thread has ended and its others end now: nobody answers any more.
            Cancel::default().wait(POLL_EVERY);
            life = self.editor.life();
        }
        let Life::Ended(code) = life else { return };
        let mut inner = self.lock();
        if inner.state.has_editor() && !inner.ends_it {
            inner.state = match code {
                Some(0) => State::EditorClosed,
                _ if inner.restart_used => State::RestartLimitReached,
                _ => State::EditorExited,
            };
        }
    }

    /// Waits for an editor that is on its way, and starts one that ended as it should not, once.
    pub fn ensure_editor(&self) -> Ensured {
        self.await_rest();
        self.look();
        let restarts = {
            let mut inner = self.lock();
            let restarts = inner.state == State::EditorExited && !inner.restart_used;
            if restarts {
                inner.restart_used = true;
                inner.state = State::Restarting;
            }
            restarts
        };
        if !restarts {
            self.await_rest();
            self.reattach();
            return Ensured::Same;
        }
        tracing::warn!("the owned editor has ended and is started anew, which happens once");
        self.bring_up(true);
        Ensured::Restarted
    }

    /// Takes up again an editor that lives while its route was given up, as after a call that got no answer.
    fn reattach(&self) {
        if !self.lock().state.has_editor() || self.route().is_some() {
            return;
        }
        let session = self.lock().session.clone();
        if let (Some(routes), Some(session)) = (self.routes(), session)
            && let Err(refusal) = routes.attach(&session, Foreign::Refused)
        {
            tracing::warn!("the owned editor is not attached again: {}", refusal.message);
        }
    }

    pub(super) fn await_rest(&self) {
        let wait =
            self.moved.wait_timeout_while(self.lock(), self.ready_limit + WAIT_MORE, |inner| {
                inner.state.is_on_its_way()
            });
        drop(wait);
    }
}
