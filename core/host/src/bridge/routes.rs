//! The table of routes: which engines this process holds, and which of them a session without names uses.
//!
//! At most eight are held. A legacy session uses the selected one; before anybody selected, the first need does,
//! when it is clear which engine is meant. A modern request names its engine and moves nothing.
//!
//! Spec: P-9, routes.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use didi_plugin_api::refusal::{Code, Refusal, codes};
use didi_wire::{
    descriptor::{Descriptor, Identity, SessionId, SessionKind},
    discovery::{self, Scan},
    lock::{self, Holder, LockFault},
    session_dir::SessionDir,
};
use serde_json::{Value, json};

use super::route::{self, Route};
use crate::{answer::floor::gate_codes, cancel::Cancel, source};

/// Routes that one process holds.
pub const MAX_ROUTES: usize = 8;

/// How often routes are looked after.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// The session is held by another client.
const SESSION_LOCKED: Code = Code::new(423, "request_failed");
/// The session's engine has another project open.
const FOREIGN_PROJECT: Code = Code::new(409, "foreign_project_session");

/// What is selected has changed.
type Watcher = Box<dyn Fn() + Send + Sync>;

/// The routes of this process.
pub struct Routes {
    folder: SessionDir,
    project: PathBuf,
    next: AtomicU64,
    state: Mutex<State>,
    /// Rung when a route is opened.
    opened: Condvar,
    watcher: Mutex<Option<Watcher>>,
}

#[derive(Default)]
struct State {
    held: Vec<Arc<Route>>,
    selected: Option<Arc<Route>>,
    /// Nobody attached, detached or lost a route yet.
    chosen: bool,
    /// Sessions from which a person sent this process away; attaching takes one out.
    sent_away: Vec<SessionId>,
    /// The one of them that was selected, while no answer has said so.
    untold: Option<SessionId>,
}

/// Whether a session of another project may be attached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    /// It may.
    Allowed,
    /// It is refused.
    Refused,
}

impl Routes {
    /// No routes yet, over a session folder and this server's own project.
    pub fn new(folder: SessionDir, project: PathBuf) -> Self {
        Routes {
            folder,
            project,
            next: AtomicU64::new(1),
            state: Mutex::default(),
            opened: Condvar::new(),
            watcher: Mutex::default(),
        }
    }

    /// The folder that is looked through.
    pub fn folder(&self) -> &SessionDir {
        &self.folder
    }

    /// Calls `watcher` whenever another route, or none, is selected.
    pub fn watch(&self, watcher: impl Fn() + Send + Sync + 'static) {
        *self.watcher.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(watcher));
    }

    /// The sessions that can be seen now.
    ///
    /// # Errors
    /// `forbidden` when the folder is not private or can't be read.
    pub fn scan(&self) -> Result<Scan, Refusal> {
        discovery::scan(&self.folder).map_err(|fault| {
            Refusal::new(codes::FORBIDDEN, format!("the session folder can't be used: {fault}"))
                .no_remedy("the folder's owner and permissions have to be mended")
        })
    }

    /// The selected route, if one is and still serves.
    pub fn selected(&self) -> Option<Arc<Route>> {
        self.drop_dead();
        self.state().selected.clone()
    }

    /// The selected route; before anybody chose, the one that is clearly meant is selected now.
    pub fn selected_or_found(&self) -> Option<Arc<Route>> {
        if let Some(route) = self.selected() {
            return Some(route);
        }
        if self.state().chosen {
            return None;
        }
        let clear = clearly_meant(self.own_sessions()?)?;
        match self.open(clear, Foreign::Refused) {
            Ok(route) => {
                tracing::info!(session = %route.identity().session_id, "attached by itself");
                self.select(Some(Arc::clone(&route)), false);
                Some(route)
            }
            Err(refusal) => {
                tracing::debug!("no engine was attached by itself: {}", refusal.message);
                None
            }
        }
    }

    fn own_sessions(&self) -> Option<Vec<Descriptor>> {
        let scan = self.scan().ok()?;
        Some(scan.sessions.into_iter().filter(|one| self.is_own(&one.identity)).collect())
    }

    /// Whether an engine has this server's project open.
    pub fn is_own(&self, identity: &Identity) -> bool {
        self.project == Path::new(&identity.project_path)
    }

    /// The editor among the held routes that has this server's project open. With `may_attach` the session that is
    /// clearly meant is attached first.
    pub fn own_editor(&self, may_attach: bool) -> Option<Arc<Route>> {
        let selected = if may_attach { self.selected_or_found() } else { self.selected() };
        let held = self.state().held.clone();
        selected.into_iter().chain(held).find(|route| self.is_own_editor(route))
    }

    /// Whether a route leads to an editor that has this server's project open.
    pub fn is_own_editor(&self, route: &Route) -> bool {
        route.kind() == SessionKind::Editor && self.is_own(route.identity())
    }

    /// This server's project.
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// Says once, to whoever asks next, that a person sent this process away from the session that it used.
    ///
    /// # Errors
    /// `session_detached`.
    pub fn tell_of_detachment(&self) -> Result<(), Refusal> {
        self.drop_dead();
        match self.state().untold.take() {
            Some(session) => Err(route::sent_away(&session.to_string())),
            None => Ok(()),
        }
    }

    /// Looks after the routes for as long as the process lives: what an engine says unasked is read soon, and the lock
    /// of a session from which this process was sent away is given back. Nothing is looked at while nothing is held.
    pub fn look_after(&self) {
        loop {
            let state = self.state();
            let state = self.opened.wait_while(state, |state| state.held.is_empty());
            let state = state.unwrap_or_else(PoisonError::into_inner);
            // Under the lock: a route that is let go meanwhile frees its session at once.
            state.held.iter().for_each(|route| route.look());
            drop(state);
            self.drop_dead();
            Cancel::default().wait(LOOK_EVERY);
        }
    }

    /// Attaches a session for this process's own session.
    ///
    /// # Errors
    /// As [`Routes::named`]; the route selected before stays.
    pub fn attach(&self, session: &str, foreign: Foreign) -> Result<Arc<Route>, Refusal> {
        if let Some(id) = SessionId::parse(session) {
            self.drop_dead();
            let mut state = self.state();
            state.sent_away.retain(|one| *one != id);
            state.untold = None;
        }
        let route = self.named_as(session, foreign, "session_id")?;
        self.select(Some(Arc::clone(&route)), true);
        Ok(route)
    }

    /// Lets the selected route go; answers it.
    pub fn detach(&self) -> Option<Arc<Route>> {
        let before = self.selected();
        if let Some(route) = &before {
            self.state().held.retain(|one| !Arc::ptr_eq(one, route));
            route.retire();
        }
        self.select(None, true);
        before
    }

    /// The route to a named session, opened if it is not held yet. What is selected stays so.
    ///
    /// # Errors
    /// `not_found`, `foreign_project_session`, `request_failed` (423, held by another client), `rate_limited`, and
    /// what the handshake gives.
    pub fn named(&self, session: &str, field: &str) -> Result<Arc<Route>, Refusal> {
        self.named_as(session, Foreign::Refused, field)
    }

    fn named_as(
        &self,
        session: &str,
        foreign: Foreign,
        field: &str,
    ) -> Result<Arc<Route>, Refusal> {
        self.drop_dead();
        let id = SessionId::parse(session).ok_or_else(|| unknown(session, field))?;
        if self.state().sent_away.contains(&id) {
            return Err(route::sent_away(session));
        }
        if let Some(held) = self.held(id) {
            self.refuse_foreign(&held.identity().project_path, foreign)?;
            return Ok(held);
        }
        let found = self.scan()?.sessions.into_iter().find(|one| one.identity.session_id == id);
        self.open(found.ok_or_else(|| unknown(session, field))?, foreign)
    }

    /// The route to a named session, if one is held and serves.
    pub fn held_by_name(&self, session: &str) -> Option<Arc<Route>> {
        self.drop_dead();
        self.held(SessionId::parse(session)?)
    }

    fn held(&self, id: SessionId) -> Option<Arc<Route>> {
        self.state().held.iter().find(|route| route.identity().session_id == id).cloned()
    }

    /// Locks, connects and shakes hands.
    fn open(&self, descriptor: Descriptor, foreign: Foreign) -> Result<Arc<Route>, Refusal> {
        self.refuse_foreign(&descriptor.identity.project_path, foreign)?;
        if self.state().held.len() >= MAX_ROUTES {
            let message = format!("this server holds {MAX_ROUTES} sessions already");
            return Err(Refusal::new(gate_codes::RATE_LIMITED, message)
                .next_call("runtime_detach_session", "lets the selected one go"));
        }
        let id = descriptor.identity.session_id;
        let holder = Holder {
            pid: std::process::id(),
            name: concat!("didi ", env!("CARGO_PKG_VERSION")).into(),
            since_ms: source::now_ms(),
        };
        let lock = match lock::acquire(&self.folder, id, &holder) {
            Ok(lock) => lock,
            // Two requests for one session: the other one opened it meanwhile.
            Err(LockFault::Held(_)) if self.held(id).is_some() => {
                return self.held(id).ok_or_else(|| unknown(&id.to_string(), "session_id"));
            }
            Err(fault) => return Err(locked(&fault)),
        };
        let generation = self.next.fetch_add(1, Ordering::Relaxed);
        let route = Arc::new(Route::open(descriptor, lock, generation)?);
        self.state().held.push(Arc::clone(&route));
        self.opened.notify_all();
        Ok(route)
    }

    fn refuse_foreign(&self, project: &str, foreign: Foreign) -> Result<(), Refusal> {
        if foreign == Foreign::Allowed || self.project == Path::new(project) {
            return Ok(());
        }
        let message = "the session's engine has another project open than this server";
        Err(Refusal::new(FOREIGN_PROJECT, message)
            .with("session_project_path", project)
            .with("server_project_root", self.project.display().to_string())
            .retry_with(json!({"allow_foreign_project": true})))
    }

    fn select(&self, route: Option<Arc<Route>>, chosen: bool) {
        let moved = {
            let mut state = self.state();
            state.chosen |= chosen;
            let generation =
                |route: &Option<Arc<Route>>| route.as_ref().map(|one| one.generation());
            let moved = generation(&state.selected) != generation(&route);
            state.selected = route;
            moved
        };
        if moved {
            self.tell();
        }
    }

    /// Takes routes out that were given up, and those whose engine has ended.
    fn drop_dead(&self) {
        let is_dead = |route: &Arc<Route>| route.is_retired() || route.is_gone();
        let lost = {
            let mut state = self.state();
            let State { held, sent_away, .. } = &mut *state;
            let away = held.iter().filter(|route| route.was_sent_away());
            sent_away.extend(away.map(|route| route.identity().session_id));
            held.retain(|route| !is_dead(route));
            let owing = state.selected.as_ref().filter(|route| route.owes_word());
            if let Some(session) = owing.map(|route| route.identity().session_id) {
                state.untold = Some(session);
            }
            let lost = state.selected.as_ref().is_some_and(is_dead);
            if lost {
                state.selected = None;
                state.chosen = true;
            }
            lost
        };
        if lost {
            self.tell();
        }
    }

    /// Lets every route go, at the end of the process.
    pub fn release(&self) {
        let mut state = self.state();
        for route in state.held.drain(..) {
            route.retire();
        }
        state.selected = None;
        state.chosen = true;
    }

    fn tell(&self) {
        if let Some(watcher) = &*self.watcher.lock().unwrap_or_else(PoisonError::into_inner) {
            watcher();
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        // Fields are set whole, so a panic elsewhere leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who the engines are that have this project open.
    pub fn own_identities(&self) -> Vec<Identity> {
        self.own_sessions().unwrap_or_default().into_iter().map(|one| one.identity).collect()
    }

    /// The sessions of this project that could be meant, as a refusal lists them.
    pub fn candidates(&self) -> Vec<Value> {
        let candidate =
            |one: Identity| json!({"session_id": one.session_id, "kind": one.kind, "pid": one.pid});
        self.own_identities().into_iter().map(candidate).collect()
    }
}

/// The only session, or the only editor among games.
fn clearly_meant(mut sessions: Vec<Descriptor>) -> Option<Descriptor> {
    if sessions.len() > 1 {
        sessions.retain(|one| one.identity.kind == SessionKind::Editor);
    }
    let first = sessions.pop()?;
    sessions.is_empty().then_some(first)
}

fn unknown(session: &str, field: &str) -> Refusal {
    Refusal::new(codes::NOT_FOUND, format!("no session `{session}` is there"))
        .with("field", field)
        .next_call("runtime_list_sessions", "lists the sessions that can be attached")
}

fn locked(fault: &LockFault) -> Refusal {
    if let LockFault::Held(holder) = fault {
        let mut refusal = Refusal::new(SESSION_LOCKED, "another client holds the session");
        if let Some(holder) = holder {
            refusal = refusal.with("held_by", json!({"pid": holder.pid, "name": holder.name}));
        }
        return refusal
            .next_call("runtime_list_sessions", "lists the sessions, of which one may be free");
    }
    Refusal::new(codes::FORBIDDEN, format!("the session can't be locked: {fault}"))
        .no_remedy("the session folder's owner and permissions have to be mended")
}
