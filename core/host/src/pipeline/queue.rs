//! One thread that runs commands strictly one after another, in the order in which they came, and jobs among them.
//!
//! What a command does is not known here. The thread is made for the first command.
//!
//! Spec: P-66, the queue and its jobs.

use std::{
    collections::VecDeque,
    io,
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
    /// Rung for the thread, while it rests.
    bell: Condvar,
    /// Rung when nothing runs, while somebody waits for that.
    idle: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Order>,
    running: Option<Arc<Run>>,
    jobs: Vec<Job>,
    has_thread: bool,
    /// Whether the thread waits for the bell.
    rests: bool,
    /// Whether somebody has waited until nothing runs.
    is_awaited: bool,
    closed: bool,
}

struct Order {
    run: Arc<Run>,
    work: Work,
    done: Deliver,
    is_job: bool,
}

/// A job as it is kept.
#[derive(Clone)]
struct Job {
    id: String,
    run: Arc<Run>,
    enqueued_ms: u64,
    started_ms: Option<u64>,
    ended: Option<Arc<Ended>>,
}

struct Ended {
    at: Instant,
    at_ms: u64,
    /// What the reply takes, as it would be written.
    bytes: usize,
    reply: Reply,
}

/// A job as it stood when it was looked at. It is written without the queue, as its result may be long.
pub struct Snapshot {
    job: Job,
    runs: bool,
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
        let state = self.open()?;
        if state.waiting.iter().filter(|order| !order.is_job).count() >= MAX_WAITING {
            return Err(Refused::Full);
        }
        let run = Run::new(command);
        let order = Order { run: Arc::clone(&run), work: Box::new(work), done, is_job: false };
        self.push(state, order);
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
        let mut state = self.open()?;
        state.drop_old();
        if state.jobs.iter().filter(|job| job.ended.is_none()).count() >= MAX_OPEN_JOBS {
            return Err(Refused::Full);
        }
        let (run, id) = (Run::new(command), source::random_hex::<16>());
        let (queue, own) = (self.clone(), id.clone());
        let done: Deliver = Box::new(move |reply| {
            // Weighed before anybody has to wait for it.
            let ended = Ended::now(reply);
            queue.lock().end_job(&own, ended);
        });
        let enqueued_ms = source::now_ms();
        let job = Job { id: id.clone(), run, enqueued_ms, started_ms: None, ended: None };
        let run = Arc::clone(&job.run);
        state.jobs.push(job);
        self.push(state, Order { run, work: Box::new(work), done, is_job: true });
        Ok(id)
    }

    /// The state of a queue that takes commands.
    fn open(&self) -> Result<MutexGuard<'_, State>, Refused> {
        let state = self.lock();
        if state.closed { Err(Refused::Closed) } else { Ok(state) }
    }

    /// Puts an order at the end, and has the thread begin if it rests.
    fn push(&self, mut state: MutexGuard<'_, State>, order: Order) {
        state.waiting.push_back(order);
        if !state.has_thread {
            let queue = self.clone();
            let started = thread::Builder::new().name("commands".into());
            // Without one it waits as behind a long command, and the next that comes tries again.
            state.has_thread = started.spawn(move || queue.work_off()).is_ok();
            return;
        }
        let rests = state.rests;
        // Whoever is rung needs the lock.
        drop(state);
        if rests {
            self.0.bell.notify_one();
        }
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
    pub fn job(&self, id: &str) -> Option<Snapshot> {
        let mut state = self.lock();
        state.drop_old();
        state.snapshot(id)
    }

    /// Asks a job to stop, and answers how it then stands. One that waits never starts, and one that has ended stays as
    /// it is.
    pub fn cancel_job(&self, id: &str) -> Option<Snapshot> {
        let mut state = self.lock();
        state.drop_old();
        let job = state.job(id)?;
        let (run, has_ended) = (Arc::clone(&job.run), job.ended.is_some());
        if !has_ended {
            run.cancel.raise();
        }
        if let Some(place) = state.waiting.iter().position(|one| Arc::ptr_eq(&one.run, &run)) {
            state.waiting.remove(place);
            let message = "The job was canceled before it started";
            let reply = Reply::failed(400, "Command Execution Failed", message);
            state.end_job(id, Ended::now(reply));
        }
        state.snapshot(id)
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
        self.0.bell.notify_one();
        for order in waiting {
            (order.done)(stopping());
        }
    }

    /// Waits until nothing runs, up to `span`.
    pub fn wait_idle(&self, span: Duration) {
        let mut state = self.lock();
        state.is_awaited = true;
        let runs = |state: &mut State| state.running.is_some();
        drop(self.0.idle.wait_timeout_while(state, span, runs));
    }

    /// The thread's whole life.
    fn work_off(&self) {
        while let Some(order) = self.next() {
            let Order { run, work, done, .. } = order;
            let reply = catch_unwind(AssertUnwindSafe(|| work(&run))).unwrap_or_else(|_| {
                let message = "The command broke off; the server's log says why";
                Reply::failed(400, "Internal Server Error", message)
            });
            self.end_run();
            // Whoever takes the reply is not this thread's affair.
            let _ = catch_unwind(AssertUnwindSafe(|| done(reply)));
        }
    }

    /// The next order, when one is there; `None` at the end.
    fn next(&self) -> Option<Order> {
        let mut state = self.lock();
        loop {
            if let Some(order) = state.waiting.pop_front() {
                state.begin(&order);
                return Some(order);
            }
            if state.closed {
                return None;
            }
            state.rests = true;
            state = self.0.bell.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.rests = false;
        }
    }

    fn end_run(&self) {
        let mut state = self.lock();
        state.running = None;
        let is_awaited = state.is_awaited;
        drop(state);
        if is_awaited {
            self.0.idle.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn begin(&mut self, order: &Order) {
        self.running = Some(Arc::clone(&order.run));
        if !order.is_job {
            return;
        }
        let started = self.jobs.iter_mut().find(|job| Arc::ptr_eq(&job.run, &order.run));
        if let Some(job) = started {
            job.started_ms = Some(source::now_ms());
        }
    }

    fn job(&self, id: &str) -> Option<&Job> {
        self.jobs.iter().find(|job| job.id == id)
    }

    fn snapshot(&self, id: &str) -> Option<Snapshot> {
        let job = self.job(id)?.clone();
        let runs = self.running.as_ref().is_some_and(|one| Arc::ptr_eq(one, &job.run));
        Some(Snapshot { job, runs })
    }

    fn end_job(&mut self, id: &str, ended: Ended) {
        if let Some(job) = self.jobs.iter_mut().find(|job| job.id == id) {
            job.ended = Some(Arc::new(ended));
        }
        self.drop_old();
    }

    fn drop_old(&mut self) {
        let now = source::now();
        let is_old = |ended: &Arc<Ended>| now.duration_since(ended.at) >= KEPT_FOR;
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

impl Ended {
    fn now(reply: Reply) -> Self {
        Ended { at: source::now(), at_ms: source::now_ms(), bytes: bytes(&reply), reply }
    }
}

impl Job {
    fn bytes(&self) -> usize {
        self.ended.as_ref().map_or(0, |ended| ended.bytes)
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
}

impl Snapshot {
    /// About how long it is when it is written, in bytes.
    pub fn bytes(&self) -> usize {
        self.job.bytes()
    }

    /// As it goes over the wire.
    pub fn shown(&self) -> Value {
        let Snapshot { job, runs } = self;
        let at = |ms: Option<u64>| ms.map(source::iso8601);
        let mut shown = Map::new();
        shown.insert("jobId".into(), job.id.clone().into());
        shown.insert("command".into(), job.run.command.clone().into());
        shown.insert("state".into(), job.state().into());
        shown.insert("cancellationRequested".into(), job.run.cancel.is_raised().into());
        shown.insert("enqueuedAt".into(), source::iso8601(job.enqueued_ms).into());
        shown.insert("startedAt".into(), at(job.started_ms).into());
        shown.insert("completedAt".into(), at(job.ended.as_ref().map(|it| it.at_ms)).into());
        let progress = if *runs { job.run.progress().map(|it| it.shown()) } else { None };
        shown.insert("progress".into(), progress.into());
        for name in ["result", "error", "errorDetails"] {
            shown.insert(name.into(), Value::Null);
        }
        if let Some(ended) = &job.ended {
            shown.extend(outcome(&ended.reply));
        }
        Value::Object(shown)
    }
}

/// What is said to a command that is not started, as the server ends.
pub(super) fn stopping() -> Reply {
    Reply::busy("stopping", "The server ends; the command was not started")
}

/// What a reply takes, as it would be written: its result or fault, and what it carries beside.
fn bytes(reply: &Reply) -> usize {
    let outcome = match &reply.outcome {
        Ok(result) => result.get().len(),
        Err(fault) => fault.error.len() + fault.details.len(),
    };
    let mut more = Counted(0);
    // A tree of JSON values always serialises, and counting takes everything.
    let _ = serde_json::to_writer(&mut more, &reply.more);
    outcome + more.0
}

/// Takes bytes, and keeps their number alone.
struct Counted(usize);

impl io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
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
