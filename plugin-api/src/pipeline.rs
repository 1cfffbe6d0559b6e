//! Instances that speak the Unity Pipeline, as a handler reaches them: editors and players of another engine,
//! and other servers of Didi.
//!
//! A handler names an instance and what it asks; where that listens and which token opens it stays in the
//! host. Only the protocol's own endpoints can be asked. Since 1.2.
//!
//! Spec: P-72, instances for packs.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    ctx::{Ctx, ops},
    refusal::Refusal,
};

/// Longest time that a request may be given, in milliseconds: one hour.
pub const MAX_TIMEOUT_MS: u64 = 3_600_000;

/// An instance, without what opens it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instance {
    /// Names it in a request: the project's name, or the name and the folder where several are called so.
    pub name: String,
    /// `editor`, `batchmode`, `player`, or a word of a newer one.
    pub kind: String,
    /// The project's folder, or that of the player.
    pub folder: String,
    /// The version of its engine; may be empty.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// Whether that runs: `alive`, `gone` or `unknown`.
    pub process: String,
    /// Optional features; absent in one that is older than the field, and has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<String>>,
    /// What it wants read before anything is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub info: Option<String>,
    /// UTC in ISO 8601; may be empty.
    pub started_at: String,
    /// UTC in ISO 8601; may be empty.
    pub last_heartbeat: String,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum Question {
    /// `/api/status`.
    Status,
    /// `/api/editor_status`; waits behind the commands that run.
    EditorStatus,
    /// `/api/dialog`.
    Dialog,
    /// `/api/progress`.
    Progress,
    /// `/api/test-status`; waits behind the commands that run.
    TestStatus,
    /// `/api/commands` with these members of the query.
    Commands {
        /// Names with their values.
        query: Vec<(String, String)>,
    },
    /// `/api/job`.
    Job {
        /// The job.
        id: String,
    },
    /// `/api/job/cancel`. For tools that declare running something.
    JobCancel {
        /// The job.
        id: String,
    },
    /// `/api/exec`. For tools that declare running something, and never in a preview.
    Exec {
        /// The members of the body.
        body: Map<String, Value>,
    },
}

/// One request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// An instance by its name or its folder; absent, the only one that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// What is asked.
    pub question: Question,
    /// Longest wait in milliseconds, at most [`MAX_TIMEOUT_MS`].
    pub timeout_ms: u64,
}

/// How a request ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// Who was asked.
    pub instance: Instance,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a request. It was sent once, whatever came.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// An answer, whatever its status.
    Answered {
        /// The status of HTTP.
        status: u16,
        /// The body; a text where it is no JSON.
        body: Value,
    },
    /// It surely did not run.
    NotSent {
        /// `refused`, `denied`, `dead` or `timed_out`.
        why: String,
        /// One sentence.
        message: String,
    },
    /// It may have run, and nobody knows how it ended.
    Unknown {
        /// `closed`, `timed_out`, `bad_answer`, or `cancelled`: the caller gave up after it was sent.
        why: String,
        /// One sentence.
        message: String,
    },
}

/// A failure that a delivered result tells of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InnerFailure {
    /// What it says.
    pub message: String,
    /// Whether it counts failed tests.
    pub tests_failed: bool,
}

/// What a delivered result says of its own failure: `success: false` inside, in an object or in a text that holds
/// one. Delivered is not done.
pub fn inner_failure(result: &Value) -> Option<InnerFailure> {
    let parsed: Value;
    let object = match result {
        Value::String(text) if text.trim_start().starts_with('{') => {
            parsed = serde_json::from_str(text).ok()?;
            &parsed
        }
        other => other,
    };
    if object["success"] != Value::Bool(false) {
        return None;
    }
    let told = REASONS.iter().find_map(|name| match &object[*name] {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Null | Value::String(_) => None,
        other => Some(other.to_string()),
    });
    let counts = ["failed", "failedCount", "failCount"];
    Some(InnerFailure {
        message: told.unwrap_or_else(|| "it does not say why".into()),
        tests_failed: counts.iter().any(|name| object[*name].as_u64().unwrap_or(0) > 0),
    })
}

/// What the body of a reply that is no success gives as its reason; its status where it gives none.
pub fn reason(status: u16, body: &Value) -> String {
    let text = |name: &&str| body[*name].as_str().filter(|text| !text.is_empty());
    let told = REASONS.iter().find_map(text);
    told.map_or_else(|| format!("status {status} without a reason"), str::to_owned)
}

/// Where a failure says why, best first.
const REASONS: [&str; 3] = ["errorDetails", "error", "message"];

impl Ctx<'_> {
    /// The instances that can be seen on this machine, dead ones as well. This server is none of them.
    ///
    /// # Errors
    /// `internal_error` from a host before 1.2.
    pub fn pipeline_instances(&self) -> Result<Vec<Instance>, Refusal> {
        self.request(ops::PIPELINE_INSTANCES, &Value::Null)
    }

    /// Asks an instance. Progress that it reports of a command is passed on to the caller.
    ///
    /// # Errors
    /// `not_found` and `conflict` when the name leads to none or to several; `forbidden` for a descriptor that
    /// may not be read; `cancelled`.
    pub fn pipeline_request(&self, request: &Request) -> Result<Reply, Refusal> {
        self.request(ops::PIPELINE_REQUEST, request)
    }
}

#[cfg(test)]
mod tests;
