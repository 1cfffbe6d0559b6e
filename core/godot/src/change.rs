//! A change in two halves: first everything is checked and what is there now is read, then it is made.
//!
//! A preview is the first half alone, so it is refused with what the change itself would be refused with, and a
//! method needs no second function for it.

use didi_engine::{Answer, Step, Task};
use didi_wire::BridgeError;
use serde_json::Value;

/// A change that can be made, and has not been yet.
pub(crate) struct Change {
    /// What it would land on.
    before: Value,
    make: Box<dyn FnOnce() -> Step>,
}

/// A change, or why it can't be made.
pub(crate) type Planned = Result<Change, BridgeError>;

impl Change {
    /// A change that is done within its frame.
    pub(crate) fn now(before: Value, make: impl FnOnce() -> Answer + 'static) -> Self {
        Change { before, make: Box::new(move || Step::Done(make())) }
    }

    /// A change that may need more frames.
    pub(crate) fn later(
        before: Value,
        make: impl FnOnce() -> Result<Box<dyn Task>, BridgeError> + 'static,
    ) -> Self {
        let make = move || match make() {
            Ok(task) => Step::Later(task),
            Err(refused) => Step::Done(Err(refused)),
        };
        Change { before, make: Box::new(make) }
    }

    /// What is there now. Nothing changes.
    pub(crate) fn preview(self) -> Value {
        self.before
    }

    /// Makes it.
    pub(crate) fn make(self) -> Step {
        (self.make)()
    }
}
