//! The record of protected operations, `recovery.json`: rewritten whole, so that it is whole at any moment.
//!
//! Spec: P-58, managed recovery.

use std::{io, path::PathBuf};

use serde::Serialize;
use serde_json::json;

use crate::{files, source};

/// Operations that are kept.
const MAX_KEPT: usize = 200;

/// How a protected operation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Result {
    /// It runs.
    Pending,
    /// It was refused before anything was done.
    NotStarted,
    /// Nobody knows what it did.
    FailedOrUnknown,
    /// Done, saved, protected.
    CompletedSavedFilesCheckpointed,
    /// Done, and not saved.
    AppliedPersistenceFailed,
    /// Done, and not protected.
    AppliedCheckpointFailed,
    /// Done, and not written down.
    AppliedJournalFailed,
    /// The files were accepted as they are.
    CurrentSavedFilesAccepted,
    /// A checkpoint is verified and staged.
    RestorePrepared,
    /// It is the project now.
    Restored,
}

/// One operation.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Operation {
    /// Counted from 1.
    pub(super) number: u32,
    /// The tool.
    pub(super) tool: String,
    /// How it stands.
    pub(super) outcome: Result,
    /// When it began, in milliseconds since 1970.
    started_ms: u64,
    /// The checkpoint before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint_before: Option<String>,
    /// The checkpoint after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint_after: Option<String>,
}

/// The record.
pub(super) struct Journal {
    file: PathBuf,
    kept: Vec<Operation>,
    next: u32,
}

impl Journal {
    pub(super) fn new(file: PathBuf) -> Self {
        Journal { file, kept: vec![], next: 1 }
    }

    /// The newest operation.
    pub(super) fn last(&self) -> Option<&Operation> {
        self.kept.last()
    }

    /// Writes a new operation down.
    ///
    /// # Errors
    /// Whatever the disk says; the operation is not kept then.
    pub(super) fn begin(&mut self, tool: &str, before: Option<String>) -> io::Result<u32> {
        let number = self.next;
        self.kept.push(Operation {
            number,
            tool: tool.to_owned(),
            outcome: Result::Pending,
            started_ms: source::now_ms(),
            checkpoint_before: before,
            checkpoint_after: None,
        });
        if let Err(error) = self.write() {
            self.kept.pop();
            return Err(error);
        }
        self.next += 1;
        Ok(number)
    }

    /// Writes down how an operation stands now.
    ///
    /// # Errors
    /// Whatever the disk says; what is kept in memory is so nevertheless.
    pub(super) fn note(
        &mut self,
        number: u32,
        outcome: Result,
        after: Option<String>,
    ) -> io::Result<()> {
        if let Some(operation) = self.kept.iter_mut().find(|one| one.number == number) {
            operation.outcome = outcome;
            operation.checkpoint_after = after.or(operation.checkpoint_after.take());
        }
        self.write()
    }

    fn write(&mut self) -> io::Result<()> {
        let beyond = self.kept.len().saturating_sub(MAX_KEPT);
        self.kept.drain(..beyond);
        let text = json!({"version": 1, "operations": self.kept}).to_string();
        files::replace_file(&self.file, text.as_bytes())
    }
}
