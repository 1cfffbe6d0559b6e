//! Connections of one session: who may speak, what is answered at once, what goes to the main thread.
//!
//! A connection has a thread and one request at a time. Every frame that arrives whole gets an answer; a peer
//! that shows a wrong token or announces too long a frame is answered and then cut off.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use didi_wire::{
    BridgeError, Descriptor, MAX_UNDO_GROUP_BYTES, Request, Response, SessionKind, TOKEN_PARAM,
    UNDO_GROUP_PARAM,
    frame::{Decoder, FrameTooLong, encode},
    lock::{self, Holder},
    methods::{self, Effect, Lookup, Method},
    session_dir::SessionDir,
};
use serde_json::{Map, Value, json};

use crate::{
    activity::Activity,
    backend::{Answer, Call},
    clients::{self, Clients},
    debugger::Debugger,
    detached::{Detached, WorkKind},
    queue::{MAIN_THREAD_DEADLINE, Queue},
    ring::{Level, LogRing, Query},
};

mod slots;
pub(crate) use slots::{Slot, Slots};

#[cfg(test)]
mod tests;

/// Who says what the bridge has to say.
const SOURCE: &str = "bridge";

/// By which a client says hello.
const HANDSHAKE: &str = "session.handshake";

/// How long a call takes that is worth a note.
const SLOW: Duration = Duration::from_secs(1);

/// Bytes of one read.
const READ_BYTES: usize = 64 * 1024;

/// What all connections of a session share.
pub struct Shared {
    /// Who the session is, and its secret.
    pub descriptor: Descriptor,
    /// Commands for the main thread.
    pub queue: Arc<Queue>,
    /// What the bridge itself has to say.
    pub telemetry: Arc<LogRing>,
    /// What the engine prints.
    pub output: Arc<LogRing>,
    /// Who is attached.
    pub clients: Clients,
    /// What keeps commands waiting.
    pub activity: Activity,
    /// Where the session's lock says who holds it.
    pub sessions: Option<SessionDir>,
    /// Reimports that outlive their call.
    pub reimports: Arc<Detached>,
    /// Reloads that outlive their call.
    pub reloads: Arc<Detached>,
    /// How long a caller waits for the main thread.
    pub main_thread_deadline: Duration,
    /// Whose debugger stops this engine, where it is a game.
    pub debugged_by: Debugger,
    attached: AtomicUsize,
}

/// Reimports, as their reader knows them.
pub const REIMPORT: WorkKind = WorkKind {
    id_field: "reimport_id",
    not_found: "reimport_not_found",
    unread: "reimport_unread",
};

/// Reloads, as their reader knows them.
pub const RELOAD: WorkKind =
    WorkKind { id_field: "reload_id", not_found: "reload_not_found", unread: "reload_unread" };

impl Shared {
    /// What a session of this descriptor shares, all of it empty.
    pub fn new(descriptor: Descriptor, output: Arc<LogRing>, telemetry: Arc<LogRing>) -> Self {
        Shared {
            descriptor,
            queue: Arc::new(Queue::new()),
            telemetry,
            output,
            clients: Clients::default(),
            activity: Activity::default(),
            sessions: None,
            reimports: Arc::new(Detached::new()),
            reloads: Arc::new(Detached::new()),
            main_thread_deadline: MAIN_THREAD_DEADLINE,
            debugged_by: Debugger::None,
            attached: AtomicUsize::new(0),
        }
    }

    /// Connections that have shown the token and are open.
    pub fn attached_clients(&self) -> usize {
        self.attached.load(Ordering::Acquire)
    }

    /// Who holds the session's lock, where that can be read.
    pub fn holder(&self) -> Option<Holder> {
        lock::holder(self.sessions.as_ref()?, self.descriptor.identity.session_id)
    }

    /// Refuses a client that a person sent away; a handshake is where another one comes in.
    fn check_welcome(&self, method: &Method) -> Result<(), BridgeError> {
        if method.name == HANDSHAKE {
            self.clients.welcome(|| self.holder())
        } else {
            self.clients.may_ask()
        }
    }

    fn tell(&self, level: Level, message: &str, details: Value) {
        self.telemetry.push(level, SOURCE, message, details);
    }

    /// Notes a call that changed something, failed, or took long.
    fn note(&self, method: &str, took: Duration, answer: &Answer) {
        let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let found = match methods::lookup(method) {
            Lookup::Method(found) => Some(found),
            _ => None,
        };
        if let Some(found) = found.filter(|found| found.thread.is_main(self.kind())) {
            self.clients.ended(found.name, answer.as_ref().err().and_then(BridgeError::code_name));
        }
        let changes = found.is_some_and(|found| found.effect == Effect::Changes);
        match answer {
            Err(error) => {
                let level = if error.code >= 500 { Level::Warning } else { Level::Info };
                let details = json!({
                    "method": method,
                    "status": error.code,
                    "code": error.code_name(),
                    "took_ms": took_ms,
                });
                self.tell(level, &error.message, details);
            }
            Ok(_) if changes || took >= SLOW => {
                let details = json!({ "method": method, "took_ms": took_ms });
                self.tell(Level::Debug, "call done", details);
            }
            Ok(_) => {}
        }
    }

    /// Answers one request.
    fn answer(&self, method: &'static Method, mut params: Map<String, Value>) -> Answer {
        let undo_group = undo_group(params.remove(UNDO_GROUP_PARAM))?;
        if !method.thread.is_main(self.kind()) {
            return self.at_once(method.name, params);
        }
        let limit = self.main_thread_deadline + method.extra_time(&params);
        self.queue.run(Call { method, params, undo_group }, limit)
    }

    fn kind(&self) -> SessionKind {
        self.descriptor.identity.kind
    }

    /// Methods that need no engine.
    fn at_once(&self, name: &str, params: Map<String, Value>) -> Answer {
        match name {
            HANDSHAKE => Ok(self.handshake()),
            "runtime.getCallStack" => Err(self.debugged_by.refuse_stack()),
            "runtime.getLogs" => self.page(&self.telemetry, params, None),
            "runtime.getOutput" => self.page(&self.output, params, Some("engine")),
            "editor.getActivity" => Ok(self.activity.report()),
            "asset.reimportStatus" => status(&self.reimports, REIMPORT, &params),
            "editor.reloadStatus" => status(&self.reloads, RELOAD, &params),
            _ => Err(BridgeError::new(501, "not_implemented", format!("`{name}` is not built in"))),
        }
    }

    fn handshake(&self) -> Value {
        let mut identity = serde_json::to_value(self.descriptor.public()).unwrap_or_default();
        identity["status"] = "ok".into();
        identity
    }

    fn page(&self, ring: &LogRing, params: Map<String, Value>, stream: Option<&str>) -> Answer {
        let query: Query = serde_json::from_value(params.into())
            .map_err(|error| BridgeError::new(400, "invalid_arguments", error.to_string()))?;
        let mut page = serde_json::to_value(ring.read(query)?).unwrap_or_default();
        page["session_kind"] = self.descriptor.identity.kind.as_str().into();
        if let Some(stream) = stream {
            page["stream"] = stream.into();
        }
        Ok(page)
    }
}

/// The step of undo that a request names, within its bound.
fn undo_group(named: Option<Value>) -> Result<Option<String>, BridgeError> {
    match named {
        None => Ok(None),
        Some(Value::String(name)) if name.len() <= MAX_UNDO_GROUP_BYTES => Ok(Some(name)),
        Some(_) => {
            let message =
                format!("a step of undo has a name of at most {MAX_UNDO_GROUP_BYTES} bytes");
            Err(BridgeError::new(400, "invalid_arguments", message).with("field", UNDO_GROUP_PARAM))
        }
    }
}

fn status(works: &Detached, kind: WorkKind, params: &Map<String, Value>) -> Answer {
    let Some(id) = params.get(kind.id_field).and_then(Value::as_str) else {
        let message = format!("`{}` is needed, a string", kind.id_field);
        return Err(
            BridgeError::new(400, "invalid_arguments", message).with("field", kind.id_field)
        );
    };
    works.read(id, kind, Instant::now())
}

/// Serves one connection until it ends.
pub(crate) fn serve(shared: &Shared, slot: &Slot) {
    let mut connection = Connection { shared, attached: false };
    let mut decoder = Decoder::new();
    let mut buffer = vec![0; READ_BYTES];
    while let Ok(read @ 1..) = slot.peer.read(&mut buffer) {
        decoder.push(&buffer[..read]);
        loop {
            let reply = match decoder.next_frame() {
                Ok(None) => break,
                Ok(Some(payload)) => slot.busy(|| connection.reply(payload)),
                Err(too_long) => Reply { response: refuse_frame(too_long), goes_on: false },
            };
            if slot.peer.write(&framed(reply.response)).is_err() || !reply.goes_on {
                return;
            }
        }
    }
    // Nobody asked, so it answers no request: the client reads it when it looks.
    if connection.attached && shared.clients.is_sent_away() {
        let _ = slot.peer.write(&framed(Response::failure(None, clients::sent_away_error())));
    }
}

/// One connection, from its first frame to its last.
struct Connection<'s> {
    shared: &'s Shared,
    attached: bool,
}

struct Reply {
    response: Response,
    goes_on: bool,
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        if self.attached {
            let left = self.shared.attached.fetch_sub(1, Ordering::AcqRel) - 1;
            if left == 0 {
                self.shared.clients.gone();
            }
            self.shared.tell(Level::Info, "client detached", json!({ "attached": left }));
        }
    }
}

impl Connection<'_> {
    fn reply(&mut self, payload: &[u8]) -> Reply {
        let request = match Request::from_slice(payload) {
            Ok(request) => request,
            Err(malformed) => {
                let error = BridgeError::new(400, "malformed_request", malformed.reason);
                return Reply { response: Response::failure(malformed.id, error), goes_on: true };
            }
        };
        let Request { id, method, mut params } = request;
        if !self.may_speak(params.remove(TOKEN_PARAM).as_ref()) {
            let message = "the session's token was not shown";
            let error = BridgeError::new(401, "session_token_rejected", message);
            return Reply { response: Response::failure(Some(id), error), goes_on: false };
        }
        let began = Instant::now();
        let answer = known(&method).and_then(|method| {
            self.shared.check_welcome(method)?;
            catch_unwind(AssertUnwindSafe(|| self.shared.answer(method, params)))
                .unwrap_or_else(|_| Err(BridgeError::new(500, "method_panicked", "it panicked")))
        });
        self.shared.note(&method, began.elapsed(), &answer);
        Reply { response: Response { id: Some(id), body: answer }, goes_on: true }
    }

    fn may_speak(&mut self, token: Option<&Value>) -> bool {
        let token = token.and_then(Value::as_str).unwrap_or_default();
        let matches = self.shared.descriptor.token.matches(token);
        if matches && !self.attached {
            self.attached = true;
            let now = self.shared.attached.fetch_add(1, Ordering::AcqRel) + 1;
            if now == 1 {
                self.shared.clients.attached(self.shared.holder());
            }
            self.shared.tell(Level::Info, "client attached", json!({ "attached": now }));
        }
        matches
    }
}

/// The method of a name, or why there is none.
fn known(name: &str) -> Result<&'static Method, BridgeError> {
    let refuse = |status, code, why| Err(BridgeError::new(status, code, format!("`{name}` {why}")));
    match methods::lookup(name) {
        Lookup::Method(method) => Ok(method),
        Lookup::OfflineOnly => refuse(409, "offline_only_method", "is done without an engine"),
        Lookup::Unknown => refuse(404, "unknown_method", "is no method of the bridge"),
    }
}

fn refuse_frame(too_long: FrameTooLong) -> Response {
    Response::failure(None, BridgeError::new(413, "frame_too_long", too_long.to_string()))
}

/// The frame of an answer, or of a refusal in its place when it is too long.
fn framed(response: Response) -> Vec<u8> {
    encode(&response.to_vec()).unwrap_or_else(|too_long| {
        let error = BridgeError::new(413, "answer_too_long", too_long.to_string())
            .with("bytes", json!(too_long.bytes));
        encode(&Response::failure(response.id, error).to_vec()).unwrap_or_default()
    })
}
