//! What is told without running a command: status, progress, dialogs, jobs, the list of commands.
//!
//! None of it waits for anything.
//!
//! Spec: P-68, the listener.

use std::{borrow::Cow, ffi::OsStr};

use didi_pipeline::{
    descriptor::{EXEC_ARGV, EXEC_COMMAND_LINE},
    listing::{self, Query, Wish},
    reply::{Reply, strip_nulls},
};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    exec::Exec,
    gates::{Dialog, Standing},
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
    fn shown(&self) -> Value {
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "port": self.port,
            "startTime": source::iso8601(self.started_ms),
        })
    }
}

/// A body that is written over several lines, with its status.
pub type Told = (u16, Value);

/// A failure outside of running a command.
pub fn fault(status: u16, error: &str, details: &str) -> Told {
    (status, json!({"error": error, "errorDetails": details}))
}

/// `/api/status`. Clients poll it, so it is written without a tree in between.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusBody<'a> {
    status: &'static str,
    mode: &'static str,
    product: &'static str,
    pid: u32,
    project_path: Cow<'a, str>,
    project_name: Cow<'a, str>,
    last_heartbeat: String,
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

/// `/api/status`, over several lines.
pub fn status(exec: &Exec, host: &Host, heartbeat_ms: u64) -> String {
    let standing = exec.gates.standing();
    let project = exec.project();
    let status = StatusBody {
        status: standing.word(),
        mode: "editor",
        product: "Didi",
        pid: std::process::id(),
        project_path: project.to_string_lossy(),
        project_name: project.file_name().map(OsStr::to_string_lossy).unwrap_or_default(),
        last_heartbeat: source::iso8601(heartbeat_ms),
        capabilities: CAPABILITIES,
        server: Server {
            version: env!("CARGO_PKG_VERSION"),
            port: host.port,
            start_time: source::iso8601(host.started_ms),
        },
        dialog: standing.dialogs().first().map(Dialog::shown),
    };
    // Text and numbers always serialise.
    serde_json::to_string_pretty(&status).unwrap_or_default()
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

/// `/api/job`.
pub fn job(exec: &Exec, query: &Query) -> Told {
    let Some(id) = query.get("id") else {
        return fault(400, "Bad Request", "Query parameter 'id' is required");
    };
    found(exec.queue.job(&id), &id, query)
}

/// `/api/job/cancel`.
pub fn cancel(exec: &Exec, body: &[u8], query: &Query) -> Told {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let Some(id) = body["id"].as_str().filter(|id| !id.is_empty()) else {
        return fault(400, "Bad Request", "Request body must be JSON with an 'id' field");
    };
    found(exec.queue.cancel_job(id), id, query)
}

fn found(job: Option<Value>, id: &str, query: &Query) -> Told {
    let Some(job) = job else {
        let id = crate::text::clip(id);
        return fault(404, "Job Not Found", &format!("No job '{id}' is queued, running or kept"));
    };
    (200, shaped(job, query))
}

/// `/api/commands`.
pub fn commands(exec: &Exec, host: &Host, query: &Query) -> Told {
    match Wish::read(query) {
        Ok(wish) => (200, listing::list(exec.book().commands(), &wish, host.shown())),
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
