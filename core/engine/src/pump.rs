//! The main thread's side of the queue: what happens in one frame.
//!
//! One command runs at a time. An engine may run frames inside a command (a saving editor does), so the pump
//! lives in a [`Guarded`], which such a frame finds empty. Every command that was taken gets an answer, whether
//! it ends, panics, is of the wrong kind or is dropped.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use didi_wire::{BridgeError, Outcome, SessionKind, methods::Effect};
use serde_json::Value;

use crate::{
    backend::{Backend, Call, Step, Task},
    diagnostics,
    queue::{Command, Next, Queue},
    ring::LogRing,
};

#[cfg(test)]
mod tests;

/// Most commands begun in one frame.
pub const MAX_COMMANDS_A_FRAME: usize = 64;

/// How long a frame that has changed something waits for another command before the engine goes on with it.
const SETTLE: Duration = Duration::from_millis(2);

/// How long a burst of changes may hold a frame, from its first change on.
const BURST: Duration = Duration::from_millis(20);

/// Carries out commands, frame by frame.
pub struct Pump {
    queue: Arc<Queue>,
    output: Arc<LogRing>,
    kind: SessionKind,
    running: Vec<Running>,
}

/// A command that needs more frames.
struct Running {
    command: Arc<Command>,
    task: Box<dyn Task>,
    /// Sequence of the output when it began.
    since: u64,
}

impl Pump {
    /// A pump of a session's queue; `output` is what the engine prints.
    pub fn new(queue: Arc<Queue>, output: Arc<LogRing>, kind: SessionKind) -> Self {
        Pump { queue, output, kind, running: vec![] }
    }

    /// Does what waits. With an `end` it then stays for commands still to come until that time, as long as no
    /// command needs the next frame.
    pub fn frame(&mut self, backend: &mut dyn Backend, end: Option<Instant>) {
        let _ = catch_unwind(AssertUnwindSafe(|| backend.each_frame()));
        self.poll();
        let mut begun = 0;
        let mut stay = end;
        let mut burst_end = None;
        while begun < MAX_COMMANDS_A_FRAME && backend.is_ready() {
            let changed = burst_end.is_some();
            match self.queue.take_if(|call| !changed || call.method.shares_frame) {
                Next::Command(command) => {
                    begun += 1;
                    if self.begin(backend, &command) == Effect::Changes {
                        let now = Instant::now();
                        let burst_end = *burst_end.get_or_insert(now + BURST);
                        // A frame that drew for long has no sleep left, and the burst shares it all the same.
                        stay = end.map(|_| burst_end.min(now + SETTLE));
                        if !command.call().method.shares_frame {
                            break;
                        }
                    }
                }
                Next::Nothing if self.stays(stay) => {}
                Next::Nothing | Next::NotNow => break,
            }
        }
    }

    /// Whether commands wait for their next frame.
    pub fn is_busy(&self) -> bool {
        !self.running.is_empty()
    }

    fn stays(&self, end: Option<Instant>) -> bool {
        self.running.is_empty() && end.is_some_and(|end| self.queue.wait_until(end))
    }

    fn poll(&mut self) {
        let output = &self.output;
        self.running.retain_mut(|running| {
            if running.command.is_abandoned() {
                return false;
            }
            let method = running.command.call().method;
            let polled = catch_unwind(AssertUnwindSafe(|| running.task.poll()));
            let ended = polled.unwrap_or_else(|_| Some(Err(panicked(running.command.call()))));
            let Some(mut answer) = ended else { return true };
            diagnostics::attach(&mut answer, method.name, output, running.since);
            running.command.finish(answer);
            false
        });
    }

    fn begin(&mut self, backend: &mut dyn Backend, command: &Arc<Command>) -> Effect {
        let call = command.call();
        if let Err(refused) = check_kind(call, self.kind) {
            command.finish(Err(refused));
            return Effect::Reads;
        }
        let since = self.output.next_sequence();
        let step = catch_unwind(AssertUnwindSafe(|| backend.begin(call)));
        match step.unwrap_or_else(|_| Step::Done(Err(panicked(call)))) {
            Step::Later(task) => {
                self.running.push(Running { command: Arc::clone(command), task, since });
            }
            Step::Done(mut answer) => {
                diagnostics::attach(&mut answer, call.method.name, &self.output, since);
                command.finish(answer);
            }
        }
        call.method.effect
    }
}

impl Drop for Pump {
    fn drop(&mut self) {
        for running in self.running.drain(..) {
            let error = BridgeError::new(503, "engine_stopping", "the engine ended while this ran");
            running.command.finish(Err(error.outcome_is(Outcome::Unknown)));
        }
    }
}

/// Refuses a method that the kind of session may not run.
fn check_kind(call: &Call, kind: SessionKind) -> Result<(), BridgeError> {
    let method = call.method;
    if method.kinds.allow(kind) {
        return Ok(());
    }
    let allowed: Vec<Value> = method.kinds.iter().map(|kind| kind.as_str().into()).collect();
    let names: Vec<&str> = method.kinds.iter().map(SessionKind::as_str).collect();
    let message =
        format!("`{}` runs in a {}, and this is a {kind}", method.name, names.join(" or "));
    Err(BridgeError::new(409, "session_kind_rejected", message)
        .with("selected_session_kind", kind.as_str())
        .with("allowed_session_kinds", allowed))
}

fn panicked(call: &Call) -> BridgeError {
    let message = format!("`{}` panicked; the engine goes on", call.method.name);
    let error = BridgeError::new(500, "method_panicked", message);
    match call.method.effect {
        Effect::Reads => error,
        // What it did before is done.
        Effect::Changes | Effect::Shows => error.with("outcome", Outcome::Unknown.as_str()),
    }
}

/// A value of the main thread that is not to be had while it is in use.
pub struct Guarded<T>(Cell<Option<T>>);

impl<T> Guarded<T> {
    /// Nothing yet.
    pub const fn empty() -> Self {
        Guarded(Cell::new(None))
    }

    /// Puts a value in, and gives the one before.
    pub fn replace(&self, value: Option<T>) -> Option<T> {
        self.0.replace(value)
    }

    /// Lends the value, unless there is none or it is lent already; then nothing happens. It comes back even
    /// when the borrower panics.
    pub fn with<R>(&self, borrower: impl FnOnce(&mut T) -> R) -> Option<R> {
        let mut lent = Lent { home: self, value: self.0.take() };
        lent.value.as_mut().map(borrower)
    }
}

struct Lent<'a, T> {
    home: &'a Guarded<T>,
    value: Option<T>,
}

impl<T> Drop for Lent<'_, T> {
    fn drop(&mut self) {
        // A nested call found nothing, and has nothing to bring back.
        if let Some(value) = self.value.take() {
            self.home.0.set(Some(value));
        }
    }
}
