//! One answer to one request, wherever it is made.
//!
//! A [`Responder`] goes with the request from thread to thread. It answers once; a request that was cancelled
//! gets nothing; one that is dropped unanswered gets an internal error, so that no request stays open.
//!
//! Spec: P-2, answers to requests.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use serde::Serialize;

use crate::{
    cancel::Cancel,
    front::stdio::Output,
    jsonrpc::{self, INTERNAL_ERROR, Id, ProtocolError},
};

/// Requests that were read and not answered yet.
#[derive(Default)]
pub struct InFlight {
    open: Mutex<BTreeMap<String, (Id, Cancel)>>,
}

impl InFlight {
    /// Notes a request; `None` when one with the same id is open.
    pub fn open(&self, id: &Id) -> Option<Cancel> {
        let mut open = self.lock();
        let key = key_of(id);
        if open.contains_key(&key) {
            return None;
        }
        let cancel = Cancel::default();
        open.insert(key, (id.clone(), cancel.clone()));
        Some(cancel)
    }

    /// Raises the flag of an open request; others are passed over.
    pub fn cancel(&self, key: &str) {
        if let Some((_, cancel)) = self.lock().get(key) {
            cancel.raise();
        }
    }

    /// Raises every flag; answers the requests that were still wanted, and that nobody else answers now.
    pub fn cancel_all(&self) -> Vec<Id> {
        let open = self.lock();
        let wanted = open.values().filter(|(_, cancel)| !cancel.is_raised());
        let ids = wanted.map(|(id, _)| id.clone()).collect();
        open.values().for_each(|(_, cancel)| cancel.raise());
        ids
    }

    /// How many requests are open.
    pub fn count(&self) -> usize {
        self.lock().len()
    }

    /// Closes a request; answers whether its answer is still wanted.
    fn close(&self, id: &Id) -> bool {
        self.lock().remove(&key_of(id)).is_some_and(|(_, cancel)| !cancel.is_raised())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, (Id, Cancel)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An id in the one spelling that JSON values have, so that `"A"` and `"\u0041"` are the same id.
fn key_of(id: &Id) -> String {
    let value: serde_json::Value = serde_json::from_str(id.as_json()).unwrap_or_default();
    value.to_string()
}

/// Where answers go.
#[derive(Clone)]
pub enum Sink {
    /// A line of its own.
    Line(Arc<Output>),
    /// A place in the one line of a batch.
    Batch(Arc<Batch>),
}

/// Answers of a batch, written together when the last is there.
pub struct Batch {
    output: Arc<Output>,
    parts: Mutex<(usize, Vec<Vec<u8>>)>,
}

impl Batch {
    /// A batch of `count` messages, each of which reports once.
    pub fn new(output: Arc<Output>, count: usize) -> Arc<Self> {
        Arc::new(Batch { output, parts: Mutex::new((count, vec![])) })
    }

    /// Takes an answer, or word that there is none.
    pub fn report(&self, line: Option<Vec<u8>>) {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        parts.0 -= 1;
        parts.1.extend(line);
        if parts.0 == 0 && !parts.1.is_empty() {
            let mut whole = vec![b'['];
            whole.extend(parts.1.join(&b','));
            whole.push(b']');
            self.output.send(&whole);
        }
    }
}

impl Sink {
    /// Writes a line, or reports to the batch. `soon` lets it wait for the reader's next flush.
    pub fn write(&self, line: Vec<u8>, soon: bool) {
        match self {
            Sink::Line(output) if soon => output.hold(&line),
            Sink::Line(output) => output.send(&line),
            Sink::Batch(batch) => batch.report(Some(line)),
        }
    }

    /// Says that this message has no answer.
    pub fn skip(&self) {
        if let Sink::Batch(batch) = self {
            batch.report(None);
        }
    }
}

/// The answer that a request is owed.
pub struct Responder {
    id: Id,
    sink: Sink,
    open: Arc<InFlight>,
    cancel: Cancel,
    owed: bool,
    inline: bool,
}

impl Responder {
    /// A responder of an open request. While `inline`, the answer may wait for the reader's next flush.
    pub fn new(id: Id, sink: Sink, open: Arc<InFlight>, cancel: Cancel) -> Self {
        Responder { id, sink, open, cancel, owed: true, inline: true }
    }

    /// The request leaves the reader's thread: its answer is written at once.
    pub fn detach(&mut self) {
        self.inline = false;
    }

    /// The request's id.
    pub fn id(&self) -> &Id {
        &self.id
    }

    /// The flag that says whether the answer is still wanted.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Answers with a result.
    pub fn result(mut self, result: &impl Serialize) {
        if !self.cancel.is_raised() {
            let line = jsonrpc::result_line(&self.id, result);
            self.settle(Some(line));
        }
    }

    /// Answers with an error.
    pub fn error(mut self, error: &ProtocolError) {
        if !self.cancel.is_raised() {
            let line = jsonrpc::error_line(Some(&self.id), error);
            self.settle(Some(line));
        }
    }

    /// Answers with whichever it is.
    pub fn settle_with(self, result: Result<impl Serialize, ProtocolError>) {
        match result {
            Ok(result) => self.result(&result),
            Err(error) => self.error(&error),
        }
    }

    fn settle(&mut self, line: Option<Vec<u8>>) {
        self.owed = false;
        // Closed first: a client may use the id again the moment it has the answer.
        let wanted = self.open.close(&self.id);
        match line {
            Some(line) if wanted => self.sink.write(line, self.inline),
            _ => self.sink.skip(),
        }
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        if !self.owed {
            return;
        }
        let line = (!self.cancel.is_raised()).then(|| {
            let error = ProtocolError::new(
                INTERNAL_ERROR,
                "the request broke off; the server's log says why",
            );
            jsonrpc::error_line(Some(&self.id), &error)
        });
        self.settle(line);
    }
}
