//! Opening and closing a session: bind, serve, publish; and the same backwards.
//!
//! Nobody can find a session that does not listen yet, and nobody finds one that is on its way out.

use std::{
    io,
    path::PathBuf,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use didi_wire::{
    Descriptor, Identity, PROTOCOL_VERSION, SessionId, SessionKind, SessionToken,
    descriptor::SCHEMA_VERSION,
    discovery::{self, PublishFault, Published},
    endpoint, process,
    session_dir::SessionDir,
};
use interprocess::local_socket::{Listener, prelude::*};
use serde_json::{Value, json};

use crate::{
    debugger::Debugger,
    queue::MAIN_THREAD_DEADLINE,
    ring::{Level, LogRing},
    server::{self, Shared, Slots},
    transport::{self, Peer},
};

#[cfg(test)]
mod tests;

/// Pause after a connection could not be accepted, so that a lasting fault does not turn into a busy loop.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Who a session will be.
#[derive(Debug, Clone)]
pub struct SessionConfig {
    /// Editor or game.
    pub kind: SessionKind,
    /// Canonical path of the project's folder.
    pub project_path: String,
    /// Where sockets are made.
    pub temp: PathBuf,
    /// Where descriptors are published.
    pub sessions: SessionDir,
    /// The build that this extension came out of.
    pub build_id: Option<String>,
    /// The engine's own name of its version.
    pub engine_version: Option<String>,
    /// How long a caller waits for the main thread.
    pub main_thread_deadline: Duration,
    /// Whose debugger stops this engine, where it is a game.
    pub debugged_by: Debugger,
}

impl SessionConfig {
    /// A session with the contract's deadline and without the two optional names.
    pub fn new(
        kind: SessionKind,
        project_path: String,
        temp: PathBuf,
        sessions: SessionDir,
    ) -> Self {
        SessionConfig {
            kind,
            project_path,
            temp,
            sessions,
            build_id: None,
            engine_version: None,
            main_thread_deadline: MAIN_THREAD_DEADLINE,
            debugged_by: Debugger::None,
        }
    }
}

/// A session that listens and can be found, until it is closed or dropped.
pub struct Session {
    shared: Arc<Shared>,
    slots: Arc<Slots>,
    listener: Arc<Listener>,
    acceptor: Option<JoinHandle<()>>,
    published: Option<Published>,
}

/// Why a session was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenFault {
    /// The system does not tell when this process started, so nobody could tell it from a later one.
    #[error("the system does not tell when this process started")]
    NoStartTime,
    /// Nothing can be bound there.
    #[error("`{0}` cannot be listened on")]
    Bind(String, #[source] io::Error),
    /// The thread that accepts could not be started.
    #[error("no thread could be started")]
    Thread(#[source] io::Error),
    /// The descriptor could not be published.
    #[error("the session could not be published")]
    Publish(#[from] PublishFault),
}

impl Session {
    /// Opens a session; `output` is what the engine prints, which may have begun before.
    ///
    /// # Errors
    /// When it cannot be bound or published; nothing is left behind then.
    pub fn open(config: SessionConfig, output: Arc<LogRing>) -> Result<Self, OpenFault> {
        let descriptor = describe(&config)?;
        let endpoint = descriptor.identity.endpoint.clone();
        let listener =
            transport::bind(&endpoint).map_err(|error| OpenFault::Bind(endpoint, error))?;
        let listener = Arc::new(listener);
        let telemetry = Arc::new(LogRing::new());
        let mut shared = Shared::new(descriptor.clone(), output, telemetry);
        shared.main_thread_deadline = config.main_thread_deadline;
        shared.debugged_by = config.debugged_by;
        shared.sessions = Some(config.sessions.clone());
        let (shared, slots) = (Arc::new(shared), Arc::new(Slots::default()));
        let acceptor = {
            let (shared, slots) = (Arc::clone(&shared), Arc::clone(&slots));
            let listener = Arc::clone(&listener);
            thread::Builder::new()
                .name("didi accept".into())
                .spawn(move || accept(&listener, &shared, &slots))
                .map_err(OpenFault::Thread)?
        };
        // From here on dropping the session undoes what was done.
        let mut session =
            Session { shared, slots, listener, acceptor: Some(acceptor), published: None };
        session.published = Some(discovery::publish(&config.sessions, descriptor)?);
        session.shared.telemetry.push(Level::Info, "bridge", "session opened", session.facts());
        Ok(session)
    }

    /// What its connections share.
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Who it is.
    pub fn identity(&self) -> &Identity {
        self.shared.descriptor.public()
    }

    /// Sends the client away, as a person may wish: its connections end, and it is refused until it attaches anew. The
    /// session stays open.
    pub fn detach_clients(&self) {
        let clients = &self.shared.clients;
        clients.send_away(self.shared.holder());
        self.shared.telemetry.push(Level::Info, "bridge", "client sent away", self.facts());
        self.slots.end_all();
    }

    fn facts(&self) -> Value {
        let identity = self.identity();
        json!({ "session_id": identity.session_id, "kind": identity.kind })
    }

    /// Retires the descriptor, answers what waits, ends the connections and their threads, removes the socket.
    fn close(&mut self) {
        if let Some(published) = self.published.take() {
            // A descriptor that is not ours any more is left for whoever put it there.
            let _ = published.retire();
        }
        self.shared.queue.close();
        self.slots.close();
        if let Some(acceptor) = self.acceptor.take() {
            transport::wake(&self.listener, &self.identity().endpoint);
            let _ = acceptor.join();
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.close();
    }
}

fn describe(config: &SessionConfig) -> Result<Descriptor, OpenFault> {
    let (session_id, pid) = (SessionId::random(), std::process::id());
    let identity = Identity {
        schema_version: SCHEMA_VERSION,
        session_id,
        pid,
        kind: config.kind,
        project_path: config.project_path.clone(),
        endpoint: endpoint::name(&config.temp, &config.project_path, pid, session_id),
        started_at_ms: process::own_start_ms().ok_or(OpenFault::NoStartTime)?,
        protocol_version: PROTOCOL_VERSION.into(),
        build_id: config.build_id.clone(),
        engine_version: config.engine_version.clone(),
    };
    Ok(Descriptor { identity, token: SessionToken::random() })
}

/// Accepts until the session ends, then waits for its connections.
fn accept(listener: &Listener, shared: &Arc<Shared>, slots: &Arc<Slots>) {
    let mut threads: Vec<JoinHandle<()>> = vec![];
    loop {
        let accepted = listener.accept().and_then(Peer::new);
        let Ok(peer) = accepted else {
            if slots.is_closed() {
                break;
            }
            thread::sleep(ACCEPT_PAUSE);
            continue;
        };
        let Some(place) = slots.take(peer) else { break };
        threads.retain(|thread| !thread.is_finished());
        let shared = Arc::clone(shared);
        let spawned = thread::Builder::new()
            .name("didi connection".into())
            .spawn(move || server::serve(&shared, &place.slot));
        threads.extend(spawned);
    }
    for thread in threads {
        let _ = thread.join();
    }
}
