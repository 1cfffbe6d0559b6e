//! The floor under every refusal: the remedy that a code carries when its site named none.
//!
//! Chosen by code, by tool where one code means several things, and by what the message names where one tool
//! can miss several kinds of thing. A fault of the server carries none, and says so.
//!
//! Spec: P-24, refusals and remedies.

use std::collections::BTreeMap;

use didi_plugin_api::refusal::{Code, Refusal, codes};
use serde_json::{Value, json};

use crate::catalog::Catalog;

/// Codes of the host's own gates, which every tool can meet.
pub mod gate_codes {
    use super::Code;

    /// The call has to be confirmed first.
    pub const CONFIRMATION_REQUIRED: Code = Code::new(428, "confirmation_required");
    /// A confirmation was spent, or its time is over.
    pub const GONE: Code = Code::new(410, "gone");
    /// A person declined, or did not answer.
    pub const NOT_APPROVED: Code = Code::new(403, "not_approved");
    /// All jobs or calls that this server runs at once are taken.
    pub const RATE_LIMITED: Code = Code::new(429, "rate_limited");
    /// The `request_id` names a job of another call.
    pub const REQUEST_ID_CONFLICT: Code = Code::new(409, "request_id_conflict");
    /// The job was cancelled.
    pub const JOB_CANCELLED: Code = Code::new(409, "job_cancelled");
    /// The engine attached is of the wrong kind.
    pub const SESSION_KIND_REJECTED: Code = Code::new(409, "session_kind_rejected");
    /// The engine did not answer in time, or its connection failed.
    pub const ROUTE_DEADLINE_EXCEEDED: Code = Code::new(504, "route_deadline_exceeded");
    /// The engine's process ended under the call.
    pub const LIVE_SESSION_ENDED: Code = Code::new(502, "live_session_ended");
}

/// How one code is remedied.
#[derive(Clone, Copy)]
enum Remedy {
    Field(&'static str),
    RetryWith(&'static str, bool),
    NextCall(&'static str, &'static str),
    RestartWith(&'static str),
    RetryAfterMs(u64),
    Nothing(&'static str),
}

/// What a session's refusal sends its caller to look for.
const SESSIONS_NOW: &str = "shows the sessions as they are now";

/// Remedies by code. A code with several meanings is decided by tool in [`by_tool`] first.
const BY_CODE: &[(&str, Remedy)] = &[
    ("already_exists", Remedy::RetryWith("overwrite", true)),
    ("binary_or_invalid_utf8", Remedy::Field("file_path")),
    ("cancelled", Remedy::RetryAfterMs(0)),
    ("confirmation_required", Remedy::RetryWith("dry_run", true)),
    ("conflict", Remedy::RetryAfterMs(0)),
    ("engine_unavailable", Remedy::RestartWith("GODOT_BIN naming a Godot 4.5 or newer executable")),
    ("file_too_large", Remedy::Nothing("the file is larger than this tool reads")),
    ("foreign_project_session", Remedy::RetryWith("allow_foreign_project", true)),
    ("forbidden", Remedy::Nothing("the permissions keep the server from it")),
    ("gone", Remedy::RetryWith("dry_run", true)),
    ("headless_engine", Remedy::NextCall("runtime_launch", "starts the game with a window")),
    ("invalid_arguments", Remedy::Field("arguments")),
    ("job_cancelled", Remedy::Field("request_id")),
    ("live_session_ended", Remedy::NextCall("runtime_list_sessions", SESSIONS_NOW)),
    ("not_approved", Remedy::Nothing("a person declined the change")),
    (
        "not_connected",
        Remedy::NextCall("runtime_list_sessions", "finds the engines that can be attached"),
    ),
    ("project_file_busy", Remedy::RetryAfterMs(1000)),
    ("protocol_version_rejected", Remedy::NextCall("runtime_list_sessions", SESSIONS_NOW)),
    ("rate_limited", Remedy::RetryAfterMs(1000)),
    ("request_failed", Remedy::NextCall("runtime_list_sessions", SESSIONS_NOW)),
    ("request_id_conflict", Remedy::Field("request_id")),
    ("response_too_large", Remedy::Field("arguments")),
    ("route_deadline_exceeded", Remedy::NextCall("runtime_list_sessions", SESSIONS_NOW)),
    ("save_not_written", Remedy::NextCall("runtime_read_output", "shows what the editor said")),
    (
        "session_kind_rejected",
        Remedy::NextCall("runtime_list_sessions", "finds an engine of the right kind"),
    ),
    ("teardown_failed", Remedy::NextCall("runtime_list_sessions", SESSIONS_NOW)),
    ("timeout", Remedy::NextCall("runtime_list_sessions", "shows whether an engine still answers")),
    (
        "toolchain_unavailable",
        Remedy::Nothing("a program that the work needs is missing on this machine"),
    ),
    ("unprocessable", Remedy::Nothing("the file has to be mended before this tool can use it")),
];

/// Codes that carry no remedy, with the reason.
const WITHOUT_REMEDY: &[(&str, &str)] = &[
    ("internal_error", "the server is at fault, not the call"),
    ("engine_refused", "the engine ran and did not do it; its own words are in the message"),
];

/// Adds the remedy that the refusal's code carries, unless its site named one.
pub fn fill(refusal: &mut Refusal, tool: &str) {
    if refusal.has_remedy() {
        return;
    }
    let code = refusal.code.name.as_ref();
    let remedy = by_tool(code, tool, &refusal.message)
        .or_else(|| BY_CODE.iter().find(|(name, _)| *name == code).map(|(_, remedy)| *remedy));
    let (key, value) = match remedy {
        Some(Remedy::Field(name)) => ("field", name.into()),
        Some(Remedy::RetryWith(name, value)) => ("retry_with", json!({ name: value })),
        Some(Remedy::NextCall(tool, reason)) => {
            ("next_call", json!({"tool": tool, "reason": reason}))
        }
        Some(Remedy::RestartWith(what)) => ("restart_with", what.into()),
        Some(Remedy::RetryAfterMs(wait_ms)) => ("retry_after_ms", wait_ms.into()),
        Some(Remedy::Nothing(why)) => ("no_remedy", why.into()),
        None => ("no_remedy", without(code).into()),
    };
    refusal.data.insert(key.into(), value);
}

fn without(code: &str) -> &'static str {
    let known = WITHOUT_REMEDY.iter().find(|(name, _)| *name == code).map(|(_, why)| *why);
    known.unwrap_or("the tool names no way out of this")
}

fn by_tool(code: &str, tool: &str, message: &str) -> Option<Remedy> {
    if code != codes::NOT_FOUND.name {
        return None;
    }
    let family = |name: &str| tool.starts_with(name);
    Some(if family("blackboard_task") {
        Remedy::NextCall("blackboard_task_list", "lists the board's tasks")
    } else if family("blackboard_") {
        Remedy::NextCall("blackboard_list_keys", "lists the board's paths")
    } else if family("project_export") {
        Remedy::NextCall("project_list_export_presets", "lists the presets that the engine reads")
    } else if family("project_get_setting") {
        Remedy::NextCall("runtime_list_sessions", "an attached engine knows the defaults, too")
    } else if family("runtime_") && !message.contains("res://") {
        Remedy::NextCall("runtime_list_sessions", "lists the sessions")
    } else {
        Remedy::NextCall("project_list_resources", "lists the project's files")
    })
}

/// Whether the same call can be worth sending again as it is or with what the refusal names.
pub fn retryable(refusal: &Refusal) -> bool {
    let by_code = ["confirmation_required", "rate_limited", "not_connected", "timeout"];
    by_code.contains(&refusal.code.name.as_ref()) || refusal.data.contains_key("retry_after_ms")
}

/// The codes in use: those of the gates, and those that the tools declare.
pub fn codes_in_use(catalog: &Catalog) -> BTreeMap<String, u16> {
    use gate_codes as gates;
    let gates = [
        codes::INVALID_ARGUMENTS,
        codes::INTERNAL_ERROR,
        codes::CANCELLED,
        codes::NOT_CONNECTED,
        codes::CONFLICT,
        gates::CONFIRMATION_REQUIRED,
        gates::GONE,
        gates::NOT_APPROVED,
        gates::RATE_LIMITED,
        gates::REQUEST_ID_CONFLICT,
        gates::JOB_CANCELLED,
        gates::SESSION_KIND_REJECTED,
        gates::ROUTE_DEADLINE_EXCEEDED,
        gates::LIVE_SESSION_ENDED,
    ];
    let declared = catalog.tools().iter().flat_map(|tool| tool.desc.codes.iter().cloned());
    gates.into_iter().chain(declared).map(|code| (code.name.into_owned(), code.status)).collect()
}

/// The tables as the manifest publishes them.
pub fn tables(catalog: &Catalog) -> Value {
    let mut remedied = serde_json::Map::new();
    let mut without_remedy = serde_json::Map::new();
    for (name, status) in codes_in_use(catalog) {
        if let Some((_, why)) = WITHOUT_REMEDY.iter().find(|(code, _)| *code == name) {
            without_remedy.insert(name, json!({"status": status, "reason": why}));
            continue;
        }
        let code = Code { status, name: name.clone().into() };
        let mut sample = Refusal { code, message: String::new(), data: Box::default() };
        fill(&mut sample, "");
        remedied.insert(name, json!({"status": status, "floor": *sample.data}));
    }
    json!({"remedied": remedied, "without_remedy": without_remedy})
}
