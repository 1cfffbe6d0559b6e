//! Managed recovery: an editor of the server's own on a copy of the project, checkpoints around every change, one
//! restart by itself, and nothing that is ever sent twice.
//!
//! Running a call is left to `dispatch::protect`; here is what it may rely on: whether the editor is there, the
//! checkpoint before and after, what is written down, and when nobody knows enough to go on. `docs/recovery.md` draws
//! the states.
//!
//! Spec: P-58, managed recovery.

mod checkpoint;
mod editor;
mod files;
mod journal;
mod workspace;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError},
    thread,
    time::{Duration, Instant},
};

use didi_plugin_api::{
    ctx::EngineInfo,
    refusal::{Code, Refusal},
};
use didi_wire::{
    process::{self, Liveness},
    session_dir::SESSION_DIR_VAR,
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use self::{
    checkpoint::Checkpoints,
    editor::{Editor, Life, Start},
    journal::Journal,
    workspace::Workspace,
};
use crate::{
    bridge::{Route, Routes, routes::Foreign},
    cancel::Cancel,
    engine::{Engines, Places},
    source,
};

pub use journal::Result as OperationResult;

/// The server was not started with an editor of its own.
pub const MANAGED_MODE_DISABLED: Code = Code::new(409, "managed_mode_disabled");
/// Nobody knows what an earlier change did.
pub const NEEDS_RECONCILIATION: Code = Code::new(409, "needs_reconciliation");
/// The session belongs to the server.
pub const MANAGED_SESSION: Code = Code::new(409, "managed_session");
/// The editor was started anew before the change, which did not start.
pub const EDITOR_RESTARTED: Code = Code::new(409, "editor_restarted");
/// A change is done, and could not be protected.
pub const PROTECTION_FAILED: Code = Code::new(500, "recovery_protection_failed");
/// A step of recovery failed before anything was changed.
pub const RECOVERY_FAILED: Code = Code::new(500, "recovery_failed");

/// How much longer a call waits for an editor that is on its way than that may take.
const WAIT_MORE: Duration = Duration::from_secs(15);

/// How long a process whose first thread has ended may take to be gone whole.
const LAST_BREATH: Duration = Duration::from_secs(5);

/// Readings in a row that have to find the editor at rest.
const QUIET_POLLS: u32 = 4;

/// How often the editor is looked at while it comes up.
const POLL_EVERY: Duration = Duration::from_millis(100);

/// Longest wait for one question to the editor.
const ASK_LIMIT: Duration = Duration::from_secs(17);

/// Tools whose changes live in the editor's memory alone.
const MEMORY_ONLY: [&str; 3] = ["audio_add_bus", "audio_configure_bus", "shader_set_uniform"];

/// Where the owned editor stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It is started for the first time.
    Starting,
    /// It runs, and has not come to rest.
    WaitingForFiles,
    /// It is attached and at rest.
    Ready,
    /// It ended as it should not.
    EditorExited,
    /// It was closed.
    EditorClosed,
    /// It is started anew.
    Restarting,
    /// It ended again, and the one restart is spent.
    RestartLimitReached,
    /// A checkpoint takes the project's place.
    Restoring,
    /// It could not be started, or ended while it came up.
    LaunchFailed,
    /// It did not say who it is in time.
    IdentityUnavailable,
    /// It could not be attached.
    AttachFailed,
    /// It did not come to rest in time.
    ReadinessFailed,
    /// It runs, and the scene that was open could not be opened.
    SceneReopenFailed,
    /// A checkpoint could not take the project's place.
    RestoreFailed,
}

impl State {
    fn is_on_its_way(self) -> bool {
        matches!(
            self,
            State::Starting | State::WaitingForFiles | State::Restarting | State::Restoring
        )
    }

    fn has_editor(self) -> bool {
        matches!(self, State::Ready | State::SceneReopenFailed)
    }
}

/// Whether a call finds the editor that it expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ensured {
    /// Nothing moved.
    Same,
    /// The editor had ended and was started anew.
    Restarted,
}

/// An editor of the server's own, and what is kept of its project.
pub struct Recovery {
    workspace: Workspace,
    engine: EngineInfo,
    /// How long discovery, attaching, coming to rest and the first checkpoint may take together.
    ready_limit: Duration,
    routes: OnceLock<Arc<Routes>>,
    editor: Editor,
    inner: Mutex<Inner>,
    moved: Condvar,
    /// One change at a time.
    turn: Mutex<()>,
}

struct Inner {
    state: State,
    checkpoints: Checkpoints,
    journal: Journal,
    launches: u32,
    restores: u32,
    restart_used: bool,
    uncertain: Option<Uncertain>,
    unprotected: Vec<String>,
    session: Option<String>,
    pid: Option<u32>,
    started_ms: Option<u64>,
    scene: Option<String>,
    /// Whether this process means the editor to end.
    ends_it: bool,
}

/// A change of which nobody knows what it did.
#[derive(Clone, Copy)]
struct Uncertain {
    /// The editor that may still work on it: its process and when that started.
    editor: Option<(u32, u64)>,
}

/// A change between its two checkpoints.
pub struct Operation {
    number: u32,
    tool: String,
}

impl Recovery {
    /// Makes the workspace for a project; nothing runs yet.
    ///
    /// # Errors
    /// One sentence.
    pub fn prepare(
        godot: &Path,
        workspace: &Path,
        project: &Path,
        ready_limit: Duration,
    ) -> Result<Self, String> {
        let places = Places { exact: Some(godot.to_owned()), ..Places::default() };
        let engine = Engines::new(places).find().map_err(|refusal| refusal.message.clone())?;
        let workspace = Workspace::make(workspace, project)?;
        let inner = Mutex::new(Inner {
            state: State::Starting,
            checkpoints: Checkpoints::new(workspace.checkpoints()),
            journal: Journal::new(workspace.journal()),
            launches: 0,
            restores: 0,
            restart_used: false,
            uncertain: None,
            unprotected: vec![],
            session: None,
            pid: None,
            started_ms: None,
            scene: None,
            ends_it: false,
        });
        let moved = Condvar::new();
        let editor = Editor::new().map_err(|error| format!("no thread can be started: {error}"))?;
        let routes = OnceLock::new();
        let turn = Mutex::default();
        Ok(Recovery { workspace, engine, ready_limit, routes, editor, inner, moved, turn })
    }

    /// The copy that tools work on.
    ///
    /// # Errors
    /// When it can't be looked at.
    pub fn project(&self) -> std::io::Result<PathBuf> {
        self.workspace.project().canonicalize()
    }

    /// The engine that runs it.
    pub fn engine(&self) -> &EngineInfo {
        &self.engine
    }

    /// Starts the editor on a thread; calls wait until it is ready or has failed.
    pub fn begin(self: &Arc<Self>, routes: &Arc<Routes>) {
        let _ = self.routes.set(Arc::clone(routes));
        let recovery = Arc::clone(self);
        thread::spawn(move || {
            let state = recovery.bring_up(false);
            tracing::info!("the owned editor is {}", json!(state).as_str().unwrap_or_default());
        });
    }

    /// Ends the editor with the server.
    pub fn stop(&self) {
        self.lock().ends_it = true;
        self.editor.end();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Fields are set whole, so a panic elsewhere leaves nothing half done.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, state: State) {
        self.lock().state = state;
        self.moved.notify_all();
    }

    fn routes(&self) -> Option<&Arc<Routes>> {
        self.routes.get()
    }

    // ---- The editor ----------------------------------------------------------------------------------------

    /// Starts an editor and waits until it is ready; answers the state that it came to.
    fn bring_up(&self, again: bool) -> State {
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
    fn route(&self) -> Option<Arc<Route>> {
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
    fn look(&self) {
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

    fn await_rest(&self) {
        let wait =
            self.moved.wait_timeout_while(self.lock(), self.ready_limit + WAIT_MORE, |inner| {
                inner.state.is_on_its_way()
            });
        drop(wait);
    }

    // ---- Operations ----------------------------------------------------------------------------------------

    /// The right to make a change; one holds it at a time.
    pub fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A checkpoint of the files as they are, and the operation written down.
    ///
    /// # Errors
    /// `needs_reconciliation`; `recovery_failed` when either can't be done, and then nothing starts.
    pub fn protect(&self, tool: &str) -> Result<Operation, Refusal> {
        self.check_settled()?;
        let project = self.workspace.project();
        let mut inner = self.lock();
        let begun =
            inner.checkpoints.take(&project, &format!("before {tool}")).and_then(|before| {
                inner.journal.begin(tool, Some(before)).map_err(|error| error.to_string())
            });
        drop(inner);
        match begun {
            Ok(number) => Ok(Operation { number, tool: tool.to_owned() }),
            Err(why) => {
                let message = format!("`{tool}` was not started, as it can't be protected: {why}");
                let refusal = Refusal::new(RECOVERY_FAILED, message)
                    .with("outcome", "not_started")
                    .next_call("runtime_recovery_status", "says where the workspace is");
                Err(self.with_receipt(refusal))
            }
        }
    }

    /// Whether a change may be made.
    ///
    /// # Errors
    /// `needs_reconciliation`.
    pub fn check_settled(&self) -> Result<(), Refusal> {
        if self.lock().uncertain.is_none() {
            return Ok(());
        }
        let message = "nobody knows what an earlier change did, so no other is made";
        let refusal = Refusal::new(NEEDS_RECONCILIATION, message)
            .with("outcome", "not_started")
            .next_call("runtime_recovery_status", "says which change, and what can be restored");
        Err(self.with_receipt(refusal))
    }

    /// Whether the files differ from the newest checkpoint, or can't be compared.
    pub fn has_moved(&self) -> bool {
        let listed = files::list(&self.workspace.project());
        let inner = self.lock();
        let newest = inner.checkpoints.newest().map(|newest| &newest.files);
        listed.ok().as_ref() != newest
    }

    /// The change was refused before anything was done.
    pub fn not_started(&self, operation: &Operation) {
        let _ = self.lock().journal.note(operation.number, OperationResult::NotStarted, None);
    }

    /// Nobody knows what the change did; no other is made until that is settled.
    pub fn unknown(&self, operation: &Operation) {
        let mut inner = self.lock();
        inner.uncertain = Some(Uncertain { editor: inner.pid.zip(inner.started_ms) });
        let _ = inner.journal.note(operation.number, OperationResult::FailedOrUnknown, None);
        drop(inner);
        self.look();
    }

    /// The change is done: the open scene is saved if it has to be, the files become a checkpoint, and that is written
    /// down. Answers whether a scene was saved.
    ///
    /// # Errors
    /// The outcome that it came to instead, and why.
    pub fn done(
        &self,
        operation: &Operation,
        leaves_scene: bool,
    ) -> Result<bool, (OperationResult, String)> {
        let result = self.persist(operation, leaves_scene);
        if let Err((outcome, _)) = &result {
            let mut inner = self.lock();
            inner.uncertain = Some(Uncertain { editor: inner.pid.zip(inner.started_ms) });
            let _ = inner.journal.note(operation.number, *outcome, None);
        }
        result
    }

    fn persist(
        &self,
        operation: &Operation,
        leaves_scene: bool,
    ) -> Result<bool, (OperationResult, String)> {
        use OperationResult::{
            AppliedCheckpointFailed, AppliedJournalFailed, AppliedPersistenceFailed,
            CompletedSavedFilesCheckpointed,
        };
        if MEMORY_ONLY.contains(&operation.tool.as_str()) {
            let mut inner = self.lock();
            if !inner.unprotected.contains(&operation.tool) {
                inner.unprotected.push(operation.tool.clone());
            }
        }
        let route = self.route();
        if leaves_scene {
            let route = route
                .as_ref()
                .ok_or_else(|| (AppliedPersistenceFailed, "the editor is gone".to_owned()))?;
            ask(route, "editor.saveScene", Map::new())
                .map_err(|refusal| (AppliedPersistenceFailed, refusal.message.clone()))?;
        }
        self.remember_scene(route.as_deref());
        let project = self.workspace.project();
        let mut inner = self.lock();
        let after = inner
            .checkpoints
            .take(&project, &format!("after {}", operation.tool))
            .map_err(|why| (AppliedCheckpointFailed, why))?;
        inner
            .journal
            .note(operation.number, CompletedSavedFilesCheckpointed, Some(after))
            .map_err(|error| (AppliedJournalFailed, error.to_string()))?;
        Ok(leaves_scene)
    }

    /// Which scene is open, for an editor that comes after this one.
    fn remember_scene(&self, route: Option<&Route>) {
        let Some(Ok(state)) = route.map(|route| ask(route, "editor.getState", Map::new())) else {
            return;
        };
        let scene = state["active_scene"]["scene_file_path"].as_str().map(ToOwned::to_owned);
        self.lock().scene = scene;
    }

    // ---- The tools -----------------------------------------------------------------------------------------

    /// All that is known. It starts nothing.
    pub fn status(&self) -> Value {
        self.look();
        let running = matches!(self.editor.life(), Life::Runs(_));
        let inner = self.lock();
        let checkpoints = inner.checkpoints.kept().iter().rev().map(|one| {
            json!({
                "checkpoint_id": one.checkpoint_id,
                "created_at": source::iso8601(one.created_ms),
                "reason": one.reason,
                "files": one.files.len(),
                "bytes": one.files.iter().map(|file| file.size).sum::<u64>(),
            })
        });
        let mut status = json!({
            "enabled": true,
            "state": inner.state,
            "editor_running": running,
            "checkpoints": checkpoints.collect::<Vec<_>>(),
            "workspace": self.workspace.root().display().to_string(),
            "journal": self.workspace.journal().display().to_string(),
            "automatic_restart_used": inner.restart_used,
            "requires_reconciliation": inner.uncertain.is_some(),
            "coverage": COVERAGE,
            "unprotected_changes": inner.unprotected,
            "excludes": files::EXCLUDED,
            "next_action": next_action(inner.state, inner.uncertain.is_some()),
        });
        let members = [
            ("pid", inner.pid.map(Value::from)),
            ("session_id", inner.session.clone().map(Value::from)),
            ("last_operation", inner.journal.last().map(|one| json!(one))),
            ("last_checkpoint", inner.checkpoints.newest().map(|one| json!(one.checkpoint_id))),
        ];
        for (name, value) in members {
            if let Some(value) = value {
                status[name] = value;
            }
        }
        status
    }

    /// The same in a line, for people.
    pub fn summary(&self) -> String {
        self.look();
        let inner = self.lock();
        let state = json!(inner.state);
        let state = state.as_str().unwrap_or_default().replace('_', " ");
        let restart =
            if inner.restart_used { "its restart is spent" } else { "one restart is left" };
        let block = if inner.uncertain.is_some() { ", changes are blocked" } else { "" };
        format!("{state}, {restart}{block}")
    }

    /// The part of it that goes with a protected answer.
    pub fn receipt(&self) -> Value {
        self.look();
        let inner = self.lock();
        let operation = inner.journal.last();
        let newest = inner.checkpoints.newest().map(|one| one.checkpoint_id.clone());
        let mut receipt = json!({
            "state": inner.state,
            "requires_reconciliation": inner.uncertain.is_some(),
            "coverage": COVERAGE,
            "unprotected_changes": inner.unprotected,
        });
        if let Some(operation) = operation {
            receipt["operation"] = json!({
                "number": operation.number,
                "tool": operation.tool,
                "outcome": operation.outcome,
            });
        }
        if let Some(newest) = newest {
            receipt["checkpoint_id"] = newest.into();
        }
        receipt
    }

    /// A refusal with the receipt in it.
    pub fn with_receipt(&self, mut refusal: Refusal) -> Refusal {
        refusal.data.insert("recovery".into(), self.receipt());
        refusal
    }

    /// A checkpoint on demand; with `accepts`, what is uncertain is taken as it is.
    ///
    /// # Errors
    /// `needs_reconciliation` without `accepts`, or while the editor that was uncertain still runs;
    /// `recovery_failed`.
    pub fn checkpoint(&self, accepts: bool) -> Result<String, Refusal> {
        let uncertain = self.lock().uncertain;
        match uncertain {
            Some(_) if !accepts => {
                let message = "an earlier change is not settled: look at the files, then accept them or restore a checkpoint";
                let refusal = Refusal::new(NEEDS_RECONCILIATION, message)
                    .retry_with(json!({"accept_current_files": true}));
                return Err(self.with_receipt(refusal));
            }
            Some(Uncertain { editor: Some((pid, started)) })
                if process::liveness(pid, started) != Liveness::Gone =>
            {
                let message = format!(
                    "the editor of process {pid}, which may still work on the uncertain change, runs"
                );
                let refusal = Refusal::new(NEEDS_RECONCILIATION, message).next_call(
                    "runtime_restore_checkpoint",
                    "ends that editor and puts a checkpoint in the project's place",
                );
                return Err(self.with_receipt(refusal));
            }
            _ => {}
        }
        let project = self.workspace.project();
        let mut inner = self.lock();
        let reason = if uncertain.is_some() { "accepted" } else { "asked for" };
        let taken = inner.checkpoints.take(&project, reason);
        if let (Ok(id), Some(_)) = (&taken, uncertain) {
            inner.uncertain = None;
            let last = inner.journal.last().map(|one| one.number);
            if let Some(number) = last {
                let accepted = OperationResult::CurrentSavedFilesAccepted;
                let _ = inner.journal.note(number, accepted, Some(id.clone()));
            }
        }
        drop(inner);
        taken.map_err(|why| self.failed(&format!("no checkpoint was taken: {why}")))
    }

    fn failed(&self, message: &str) -> Refusal {
        let refusal = Refusal::new(RECOVERY_FAILED, message)
            .next_call("runtime_recovery_status", "says how things stand");
        self.with_receipt(refusal)
    }

    /// Starts an editor that ended as it should not, if the one restart is left.
    ///
    /// # Errors
    /// `recovery_failed` when it is spent, the editor was closed, or none comes up.
    pub fn recover(&self) -> Result<State, Refusal> {
        self.ensure_editor();
        let state = self.lock().state;
        if state.has_editor() {
            return Ok(state);
        }
        let state_name = json!(state);
        Err(self.failed(&format!(
            "the owned editor is not started by this: it is {}",
            state_name.as_str().unwrap_or_default()
        )))
    }

    /// Whether a checkpoint is kept, for a preview of its restore.
    pub fn describe(&self, id: &str) -> Option<Value> {
        let inner = self.lock();
        let kept = inner.checkpoints.get(id)?;
        Some(json!({
            "checkpoint_id": kept.checkpoint_id,
            "created_at": source::iso8601(kept.created_ms),
            "files": kept.files.len(),
        }))
    }

    /// Puts a checkpoint in the project's place and starts an editor on it.
    ///
    /// # Errors
    /// `recovery_failed`; what the project was before is then there again, or its place is told.
    pub fn restore(&self, id: &str) -> Result<State, Refusal> {
        self.await_rest();
        let staging = self.workspace.staging();
        let prepared = {
            let mut inner = self.lock();
            inner.checkpoints.unpack(id, &staging).and_then(|()| {
                let number = inner.journal.begin("runtime_restore_checkpoint", Some(id.to_owned()));
                let number = number.map_err(|error| error.to_string())?;
                let _ = inner.journal.note(number, OperationResult::RestorePrepared, None);
                Ok(number)
            })
        };
        let number = match prepared {
            Ok(number) => number,
            Err(why) => {
                if staging.exists() {
                    files::remove(&staging);
                }
                return Err(self.failed(&format!("`{id}` is not restored: {why}")));
            }
        };
        self.end_editor();
        if let Err(why) = self.exchange(id, &staging) {
            self.enter(State::RestoreFailed);
            return Err(self.failed(&format!("`{id}` is not restored: {why}")));
        }
        {
            let mut inner = self.lock();
            inner.uncertain = None;
            let _ = inner.journal.note(number, OperationResult::Restored, Some(id.to_owned()));
        }
        Ok(self.bring_up(true))
    }

    /// Lets the owned editor go and ends it.
    fn end_editor(&self) {
        self.enter(State::Restoring);
        self.lock().ends_it = true;
        self.editor.end();
        if let (Some(routes), Some(route)) = (self.routes(), self.route()) {
            route.retire();
            let _ = routes.selected();
        }
    }

    /// Renames the project away and the staged copy into its place, with the folders that no checkpoint has.
    fn exchange(&self, id: &str, staging: &Path) -> Result<(), String> {
        let project = self.workspace.project();
        let number = {
            let mut inner = self.lock();
            inner.restores += 1;
            inner.restores
        };
        let preserved = self.workspace.preserved(number, id);
        let say = |error: std::io::Error| error.to_string();
        fs::rename(&project, &preserved).map_err(say)?;
        if let Err(error) = fs::rename(staging, &project) {
            return match fs::rename(&preserved, &project) {
                Ok(()) => Err(format!("{error}; the project is as it was")),
                Err(back) => {
                    Err(format!("{error}; the project is in `{}` ({back})", preserved.display()))
                }
            };
        }
        for kept in [".didi", ".godot"] {
            let from = preserved.join(kept);
            if from.is_dir()
                && let Err(error) = fs::rename(&from, project.join(kept))
            {
                tracing::warn!("`{kept}` does not go along: {error}");
            }
        }
        Ok(())
    }
}

/// What a checkpoint protects.
const COVERAGE: &str = "saved_files";

fn next_action(state: State, uncertain: bool) -> &'static str {
    match state {
        _ if uncertain => {
            "look at the files, then restore a checkpoint, or accept them with runtime_checkpoint"
        }
        State::Ready => "none",
        State::Starting | State::WaitingForFiles | State::Restarting | State::Restoring => {
            "wait; the next call does"
        }
        State::EditorExited => {
            "the next call starts the editor anew, once; so does runtime_recover_editor"
        }
        State::SceneReopenFailed => "open a scene with scene_open",
        _ => {
            "restore a checkpoint, which starts an editor, or start the server anew with a new workspace"
        }
    }
}

fn ask(route: &Route, method: &str, params: Map<String, Value>) -> Result<Value, Refusal> {
    route.call(method, &params, ASK_LIMIT, &Cancel::default()).map(|answered| answered.result)
}
