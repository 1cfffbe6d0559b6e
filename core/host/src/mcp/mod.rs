//! The Model Context Protocol: methods, eras, lists, and who is told what.
//!
//! What can be answered at once is answered on the reader's thread; the rest leaves it, so that the reader
//! always hears a cancel or a ping. Changes of the project go through one lane in the order in which they
//! came; reads run beside them.
//!
//! Spec: P-2 to P-6.

pub mod call;
pub mod discover;
pub mod era;
pub mod initialize;
pub mod list;
mod page;
pub mod prompts;
pub mod resources;
pub mod respond;
pub mod subscriptions;
pub mod tasks;

use std::{
    collections::BTreeMap,
    sync::{Arc, Condvar, Mutex, OnceLock, PoisonError, mpsc},
    thread,
    time::Duration,
};

use didi_plugin_api::desc::Profile;
use didi_wire::descriptor::Identity;
use serde_json::{Map, Value, json};

use self::{
    era::{Revision, Terms},
    respond::{Batch, InFlight, Responder, Sink},
    subscriptions::Subscriptions,
};
use crate::{
    answer::Economy,
    dispatch::Dispatcher,
    front::stdio::Output,
    jsonrpc::{self, INVALID_REQUEST, Id, Line, METHOD_NOT_FOUND, Message, ProtocolError, Request},
    page::Shown,
    source,
};

/// Requests that may be open at once; one more is refused.
pub const MAX_IN_FLIGHT: usize = 4096;

/// Threads for calls that do not change the project.
const MAX_WORKERS: usize = 64;

/// How long cancelled calls, and then cancelled jobs, are waited for at the end.
const STOP_WAIT: Duration = Duration::from_millis(200);

/// What `initialize` and `server/discover` say of the process.
#[derive(Debug, Clone, Copy)]
pub struct Facts {
    /// Which list is shown.
    pub profile: Profile,
    /// Whether confirmations are skipped.
    pub yolo: bool,
    /// Whether the text copy is left out for every client (`--text-copy once`).
    pub omit_text_copy: bool,
    /// Who is told of the control room's page (`--ui-app`).
    pub page: Shown,
    /// Whether the session descriptor is sent once a route (`--session-descriptor once`).
    pub descriptor_once: bool,
}

/// What `initialize` settled.
pub(crate) struct Session {
    pub(crate) revision: Revision,
    pub(crate) capabilities: Value,
}

type Task = Box<dyn FnOnce() + Send>;

/// A dispatcher that is still being made; who needs it waits.
#[derive(Clone, Default)]
pub struct Pending(Arc<(Mutex<Option<Arc<Dispatcher>>>, Condvar)>);

impl Pending {
    /// The dispatcher is there.
    pub fn provide(&self, dispatcher: Arc<Dispatcher>) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(dispatcher);
        self.0.1.notify_all();
    }

    /// The dispatcher, if it is there.
    pub fn now(&self) -> Option<Arc<Dispatcher>> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits for the dispatcher. Loading a pack is bounded, so this ends.
    pub fn wait(&self) -> Arc<Dispatcher> {
        let mut slot = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(dispatcher) = slot.as_ref() {
                return Arc::clone(dispatcher);
            }
            slot = self.0.1.wait(slot).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The protocol's side of one process.
pub struct Server {
    facts: Facts,
    output: Arc<Output>,
    pending: Pending,
    open: Arc<InFlight>,
    session: Mutex<Option<Session>>,
    /// The session descriptor that a legacy client was told whole.
    told: Mutex<Option<Identity>>,
    asked: Mutex<BTreeMap<String, mpsc::Sender<Result<Value, Value>>>>,
    subscriptions: Subscriptions,
    workers: OnceLock<tokio::runtime::Runtime>,
    lane: OnceLock<mpsc::Sender<Task>>,
    /// Calls that came before the packs were there; `None` once they are taken up.
    early: Mutex<Option<Vec<call::Early>>>,
}

impl Server {
    /// A server that answers on `output`.
    pub fn new(facts: Facts, output: Arc<Output>, pending: Pending) -> Arc<Self> {
        Arc::new(Server {
            facts,
            subscriptions: Subscriptions::new(Arc::clone(&output)),
            output,
            pending,
            open: Arc::default(),
            session: Mutex::default(),
            told: Mutex::default(),
            asked: Mutex::default(),
            workers: OnceLock::new(),
            lane: OnceLock::new(),
            early: Mutex::new(Some(vec![])),
        })
    }

    /// Takes one line. Answers `false` when the session has to end.
    pub fn receive(self: &Arc<Self>, line: &[u8]) -> bool {
        match jsonrpc::read_line(line) {
            Line::Blank => {}
            Line::ContentLength => {
                let message =
                    "messages are single lines; Content-Length framing is not spoken here";
                self.fault(None, &ProtocolError::new(jsonrpc::PARSE_ERROR, message));
                return false;
            }
            Line::Single(message) => self.take(message, Sink::Line(Arc::clone(&self.output)), true),
            Line::Batch(messages) => self.take_batch(messages),
        }
        true
    }

    /// Refuses a line that was too long to be read.
    pub fn refuse_long_line(&self) {
        let fault = jsonrpc::line_too_long();
        self.fault(fault.id.as_ref(), &fault.error);
    }

    fn fault(&self, id: Option<&Id>, error: &ProtocolError) {
        self.output.hold(&jsonrpc::error_line(id, error));
    }

    /// Batches were part of one revision; elsewhere an array is no request.
    fn take_batch(self: &Arc<Self>, messages: Vec<Result<Message, jsonrpc::Fault>>) {
        if self.granted() != Some(Revision::V2025_03) {
            let message = "batches are not part of this protocol revision";
            self.fault(None, &ProtocolError::new(INVALID_REQUEST, message));
            return;
        }
        let batch = Batch::new(Arc::clone(&self.output), messages.len());
        for message in messages {
            self.take(message, Sink::Batch(Arc::clone(&batch)), false);
        }
    }

    fn take(
        self: &Arc<Self>,
        message: Result<Message, jsonrpc::Fault>,
        sink: Sink,
        may_initialize: bool,
    ) {
        match message {
            Err(fault) => {
                sink.write(jsonrpc::error_line(fault.id.as_ref(), &fault.error), true);
            }
            Ok(Message::Response { id, outcome }) => {
                self.take_response(&id, outcome);
                sink.skip();
            }
            Ok(Message::Notification(request)) => {
                self.take_notification(&request);
                sink.skip();
            }
            Ok(Message::Request(request)) => self.take_request(request, sink, may_initialize),
        }
    }

    fn take_request(self: &Arc<Self>, request: Request, sink: Sink, may_initialize: bool) {
        // A request has an id: a message without one is a notification.
        let Some(id) = request.id.clone() else { return sink.skip() };
        let refuse = |message: &str| {
            let error = ProtocolError::new(INVALID_REQUEST, message);
            sink.write(jsonrpc::error_line(Some(&id), &error), true);
        };
        if request.method == "initialize" && !may_initialize {
            return refuse("`initialize` can't be part of a batch");
        }
        if self.open.count() >= MAX_IN_FLIGHT {
            return refuse("too many requests are open; wait for answers");
        }
        let Some(cancel) = self.open.open(&id) else {
            return refuse("a request with this id is still open");
        };
        let responder = Responder::new(id, sink, Arc::clone(&self.open), cancel);
        self.route(&request, responder);
    }

    /// Finds out by which terms a request is served, and sends it to its method.
    fn route(self: &Arc<Self>, request: &Request, responder: Responder) {
        let params = match request.params() {
            Ok(params) => params,
            Err(error) => return responder.error(&error),
        };
        match self.terms(&request.method, &params) {
            Ok(terms) => self.method(&request.method, terms, params, responder),
            Err(error) => responder.error(&error),
        }
    }

    fn terms(&self, method: &str, params: &Map<String, Value>) -> Result<Terms, ProtocolError> {
        let empty = Map::new();
        let meta = match params.get("_meta") {
            None => &empty,
            Some(Value::Object(meta)) => meta,
            Some(_) => return Err(ProtocolError::params("`_meta` has to be an object")),
        };
        match Terms::declared(meta) {
            Ok(Some(terms)) => return Ok(terms),
            Ok(None) => {}
            Err(error) => return Err(error),
        }
        if method == "server/discover" {
            return Ok(Terms::discovering());
        }
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        match session.as_ref() {
            Some(session) => {
                Ok(Terms::granted(session.revision, session.capabilities.clone(), meta))
            }
            None if method == "initialize" || method == "ping" => {
                Ok(Terms::granted(Revision::NEWEST_GRANTED, json!({}), meta))
            }
            None => Err(ProtocolError::new(
                INVALID_REQUEST,
                "nothing is initialized: send `initialize`, or declare a version in `_meta`",
            )
            .data(json!({"initialized": false, "supported": era::supported()}))),
        }
    }

    fn method(
        self: &Arc<Self>,
        method: &str,
        terms: Terms,
        params: Map<String, Value>,
        responder: Responder,
    ) {
        let modern = terms.is_modern();
        match method {
            "initialize" if !terms.stateless => responder.settle_with(self.initialize(&params)),
            "ping" if !modern => responder.result(&json!({})),
            "server/discover" => responder.result(&self.discover(&terms)),
            "tools/list" => self.when_ready(responder, move |server, responder| {
                responder.settle_with(server.list_tools(&terms, &params));
            }),
            "tools/call" => self.call(terms, params, responder),
            "resources/list" => self.when_ready(responder, move |server, responder| {
                responder.settle_with(server.list_resources(&terms, &params));
            }),
            "resources/templates/list" => self.when_ready(responder, move |server, responder| {
                responder.settle_with(server.list_templates(&terms, &params));
            }),
            "resources/read" => self.on_worker(responder, move |server, responder| {
                let result = server.read_resource(&terms, &params, responder.cancel());
                responder.settle_with(result);
            }),
            "resources/subscribe" if !modern => {
                self.when_ready(responder, move |server, responder| {
                    responder.settle_with(server.subscribe(&terms, &params));
                });
            }
            "resources/unsubscribe" if !modern => responder.settle_with(self.unsubscribe(&params)),
            "subscriptions/listen" if modern => {
                self.when_ready(responder, move |server, responder| {
                    server.listen(&terms, &params, responder);
                });
            }
            "prompts/list" => responder.settle_with(prompts::list(&terms, &params)),
            "prompts/get" => responder.settle_with(prompts::get(&terms, &params)),
            "tasks/get" | "tasks/cancel" | "tasks/update" if modern => {
                let method = method.to_owned();
                self.when_ready(responder, move |server, responder| {
                    responder.settle_with(server.task(&method, &terms, &params));
                });
            }
            unknown => responder.error(&ProtocolError::new(
                METHOD_NOT_FOUND,
                format!("`{}` is no method of this revision", crate::text::clip(unknown)),
            )),
        }
    }

    fn take_notification(&self, request: &Request) {
        if request.method != "notifications/cancelled" {
            // Methods that want an answer can't be sent without an id, and change nothing when they are.
            return;
        }
        let Ok(params) = request.params() else { return };
        match params.get("requestId") {
            Some(id) if id.is_string() || id.is_number() => self.open.cancel(&id.to_string()),
            _ => {}
        }
    }

    fn take_response(&self, id: &Id, outcome: Result<Value, Value>) {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner).remove(id.as_json());
        if let Some(asked) = asked {
            // Whoever asked may have given up waiting.
            let _ = asked.send(outcome);
        }
    }

    /// Asks the client something, and waits for its answer up to `span`.
    pub(crate) fn ask(
        &self,
        method: &str,
        params: &Value,
        span: Duration,
    ) -> Option<Result<Value, Value>> {
        let id = Id::own(&format!("didi-{}", source::random_hex::<8>()));
        let (answer, answered) = mpsc::channel();
        let key = id.as_json().to_owned();
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone(), answer);
        self.output.send(&jsonrpc::outgoing_line(Some(&id), method, params));
        let outcome = answered.recv_timeout(span).ok();
        if outcome.is_none() {
            self.asked.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
            let params = json!({"requestId": id, "reason": "no answer in time"});
            self.output.send(&jsonrpc::outgoing_line(None, "notifications/cancelled", &params));
        }
        outcome
    }

    /// The revision that `initialize` granted.
    fn granted(&self) -> Option<Revision> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|one| one.revision)
    }

    /// What a client can do without in this answer.
    fn economy(&self, terms: &Terms) -> Economy {
        let own = Economy::declared(&terms.own_capabilities);
        Economy::declared(&terms.capabilities).or(own).or(Economy {
            omit_text_copy: self.facts.omit_text_copy,
            omit_session_descriptor: self.facts.descriptor_once,
        })
    }

    /// Whether the client holds the descriptor of the session that answered, and can do without it.
    ///
    /// A modern request holds the session that it named. A legacy client holds what an answer that could have left
    /// it out carried whole, until anything in it changes.
    pub(super) fn holds(&self, terms: &Terms, session: &Identity) -> bool {
        if terms.stateless {
            return terms.session.as_deref() == Some(session.session_id.to_string().as_str());
        }
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.as_ref() == Some(session) {
            return true;
        }
        *told = Some(session.clone());
        false
    }

    /// Runs at once when the packs are loaded, and otherwise off the reader's thread.
    fn when_ready(
        self: &Arc<Self>,
        responder: Responder,
        work: impl FnOnce(&Arc<Server>, Responder) + Send + 'static,
    ) {
        if self.pending.now().is_some() {
            work(self, responder);
        } else {
            self.on_worker(responder, work);
        }
    }

    /// Runs on a thread that may block.
    fn on_worker(
        self: &Arc<Self>,
        mut responder: Responder,
        work: impl FnOnce(&Arc<Server>, Responder) + Send + 'static,
    ) {
        responder.detach();
        let server = Arc::clone(self);
        let workers = self.workers.get_or_init(|| {
            tokio::runtime::Builder::new_current_thread()
                .max_blocking_threads(MAX_WORKERS)
                .build()
                .expect("a runtime without drivers needs nothing of the system")
        });
        drop(workers.spawn_blocking(move || work(&server, responder)));
    }

    /// Runs in the one lane of changes, in the order of arrival.
    fn on_lane(
        self: &Arc<Self>,
        mut responder: Responder,
        work: impl FnOnce(&Arc<Server>, Responder) + Send + 'static,
    ) {
        responder.detach();
        let server = Arc::clone(self);
        let lane = self.lane.get_or_init(|| {
            let (lane, tasks) = mpsc::channel::<Task>();
            thread::spawn(move || {
                for task in tasks {
                    // A panic is logged by the hook, and answered by the responder that it drops.
                    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(task));
                }
            });
            lane
        });
        // The lane ends only with the process.
        let _ = lane.send(Box::new(move || {
            let dispatcher = server.dispatcher();
            // Other fronts change the project, too. A call that is cancelled meanwhile does not run.
            let Some(_turn) = dispatcher.lane.enter(responder.cancel()) else { return };
            work(&server, responder);
        }));
    }

    /// The dispatcher, once it is there.
    fn dispatcher(&self) -> Arc<Dispatcher> {
        self.pending.wait()
    }

    /// Writes what was held back.
    pub fn flush(&self) {
        self.output.flush();
    }

    /// Tells everybody who listens that the lists changed.
    pub fn lists_changed(&self, tools: bool, resources: bool) {
        let initialized = self.granted().is_some();
        self.subscriptions.lists_changed(initialized, tools, resources);
    }

    /// Stops everything that runs; waits for it, bounded.
    ///
    /// Calls that are nearly done get `grace` to end by themselves; then their children are killed.
    pub fn stop(&self, grace: Duration) {
        self.subscriptions.end();
        let until = |span: Duration| {
            let deadline = source::now() + span;
            while self.open.count() > 0 && source::now() < deadline {
                thread::sleep(Duration::from_millis(1));
            }
            self.open.count() == 0
        };
        let idle = until(grace);
        let dispatcher = self.pending.now();
        if let Some(dispatcher) = &dispatcher {
            dispatcher.jobs.cancel_all();
        }
        if !idle {
            for id in self.open.cancel_all() {
                let error = ProtocolError::new(
                    jsonrpc::INTERNAL_ERROR,
                    "the server ended before this was answered; whether it took effect is not known",
                );
                self.output.send(&jsonrpc::error_line(Some(&id), &error));
            }
            until(STOP_WAIT);
        }
        if let Some(dispatcher) = dispatcher {
            let deadline = source::now() + STOP_WAIT;
            while dispatcher.jobs.counts().0 > 0 && source::now() < deadline {
                thread::sleep(Duration::from_millis(1));
            }
            dispatcher.shared.routes.release();
        }
        self.output.flush();
    }
}
