//! Changes between their two checkpoints, and what is known of each.
//!
//! Spec: P-58, managed recovery.

use std::sync::{MutexGuard, PoisonError};

use didi_plugin_api::refusal::Refusal;
use serde_json::Map;

use super::{
    NEEDS_RECONCILIATION, Operation, OperationResult, RECOVERY_FAILED, Recovery, Uncertain, ask,
    files,
};
use crate::bridge::Route;

/// Tools whose changes live in the editor's memory alone.
const MEMORY_ONLY: [&str; 3] = ["audio_add_bus", "audio_configure_bus", "shader_set_uniform"];

impl Recovery {
    /// The right to make a change; one holds it at a time.
    pub fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A checkpoint of the files as they are, and the operation written down.
    ///
    /// # Errors
    /// `needs_reconciliation`; `recovery_failed` when either can't be done, and then nothing starts.
    pub fn protect(&self, tool: &str) -> Result<Operation, Refusal> {
        self.check_settled()?;
        let project = self.workspace.project();
        let mut inner = self.lock();
        let begun =
            inner.checkpoints.take(&project, &format!("before {tool}")).and_then(|before| {
                inner.journal.begin(tool, Some(before)).map_err(|error| error.to_string())
            });
        drop(inner);
        match begun {
            Ok(number) => Ok(Operation { number, tool: tool.to_owned() }),
            Err(why) => {
                let message = format!("`{tool}` was not started, as it can't be protected: {why}");
                let refusal = Refusal::new(RECOVERY_FAILED, message)
                    .with("outcome", "not_started")
                    .next_call("runtime_recovery_status", "says where the workspace is");
                Err(self.with_receipt(refusal))
            }
        }
    }

    /// Whether a change may be made.
    ///
    /// # Errors
    /// `needs_reconciliation`.
    pub fn check_settled(&self) -> Result<(), Refusal> {
        if self.lock().uncertain.is_none() {
            return Ok(());
        }
        let message = "nobody knows what an earlier change did, so no other is made";
        let refusal = Refusal::new(NEEDS_RECONCILIATION, message)
            .with("outcome", "not_started")
            .next_call("runtime_recovery_status", "says which change, and what can be restored");
        Err(self.with_receipt(refusal))
    }

    /// Whether the files differ from the newest checkpoint, or can't be compared.
    pub fn has_moved(&self) -> bool {
        let listed = files::list(&self.workspace.project());
        let inner = self.lock();
        let newest = inner.checkpoints.newest().map(|newest| &newest.files);
        listed.ok().as_ref() != newest
    }

    /// The change was refused before anything was done.
    pub fn not_started(&self, operation: &Operation) {
        let _ = self.lock().journal.note(operation.number, OperationResult::NotStarted, None);
    }

    /// Nobody knows what the change did; no other is made until that is settled.
    pub fn unknown(&self, operation: &Operation) {
        let mut inner = self.lock();
        inner.uncertain = Some(Uncertain { editor: inner.pid.zip(inner.started_ms) });
        let _ = inner.journal.note(operation.number, OperationResult::FailedOrUnknown, None);
        drop(inner);
        self.look();
    }

    /// The change is done: the open scene is saved if it has to be, the files become a checkpoint, and that is written
    /// down. Answers whether a scene was saved.
    ///
    /// # Errors
    /// The outcome that it came to instead, and why.
    pub fn done(
        &self,
        operation: &Operation,
        leaves_scene: bool,
    ) -> Result<bool, (OperationResult, String)> {
        let result = self.persist(operation, leaves_scene);
        if let Err((outcome, _)) = &result {
            let mut inner = self.lock();
            inner.uncertain = Some(Uncertain { editor: inner.pid.zip(inner.started_ms) });
            let _ = inner.journal.note(operation.number, *outcome, None);
        }
        result
    }

    fn persist(
        &self,
        operation: &Operation,
        leaves_scene: bool,
    ) -> Result<bool, (OperationResult, String)> {
        use OperationResult::{
            AppliedCheckpointFailed, AppliedJournalFailed, AppliedPersistenceFailed,
            CompletedSavedFilesCheckpointed,
        };
        if MEMORY_ONLY.contains(&operation.tool.as_str()) {
            let mut inner = self.lock();
            if !inner.unprotected.contains(&operation.tool) {
                inner.unprotected.push(operation.tool.clone());
            }
        }
        let route = self.route();
        if leaves_scene {
            let route = route
                .as_ref()
                .ok_or_else(|| (AppliedPersistenceFailed, "the editor is gone".to_owned()))?;
            ask(route, "editor.saveScene", Map::new())
                .map_err(|refusal| (AppliedPersistenceFailed, refusal.message.clone()))?;
        }
        self.remember_scene(route.as_deref());
        let project = self.workspace.project();
        let mut inner = self.lock();
        let after = inner
            .checkpoints
            .take(&project, &format!("after {}", operation.tool))
            .map_err(|why| (AppliedCheckpointFailed, why))?;
        inner
            .journal
            .note(operation.number, CompletedSavedFilesCheckpointed, Some(after))
            .map_err(|error| (AppliedJournalFailed, error.to_string()))?;
        Ok(leaves_scene)
    }

    /// Which scene is open, for an editor that comes after this one.
    fn remember_scene(&self, route: Option<&Route>) {
        let Some(Ok(state)) = route.map(|route| ask(route, "editor.getState", Map::new())) else {
            return;
        };
        let scene = state["active_scene"]["scene_file_path"].as_str().map(ToOwned::to_owned);
        self.lock().scene = scene;
    }
}
