//! One tool as a command: approval by the caller's word, the lane, and the outcome as a reply.
//!
//! `dry_run` wins over everything. `confirm` is the caller's word for a change that it did not look at: the preview is
//! made here, and its token is spent on the same call, so that all that a token is bound to is compared. There is no
//! other way past the gate of dispatch.
//!
//! Spec: P-65, running a command.

use std::sync::Arc;

use didi_pipeline::reply::Reply;
use didi_plugin_api::refusal::{Refusal, codes};
use serde_json::{Map, Value};

use super::{commands::CONFIRM, queue::Run};
use crate::{
    answer::{self, Outcome, floor::gate_codes::CONFIRMATION_REQUIRED},
    catalog::Tool,
    dispatch::{Call, Caller, Dispatcher, Recorded, Verdict},
};

const DRY_RUN: &str = "dry_run";
const TOKEN: &str = "confirmation_token";
const PREVIEW: &str = "mutation_preview";

/// Whether a call of a tool changes something, and so needs the lane.
pub fn changes(tool: &Tool, arguments: &Map<String, Value>) -> bool {
    tool.desc.effects.mutates_project && arguments.get(DRY_RUN) != Some(&Value::Bool(true))
}

/// Runs a tool, in the lane where it changes something.
pub fn run(host: &Dispatcher, tool: &Tool, arguments: Map<String, Value>, run: &Run) -> Reply {
    if !changes(tool, &arguments) {
        return run_in_lane(host, tool, arguments, run, None);
    }
    match host.lane.enter(&run.cancel) {
        Some(_turn) => run_in_lane(host, tool, arguments, run, None),
        None => cancelled(),
    }
}

/// What is said of a command that was stopped before it began.
pub fn cancelled() -> Reply {
    let message = "The command was canceled before it started";
    Reply::failed(400, "Command Execution Failed", message)
}

/// What the calls of a batch share.
#[derive(Default)]
pub struct Shared {
    /// Takes what they change.
    pub recorded: Recorded,
    /// The one step of undo that they make in an editor, if they do.
    pub undo_group: Option<String>,
}

/// Runs a tool for a caller that holds the lane, if it is needed.
pub fn run_in_lane(
    host: &Dispatcher,
    tool: &Tool,
    mut arguments: Map<String, Value>,
    run: &Run,
    shared: Option<&Shared>,
) -> Reply {
    let confirmed = take_confirm(tool, &mut arguments);
    if arguments.get(DRY_RUN) == Some(&Value::Bool(true)) {
        arguments.shift_remove(TOKEN);
        return dispatch(host, tool, arguments, run, None).map_or_else(|reply| *reply, reply_of);
    }
    if confirmed && !arguments.contains_key(TOKEN) && !host.settings.yolo {
        match preview(host, tool, arguments.clone(), run) {
            Ok(preview) => arguments.insert(TOKEN.into(), preview[TOKEN].clone()),
            Err(reply) => return *reply,
        };
    }
    // What changes nothing is never asked for a preview.
    let kept = tool.desc.effects.mutates_project.then(|| arguments.clone());
    let outcome = match dispatch(host, tool, arguments, run, shared) {
        Ok(outcome) => outcome,
        Err(reply) => return *reply,
    };
    let unconfirmed =
        matches!(&outcome.body, Err(refusal) if refusal.code == CONFIRMATION_REQUIRED);
    let mut reply = reply_of(outcome);
    if unconfirmed
        && let Some(arguments) = kept
        && let Ok(preview) = preview(host, tool, arguments, run)
    {
        reply.more["refusal"]["data"][PREVIEW] = preview;
    }
    reply
}

/// Takes the caller's word out, unless the tool has a parameter of that name itself.
fn take_confirm(tool: &Tool, arguments: &mut Map<String, Value>) -> bool {
    if tool.input_schema["properties"].get(CONFIRM).is_some() {
        return false;
    }
    arguments.shift_remove(CONFIRM) == Some(Value::Bool(true))
}

/// The preview of a change, with a token in it.
fn preview(
    host: &Dispatcher,
    tool: &Tool,
    mut arguments: Map<String, Value>,
    run: &Run,
) -> Result<Value, Box<Reply>> {
    arguments.insert(DRY_RUN.into(), true.into());
    let outcome = dispatch(host, tool, arguments, run, None)?;
    match outcome.body {
        Ok(success) => {
            let mut answer: Value =
                serde_json::from_str(success.structured.get()).unwrap_or_default();
            Ok(answer[PREVIEW].take())
        }
        Err(_) => Err(Box::new(reply_of(outcome))),
    }
}

fn dispatch(
    host: &Dispatcher,
    tool: &Tool,
    arguments: Map<String, Value>,
    run: &Run,
    shared: Option<&Shared>,
) -> Result<Outcome, Box<Reply>> {
    // A call by itself tells of no entries.
    let (recorded, undo_group) = match shared {
        Some(shared) => (Some(Arc::clone(&shared.recorded)), shared.undo_group.clone()),
        None => (None, None),
    };
    let call = Call {
        name: tool.desc.name.clone(),
        arguments,
        caller: Caller { every_tool: true, waits: true, recorded, undo_group, ..Caller::default() },
        cancel: run.cancel.clone(),
        progress: run.progress_notes(),
    };
    match host.dispatch(call) {
        Ok(Verdict::Done(outcome)) => Ok(outcome),
        // Nobody can be asked, and no job has a name: neither comes.
        Ok(Verdict::Ask(_) | Verdict::Job(_)) => {
            let message = "The command did not answer in a way that fits a command";
            Err(Box::new(Reply::failed(400, "Internal Server Error", message)))
        }
        // The catalog was swapped since the command was looked up.
        Err(error) => Err(Box::new(Reply::failed(400, "Command Not Found", error.message))),
    }
}

fn reply_of(outcome: Outcome) -> Reply {
    let Outcome { body, mode, meta, names, session } = outcome;
    match body {
        Ok(success) => {
            let mut reply = Reply::done(answer::in_one(success, session.as_deref()));
            if let Some(confirmation) = meta.get("confirmation") {
                reply.more.insert("confirmation".into(), confirmation.clone());
            }
            reply
        }
        Err(refusal) => {
            let (kind, message) = (kind(&refusal), sentence(&refusal.message));
            let mut document = answer::error_document(refusal, mode, &names, session.as_deref());
            Reply::failed(400, kind, message).with("refusal", document["error"].take())
        }
    }
}

fn kind(refusal: &Refusal) -> &'static str {
    if refusal.code == codes::INVALID_ARGUMENTS {
        "Parameter Validation Failed"
    } else if refusal.code == codes::INTERNAL_ERROR {
        "Internal Server Error"
    } else {
        "Command Execution Failed"
    }
}

/// A message of ours has no full stop; a reply's text is read by people.
fn sentence(message: &str) -> String {
    if message.ends_with(['.', '!', '?']) { message.to_owned() } else { format!("{message}.") }
}
