//! How things stand: for the tools, for people, and as the receipt of a protected answer.
//!
//! Spec: P-58, managed recovery.

use didi_plugin_api::refusal::Refusal;
use serde_json::{Value, json};

use super::{Recovery, State, editor::Life, files};
use crate::source;

/// What a checkpoint protects.
const COVERAGE: &str = "saved_files";

fn next_action(state: State, uncertain: bool) -> &'static str {
    match state {
        _ if uncertain => {
            "look at the files, then restore a checkpoint, or accept them with runtime_checkpoint"
        }
        State::Ready => "none",
        State::Starting | State::WaitingForFiles | State::Restarting | State::Restoring => {
            "wait; the next call does"
        }
        State::EditorExited => {
            "the next call starts the editor anew, once; so does runtime_recover_editor"
        }
        State::SceneReopenFailed => "open a scene with scene_open",
        _ => {
            "restore a checkpoint, which starts an editor, or start the server anew with a new workspace"
        }
    }
}

impl Recovery {
    /// All that is known. It starts nothing.
    pub fn status(&self) -> Value {
        self.look();
        let running = matches!(self.editor.life(), Life::Runs(_));
        let inner = self.lock();
        let checkpoints = inner.checkpoints.kept().iter().rev().map(|one| {
            json!({
                "checkpoint_id": one.checkpoint_id,
                "created_at": source::iso8601(one.created_ms),
                "reason": one.reason,
                "files": one.files.len(),
                "bytes": one.files.iter().map(|file| file.size).sum::<u64>(),
            })
        });
        let mut status = json!({
            "enabled": true,
            "state": inner.state,
            "editor_running": running,
            "checkpoints": checkpoints.collect::<Vec<_>>(),
            "workspace": self.workspace.root().display().to_string(),
            "journal": self.workspace.journal().display().to_string(),
            "automatic_restart_used": inner.restart_used,
            "requires_reconciliation": inner.uncertain.is_some(),
            "coverage": COVERAGE,
            "unprotected_changes": inner.unprotected,
            "excludes": files::EXCLUDED,
            "next_action": next_action(inner.state, inner.uncertain.is_some()),
        });
        let members = [
            ("pid", inner.pid.map(Value::from)),
            ("session_id", inner.session.clone().map(Value::from)),
            ("last_operation", inner.journal.last().map(|one| json!(one))),
            ("last_checkpoint", inner.checkpoints.newest().map(|one| json!(one.checkpoint_id))),
        ];
        for (name, value) in members {
            if let Some(value) = value {
                status[name] = value;
            }
        }
        status
    }

    /// The same in a line, for people.
    pub fn summary(&self) -> String {
        self.look();
        let inner = self.lock();
        let state = json!(inner.state);
        let state = state.as_str().unwrap_or_default().replace('_', " ");
        let restart =
            if inner.restart_used { "its restart is spent" } else { "one restart is left" };
        let block = if inner.uncertain.is_some() { ", changes are blocked" } else { "" };
        format!("{state}, {restart}{block}")
    }

    /// The part of it that goes with a protected answer.
    pub fn receipt(&self) -> Value {
        self.look();
        let inner = self.lock();
        let operation = inner.journal.last();
        let newest = inner.checkpoints.newest().map(|one| one.checkpoint_id.clone());
        let mut receipt = json!({
            "state": inner.state,
            "requires_reconciliation": inner.uncertain.is_some(),
            "coverage": COVERAGE,
            "unprotected_changes": inner.unprotected,
        });
        if let Some(operation) = operation {
            receipt["operation"] = json!({
                "number": operation.number,
                "tool": operation.tool,
                "outcome": operation.outcome,
            });
        }
        if let Some(newest) = newest {
            receipt["checkpoint_id"] = newest.into();
        }
        receipt
    }

    /// A refusal with the receipt in it.
    pub fn with_receipt(&self, mut refusal: Refusal) -> Refusal {
        refusal.data.insert("recovery".into(), self.receipt());
        refusal
    }
}
