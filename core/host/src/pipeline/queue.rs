//! One thread that runs commands strictly one after another, in the order in which they came, and jobs among them.
//!
//! What a command does is not known here. The thread is made for the first command.
//!
//! Spec: P-66, the queue and its jobs.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use didi_pipeline::reply::Reply;
use serde_json::{Map, Value, json};

use crate::{cancel::Cancel, services::Progress, source};

/// Jobs that wait or run at the most.
pub const MAX_OPEN_JOBS: usize = 100;

/// Jobs that are kept when they have ended; the oldest go first.
pub const MAX_KEPT_JOBS: usize = 100;

/// Bytes of results that ended jobs hold at the most; the newest one stays whatever it holds.
pub const MAX_KEPT_BYTES: usize = 64 * 1024 * 1024;

/// How long a job is kept when it has ended.
pub const KEPT_FOR: Duration = Duration::from_secs(3600);

/// Requests that wait for their turn at the most, jobs not counted.
pub const MAX_WAITING: usize = 256;

/// What runs.
type Work = Box<dyn FnOnce(&Run) -> Reply + Send>;

/// Takes a reply.
pub type Deliver = Box<dyn FnOnce(Reply) + Send>;

/// One command that waits or runs.
pub struct Run {
    /// The command's name.
    pub command: String,
    /// Raised when it should stop.
    pub cancel: Cancel,
    progress: Arc<Mutex<Option<Report>>>,
}

/// What a command reported last.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// What it does.
    pub title: String,
    /// What it is at.
    pub info: String,
    /// Steps that are done.
    pub current: u64,
    /// Steps in all; 0 when nobody knows.
    pub total: u64,
}

impl Report {
    /// As it goes over the wire.
    pub fn shown(&self) -> Value {
        let mut shown = json!({"title": self.title, "info": self.info, "current": self.current});
        if self.total > 0 {
            // A fraction for people: what is lost past 53 bits does not show.
            #[allow(clippy::cast_precision_loss, reason = "a fraction for a bar")]
            let part = self.current as f64 / self.total as f64;
            shown["total"] = self.total.into();
            shown["pct"] = part.clamp(0.0, 1.0).into();
        }
        shown
    }
}

impl Run {
    fn new(command: &str) -> Arc<Self> {
        let (cancel, progress) = (Cancel::default(), Arc::default());
        Arc::new(Run { command: command.to_owned(), cancel, progress })
    }

    /// One command inside of this one: stopped with it, and what it reports is told by this one or not at all.
    #[must_use]
    pub fn part(&self, command: &str) -> Run {
        Run { command: command.to_owned(), cancel: self.cancel.clone(), progress: Arc::default() }
    }

    /// One that nobody queued and nobody cancels.
    pub fn uncancelled(command: &str) -> Run {
        Run { command: command.to_owned(), cancel: Cancel::default(), progress: Arc::default() }
    }

    /// Says how far it is.
    pub fn report(&self, info: &str, current: u64, total: u64) {
        self.progress_notes_to()(current, total, info);
    }

    /// Takes the progress notes of a call.
    pub fn progress_notes(&self) -> Option<Progress> {
        Some(Arc::new(self.progress_notes_to()))
    }

    fn progress_notes_to(&self) -> impl Fn(u64, u64, &str) + Send + Sync + 'static {
        let (title, progress) = (self.command.clone(), Arc::clone(&self.progress));
        move |current, total, info| {
            let report = Report { title: title.clone(), info: info.into(), current, total };
            *progress.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
        }
    }

    /// What it said last.
    pub fn progress(&self) -> Option<Report> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A command that came too late or too often.
#[derive(Debug, PartialEq, Eq)]
pub enum Refused {
    /// Too many wait.
    Full,
    /// The queue ends.
    Closed,
}

/// What giving a command up met.
#[derive(Debug, PartialEq, Eq)]
pub enum GivenUp {
    /// It waited, and will never run.
    Waiting,
    /// It runs; it was asked to stop.
    Running,
    /// It has ended.
    Ended,
}

/// The queue.
#[derive(Clone, Default)]
pub struct Queue(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    bell: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Order>,
    running: Option<Arc<Run>>,
    jobs: Vec<Job>,
    has_thread: bool,
    closed: bool,
}

struct Order {
    run: Arc<Run>,
    work: Work,
    done: Deliver,
}

/// A job as it is kept.
struct Job {
    id: String,
    run: Arc<Run>,
    enqueued_ms: u64,
    started_ms: Option<u64>,
    ended: Option<Ended>,
}

struct Ended {
    at: Instant,
    at_ms: u64,
    reply: Reply,
}

impl Queue {
    /// Puts a command at the end; `done` gets its reply.
    ///
    /// # Errors
    /// When too many wait, or the queue ends.
    pub fn submit(
        &self,
        command: &str,
        work: impl FnOnce(&Run) -> Reply + Send + 'static,
        done: Deliver,
    ) -> Result<Arc<Run>, Refused> {
        let mut state = self.lock();
        let jobs = state.jobs.iter().filter(|job| job.ended.is_none()).count();
        if state.waiting.len().saturating_sub(jobs) >= MAX_WAITING {
            return Err(Refused::Full);
        }
        let run = Run::new(command);
        self.push(&mut state, Order { run: Arc::clone(&run), work: Box::new(work), done })?;
        Ok(run)
    }

    /// Puts a command at the end as a job; answers its id.
    ///
    /// # Errors
    /// When too many are open, or the queue ends.
    pub fn submit_job(
        &self,
        command: &str,
        work: impl FnOnce(&Run) -> Reply + Send + 'static,
    ) -> Result<String, Refused> {
        let mut state = self.lock();
        state.drop_old();
        if state.jobs.iter().filter(|job| job.ended.is_none()).count() >= MAX_OPEN_JOBS {
            return Err(Refused::Full);
        }
        let (run, id) = (Run::new(command), source::random_hex::<16>());
        let (queue, own) = (self.clone(), id.clone());
        let done: Deliver = Box::new(move |reply| queue.lock().end_job(&own, reply));
        self.push(&mut state, Order { run: Arc::clone(&run), work: Box::new(work), done })?;
        let enqueued_ms = source::now_ms();
        state.jobs.push(Job { id: id.clone(), run, enqueued_ms, started_ms: None, ended: None });
        Ok(id)
    }

    fn push(&self, state: &mut State, order: Order) -> Result<(), Refused> {
        if state.closed {
            return Err(Refused::Closed);
        }
        state.waiting.push_back(order);
        if state.has_thread {
            self.0.bell.notify_one();
        } else {
            state.has_thread = true;
            let queue = self.clone();
            thread::spawn(move || queue.work_off());
        }
        Ok(())
    }

    /// Takes a command back whose reply nobody waits for any longer.
    pub fn give_up(&self, run: &Arc<Run>) -> GivenUp {
        let mut state = self.lock();
        if let Some(place) = state.waiting.iter().position(|one| Arc::ptr_eq(&one.run, run)) {
            state.waiting.remove(place);
            return GivenUp::Waiting;
        }
        if state.running.as_ref().is_some_and(|one| Arc::ptr_eq(one, run)) {
            run.cancel.raise();
            return GivenUp::Running;
        }
        GivenUp::Ended
    }

    /// What runs now.
    pub fn running(&self) -> Option<Arc<Run>> {
        self.lock().running.clone()
    }

    /// A job as it stands; `None` for an id that is not kept.
    pub fn job(&self, id: &str) -> Option<Value> {
        let mut state = self.lock();
        state.drop_old();
        state.job(id).map(|job| job.shown(state.is_running(&job.run)))
    }

    /// Asks a job to stop, and answers how it then stands. One that waits never starts.
    pub fn cancel_job(&self, id: &str) -> Option<Value> {
        let mut state = self.lock();
        state.drop_old();
        let run = Arc::clone(&state.job(id)?.run);
        run.cancel.raise();
        if let Some(place) = state.waiting.iter().position(|one| Arc::ptr_eq(&one.run, &run)) {
            state.waiting.remove(place);
            let message = "The job was canceled before it started";
            state.end_job(id, Reply::failed(400, "Command Execution Failed", message));
        }
        state.job(id).map(|job| job.shown(state.is_running(&job.run)))
    }

    /// Takes nothing more, lets go of what waits, and asks what runs to stop.
    pub fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let waiting = std::mem::take(&mut state.waiting);
        if let Some(running) = &state.running {
            running.cancel.raise();
        }
        drop(state);
        self.0.bell.notify_all();
        for order in waiting {
            (order.done)(Reply::busy("stopping", "The server ends; the command was not started"));
        }
    }

    /// Waits until nothing runs, up to `span`.
    pub fn wait_idle(&self, span: Duration) {
        let runs = |state: &mut State| state.running.is_some();
        drop(self.0.bell.wait_timeout_while(self.lock(), span, runs));
    }

    /// The thread's whole life.
    fn work_off(&self) {
        while let Some(order) = self.next() {
            let Order { run, work, done } = order;
            let reply = catch_unwind(AssertUnwindSafe(|| work(&run))).unwrap_or_else(|_| {
                let message = "The command broke off; the server's log says why";
                Reply::failed(400, "Internal Server Error", message)
            });
            self.lock().running = None;
            self.0.bell.notify_all();
            // Whoever takes the reply is not this thread's affair.
            let _ = catch_unwind(AssertUnwindSafe(|| done(reply)));
        }
    }

    fn next(&self) -> Option<Order> {
        let idle = |state: &mut State| state.waiting.is_empty() && !state.closed;
        let waited = self.0.bell.wait_while(self.lock(), idle);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let order = state.waiting.pop_front()?;
        state.running = Some(Arc::clone(&order.run));
        let started = state.jobs.iter_mut().find(|job| Arc::ptr_eq(&job.run, &order.run));
        if let Some(job) = started {
            job.started_ms = Some(source::now_ms());
        }
        Some(order)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn job(&self, id: &str) -> Option<&Job> {
        self.jobs.iter().find(|job| job.id == id)
    }

    fn is_running(&self, run: &Arc<Run>) -> bool {
        self.running.as_ref().is_some_and(|one| Arc::ptr_eq(one, run))
    }

    fn end_job(&mut self, id: &str, reply: Reply) {
        if let Some(job) = self.jobs.iter_mut().find(|job| job.id == id) {
            job.ended = Some(Ended { at: source::now(), at_ms: source::now_ms(), reply });
        }
        self.drop_old();
    }

    fn drop_old(&mut self) {
        let now = source::now();
        let is_old = |ended: &Ended| now.duration_since(ended.at) >= KEPT_FOR;
        self.jobs.retain(|job| !job.ended.as_ref().is_some_and(is_old));
        let ended = |jobs: &[Job]| jobs.iter().filter(|job| job.ended.is_some()).count();
        let bytes = |jobs: &[Job]| jobs.iter().map(Job::bytes).sum::<usize>();
        while ended(&self.jobs) > MAX_KEPT_JOBS
            || (bytes(&self.jobs) > MAX_KEPT_BYTES && ended(&self.jobs) > 1)
        {
            let oldest = (0..self.jobs.len())
                .filter(|place| self.jobs[*place].ended.is_some())
                .min_by_key(|place| self.jobs[*place].ended.as_ref().map(|ended| ended.at));
            let Some(oldest) = oldest else { return };
            self.jobs.remove(oldest);
        }
    }
}

impl Job {
    /// What its result takes.
    fn bytes(&self) -> usize {
        let result = self.ended.as_ref().and_then(|ended| ended.reply.outcome.as_ref().ok());
        result.map_or(0, |result| result.get().len())
    }

    fn state(&self) -> &'static str {
        match (&self.ended, self.started_ms) {
            (Some(ended), _) if ended.reply.is_done() => "completed",
            (Some(_), _) if self.run.cancel.is_raised() => "canceled",
            (Some(_), _) => "failed",
            (None, Some(_)) => "running",
            (None, None) => "queued",
        }
    }

    fn shown(&self, runs: bool) -> Value {
        let at = |ms: Option<u64>| ms.map(source::iso8601);
        let mut shown = Map::new();
        shown.insert("jobId".into(), self.id.clone().into());
        shown.insert("command".into(), self.run.command.clone().into());
        shown.insert("state".into(), self.state().into());
        shown.insert("cancellationRequested".into(), self.run.cancel.is_raised().into());
        shown.insert("enqueuedAt".into(), source::iso8601(self.enqueued_ms).into());
        shown.insert("startedAt".into(), at(self.started_ms).into());
        shown.insert("completedAt".into(), at(self.ended.as_ref().map(|it| it.at_ms)).into());
        let progress = if runs { self.run.progress().map(|it| it.shown()) } else { None };
        shown.insert("progress".into(), progress.into());
        for name in ["result", "error", "errorDetails"] {
            shown.insert(name.into(), Value::Null);
        }
        if let Some(ended) = &self.ended {
            shown.extend(outcome(&ended.reply));
        }
        Value::Object(shown)
    }
}

/// What a job's end says.
fn outcome(reply: &Reply) -> Map<String, Value> {
    let mut members = Map::clone(&reply.more);
    match &reply.outcome {
        Ok(result) => {
            // It was written as JSON, and reads as such.
            let result = serde_json::from_str(result.get()).unwrap_or_default();
            members.insert("result".into(), result);
        }
        Err(fault) => {
            members.insert("error".into(), fault.error.clone().into());
            members.insert("errorDetails".into(), fault.details.clone().into());
        }
    }
    members
}

#[cfg(test)]
mod tests;
