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
mod lifetime;
mod operations;
mod report;
mod restore;
mod workspace;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError},
    thread,
    time::Duration,
};

use didi_plugin_api::{
    ctx::EngineInfo,
    refusal::{Code, Refusal},
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use self::{checkpoint::Checkpoints, editor::Editor, journal::Journal, workspace::Workspace};
use crate::{
    bridge::{Route, Routes},
    cancel::Cancel,
    engine::{Engines, Places},
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

/// Longest wait for one question to the editor.
const ASK_LIMIT: Duration = Duration::from_secs(17);

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
}

fn ask(route: &Route, method: &str, params: Map<String, Value>) -> Result<Value, Refusal> {
    route.call(method, &params, ASK_LIMIT, &Cancel::default()).map(|answered| answered.result)
}
