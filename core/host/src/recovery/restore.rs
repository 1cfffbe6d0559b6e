//! What the tools do: a checkpoint on demand, a restart, a checkpoint in the project's place.
//!
//! Spec: P-58, managed recovery.

use std::{fs, path::Path};

use didi_plugin_api::refusal::Refusal;
use didi_wire::process::{self, Liveness};
use serde_json::{Value, json};

use super::{
    NEEDS_RECONCILIATION, OperationResult, RECOVERY_FAILED, Recovery, State, Uncertain, files,
};
use crate::source;

impl Recovery {
    /// A checkpoint on demand; with `accepts`, what is uncertain is taken as it is.
    ///
    /// # Errors
    /// `needs_reconciliation` without `accepts`, or while the editor that was uncertain still runs;
    /// `recovery_failed`.
    pub fn checkpoint(&self, accepts: bool) -> Result<String, Refusal> {
        let uncertain = self.lock().uncertain;
        match uncertain {
            Some(_) if !accepts => {
                let message = "an earlier change is not settled: look at the files, then accept them or restore a checkpoint";
                let refusal = Refusal::new(NEEDS_RECONCILIATION, message)
                    .retry_with(json!({"accept_current_files": true}));
                return Err(self.with_receipt(refusal));
            }
            Some(Uncertain { editor: Some((pid, started)) })
                if process::liveness(pid, started) != Liveness::Gone =>
            {
                let message = format!(
                    "the editor of process {pid}, which may still work on the uncertain change, runs"
                );
                let refusal = Refusal::new(NEEDS_RECONCILIATION, message).next_call(
                    "runtime_restore_checkpoint",
                    "ends that editor and puts a checkpoint in the project's place",
                );
                return Err(self.with_receipt(refusal));
            }
            _ => {}
        }
        let project = self.workspace.project();
        let mut inner = self.lock();
        let reason = if uncertain.is_some() { "accepted" } else { "asked for" };
        let taken = inner.checkpoints.take(&project, reason);
        if let (Ok(id), Some(_)) = (&taken, uncertain) {
            inner.uncertain = None;
            let last = inner.journal.last().map(|one| one.number);
            if let Some(number) = last {
                let accepted = OperationResult::CurrentSavedFilesAccepted;
                let _ = inner.journal.note(number, accepted, Some(id.clone()));
            }
        }
        drop(inner);
        taken.map_err(|why| self.failed(&format!("no checkpoint was taken: {why}")))
    }

    fn failed(&self, message: &str) -> Refusal {
        let refusal = Refusal::new(RECOVERY_FAILED, message)
            .next_call("runtime_recovery_status", "says how things stand");
        self.with_receipt(refusal)
    }

    /// Starts an editor that ended as it should not, if the one restart is left.
    ///
    /// # Errors
    /// `recovery_failed` when it is spent, the editor was closed, or none comes up.
    pub fn recover(&self) -> Result<State, Refusal> {
        self.ensure_editor();
        let state = self.lock().state;
        if state.has_editor() {
            return Ok(state);
        }
        let state_name = json!(state);
        Err(self.failed(&format!(
            "the owned editor is not started by this: it is {}",
            state_name.as_str().unwrap_or_default()
        )))
    }

    /// Whether a checkpoint is kept, for a preview of its restore.
    pub fn describe(&self, id: &str) -> Option<Value> {
        let inner = self.lock();
        let kept = inner.checkpoints.get(id)?;
        Some(json!({
            "checkpoint_id": kept.checkpoint_id,
            "created_at": source::iso8601(kept.created_ms),
            "files": kept.files.len(),
        }))
    }

    /// Puts a checkpoint in the project's place and starts an editor on it.
    ///
    /// # Errors
    /// `recovery_failed`; what the project was before is then there again, or its place is told.
    pub fn restore(&self, id: &str) -> Result<State, Refusal> {
        self.await_rest();
        let staging = self.workspace.staging();
        let prepared = {
            let mut inner = self.lock();
            inner.checkpoints.unpack(id, &staging).and_then(|()| {
                let number = inner.journal.begin("runtime_restore_checkpoint", Some(id.to_owned()));
                let number = number.map_err(|error| error.to_string())?;
                let _ = inner.journal.note(number, OperationResult::RestorePrepared, None);
                Ok(number)
            })
        };
        let number = match prepared {
            Ok(number) => number,
            Err(why) => {
                if staging.exists() {
                    files::remove(&staging);
                }
                return Err(self.failed(&format!("`{id}` is not restored: {why}")));
            }
        };
        self.end_editor();
        if let Err(why) = self.exchange(id, &staging) {
            self.enter(State::RestoreFailed);
            return Err(self.failed(&format!("`{id}` is not restored: {why}")));
        }
        {
            let mut inner = self.lock();
            inner.uncertain = None;
            let _ = inner.journal.note(number, OperationResult::Restored, Some(id.to_owned()));
        }
        Ok(self.bring_up(true))
    }

    /// Lets the owned editor go and ends it.
    fn end_editor(&self) {
        self.enter(State::Restoring);
        self.lock().ends_it = true;
        self.editor.end();
        if let (Some(routes), Some(route)) = (self.routes(), self.route()) {
            route.retire();
            let _ = routes.selected();
        }
    }

    /// Renames the project away and the staged copy into its place, with the folders that no checkpoint has.
    fn exchange(&self, id: &str, staging: &Path) -> Result<(), String> {
        let project = self.workspace.project();
        let number = {
            let mut inner = self.lock();
            inner.restores += 1;
            inner.restores
        };
        let preserved = self.workspace.preserved(number, id);
        let say = |error: std::io::Error| error.to_string();
        fs::rename(&project, &preserved).map_err(say)?;
        if let Err(error) = fs::rename(staging, &project) {
            return match fs::rename(&preserved, &project) {
                Ok(()) => Err(format!("{error}; the project is as it was")),
                Err(back) => {
                    Err(format!("{error}; the project is in `{}` ({back})", preserved.display()))
                }
            };
        }
        for kept in [".didi", ".godot"] {
            let from = preserved.join(kept);
            if from.is_dir()
                && let Err(error) = fs::rename(&from, project.join(kept))
            {
                tracing::warn!("`{kept}` does not go along: {error}");
            }
        }
        Ok(())
    }
}
