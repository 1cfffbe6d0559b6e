//! `didi job`: looking after a command that was detached.
//!
//! A job that the instance does not know is one whose outcome is not known: an editor that loaded its code anew
//! has lost its jobs, whatever they did.

use std::time::{Duration, Instant};

use didi_plugin_api::pipeline::inner_failure;
use serde_json::{Value, json};

use super::{
    command::{tell_inner, texts},
    link::{Link, within},
    outcome::{self, Trouble},
    output::{Printer, Report},
};
use crate::{
    cancel::Cancel,
    cli::{
        Options,
        client::{JobCommand, OneJob},
    },
    pipeline::client::Failure,
    source,
};

const VERB: &str = "job";

/// How long one look may take.
const LOOK_LIMIT: Duration = Duration::from_secs(30);

/// A week stands for no limit: what waits longer was forgotten.
const NO_LIMIT: Duration = Duration::from_secs(7 * 24 * 3600);

/// What is to be done, and its options.
pub fn parts(command: &JobCommand) -> (What, &OneJob) {
    match command {
        JobCommand::Status(one) => (What::Status, one),
        JobCommand::Wait(one) => (What::Wait, one),
        JobCommand::Cancel(one) => (What::Cancel, one),
    }
}

/// What is to be done with a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Look once.
    Status,
    /// Look until it has ended.
    Wait,
    /// Ask it to stop.
    Cancel,
}

/// Does it.
pub fn run<'w>(
    options: &Options,
    command: &JobCommand,
    mut printer: Printer<'w>,
    cancel: &Cancel,
) -> (Printer<'w>, Report) {
    let (what, one) = parts(command);
    let report = attempt(options, what, one, &mut printer, cancel);
    (printer, report.unwrap_or_else(|trouble| Report::failed(VERB, trouble)))
}

fn attempt(
    options: &Options,
    what: What,
    one: &OneJob,
    printer: &mut Printer<'_>,
    cancel: &Cancel,
) -> Result<Report, Trouble> {
    let link = Link::to_instance(options, &one.target, cancel, || {
        Trouble::new("NO_INSTANCE", 7, "no server runs here, so there are no jobs")
            .hint("jobs live as long as `didi pipeline serve`")
    })?;
    let limit = if one.timeout == 0 { NO_LIMIT } else { Duration::from_secs(one.timeout) };
    let deadline = within(limit);
    let job = match what {
        What::Status => look(&link, one, deadline)?,
        What::Cancel => stop(&link, one, deadline)?,
        What::Wait => wait(&link, one, deadline, printer, cancel)?,
    };
    Ok(report(&link, what, one, job))
}

fn wait(
    link: &Link,
    one: &OneJob,
    deadline: Instant,
    printer: &mut Printer<'_>,
    cancel: &Cancel,
) -> Result<Value, Trouble> {
    loop {
        let job = look(link, one, deadline)?;
        if has_ended(&job) {
            return Ok(job);
        }
        if printer.wants_progress() {
            printer.progress(&job);
        }
        let pause = Duration::from_millis(one.poll_interval);
        if source::now() + pause >= deadline {
            let message = format!("the job is still {} after {} s", state(&job), one.timeout);
            return Err(Trouble::new("TIMED_OUT", 7, message)
                .hint("it goes on: `didi job wait` again takes it up")
                .with(json!({"job": job})));
        }
        if cancel.wait(pause) {
            return Err(Failure::Cancelled { sent: false }.into());
        }
    }
}

fn look(link: &Link, one: &OneJob, deadline: Instant) -> Result<Value, Trouble> {
    let id: String = form_urlencoded::byte_serialize(one.id.as_bytes()).collect();
    let limit = within(LOOK_LIMIT).min(deadline);
    let answer = link.get(&format!("/api/job?id={id}"), limit)?;
    read(&answer, &one.id)
}

fn stop(link: &Link, one: &OneJob, deadline: Instant) -> Result<Value, Trouble> {
    let answer = link.cancel_job(&one.id, within(LOOK_LIMIT).min(deadline))?;
    read(&answer, &one.id)
}

fn read(answer: &crate::pipeline::client::Answer, id: &str) -> Result<Value, Trouble> {
    if answer.status == 404 {
        let message = format!("the instance does not know the job {id}");
        return Err(Trouble::new("OUTCOME_UNKNOWN", 7, message)
            .hint("an instance forgets its jobs when it loads its code anew: look at what the command did")
            .with(json!({"outcome": "unknown"})));
    }
    let body = outcome::body_of(answer)?;
    if answer.status != 200 {
        return Err(outcome::refused(answer, &body, "job"));
    }
    Ok(body)
}

fn report(link: &Link, what: What, one: &OneJob, job: Value) -> Report {
    let view = match (what, state(&job)) {
        (What::Wait, "completed") => job["result"].clone(),
        _ => shown(&job),
    };
    let mut data = job.clone();
    data["target"] = link.target();
    let mut report = Report::of(VERB, data, view);
    let mut warnings = texts(&job["warnings"]);
    // A look is done when it was looked; a wait ends as the job did.
    if what == What::Wait {
        match state(&job) {
            "failed" => {
                let why = job["errorDetails"].as_str().or(job["error"].as_str());
                let message = why.unwrap_or("the job failed and does not say why");
                report.troubles.push(Trouble::new("COMMAND_FAILED", 6, message));
            }
            "canceled" => {
                report.troubles.push(Trouble::new("JOB_CANCELED", 6, "the job was canceled"));
            }
            _ => {}
        }
    }
    if let Some(inner) = inner_failure(&job["result"]) {
        tell_inner(&mut report, &mut warnings, inner, one.strict);
    }
    report.warnings = warnings;
    report
}

/// The members that people look for.
fn shown(job: &Value) -> Value {
    const NAMES: [&str; 8] = [
        "jobId",
        "command",
        "state",
        "cancellationRequested",
        "progress",
        "result",
        "error",
        "errorDetails",
    ];
    let mut view = json!({});
    for name in NAMES {
        if let Some(value) = job.get(name).filter(|value| !value.is_null()) {
            view[name] = value.clone();
        }
    }
    view
}

fn state(job: &Value) -> &str {
    job["state"].as_str().unwrap_or("unknown")
}

fn has_ended(job: &Value) -> bool {
    matches!(state(job), "completed" | "failed" | "canceled")
}
