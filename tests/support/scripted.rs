//! An engine that does what a test tells it: it publishes a session as a real one does, and answers, lies, stalls
//! or hangs up as scripted.

use std::{
    io::{Read as _, Write as _},
    os::unix::net::{UnixListener, UnixStream},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use didi_wire::{
    BridgeError, Descriptor, Identity, PROTOCOL_VERSION, Request, RequestId, Response, SessionId,
    SessionKind, SessionToken, TOKEN_PARAM,
    descriptor::SCHEMA_VERSION,
    discovery::{self, Published},
    endpoint,
    frame::{Decoder, encode},
    process,
    session_dir::SessionDir,
};
use serde_json::{Value, json};

/// What the engine does with one request.
#[derive(Debug, Clone)]
pub enum Act {
    /// Answers so.
    Answer(Value),
    /// Refuses so: status, code, and whether the route is to be given up.
    Refuse(u16, &'static str, bool),
    /// Answers so, then says unasked that a person sent the client away, and hangs up.
    AnswerAndPart(Value),
    /// Answers under another id.
    OtherId,
    /// Sends these bytes as they are, and nothing else.
    Bytes(Vec<u8>),
    /// Sends the first half of a frame, then hangs up.
    HalfAFrame,
    /// Hangs up.
    HangUp,
    /// Says nothing for ever.
    Silence,
}

type Script = dyn Fn(&Request, usize) -> Act + Send + Sync;

/// A scripted engine.
pub struct Scripted {
    published: Published,
    endpoint: String,
    asked: Arc<AtomicUsize>,
}

impl Scripted {
    /// An editor of a project that answers the handshake as it should, and everything else as `script` says; it
    /// gets the request and how many came before it.
    ///
    /// # Panics
    /// When it can't listen or publish.
    pub fn editor(
        sessions: &SessionDir,
        project: &Path,
        script: impl Fn(&Request, usize) -> Act + Send + Sync + 'static,
    ) -> Self {
        Self::start(sessions, project, SessionKind::Editor, script, |identity| {
            let mut answer = json!(identity);
            answer["status"] = "ok".into();
            Act::Answer(answer)
        })
    }

    /// The same, of any kind, with a handshake of its own.
    ///
    /// # Panics
    /// When it can't listen or publish.
    pub fn start(
        sessions: &SessionDir,
        project: &Path,
        kind: SessionKind,
        script: impl Fn(&Request, usize) -> Act + Send + Sync + 'static,
        handshake: impl Fn(&Identity) -> Act + Send + Sync + 'static,
    ) -> Self {
        let descriptor = descriptor(project, kind);
        let identity = descriptor.identity.clone();
        let token = descriptor.token.reveal().to_owned();
        let listener = UnixListener::bind(&identity.endpoint).expect("the endpoint is free");
        let published = discovery::publish(sessions, descriptor).expect("it can be published");
        let asked = Arc::new(AtomicUsize::new(0));
        let (count, endpoint) = (Arc::clone(&asked), identity.endpoint.clone());
        let script: Arc<Script> = Arc::new(script);
        let handshake = Arc::new(handshake);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (script, handshake) = (Arc::clone(&script), Arc::clone(&handshake));
                let (count, identity, token) =
                    (Arc::clone(&count), identity.clone(), token.clone());
                thread::spawn(move || {
                    serve(stream, &token, &|request| {
                        if request.method == "session.handshake" {
                            return handshake(&identity);
                        }
                        script(request, count.fetch_add(1, Ordering::SeqCst))
                    });
                });
            }
        });
        Scripted { published, endpoint, asked }
    }

    /// Its session's name.
    pub fn session(&self) -> String {
        self.published.descriptor().identity.session_id.to_string()
    }

    /// Its token, to look for where it must not be.
    pub fn token(&self) -> String {
        self.published.descriptor().token.reveal().to_owned()
    }

    /// Requests that reached it, handshakes left out.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        let _ = self.published.retire();
        let _ = std::fs::remove_file(&self.endpoint);
    }
}

/// What an engine in this process would publish about itself.
///
/// # Panics
/// When the project is not there.
pub fn descriptor(project: &Path, kind: SessionKind) -> Descriptor {
    let project_path = project.canonicalize().expect("the project is there").display().to_string();
    let (session_id, pid) = (SessionId::random(), std::process::id());
    Descriptor {
        identity: Identity {
            schema_version: SCHEMA_VERSION,
            session_id,
            pid,
            kind,
            endpoint: endpoint::name(&std::env::temp_dir(), &project_path, pid, session_id),
            project_path,
            started_at_ms: process::own_start_ms().expect("the system tells"),
            protocol_version: PROTOCOL_VERSION.into(),
            build_id: None,
            engine_version: Some("4.6.3-scripted".into()),
        },
        token: SessionToken::random(),
    }
}

/// Answers the requests of one connection, until it ends or the script ends it.
fn serve(mut stream: UnixStream, token: &str, act: &dyn Fn(&Request) -> Act) {
    let mut decoder = Decoder::new();
    let mut chunk = [0; 4096];
    loop {
        let payload = loop {
            if let Some(payload) = decoder.next_frame().expect("servers send sound frames") {
                break payload.to_vec();
            }
            match stream.read(&mut chunk) {
                Ok(0) | Err(_) => return,
                Ok(read) => decoder.push(&chunk[..read]),
            }
        };
        let mut request = Request::from_slice(&payload).expect("servers send sound requests");
        let shown = request.params.shift_remove(TOKEN_PARAM);
        if shown.as_ref().and_then(Value::as_str) != Some(token) {
            let error = BridgeError::new(401, "session_token_rejected", "the token is wrong");
            return send(&mut stream, &Response::failure(Some(request.id), error).to_vec());
        }
        match act(&request) {
            Act::Answer(value) => send(&mut stream, &Response::success(request.id, value).to_vec()),
            Act::AnswerAndPart(value) => {
                send(&mut stream, &Response::success(request.id, value).to_vec());
                let error = BridgeError::new(409, "session_detached", "scripted");
                return send(&mut stream, &Response::failure(None, error).to_vec());
            }
            Act::Refuse(status, code, quarantine) => {
                let error =
                    BridgeError::new(status, code, "scripted").with("route_quarantine", quarantine);
                send(&mut stream, &Response::failure(Some(request.id), error).to_vec());
            }
            Act::OtherId => {
                let other = RequestId(request.id.0 + 1);
                send(&mut stream, &Response::success(other, json!({})).to_vec());
            }
            Act::Bytes(bytes) => drop(stream.write_all(&bytes)),
            Act::HalfAFrame => {
                let whole = encode(&Response::success(request.id, json!({"a": 1})).to_vec());
                let whole = whole.expect("it is short");
                let _ = stream.write_all(&whole[..whole.len() / 2]);
                return;
            }
            Act::HangUp => return,
            Act::Silence => {}
        }
    }
}

fn send(stream: &mut UnixStream, payload: &[u8]) {
    // A server that hung up meanwhile has its reasons.
    let _ = stream.write_all(&encode(payload).expect("answers of tests are short"));
}
