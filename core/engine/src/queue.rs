//! Commands for the main thread, first come first served, each with a deadline.
//!
//! A command is pending, then running, then done. Its caller waits until the deadline: a command that is still
//! pending by then is cancelled in the same step that finds it so, and one that has begun is left to itself,
//! with an answer that says that nobody knows how it will end.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex},
    time::{Duration, Instant},
};

use didi_wire::{BridgeError, Outcome};

use crate::{
    backend::{Answer, Call},
    lock,
};

#[cfg(test)]
mod tests;

/// How long a caller waits for the main thread.
pub const MAIN_THREAD_DEADLINE: Duration = Duration::from_secs(15);

/// Most commands that wait; each connection has at most one, so this is never reached.
const MAX_WAITING: usize = 64;

/// The commands that wait for the main thread.
#[derive(Debug, Default)]
pub struct Queue {
    waiting: Mutex<Waiting>,
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    commands: VecDeque<Arc<Command>>,
    closed: bool,
}

/// One command and what became of it.
#[derive(Debug)]
pub struct Command {
    call: Call,
    state: Mutex<State>,
    changed: Condvar,
}

/// What stands at the head of the queue.
#[derive(Debug)]
pub enum Next {
    /// A command to carry out.
    Command(Arc<Command>),
    /// One that may not run yet; it keeps its place.
    NotNow,
    /// Nothing.
    Nothing,
}

#[derive(Debug)]
enum State {
    Pending,
    Running,
    Done(Answer),
    /// Its caller has gone, before or after it began.
    Abandoned,
}

impl Queue {
    /// An empty queue.
    pub fn new() -> Self {
        Self::default()
    }

    /// Has a command carried out and waits for its end, at most for `limit`.
    ///
    /// # Errors
    /// What the command answers; `main_thread_deadline` (504) with its outcome; `engine_stopping` (503).
    pub fn run(&self, call: Call, limit: Duration) -> Answer {
        let deadline = Instant::now() + limit;
        let command =
            Arc::new(Command { call, state: Mutex::new(State::Pending), changed: Condvar::new() });
        self.push(Arc::clone(&command))?;
        command.wait(deadline, limit)
    }

    /// The next command that somebody still waits for, marked as running, if it may run now.
    pub fn take_if(&self, may_run: impl Fn(&Call) -> bool) -> Next {
        let mut waiting = lock(&self.waiting);
        while let Some(command) = waiting.commands.pop_front() {
            if !may_run(&command.call) && !command.is_abandoned() {
                waiting.commands.push_front(command);
                return Next::NotNow;
            }
            if command.start() {
                return Next::Command(command);
            }
        }
        Next::Nothing
    }

    #[cfg(test)]
    pub(crate) fn next(&self) -> Option<Arc<Command>> {
        match self.take_if(|_| true) {
            Next::Command(command) => Some(command),
            Next::NotNow | Next::Nothing => None,
        }
    }

    /// Waits until a command is there or the time has come; says whether one is there.
    pub fn wait_until(&self, end: Instant) -> bool {
        let mut waiting = lock(&self.waiting);
        while waiting.commands.is_empty() && !waiting.closed {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let (guard, _) = self
                .arrived
                .wait_timeout(waiting, left)
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            waiting = guard;
        }
        !waiting.commands.is_empty()
    }

    /// Answers all that waits, and everything to come, with `engine_stopping`.
    pub fn close(&self) {
        let commands = {
            let mut waiting = lock(&self.waiting);
            waiting.closed = true;
            std::mem::take(&mut waiting.commands)
        };
        for command in commands {
            command.finish(Err(stopping()));
        }
        self.arrived.notify_all();
    }

    fn push(&self, command: Arc<Command>) -> Result<(), BridgeError> {
        let mut waiting = lock(&self.waiting);
        if waiting.closed {
            return Err(stopping());
        }
        if waiting.commands.len() >= MAX_WAITING {
            let message = format!("{MAX_WAITING} commands wait for the engine already");
            return Err(BridgeError::new(429, "rate_limited", message)
                .outcome_is(Outcome::NotStarted)
                .with("retry_after_ms", 100));
        }
        waiting.commands.push_back(command);
        drop(waiting);
        self.arrived.notify_one();
        Ok(())
    }
}

impl Command {
    /// What to do.
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// Gives the caller its answer; one that has gone gets none.
    pub fn finish(&self, answer: Answer) {
        let mut state = lock(&self.state);
        if matches!(*state, State::Pending | State::Running) {
            *state = State::Done(answer);
            self.changed.notify_all();
        }
    }

    /// Whether nobody waits for it any more.
    pub fn is_abandoned(&self) -> bool {
        matches!(*lock(&self.state), State::Abandoned)
    }

    fn start(&self) -> bool {
        let mut state = lock(&self.state);
        let pending = matches!(*state, State::Pending);
        if pending {
            *state = State::Running;
        }
        pending
    }

    fn wait(&self, deadline: Instant, limit: Duration) -> Answer {
        let mut state = lock(&self.state);
        loop {
            match std::mem::replace(&mut *state, State::Abandoned) {
                State::Done(answer) => return answer,
                unfinished => *state = unfinished,
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let began = !matches!(*state, State::Pending);
                *state = State::Abandoned;
                return Err(too_late(began, limit));
            }
            let (guard, _) = self
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            state = guard;
        }
    }
}

fn too_late(began: bool, limit: Duration) -> BridgeError {
    let limit = limit.as_millis();
    let (message, outcome) = if began {
        (format!("the engine did not finish within {limit} ms"), Outcome::Unknown)
    } else {
        (format!("the engine did not begin within {limit} ms"), Outcome::NotStarted)
    };
    BridgeError::new(504, "main_thread_deadline", message).outcome_is(outcome)
}

fn stopping() -> BridgeError {
    BridgeError::new(503, "engine_stopping", "the engine is on its way out")
        .outcome_is(Outcome::NotStarted)
}
