//! `tools/call`: from the request to dispatch, and from its verdict to the answer.
//!
//! Spec: P-5, calling a tool.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::{Map, Value, json};

use super::{
    Server, discover,
    era::{Revision, TASKS_EXTENSION, Terms},
    respond::Responder,
    tasks,
};
use crate::{
    answer::{CallResult, Outcome},
    cancel::Cancel,
    dispatch::{
        Call, Caller, Dispatcher, JobCall, Verdict,
        approve::{Action, Offer, QUESTION, Said},
    },
    front::stdio::Output,
    jobs,
    jsonrpc::{self, ProtocolError},
    services::Progress,
    source,
};

/// Shortest span between two progress notes of one request.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(50);

/// A call as it was sent, kept so that it can be taken up again after a person was asked.
#[derive(Clone)]
struct Sent {
    name: String,
    arguments: Map<String, Value>,
    terms: Terms,
    approval: Option<Said>,
    #[cfg(feature = "argument-normalization")]
    normalization: Option<String>,
}

/// A call that was not looked at yet.
pub(super) struct Early {
    terms: Terms,
    params: Map<String, Value>,
    responder: Responder,
}

impl Server {
    /// Calls that come before the packs are there are kept, and taken up in the order in which they came.
    pub(super) fn call(
        self: &Arc<Self>,
        terms: Terms,
        params: Map<String, Value>,
        mut responder: Responder,
    ) {
        let mut early = self.early.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(kept) = early.as_mut() else {
            drop(early);
            return self.begin(Early { terms, params, responder });
        };
        responder.detach();
        let first = kept.is_empty();
        kept.push(Early { terms, params, responder });
        drop(early);
        if first {
            let server = Arc::clone(self);
            std::thread::spawn(move || server.take_up_early());
        }
    }

    fn take_up_early(self: &Arc<Self>) {
        self.dispatcher();
        // Held meanwhile, so that a call that comes now stays behind those that came before.
        let mut early = self.early.lock().unwrap_or_else(PoisonError::into_inner);
        for call in early.take().into_iter().flatten() {
            self.begin(call);
        }
    }

    fn begin(self: &Arc<Self>, call: Early) {
        let Early { terms, params, responder } = call;
        match read(&params, terms, &self.dispatcher()) {
            Ok(sent) => self.enter(sent, responder),
            Err(error) => responder.error(&error),
        }
    }

    /// Changes go through the lane; whatever only reads runs beside it.
    fn enter(self: &Arc<Self>, sent: Sent, responder: Responder) {
        let catalog = self.dispatcher().catalog();
        let changes =
            catalog.find(&sent.name).is_some_and(|tool| tool.desc.effects.mutates_project);
        let preview = sent.arguments.get("dry_run") == Some(&Value::Bool(true));
        let work = move |server: &Arc<Server>, responder| server.run(sent, responder);
        if changes && !preview {
            self.on_lane(responder, work);
        } else {
            self.on_worker(responder, work);
        }
    }

    fn run(self: &Arc<Self>, sent: Sent, responder: Responder) {
        if responder.cancel().is_raised() {
            return;
        }
        let call = Call {
            name: sent.name.clone(),
            arguments: sent.arguments.clone(),
            caller: caller(&sent),
            cancel: responder.cancel().clone(),
            progress: progress(&sent.terms, &self.output, responder.cancel()),
        };
        match self.dispatcher().dispatch(call) {
            Err(error) => responder.error(&error),
            Ok(Verdict::Done(outcome)) => self.answer(&sent.terms, outcome, responder),
            Ok(Verdict::Ask(offer)) if sent.terms.is_modern() => {
                responder.result(&input_required(&offer));
            }
            Ok(Verdict::Ask(offer)) => self.ask_person(sent, *offer, responder),
            Ok(Verdict::Job(job)) => self.await_job(sent.terms, *job, responder),
        }
    }

    fn answer(&self, terms: &Terms, outcome: Outcome, responder: Responder) {
        let result_type = terms.is_modern().then_some("complete");
        let mut economy = self.economy(terms);
        if economy.omit_session_descriptor && outcome.body.is_ok() {
            let session = outcome.session.as_deref();
            economy.omit_session_descriptor = session.is_some_and(|one| self.holds(terms, one));
        }
        responder.result(&CallResult::of(outcome, economy, result_type));
    }

    /// Asks a person through a legacy client, off the lane, and takes the call up again with the answer.
    fn ask_person(self: &Arc<Self>, sent: Sent, offer: Offer, responder: Responder) {
        self.on_worker(responder, move |server, responder| {
            let within = server.dispatcher().settings.confirm_within;
            let params = elicitation(&offer, sent.terms.revision);
            let action = match server.ask("elicitation/create", &params, within) {
                Some(Ok(answer)) => read_action(&answer).unwrap_or(Action::Cancel),
                Some(Err(_)) | None => Action::Cancel,
            };
            let approval = Some(Said { state: offer.state, action });
            server.enter(Sent { approval, ..sent }, responder);
        });
    }

    /// Waits for a job off the lane.
    fn await_job(self: &Arc<Self>, terms: Terms, job: JobCall, responder: Responder) {
        self.on_worker(responder, move |server, responder| {
            let as_task = terms.is_modern() && terms.declares(TASKS_EXTENSION);
            let span = if as_task { jobs::TASK_WAIT } else { jobs::CALL_WAIT };
            match wait(&job, span, responder.cancel()) {
                Some(outcome) => {
                    let outcome = server.dispatcher().finish_job(&job, outcome);
                    server.answer(&terms, outcome, responder);
                }
                None if as_task => {
                    responder.result(&tasks::created(&job.ticket));
                }
                None => {
                    let outcome = job.ticket.working(&job.names, job.mode);
                    server.answer(&terms, outcome, responder);
                }
            }
        });
    }
}

/// A job outlives the call that started it; only the waiting ends when nobody wants the answer.
fn wait(job: &JobCall, span: Duration, cancel: &Cancel) -> Option<Outcome> {
    const STEP: Duration = Duration::from_millis(50);
    let deadline = source::now() + span;
    loop {
        let left = deadline.saturating_duration_since(source::now());
        if let Some(outcome) = job.ticket.wait(left.min(STEP)) {
            return Some(outcome);
        }
        if left.is_zero() || cancel.is_raised() {
            return None;
        }
    }
}

fn caller(sent: &Sent) -> Caller {
    let terms = &sent.terms;
    Caller {
        modern: terms.stateless,
        elicits: terms.elicits(),
        tasks: terms.is_modern() && terms.declares(TASKS_EXTENSION),
        session: terms.session.clone(),
        approval: sent.approval.clone(),
        #[cfg(feature = "argument-normalization")]
        normalization: sent.normalization.clone(),
        ..Caller::default()
    }
}

fn read(
    params: &Map<String, Value>,
    terms: Terms,
    dispatcher: &Dispatcher,
) -> Result<Sent, ProtocolError> {
    let Some(name) = params.get("name").and_then(Value::as_str) else {
        return Err(ProtocolError::params("`name` has to be a string"));
    };
    let arguments = match params.get("arguments") {
        None => Map::new(),
        Some(Value::Object(arguments)) => arguments.clone(),
        Some(_) => return Err(ProtocolError::params("`arguments` has to be an object")),
    };
    let approval = if terms.is_modern() { read_approval(params, dispatcher)? } else { None };
    Ok(Sent {
        name: name.to_owned(),
        arguments,
        terms,
        approval,
        #[cfg(feature = "argument-normalization")]
        normalization: normalization(params),
    })
}

/// The rules by which a request wants its arguments normalized; what is no text names none that there are.
#[cfg(feature = "argument-normalization")]
fn normalization(params: &Map<String, Value>) -> Option<String> {
    let asked = params.get("_meta")?.get(crate::dispatch::normalize::META)?;
    Some(asked.as_str().map_or_else(|| asked.to_string(), str::to_owned))
}

/// What a modern client sends back after an `input_required` result.
fn read_approval(
    params: &Map<String, Value>,
    dispatcher: &Dispatcher,
) -> Result<Option<Said>, ProtocolError> {
    let state = match params.get("requestState") {
        None => None,
        Some(Value::String(state)) if dispatcher.approvals.is_own_state(state) => Some(state),
        Some(_) => {
            return Err(ProtocolError::params("`requestState` was not made by this server")
                .data(json!({"field": "requestState"})));
        }
    };
    let answer = match params.get("inputResponses") {
        None => None,
        Some(Value::Object(answers)) => answers.get(QUESTION),
        Some(_) => return Err(ProtocolError::params("`inputResponses` has to be an object")),
    };
    // A missing answer is asked for again; answers to other questions are passed over.
    let (Some(state), Some(answer)) = (state, answer) else { return Ok(None) };
    let Some(action) = read_action(answer) else {
        return Err(ProtocolError::params(format!(
            "`inputResponses.{QUESTION}` has to be an elicitation result: an `action` of accept, decline or \
             cancel, and on accept a boolean `content.{QUESTION}`"
        ))
        .data(json!({"field": format!("inputResponses.{QUESTION}")})));
    };
    Ok(Some(Said { state: state.clone(), action }))
}

/// An accepted form that says no is a no.
fn read_action(answer: &Value) -> Option<Action> {
    match (answer["action"].as_str()?, answer["content"][QUESTION].as_bool()) {
        ("accept", Some(true)) => Some(Action::Accept),
        ("accept", Some(false)) | ("decline", _) => Some(Action::Decline),
        ("cancel", _) => Some(Action::Cancel),
        _ => None,
    }
}

/// The form of an offer. Its mode is named from 2025-11-25 on.
fn elicitation(offer: &Offer, revision: Revision) -> Value {
    let mut params = json!({
        "message": offer.message,
        "requestedSchema": {
            "type": "object",
            "properties": {
                QUESTION: {"type": "boolean", "title": "Allow this change", "description": "Runs the call that is shown."},
            },
            "required": [QUESTION],
        },
        "_meta": {"didi": {"mutation_preview": offer.preview}},
    });
    if revision >= Revision::V2025_11 {
        params["mode"] = "form".into();
    }
    params
}

fn input_required(offer: &Offer) -> Value {
    let mut request = elicitation(offer, Revision::V2026_07);
    let meta = request.as_object_mut().and_then(|request| request.shift_remove("_meta"));
    let mut meta = meta.unwrap_or_else(|| json!({}));
    meta[super::era::SERVER_INFO_KEY] = discover::server_info();
    json!({
        "resultType": "input_required",
        "inputRequests": {QUESTION: {"method": "elicitation/create", "params": request}},
        "requestState": offer.state,
        "_meta": meta,
    })
}

/// Sends progress notes for the request's token: each higher than the last, and not too many.
fn progress(terms: &Terms, output: &Arc<Output>, cancel: &Cancel) -> Option<Progress> {
    let token = terms.progress_token.clone()?;
    let (output, cancel) = (Arc::clone(output), cancel.clone());
    let highest = AtomicU64::new(0);
    let last: Mutex<Option<Instant>> = Mutex::new(None);
    Some(Arc::new(move |done, total, note| {
        let now = source::now();
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        let soon = last.is_some_and(|last| now.duration_since(last) < PROGRESS_INTERVAL);
        // The last step is always told, however soon it comes.
        if cancel.is_raised() || (soon && (total == 0 || done < total)) {
            return;
        }
        if highest.fetch_max(done, Ordering::Relaxed) >= done && last.is_some() {
            return;
        }
        *last = Some(now);
        let mut params = json!({"progressToken": token, "progress": done, "message": note});
        if total > 0 {
            params["total"] = total.into();
        }
        output.send(&jsonrpc::outgoing_line(None, "notifications/progress", &params));
    }))
}
