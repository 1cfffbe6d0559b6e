//! Work that outlives its call: the call answers with a name, and the work's end is read by that name.
//!
//! Reading is answered beside the main thread, which may stand still for exactly as long as the work takes.
//! Work that nobody has read for a minute is given up, so that a server that is gone holds nothing.

use std::{
    collections::BTreeMap,
    sync::Mutex,
    time::{Duration, Instant},
};

use didi_wire::{BridgeError, SessionId};
use serde_json::{Value, json};

use crate::{backend::Answer, lock};

#[cfg(test)]
mod tests;

/// How long work is kept that nobody reads.
pub const UNREAD_LIMIT: Duration = Duration::from_secs(60);

/// Most works kept at once.
const MAX_KEPT: usize = 64;

/// What of a kind of work a reader is told: how it is called, and with which code an unknown name is refused.
#[derive(Debug, Clone, Copy)]
pub struct WorkKind {
    /// The parameter that carries the name, such as `reimport_id`.
    pub id_field: &'static str,
    /// The code for a name that is not kept.
    pub not_found: &'static str,
    /// The code of work that was given up.
    pub unread: &'static str,
}

/// Works by their names.
#[derive(Debug, Default)]
pub struct Detached {
    works: Mutex<BTreeMap<String, Work>>,
}

#[derive(Debug)]
struct Work {
    read_at: Instant,
    end: Option<Answer>,
}

impl Detached {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes work up and names it.
    ///
    /// # Errors
    /// `rate_limited` (429) when too much is kept.
    pub fn accept(&self, now: Instant) -> Result<String, BridgeError> {
        let mut works = lock(&self.works);
        works.retain(|_, work| now.duration_since(work.read_at) < UNREAD_LIMIT);
        if works.len() >= MAX_KEPT {
            let message = format!("{MAX_KEPT} works are kept already");
            return Err(BridgeError::new(429, "rate_limited", message).with("retry_after_ms", 1000));
        }
        let id = SessionId::random().to_string();
        works.insert(id.clone(), Work { read_at: now, end: None });
        Ok(id)
    }

    /// Whether somebody still asks for it.
    pub fn is_wanted(&self, id: &str, now: Instant) -> bool {
        let works = lock(&self.works);
        works.get(id).is_some_and(|work| now.duration_since(work.read_at) < UNREAD_LIMIT)
    }

    /// Keeps how the work ended.
    pub fn finish(&self, id: &str, end: Answer) {
        if let Some(work) = lock(&self.works).get_mut(id) {
            work.end = Some(end);
        }
    }

    /// Gives work up that nobody has read for too long.
    pub fn give_up(&self, id: &str, kind: WorkKind) {
        let message = format!("nobody asked for it within {} s", UNREAD_LIMIT.as_secs());
        self.finish(id, Err(BridgeError::new(504, kind.unread, message)));
    }

    /// Where the work stands: `{"state": "working"}`, or finished with its answer.
    ///
    /// # Errors
    /// The work's own error; a name that is not kept (404).
    pub fn read(&self, id: &str, kind: WorkKind, now: Instant) -> Answer {
        let mut works = lock(&self.works);
        let Some(work) = works.get_mut(id) else {
            let message = format!("no work is kept under `{id}`");
            return Err(BridgeError::new(404, kind.not_found, message).with("field", kind.id_field));
        };
        work.read_at = now;
        let mut answer = match &work.end {
            None => return Ok(json!({ "state": "working", kind.id_field: id })),
            Some(end) => end.clone()?,
        };
        if let Value::Object(members) = &mut answer {
            members.insert("state".into(), "finished".into());
            members.insert(kind.id_field.into(), id.into());
        }
        Ok(answer)
    }
}
