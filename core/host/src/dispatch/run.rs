//! Step eight: runs an approved call, inline or as a job, and writes a change into the journal.
//!
//! Spec: P-7, the path of a call.

use std::sync::{Arc, PoisonError};

use didi_plugin_api::{
    abi::{Reply, code},
    desc::{Mode, ToolDesc},
    outcome::{Answer, Fact, Target},
    refusal::{Refusal, codes},
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{
    Change, Dispatcher, JobCall, Recorded, Verdict, approve::Approved, arguments_digest,
    job_key::MANNERS, protect, route::Route,
};
use crate::{
    answer::{self, MAX_ANSWER_BYTES, Outcome, Success},
    cancel::Cancel,
    catalog::Tool,
    jobs::Order,
    journal::{Journal, Record},
    services::{Done, FileCaller, Progress, Services, Shared},
};

/// The argument with which a caller accepts that a tab's unsaved changes are lost.
const DISCARD: &str = "discard_unsaved";

/// Runs the call, or starts its job.
///
/// # Errors
/// `rate_limited` when no job can be started.
pub fn run(approved: Approved, host: &Dispatcher) -> Result<Verdict, Refusal> {
    let Approved { call, tool, request_id, route, mode, confirmed, target, .. } = approved;
    let as_job = tool.desc.job && (request_id.is_some() || call.caller.tasks);
    let names = (call.name, tool.desc.name.clone());
    let mut meta = Map::new();
    if let Some(confirmed) = confirmed {
        meta.insert("confirmation".into(), serde_json::json!(confirmed));
    }
    // A job is found again by what it was asked for.
    let digest = as_job.then(|| arguments_digest(&call.arguments, &MANNERS));
    let work = Work {
        shared: host.shared.clone(),
        journal: host.journal.clone(),
        named_session: call.caller.session,
        arguments: call.arguments,
        route,
        mode,
        target,
        names: names.clone(),
        tool,
        meta,
        as_job: as_job || call.caller.waits,
        modern: call.caller.modern,
        recorded: call.caller.recorded,
        undo_group: call.caller.undo_group,
    };
    let Some(arguments_digest) = digest else {
        return Ok(Verdict::Done(work.execute(&call.cancel, call.progress)));
    };
    let order = Order { request_id, tool: names.1.clone(), arguments_digest };
    let ticket = host.jobs.start(order, move |cancel| work.execute(cancel, None))?;
    protect::wait_for_job(host.shared.recovery.as_ref(), &ticket, &call.cancel);
    Ok(Verdict::Job(Box::new(JobCall { ticket, names, mode })))
}

/// All that running a call needs, so that it can move to a job's thread.
struct Work {
    shared: Shared,
    journal: Journal,
    tool: Arc<Tool>,
    arguments: Map<String, Value>,
    route: Route,
    named_session: Option<String>,
    mode: Mode,
    target: Option<Target>,
    names: (String, String),
    meta: Map<String, Value>,
    as_job: bool,
    modern: bool,
    recorded: Option<Recorded>,
    undo_group: Option<String>,
}

impl Work {
    /// Runs the call; a change under managed recovery between its two checkpoints.
    fn execute(self, cancel: &Cancel, progress: Option<Progress>) -> Outcome {
        let (recovery, tool) = (self.shared.recovery.clone(), Arc::clone(&self.tool));
        let (mode, names, meta) = (self.mode, self.names.clone(), self.meta.clone());
        protect::around(
            recovery.as_ref(),
            &tool.desc,
            || self.perform(cancel, progress),
            |refusal| Outcome { body: Err(refusal), mode, meta, names, session: None },
        )
    }

    fn perform(mut self, cancel: &Cancel, progress: Option<Progress>) -> (Outcome, Vec<Fact>) {
        let desc = &self.tool.desc;
        let fields = take_fields(&mut self.arguments, desc);
        let plan = self.target.as_mut().and_then(|target| target.plan.take());
        let services = Services::new(&self.shared, desc, self.mode, false, cancel, progress)
            .over(&self.route, self.named_session.as_deref())
            .as_job(self.as_job)
            .beside(file_caller(&self.arguments, &self.tool, self.modern))
            .planned(plan)
            .grouped(self.undo_group.take());
        let reply = self.tool.run(&to_bytes(&self.arguments), &services);
        let mut answer = read_answer(&reply, &desc.name);
        if let Err(refusal) = &mut answer {
            name_argument(refusal, &self.tool, &self.arguments);
        }
        drop(reply);
        let done = services.into_done();
        if desc.effects.mutates_project {
            self.record(&done, &answer);
        }
        let facts = answer.as_ref().map(|answer| answer.facts.clone()).unwrap_or_default();
        let body = match answer {
            Ok(answer) => Ok(Success {
                structured: answer::success(desc, self.mode, answer, &done.live, fields.as_deref()),
                attachments: done.attachments,
            }),
            Err(mut refusal) => {
                refusal.data.extend(done.live.members());
                Err(refusal)
            }
        };
        let session = self.route.engine().map(|route| Box::new(route.identity().clone()));
        let outcome =
            Outcome { body, mode: self.mode, meta: self.meta, names: self.names, session };
        (outcome, facts)
    }

    /// A change is recorded when it was made; a refusal that changed nothing is not.
    fn record(&self, done: &Done, answer: &Result<Answer, Refusal>) {
        if answer.is_err() && done.writes.is_empty() {
            return;
        }
        let entry = self.journal.record(&Record {
            tool: &self.names.1,
            applied: answer.is_ok(),
            target: self.target.as_ref(),
            arguments: &self.arguments,
            writes: &done.writes,
            undo_steps: &done.undo_steps,
            session: self.route.session(),
        });
        if let Some(recorded) = &self.recorded {
            let change = Change { entry, undo_steps: done.undo_steps.clone() };
            recorded.lock().unwrap_or_else(PoisonError::into_inner).push(change);
        }
    }
}

/// What a call says of an editor beside the files that its tool writes.
pub(super) fn file_caller(arguments: &Map<String, Value>, tool: &Tool, modern: bool) -> FileCaller {
    FileCaller {
        modern,
        may_discard: tool.input_schema["properties"].get(DISCARD).is_some(),
        discard_unsaved: arguments.get(DISCARD) == Some(&Value::Bool(true)),
    }
}

/// The sections asked for. `fields` belongs to the host, and the tool does not see it.
fn take_fields(arguments: &mut Map<String, Value>, desc: &ToolDesc) -> Option<Vec<String>> {
    if desc.sections.is_empty() {
        return None;
    }
    let fields = arguments.shift_remove("fields")?;
    let names = fields.as_array()?.iter().filter_map(|name| name.as_str().map(String::from));
    Some(names.collect())
}

/// The host's services know a path and not the argument that named it: where only one can have, it is named.
fn name_argument(refusal: &mut Refusal, tool: &Tool, arguments: &Map<String, Value>) {
    let known = tool.input_schema["properties"].get("path").is_some();
    if known || refusal.data.get("field") != Some(&Value::from("path")) {
        return;
    }
    let mut paths = arguments.keys().filter(|name| name.ends_with("_path"));
    if let (Some(name), None) = (paths.next(), paths.next()) {
        refusal.data.insert("field".into(), name.clone().into());
    }
}

/// Arguments as they cross the boundary.
pub(super) fn to_bytes(arguments: &Map<String, Value>) -> Vec<u8> {
    // A tree of JSON values always serialises.
    serde_json::to_vec(arguments).unwrap_or_default()
}

fn read_answer(reply: &Reply, tool: &str) -> Result<Answer, Refusal> {
    if reply.body.len() > MAX_ANSWER_BYTES {
        let message = format!(
            "`{tool}` answered {} bytes, and at most {MAX_ANSWER_BYTES} are passed on",
            reply.body.len()
        );
        return Err(Refusal::new(codes::RESPONSE_TOO_LARGE, message).field("arguments"));
    }
    read_reply(reply, tool)
}

/// A pack's reply as a value, a refusal, or a fault of the pack.
///
/// # Errors
/// The pack's refusal; `internal_error` for a panic or a reply that can't be read.
pub fn read_reply<T: DeserializeOwned>(reply: &Reply, tool: &str) -> Result<T, Refusal> {
    let fault = |what: String| {
        tracing::error!(tool, "{what}");
        Refusal::new(codes::INTERNAL_ERROR, format!("`{tool}` {what}"))
            .no_remedy("the tool's pack is at fault, not the call")
    };
    let body = &reply.body[..];
    match reply.code {
        code::OK => serde_json::from_slice(body)
            .map_err(|error| fault(format!("gave an answer that can't be read: {error}"))),
        code::REFUSED => Err(serde_json::from_slice(body)
            .unwrap_or_else(|error| fault(format!("gave a refusal that can't be read: {error}")))),
        code::FAULT => Err(fault(String::from_utf8_lossy(body).into_owned())),
        other => Err(fault(format!("gave the reply code {other}, which this host does not know"))),
    }
}
