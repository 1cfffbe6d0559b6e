//! Refusals: what a tool says when it will not do a thing, always with the way out.
//!
//! [`Refusal::new`] gives an [`Unfinished`] value; only a remedy, or saying that the host's floor supplies
//! one, turns it into a [`Refusal`] that a handler can return.
//!
//! Spec: P-24, refusals and remedies.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A stable code with its status. The set is open: a pack may have codes of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Code {
    /// Status in the style of HTTP, 400 to 599.
    pub status: u16,
    /// `snake_case` name; callers branch on it.
    pub name: Cow<'static, str>,
}

impl Code {
    /// A code, for use in constants.
    pub const fn new(status: u16, name: &'static str) -> Self {
        Code { status, name: Cow::Borrowed(name) }
    }
}

/// The codes that more than one pack uses.
pub mod codes {
    use super::Code;

    /// An argument can't be used.
    pub const INVALID_ARGUMENTS: Code = Code::new(400, "invalid_arguments");
    /// A file can't be opened for reading.
    pub const FORBIDDEN: Code = Code::new(403, "forbidden");
    /// What the call names is not there.
    pub const NOT_FOUND: Code = Code::new(404, "not_found");
    /// A state is in the way.
    pub const CONFLICT: Code = Code::new(409, "conflict");
    /// What the call would make is there already.
    pub const ALREADY_EXISTS: Code = Code::new(409, "already_exists");
    /// A bound was exceeded.
    pub const RESPONSE_TOO_LARGE: Code = Code::new(413, "response_too_large");
    /// A file is larger than the tool reads.
    pub const FILE_TOO_LARGE: Code = Code::new(413, "file_too_large");
    /// A file is not UTF-8 text.
    pub const BINARY_OR_INVALID_UTF8: Code = Code::new(415, "binary_or_invalid_utf8");
    /// A file is there and can't be understood.
    pub const UNPROCESSABLE: Code = Code::new(422, "unprocessable");
    /// Another process holds a project file's lock.
    pub const PROJECT_FILE_BUSY: Code = Code::new(503, "project_file_busy");
    /// An editor has unsaved changes in a file that would be replaced.
    pub const UNSAVED_CHANGES: Code = Code::new(409, "unsaved_changes");
    /// An editor does not tell whether it has unsaved changes in a file that would be replaced.
    pub const DIRTY_STATE_UNAVAILABLE: Code = Code::new(409, "dirty_state_unavailable");
    /// Nothing is attached.
    pub const NOT_CONNECTED: Code = Code::new(503, "not_connected");
    /// No engine executable can be used.
    pub const ENGINE_UNAVAILABLE: Code = Code::new(503, "engine_unavailable");
    /// Something the work needs beside the engine is missing.
    pub const TOOLCHAIN_UNAVAILABLE: Code = Code::new(503, "toolchain_unavailable");
    /// The engine ran and did not do it.
    pub const ENGINE_REFUSED: Code = Code::new(502, "engine_refused");
    /// The work did not end in time.
    pub const TIMEOUT: Code = Code::new(504, "timeout");
    /// The caller gave up, and the work was stopped.
    pub const CANCELLED: Code = Code::new(409, "cancelled");
    /// No scene is open in the editor.
    pub const NO_EDITED_SCENE: Code = Code::new(409, "no_edited_scene");
    /// A node belongs to another scene's file than the open one.
    pub const NODE_NOT_OWNED: Code = Code::new(409, "node_not_owned");
    /// The session's engine is of the wrong kind.
    pub const SESSION_KIND_REJECTED: Code = Code::new(409, "session_kind_rejected");
    /// A resource is kept in a file that the open scene does not save.
    pub const SUBRESOURCE_NOT_SAVED: Code = Code::new(409, "subresource_not_saved");
    /// A node that a view is asked of is no camera.
    pub const NO_CAMERA: Code = Code::new(404, "camera_path_does_not_resolve_to_camera3d");
    /// The game runs, and would have to be paused.
    pub const GAME_NOT_PAUSED: Code = Code::new(409, "game_not_paused");
    /// The game is being stepped, in frames or in ticks.
    pub const RUNTIME_STEP_ACTIVE: Code = Code::new(409, "runtime_step_active");
    /// The game runs on after it was stepped.
    pub const REPAUSE_FAILED: Code = Code::new(500, "repause_failed");
    /// Whether the engine did it is not known.
    pub const UNKNOWN_OUTCOME: Code = Code::new(504, "unknown_outcome");
    /// Another import goes on in the editor.
    pub const EDITOR_IMPORT_BUSY: Code = Code::new(409, "editor_import_busy");
    /// The editor is still reading the project.
    pub const EDITOR_SCANNING: Code = Code::new(504, "editor_scanning");
    /// The host or the pack is at fault.
    pub const INTERNAL_ERROR: Code = Code::new(500, "internal_error");
}

/// A refused call, ready to be returned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    /// What is refused.
    #[serde(flatten)]
    pub code: Code,
    /// One sentence without a final stop: what was sent, what is accepted.
    pub message: String,
    /// The members of `error.data`, remedy fields included.
    #[serde(default)]
    pub data: Box<Map<String, Value>>,
}

/// A refusal that lacks its way out. It can't be returned from a handler.
#[derive(Debug, Clone)]
#[must_use = "a refusal without a remedy can't be returned"]
pub struct Unfinished(Refusal);

/// The members of `error.data` that count as a way out.
pub const REMEDY_FIELDS: [&str; 10] = [
    "retry_with",
    "field",
    "argument",
    "parameter",
    "missing",
    "did_you_mean",
    "next_call",
    "restart_with",
    "retry_after_ms",
    "no_remedy",
];

impl Refusal {
    /// Starts a refusal. The message is one sentence without a final stop, names in backticks.
    #[allow(clippy::new_ret_no_self, reason = "a refusal without a remedy is a type of its own")]
    pub fn new(code: Code, message: impl Into<String>) -> Unfinished {
        Unfinished(Refusal { code, message: message.into(), data: Box::default() })
    }

    /// Refuses an argument that can't be used: `invalid_arguments` (400), with the argument's name as `field`.
    ///
    /// The message is as that of [`Refusal::new`].
    pub fn invalid(field: &str, message: impl Into<String>) -> Refusal {
        Refusal::new(codes::INVALID_ARGUMENTS, message).field(field)
    }

    /// Adds a member to `error.data`.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.data.insert(key.into(), value.into());
        self
    }

    /// Whether a way out is named.
    pub fn has_remedy(&self) -> bool {
        REMEDY_FIELDS.iter().any(|field| self.data.contains_key(*field))
    }
}

impl Unfinished {
    /// Adds a member to `error.data`.
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.data.insert(key.into(), value.into());
        self
    }

    fn finish(mut self, key: &str, value: impl Into<Value>) -> Refusal {
        self.0.data.insert(key.into(), value.into());
        self.0
    }

    /// The argument at fault, by name.
    pub fn field(self, name: &str) -> Refusal {
        self.finish("field", name)
    }

    /// Arguments to merge into the same call.
    pub fn retry_with(self, arguments: Value) -> Refusal {
        self.finish("retry_with", arguments)
    }

    /// A call to make first, with a reason.
    pub fn next_call(self, tool: &str, reason: &str) -> Refusal {
        self.finish("next_call", json!({"tool": tool, "reason": reason}))
    }

    /// A call to make first, with arguments and a reason.
    pub fn next_call_with(self, tool: &str, arguments: Value, reason: &str) -> Refusal {
        self.finish("next_call", json!({"tool": tool, "arguments": arguments, "reason": reason}))
    }

    /// What the server or its environment needs at start-up.
    pub fn restart_with(self, what: &str) -> Refusal {
        self.finish("restart_with", what)
    }

    /// The same call, after about this many milliseconds. 0 means at once.
    pub fn retry_after_ms(self, wait_ms: u64) -> Refusal {
        self.finish("retry_after_ms", wait_ms)
    }

    /// Why nothing that the caller can send fixes it.
    pub fn no_remedy(self, why: &str) -> Refusal {
        self.finish("no_remedy", why)
    }

    /// Leaves the way out to the host's floor table, which knows one for this code.
    pub fn floor(self) -> Refusal {
        self.0
    }
}

#[cfg(test)]
mod tests;
