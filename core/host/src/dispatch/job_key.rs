//! Step three: takes `request_id` out of the call, or answers with the job that has it already.
//!
//! The id is not an argument of the work: a dry run, its token and the confirmed call bind to the same
//! arguments with and without it, and a repeat is matched before a token is spent again.
//!
//! Spec: P-8, jobs.

use std::sync::Arc;

use didi_plugin_api::refusal::Refusal;
use regex_lite::Regex;
use serde_json::Value;

use super::{Call, JobCall, arguments_digest, profile::Listed};
use crate::{answer::floor::gate_codes, catalog::Tool, jobs::Jobs};

/// Arguments that say how a call is made, and not what is asked for.
pub const MANNERS: [&str; 3] = ["request_id", "confirmation_token", "dry_run"];

/// A call that is no repeat of a kept job.
pub struct Keyed {
    pub(super) call: Call,
    pub(super) tool: Arc<Tool>,
    pub(super) request_id: Option<String>,
}

/// How the step ends.
pub enum Step {
    /// The call goes on.
    Go(Box<Keyed>),
    /// A kept job answers.
    Kept(Box<JobCall>),
}

/// Takes the id out.
///
/// # Errors
/// `invalid_arguments` for an id of another form, `request_id_conflict` for one that names other work.
pub fn take(listed: Listed, jobs: &Jobs) -> Result<Step, Refusal> {
    let Listed { mut call, tool } = listed;
    if !tool.desc.job {
        return Ok(Step::Go(Box::new(Keyed { call, tool, request_id: None })));
    }
    let Some(value) = call.arguments.shift_remove("request_id") else {
        return Ok(Step::Go(Box::new(Keyed { call, tool, request_id: None })));
    };
    let request_id = read(&value)?;
    let Some(ticket) = jobs.find(&request_id) else {
        return Ok(Step::Go(Box::new(Keyed { call, tool, request_id: Some(request_id) })));
    };
    let same_work = ticket.tool == tool.desc.name
        && (call.arguments.is_empty()
            || ticket.arguments_digest == arguments_digest(&call.arguments, &MANNERS));
    if !same_work {
        let message = format!(
            "`request_id` `{request_id}` names a job of `{}` with other arguments",
            ticket.tool
        );
        return Err(Refusal::new(gate_codes::REQUEST_ID_CONFLICT, message).field("request_id"));
    }
    let names = (call.name, tool.desc.name.clone());
    let mode = tool.offline_mode().unwrap_or(didi_plugin_api::desc::Mode::Local);
    Ok(Step::Kept(Box::new(JobCall { ticket, names, mode })))
}

fn read(value: &Value) -> Result<String, Refusal> {
    // The pattern is a constant of this crate.
    let pattern = Regex::new(crate::catalog::REQUEST_ID_PATTERN).expect("the pattern is legal");
    match value {
        Value::String(text) if pattern.is_match(text) => Ok(text.clone()),
        _ => {
            let message = "`request_id` takes 8 to 64 letters, digits, `.`, `_`, `:` or `-`";
            Err(Refusal::invalid("request_id", message))
        }
    }
}
