//! A change in two halves: first everything is checked and what is there now is read, then it is made.
//!
//! A preview is the first half alone, so it is refused with what the change itself would be refused with, and a
//! method needs no second function for it. What was read is handed to the second half, which tells it in its answer.

use didi_engine::{Answer, Step};
use didi_wire::BridgeError;
use serde_json::Value;

use crate::methods::Begun;

/// A change that can be made, and has not been yet.
pub(crate) struct Change {
    /// What it would land on.
    before: Value,
    make: Box<dyn FnOnce(Value) -> Step>,
}

/// A change, or why it can't be made.
pub(crate) type Planned = Result<Change, BridgeError>;

impl Change {
    /// A change that is done within its frame.
    pub(crate) fn now(before: Value, make: impl FnOnce(Value) -> Answer + 'static) -> Self {
        Change { before, make: Box::new(move |before| Step::Done(make(before))) }
    }

    /// A change that may need more frames.
    pub(crate) fn later(before: Value, make: impl FnOnce(Value) -> Begun + 'static) -> Self {
        Change { before, make: Box::new(move |before| begun(make(before))) }
    }

    /// What is there now. Nothing changes.
    pub(crate) fn preview(self) -> Value {
        self.before
    }

    /// Makes it.
    pub(crate) fn make(self) -> Step {
        (self.make)(self.before)
    }
}

/// Work of later frames as the step that it is; one that was refused is done.
pub(crate) fn begun(work: Begun) -> Step {
    match work {
        Ok(task) => Step::Later(task),
        Err(refused) => Step::Done(Err(refused)),
    }
}
