//! What is told without running a command: status, progress, dialogs, jobs, the list of commands.
//!
//! None of it waits for anything.
//!
//! Spec: P-68, the listener.

use std::borrow::Cow;

use didi_pipeline::{
    descriptor::{EXEC_ARGV, EXEC_COMMAND_LINE},
    listing::{self, Query, Wish},
    reply::{Reply, strip_nulls},
};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    exec::{Exec, project_name},
    gates::{Dialog, Standing},
    queue::Snapshot,
};
use crate::source;

/// Optional features that this server has.
pub const CAPABILITIES: [&str; 2] = [EXEC_ARGV, EXEC_COMMAND_LINE];

/// Who answers.
#[derive(Debug, Clone)]
pub struct Host {
    /// Where it listens; 0 when it does not.
    pub port: u16,
    /// When it started, in milliseconds since 1970.
    pub started_ms: u64,
}

impl Host {
    fn server(&self) -> Server {
        Server {
            version: env!("CARGO_PKG_VERSION"),
            port: self.port,
            start_time: source::iso8601(self.started_ms),
        }
    }
}

/// A body that is written over several lines, with its status.
pub type Told = (u16, Value);

/// A failure outside of running a command.
pub fn fault(status: u16, error: &str, details: &str) -> Told {
    (status, json!({"error": error, "errorDetails": details}))
}

/// `/api/status`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusBody<'a> {
    status: &'a str,
    mode: &'static str,
    product: &'static str,
    pid: u32,
    project_path: Cow<'a, str>,
    project_name: Cow<'a, str>,
    last_heartbeat: &'a str,
    capabilities: [&'static str; 2],
    server: Server,
    #[serde(skip_serializing_if = "Option::is_none")]
    dialog: Option<Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Server {
    version: &'static str,
    port: u16,
    start_time: String,
}

impl StatusBody<'_> {
    /// Over several lines.
    fn text(
        exec: &Exec,
        host: &Host,
        word: &str,
        heartbeat: &str,
        dialog: Option<Value>,
    ) -> String {
        let project = exec.project();
        let body = StatusBody {
            status: word,
            mode: "editor",
            product: "Didi",
            pid: std::process::id(),
            project_path: project.to_string_lossy(),
            project_name: project_name(project),
            last_heartbeat: heartbeat,
            capabilities: CAPABILITIES,
            server: host.server(),
            dialog,
        };
        // Text and numbers always serialise.
        serde_json::to_string_pretty(&body).unwrap_or_default()
    }
}

/// Stands where something is put in later; no text of ours that is put beside it has it.
const GAP: &str = "?";

/// The text of `/api/status` around what changes. Clients poll it, so what stays is written once.
pub struct StatusPage {
    host: Host,
    /// Up to the word of the status, from there to the heartbeat, and from there on.
    parts: [String; 3],
}

impl StatusPage {
    /// What one server says of itself.
    pub fn of(exec: &Exec, host: Host) -> Self {
        let text = StatusBody::text(exec, &host, GAP, GAP, None);
        // The word stands first, before the project's path; behind the heartbeat comes nothing that is not ours.
        let (start, rest) = text.split_once(GAP).unwrap_or_default();
        let (middle, end) = rest.rsplit_once(GAP).unwrap_or_default();
        let parts = [start, middle, end].map(str::to_owned);
        StatusPage { host, parts }
    }

    /// Who answers.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// `/api/status`, over several lines.
    pub fn text(&self, exec: &Exec, heartbeat_ms: u64) -> String {
        let (standing, heartbeat) = (exec.gates.standing(), source::iso8601(heartbeat_ms));
        if let Some(dialog) = standing.dialogs().first() {
            return StatusBody::text(
                exec,
                &self.host,
                standing.word(),
                &heartbeat,
                Some(dialog.shown()),
            );
        }
        let [start, middle, end] = self.parts.each_ref().map(String::as_str);
        [start, standing.word(), middle, &heartbeat, end].concat()
    }
}

/// `/api/dialog`.
pub fn dialog(exec: &Exec) -> Told {
    let standing = exec.gates.standing();
    let dialogs: Vec<Value> = standing.dialogs().iter().map(Dialog::shown).collect();
    let active = matches!(standing, Standing::Blocked(_));
    (200, json!({"active": active, "dialogs": dialogs}))
}

/// `/api/progress`.
pub fn progress(exec: &Exec, query: &Query) -> Told {
    let body = match exec.queue.running() {
        None => json!({"active": false, "progress": null}),
        Some(run) => match run.progress() {
            None => json!({"active": true}),
            Some(report) => json!({"active": true, "progress": report.shown()}),
        },
    };
    (200, shaped(body, query))
}

/// `/api/job`: the job, which [`job_told`] tells.
///
/// # Errors
/// What is told where there is none.
pub fn job(exec: &Exec, query: &Query) -> Result<Snapshot, Told> {
    let Some(id) = query.get("id") else {
        return Err(fault(400, "Bad Request", "Query parameter 'id' is required"));
    };
    exec.queue.job(&id).ok_or_else(|| no_job(&id))
}

/// `/api/job/cancel`: the job as it then stands, which [`job_told`] tells.
///
/// # Errors
/// What is told where there is none.
pub fn cancel(exec: &Exec, body: &[u8]) -> Result<Snapshot, Told> {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let Some(id) = body["id"].as_str().filter(|id| !id.is_empty()) else {
        return Err(fault(400, "Bad Request", "Request body must be JSON with an 'id' field"));
    };
    exec.queue.cancel_job(id).ok_or_else(|| no_job(id))
}

fn no_job(id: &str) -> Told {
    let id = crate::text::clip(id);
    fault(404, "Job Not Found", &format!("No job '{id}' is queued, running or kept"))
}

/// A job as it is told.
pub fn job_told(job: &Snapshot, query: &Query) -> Told {
    (200, shaped(job.shown(), query))
}

/// `/api/commands`.
pub fn commands(exec: &Exec, host: &Host, query: &Query) -> Told {
    match Wish::read(query) {
        Ok(wish) => (200, listing::list(exec.book().commands(), &wish, json!(host.server()))),
        Err(reply) => told(&reply),
    }
}

/// A reply of the queue as a body of its own.
pub fn told(reply: &Reply) -> Told {
    match &reply.outcome {
        // It was written as JSON, and reads as such.
        Ok(result) => (reply.status, serde_json::from_str(result.get()).unwrap_or_default()),
        Err(why) => {
            let (status, mut body) = fault(reply.status, &why.error, &why.details);
            for (name, value) in reply.more.iter() {
                body[name] = value.clone();
            }
            (status, body)
        }
    }
}

/// The body as `omit_nulls` wants it, with a warning where that says neither.
fn shaped(mut body: Value, query: &Query) -> Value {
    let (omit, warning) = query.omit_nulls();
    if omit {
        strip_nulls(&mut body);
    }
    if let Some(warning) = warning {
        body["warnings"] = json!([warning]);
    }
    body
}
