//! Jobs: calls that run on a thread of their own, their outcome kept for whoever asks later.
//!
//! Four run at once and a fifth is refused, not queued. A job is kept for an hour, and at most 64 are. A
//! server that ends cancels the jobs that still run, and a cancelled job's child dies with all under it.
//!
//! Spec: P-8, jobs.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use didi_plugin_api::{
    desc::Mode,
    refusal::{Refusal, codes},
};
use serde_json::{Map, Value, json};

use crate::{
    answer::{self, Outcome, Success, floor::gate_codes},
    cancel::Cancel,
    source,
};

/// Jobs that run at once.
pub const MAX_RUNNING: usize = 4;

/// Jobs that are kept.
pub const MAX_KEPT: usize = 64;

/// How long a job is kept, from its start.
pub const KEPT_FOR: Duration = Duration::from_secs(3600);

/// How long a call under a `request_id` waits for its job.
pub const CALL_WAIT: Duration = Duration::from_secs(10);

/// How long a call that may be answered with a task waits for its job.
pub const TASK_WAIT: Duration = Duration::from_millis(250);

/// How often a client is asked to poll.
pub const POLL_INTERVAL_MS: u64 = 1000;

/// A job, shared by the table, its thread and whoever waits.
pub type Ticket = Arc<Job>;

/// What is ordered.
pub struct Order {
    /// The caller's own id.
    pub request_id: Option<String>,
    /// The tool's canonical name.
    pub tool: String,
    /// A digest of the arguments of the work.
    pub arguments_digest: String,
}

/// One job.
pub struct Job {
    /// 128 random bits in hex.
    pub id: String,
    /// The caller's own id.
    pub request_id: Option<String>,
    /// The tool's canonical name.
    pub tool: String,
    /// A digest of the arguments of the work.
    pub arguments_digest: String,
    /// Start, in milliseconds since 1970.
    pub created_ms: u64,
    started: Instant,
    cancel: Cancel,
    state: Mutex<State>,
    bell: Condvar,
}

struct State {
    status: Status,
    updated_ms: u64,
    outcome: Option<Outcome>,
}

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It runs.
    Working,
    /// It ended with an answer or a refusal.
    Completed,
    /// It was cancelled.
    Cancelled,
}

impl Status {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Working => "working",
            Status::Completed => "completed",
            Status::Cancelled => "cancelled",
        }
    }
}

impl Job {
    /// Where it stands, and since when, in milliseconds since 1970.
    pub fn status(&self) -> (Status, u64) {
        let state = self.lock();
        (state.status, state.updated_ms)
    }

    /// Waits for the end, up to `span`; answers the outcome when it is there.
    pub fn wait(&self, span: Duration) -> Option<Outcome> {
        let working = |state: &mut State| state.status == Status::Working;
        let waited = self.bell.wait_timeout_while(self.lock(), span, working);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        (state.status != Status::Working).then(|| self.outcome_of(&state))
    }

    /// Asks it to stop.
    pub fn cancel(&self) {
        self.cancel.raise();
    }

    /// The members of `job` in answers.
    pub fn facts(&self) -> Map<String, Value> {
        self.facts_as(self.status().0)
    }

    /// The answer while it runs.
    pub fn working(&self, names: &(String, String), mode: Mode) -> Outcome {
        let mut facts = self.facts();
        let elapsed_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        facts.insert("elapsed_ms".into(), elapsed_ms.into());
        facts.insert("poll_interval_ms".into(), POLL_INTERVAL_MS.into());
        let step = json!({
            "work": "poll",
            "tool": self.tool,
            "reason": "the job still runs; the same call with the same request_id reads it",
        });
        let data = json!({"status": "working", "job": facts, "follow_up": [step]});
        Outcome {
            body: Ok(Success { structured: answer::own(mode, data), attachments: vec![] }),
            mode,
            meta: Map::new(),
            names: names.clone(),
            session: None,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn outcome_of(&self, state: &State) -> Outcome {
        let names = (self.tool.clone(), self.tool.clone());
        let ended =
            |body| Outcome { body, mode: Mode::Local, meta: Map::new(), names, session: None };
        let mut outcome = match (&state.outcome, state.status) {
            (_, Status::Cancelled) => {
                let message = format!("the job `{}` was cancelled", self.id);
                ended(Err(Refusal::new(gate_codes::JOB_CANCELLED, message).field("request_id")))
            }
            (Some(outcome), _) => outcome.clone(),
            (None, _) => ended(Err(Refusal::new(
                codes::INTERNAL_ERROR,
                format!("the job `{}` broke off; the server's log says why", self.id),
            )
            .no_remedy("the server is at fault, not the call"))),
        };
        outcome.meta.insert("job".into(), Value::Object(self.facts_as(state.status)));
        outcome
    }

    fn facts_as(&self, status: Status) -> Map<String, Value> {
        let mut facts = Map::new();
        facts.insert("job_id".into(), self.id.clone().into());
        if let Some(request_id) = &self.request_id {
            facts.insert("request_id".into(), request_id.clone().into());
        }
        facts.insert("state".into(), status.as_str().into());
        facts.insert("started_at".into(), source::iso8601(self.created_ms).into());
        facts
    }

    fn end(&self, outcome: Option<Outcome>) {
        let stopped = outcome.as_ref().is_some_and(|outcome| {
            outcome.body.as_ref().is_err_and(|refusal| refusal.code == codes::CANCELLED)
        });
        let mut state = self.lock();
        state.status = if stopped { Status::Cancelled } else { Status::Completed };
        state.updated_ms = source::now_ms();
        state.outcome = outcome;
        drop(state);
        self.bell.notify_all();
    }
}

/// The table of jobs, in order of their start.
#[derive(Default)]
pub struct Jobs {
    kept: Mutex<Vec<Ticket>>,
}

impl Jobs {
    /// Starts work on a thread of its own.
    ///
    /// # Errors
    /// `rate_limited` while [`MAX_RUNNING`] jobs run.
    pub fn start(
        &self,
        order: Order,
        work: impl FnOnce(&Cancel) -> Outcome + Send + 'static,
    ) -> Result<Ticket, Refusal> {
        let now_ms = source::now_ms();
        let job = Arc::new(Job {
            id: source::random_hex::<16>(),
            request_id: order.request_id,
            tool: order.tool,
            arguments_digest: order.arguments_digest,
            created_ms: now_ms,
            started: source::now(),
            cancel: Cancel::default(),
            state: Mutex::new(State { status: Status::Working, updated_ms: now_ms, outcome: None }),
            bell: Condvar::new(),
        });
        let mut kept = self.lock();
        drop_expired(&mut kept);
        if kept.iter().filter(|job| job.status().0 == Status::Working).count() >= MAX_RUNNING {
            let message = format!("{MAX_RUNNING} jobs run already, which is all that run at once");
            return Err(
                Refusal::new(gate_codes::RATE_LIMITED, message).retry_after_ms(POLL_INTERVAL_MS)
            );
        }
        make_room(&mut kept);
        kept.push(Arc::clone(&job));
        drop(kept);
        let running = Arc::clone(&job);
        thread::spawn(move || {
            let outcome = catch_unwind(AssertUnwindSafe(|| work(&running.cancel)));
            running.end(outcome.ok());
        });
        Ok(job)
    }

    /// The newest job under a caller's id.
    pub fn find(&self, request_id: &str) -> Option<Ticket> {
        let mut kept = self.lock();
        drop_expired(&mut kept);
        kept.iter().rev().find(|job| job.request_id.as_deref() == Some(request_id)).cloned()
    }

    /// A job by its own id.
    pub fn get(&self, id: &str) -> Option<Ticket> {
        let mut kept = self.lock();
        drop_expired(&mut kept);
        kept.iter().find(|job| job.id == id).cloned()
    }

    /// Jobs that run, and jobs that are kept.
    pub fn counts(&self) -> (usize, usize) {
        let kept = self.lock();
        (kept.iter().filter(|job| job.status().0 == Status::Working).count(), kept.len())
    }

    /// Asks every job to stop.
    pub fn cancel_all(&self) {
        for job in self.lock().iter() {
            job.cancel();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Ticket>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Drops what is past its hour.
fn drop_expired(kept: &mut Vec<Ticket>) {
    kept.retain(|job| job.started.elapsed() < KEPT_FOR || job.status().0 == Status::Working);
}

/// Drops the oldest finished jobs until one more can be kept.
fn make_room(kept: &mut Vec<Ticket>) {
    while kept.len() >= MAX_KEPT {
        let oldest = kept.iter().position(|job| job.status().0 != Status::Working);
        let Some(oldest) = oldest else { break };
        kept.remove(oldest);
    }
}

#[cfg(test)]
mod tests;
