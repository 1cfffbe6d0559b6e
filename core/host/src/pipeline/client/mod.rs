//! The client of the Pipeline: one instance, requests to it, and what may be sent again.
//!
//! Sent again is only what surely did not run: a request that was answered with 503 and `retryable`, and a
//! connection that was refused while the instance's process lives (a Unity editor that loads its code anew
//! does not listen for a moment). Everything else is told as it is. Between two tries the descriptor is read
//! anew, as the port may be another one then.
//!
//! [`find`] knows instances, [`transport`] one request, [`older`] servers without raw command lines. Tokens
//! stay in here.
//!
//! Spec: P-70, the client of the Pipeline.

use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use didi_pipeline::descriptor::{Descriptor, ReadFault, Secret};
use didi_wire::process::{self, Liveness};
use serde_json::Value;
use tokio::{
    runtime::{Builder, Runtime},
    task::JoinHandle,
};

use crate::{cancel::Cancel, source};

pub mod find;
pub mod older;
pub mod registry;
pub mod transport;

pub use transport::{Answer, Ask, Failure};

/// The first pause between two tries; it doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// How often a running request is looked after: whether the caller gave up, whether progress is due.
const STEP: Duration = Duration::from_millis(50);
/// How often progress is asked for.
const PROGRESS_EVERY: Duration = Duration::from_millis(250);
/// The longest that one question for progress may take.
const PROGRESS_LIMIT: Duration = Duration::from_secs(2);
/// How long a half-written descriptor is looked at again.
pub(crate) const UNFINISHED_LIMIT: Duration = Duration::from_secs(2);

/// The endpoint that runs commands.
pub const EXEC: &str = "/api/exec";
/// The endpoint that cancels jobs.
pub const JOB_CANCEL: &str = "/api/job/cancel";

/// Takes what `/api/progress` says while a command runs.
pub type Watch<'w> = &'w mut dyn FnMut(&Value);

/// A client of one instance.
pub struct Client {
    runtime: Runtime,
    file: PathBuf,
    descriptor: Mutex<Descriptor>,
    cancel: Cancel,
}

impl Client {
    /// A client of a found instance.
    ///
    /// # Errors
    /// When the system gives no means to wait for a socket.
    pub fn new(found: &find::Found, cancel: &Cancel) -> std::io::Result<Self> {
        Ok(Client {
            runtime: Builder::new_current_thread().enable_all().build()?,
            file: found.file.clone(),
            descriptor: Mutex::new(found.descriptor.clone()),
            cancel: cancel.clone(),
        })
    }

    /// The instance as it was last read.
    pub fn descriptor(&self) -> Descriptor {
        self.descriptor.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sends one request once.
    ///
    /// # Errors
    /// How it failed.
    pub fn once(&self, ask: Ask, deadline: Instant) -> Result<Answer, Failure> {
        self.watched(ask, deadline, None)
    }

    /// The same, and tells how far a command is.
    ///
    /// # Errors
    /// How it failed; [`Failure::Dead`] where nobody listens and the instance's process is gone.
    pub fn once_watched(
        &self,
        ask: Ask,
        deadline: Instant,
        watch: Option<Watch<'_>>,
    ) -> Result<Answer, Failure> {
        let ended = self.watched(ask, deadline, watch);
        if matches!(ended, Err(Failure::Refused(_))) {
            self.look_again()?;
        }
        ended
    }

    /// Sends a request until it was taken, or the time is over; what may have run is never sent again. `ask` is made
    /// anew for each try, as one may say how much time is left; the answer to the last may come `grace` later.
    ///
    /// When the time is over the last answer stands: a 503, or the refused connection.
    ///
    /// # Errors
    /// How it failed; [`Failure::Dead`] when the instance's process is gone.
    pub fn until_taken(
        &self,
        ask: impl Fn() -> Ask,
        deadline: Instant,
        grace: Duration,
        mut watch: Option<Watch<'_>>,
    ) -> Result<Answer, Failure> {
        let mut pause = FIRST_PAUSE;
        loop {
            let watching: Option<Watch<'_>> = match &mut watch {
                Some(watch) => Some(&mut **watch),
                None => None,
            };
            let ask = ask();
            let only_looks = matches!(ask, Ask::Get { .. });
            let ended = self.watched(ask, deadline + grace, watching);
            match &ended {
                Ok(answer) if answer.is_retryable() => {}
                Err(Failure::Refused(_)) => self.look_again()?,
                // Looking does nothing, so it may be done again.
                Err(Failure::Unanswered(_)) if only_looks => self.look_again()?,
                _ => return ended,
            }
            if source::now() + pause >= deadline {
                return ended;
            }
            if self.cancel.wait(pause) {
                return Err(Failure::Cancelled { sent: false });
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// After a refused connection: the process still lives, and its descriptor may name another port.
    fn look_again(&self) -> Result<(), Failure> {
        let mut descriptor = self.descriptor.lock().unwrap_or_else(PoisonError::into_inner);
        match Descriptor::read(&self.file) {
            Ok(newer) => *descriptor = newer,
            // A server that ends takes its file along; one that restarts writes it anew.
            Err(
                ReadFault::Missing
                | ReadFault::Unfinished
                | ReadFault::Denied(_)
                | ReadFault::Io(_)
                | ReadFault::Malformed(_),
            ) => {}
        }
        match process::running(descriptor.pid) {
            Liveness::Gone => Err(Failure::Dead { pid: descriptor.pid }),
            Liveness::Alive | Liveness::Unknown(_) => Ok(()),
        }
    }

    fn watched(
        &self,
        ask: Ask,
        deadline: Instant,
        watch: Option<Watch<'_>>,
    ) -> Result<Answer, Failure> {
        if self.cancel.is_raised() {
            return Err(Failure::Cancelled { sent: false });
        }
        let Descriptor { port, token, .. } = self.descriptor();
        self.runtime.block_on(async {
            let mut running = tokio::spawn(transport::exchange(port, token.clone(), ask, deadline));
            let mut looks = watch.map(|watch| Looks::new(watch, port, token, deadline));
            loop {
                if let Ok(ended) = tokio::time::timeout(STEP, &mut running).await {
                    return ended.unwrap_or_else(|_| {
                        Err(Failure::Unanswered("the request was abandoned".into()))
                    });
                }
                if self.cancel.is_raised() {
                    running.abort();
                    return Err(Failure::Cancelled { sent: true });
                }
                if let Some(looks) = &mut looks {
                    looks.step().await;
                }
            }
        })
    }
}

/// Questions for progress beside a running command, one at a time; what they wait for holds nothing else back.
struct Looks<'w> {
    watch: Watch<'w>,
    port: u16,
    token: Secret,
    /// When the command's own time is over.
    deadline: Instant,
    /// When the next one is due.
    due: Instant,
    asked: Option<JoinHandle<Result<Answer, Failure>>>,
}

impl<'w> Looks<'w> {
    fn new(watch: Watch<'w>, port: u16, token: Secret, deadline: Instant) -> Self {
        let due = source::now() + PROGRESS_EVERY;
        Looks { watch, port, token, deadline, due, asked: None }
    }

    /// Asks when it is due, and passes on what came; waits for nothing.
    async fn step(&mut self) {
        match self.asked.take() {
            Some(asked) if asked.is_finished() => {
                if let Ok(Ok(answer)) = asked.await
                    && let Ok(progress) = answer.json()
                {
                    (self.watch)(&progress);
                }
            }
            Some(asked) => self.asked = Some(asked),
            None if source::now() >= self.due => {
                self.due = source::now() + PROGRESS_EVERY;
                let limit = (source::now() + PROGRESS_LIMIT).min(self.deadline);
                let ask = Ask::get("/api/progress");
                let asking = transport::exchange(self.port, self.token.clone(), ask, limit);
                self.asked = Some(tokio::spawn(asking));
            }
            None => {}
        }
    }
}

impl Answer {
    /// The body as JSON.
    ///
    /// # Errors
    /// [`Failure::BadAnswer`].
    pub fn json(&self) -> Result<Value, Failure> {
        serde_json::from_slice(&self.body)
            .map_err(|error| Failure::BadAnswer(format!("no JSON: {error}")))
    }

    /// Whether it surely did not run and may be sent again.
    pub fn is_retryable(&self) -> bool {
        self.status == 503 && self.json().is_ok_and(|body| body["retryable"] == true)
    }
}
