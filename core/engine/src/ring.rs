//! A bounded log: the newest 2,000 records, read in pages by a cursor that never goes back.
//!
//! Records are pushed from any thread, the engine's own logging included, so nothing here calls an engine.
//! What is logged is left to the caller.

use std::{collections::VecDeque, sync::Mutex};

use didi_wire::BridgeError;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{lock, now_ms};

#[cfg(test)]
mod tests;

/// Records kept.
pub const MAX_RECORDS: usize = 2_000;

/// Longest message, in bytes; a longer one is cut and says so.
pub const MAX_MESSAGE_BYTES: usize = 16 * 1024;

/// Longest details, in bytes of JSON; longer ones are left out.
pub const MAX_DETAILS_BYTES: usize = 64 * 1024;

/// Most records of a page.
pub const MAX_PAGE_RECORDS: usize = 500;

/// Records of a page where the caller does not say.
pub const DEFAULT_PAGE_RECORDS: usize = 100;

/// Most bytes of a page, beyond its first record.
const MAX_PAGE_BYTES: usize = 1024 * 1024;

/// How much a record matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// For whoever works on the bridge.
    Debug,
    /// What happened.
    Info,
    /// What may be wrong.
    Warning,
    /// What went wrong.
    Error,
}

/// One record.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Record {
    /// Counts up by one, from 1.
    pub sequence: u64,
    /// When, in milliseconds since 1970.
    pub timestamp_ms: u64,
    /// How much it matters.
    pub level: Level,
    /// Who says so.
    pub source: &'static str,
    /// What.
    pub message: String,
    /// Whether the message was cut.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub message_truncated: bool,
    /// An object, or null.
    pub details: Value,
}

/// What a reader asks for.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Query {
    /// The sequence to read from; 0 is the oldest.
    pub cursor: u64,
    /// Records at most.
    pub limit: Option<usize>,
    /// Leaves out what matters less.
    pub minimum_level: Option<Level>,
}

/// A page of the log, oldest record first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Page {
    /// The records.
    pub records: Vec<Record>,
    /// The oldest sequence that is still kept.
    pub oldest_cursor: u64,
    /// Where the next page begins; past every record that was looked at, also those left out.
    pub next_cursor: u64,
    /// Whether records from the cursor on are gone.
    pub dropped_before_cursor: bool,
    /// Whether records remain to be looked at.
    pub has_more: bool,
    /// Whether the log takes no more records because it has counted as far as it can.
    pub sequence_overflowed: bool,
    /// Whether anything of what was asked for is not in the page.
    pub truncated: bool,
}

/// The log.
#[derive(Debug, Default)]
pub struct LogRing {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    records: VecDeque<Record>,
    /// Of the newest record; 0 before the first.
    last: u64,
    overflowed: bool,
}

impl LogRing {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a record; its message and details are cut to what the log keeps.
    pub fn push(&self, level: Level, source: &'static str, message: &str, details: Value) {
        let kept = cut(message, MAX_MESSAGE_BYTES);
        let record = Record {
            sequence: 0,
            timestamp_ms: now_ms(),
            level,
            source,
            message: kept.to_owned(),
            message_truncated: kept.len() < message.len(),
            details: bounded(details),
        };
        lock(&self.inner).push(record);
    }

    /// The sequence that the next record gets.
    pub fn next_sequence(&self) -> u64 {
        lock(&self.inner).last.saturating_add(1)
    }

    /// Reads a page.
    ///
    /// # Errors
    /// `invalid_arguments` (400) for a limit of 0 or over [`MAX_PAGE_RECORDS`]; `cursor_ahead` (400) past the
    /// record that comes next.
    pub fn read(&self, query: Query) -> Result<Page, BridgeError> {
        let limit = query.limit.unwrap_or(DEFAULT_PAGE_RECORDS);
        if limit == 0 || limit > MAX_PAGE_RECORDS {
            let message = format!("`limit` is {limit}; 1 to {MAX_PAGE_RECORDS} are accepted");
            return Err(BridgeError::new(400, "invalid_arguments", message).with("field", "limit"));
        }
        lock(&self.inner).read(query.cursor, limit, query.minimum_level.unwrap_or(Level::Debug))
    }

    /// Records from a sequence on that matter at least so much.
    pub fn since(&self, sequence: u64, minimum: Level) -> Vec<Record> {
        let inner = lock(&self.inner);
        let from = inner.position(sequence);
        inner.records.range(from..).filter(|record| record.level >= minimum).cloned().collect()
    }
}

impl Inner {
    fn push(&mut self, mut record: Record) {
        let Some(sequence) = self.last.checked_add(1) else {
            self.overflowed = true;
            return;
        };
        self.last = sequence;
        record.sequence = sequence;
        if self.records.len() == MAX_RECORDS {
            self.records.pop_front();
        }
        self.records.push_back(record);
    }

    /// Where a sequence stands among the records kept.
    fn position(&self, sequence: u64) -> usize {
        let back = self.last.saturating_add(1).saturating_sub(sequence);
        self.records.len().saturating_sub(usize::try_from(back).unwrap_or(usize::MAX))
    }

    fn read(&self, cursor: u64, limit: usize, minimum: Level) -> Result<Page, BridgeError> {
        let next = self.last.saturating_add(1);
        if cursor > next {
            let message = format!("`cursor` is {cursor}, and the next record will be {next}");
            let fault = BridgeError::new(400, "cursor_ahead", message).with("field", "cursor");
            return Err(fault.with("retry_with", serde_json::json!({ "cursor": next })));
        }
        let oldest = self.records.front().map_or(next, |record| record.sequence);
        let dropped_before_cursor = cursor.max(1) < oldest;
        let mut page = Page {
            records: vec![],
            oldest_cursor: oldest,
            next_cursor: cursor.max(oldest),
            dropped_before_cursor,
            has_more: false,
            sequence_overflowed: self.overflowed,
            truncated: false,
        };
        let mut bytes = 0;
        for record in self.records.range(self.position(page.next_cursor)..) {
            if record.level >= minimum {
                bytes += record.message.len();
                let full = page.records.len() == limit || bytes > MAX_PAGE_BYTES;
                if full && !page.records.is_empty() {
                    page.has_more = true;
                    break;
                }
                page.records.push(record.clone());
            }
            page.next_cursor = record.sequence + 1;
        }
        let cut = page.records.iter().any(|record| record.message_truncated);
        page.truncated = page.has_more || dropped_before_cursor || cut;
        Ok(page)
    }
}

/// The start of a text in at most so many bytes.
pub fn cut(text: &str, max_bytes: usize) -> &str {
    let mut end = max_bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn bounded(details: Value) -> Value {
    let fits = |details: &Value| details.to_string().len() <= MAX_DETAILS_BYTES;
    if details.is_null() || fits(&details) { details } else { Value::Null }
}
