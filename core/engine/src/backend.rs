//! What an engine has to do: carry out one command at a time, on its main thread.

use didi_wire::{BridgeError, methods::Method};
use serde_json::{Map, Value};

/// How a command ended.
pub type Answer = Result<Value, BridgeError>;

/// A command whose token, name and kind were checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// What to do.
    pub method: &'static Method,
    /// The public parameters, without the token.
    pub params: Map<String, Value>,
    /// The step of undo that it shares with other changes of this name.
    pub undo_group: Option<String>,
}

/// How far a command came in its first frame.
pub enum Step {
    /// It is done.
    Done(Answer),
    /// It needs more frames; other commands may run in between.
    Later(Box<dyn Task>),
}

/// A command that needs more frames than one.
pub trait Task {
    /// Looks once a frame whether it is done. Dropped when its caller has stopped waiting.
    fn poll(&mut self) -> Option<Answer>;
}

/// An engine, seen from the bridge. All of it runs on the main thread and within a frame.
pub trait Backend {
    /// Begins a command. May panic: the caller gets an answer, and the session goes on.
    fn begin(&mut self, call: &Call) -> Step;

    /// Comes once a frame, before any command.
    fn each_frame(&mut self) {}

    /// Whether commands may be taken off the queue in this frame; they wait while an import runs.
    fn is_ready(&mut self) -> bool {
        true
    }
}
