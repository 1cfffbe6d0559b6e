//! Commands of a Godot project in this very process, for a machine on which no server runs.
//!
//! The packs are taken up, and a request goes the way that a server's listener would send it, so the replies
//! are the same. Nothing is served, and nothing outlives the process: there are no jobs.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

use didi_pipeline::listing::Query;

use super::outcome::Trouble;
use crate::{
    cancel::Cancel,
    cli::Options,
    files::allow_many_files,
    log::LogRing,
    pipeline::{
        client::{Answer, Failure, Watch},
        exec::{self, Begun, Exec},
        gates::{Gates, Nobody},
        probes::{self, Host, Told},
    },
    serve::{self, Parts},
    source,
};

/// How often a running command is looked after.
const STEP: Duration = Duration::from_millis(50);
/// How long a command that was asked to stop may take to do so.
const STOP_WAIT: Duration = Duration::from_secs(2);

/// A project in this process.
pub struct Here {
    exec: Arc<Exec>,
    host: Host,
}

impl Here {
    /// Takes the packs up over a project.
    ///
    /// # Errors
    /// An option that can't be used.
    pub fn open(options: &Options, root: PathBuf) -> Result<Self, Trouble> {
        allow_many_files();
        let log = LogRing::default();
        log.install(options.log_level);
        let parts = Parts::new(options, root, log)
            .map_err(|usage| Trouble::usage(usage.error, &usage.hint))?;
        let catalog = parts.catalog();
        serve::report(catalog.rows());
        let exec = Exec::new(parts.dispatcher(catalog), Arc::new(Gates::new(Arc::new(Nobody))));
        Ok(Here { exec, host: Host { port: 0, started_ms: source::now_ms() } })
    }

    /// The project's folder.
    pub fn project(&self) -> &Path {
        self.exec.project()
    }

    /// The list of commands; nothing else is looked at here.
    pub fn get(&self, path: &str) -> Answer {
        let query = path.split_once('?').map_or("", |(_, query)| query);
        let (status, body): Told = probes::commands(&self.exec, &self.host, &Query::read(query));
        Answer { status, body: body.to_string().into_bytes() }
    }

    /// Runs a command.
    ///
    /// # Errors
    /// When the caller gave up or the time is over; the command was then asked to stop.
    pub fn exec(
        &self,
        body: Vec<u8>,
        deadline: Instant,
        cancel: &Cancel,
        mut watch: Option<Watch<'_>>,
    ) -> Result<Answer, Failure> {
        let (sender, answers) = mpsc::channel();
        let begun = self.exec.begin(&body, move |answer| {
            // Whoever waited may have gone.
            let _ = sender.send(answer);
        });
        let waiting = match begun {
            Begun::Done(answer) => return Ok(taken(answer)),
            Begun::Waiting(waiting) => waiting,
        };
        let late = source::now() + waiting.limit;
        loop {
            if let Ok(answer) = answers.recv_timeout(STEP) {
                return Ok(taken(answer));
            }
            if cancel.is_raised() {
                self.stop();
                return Err(Failure::Cancelled { sent: true });
            }
            if source::now() >= late
                && let Some(answer) = self.exec.late(&waiting)
            {
                self.exec.queue.wait_idle(STOP_WAIT);
                return Ok(taken(answer));
            }
            if source::now() >= deadline {
                self.stop();
                return Err(Failure::TimedOut { sent: true });
            }
            if let Some(watch) = watch.as_deref_mut() {
                watch(&probes::progress(&self.exec, &Query::read("")).1);
            }
        }
    }

    /// Asks what runs to stop, so that no child of it stays behind.
    fn stop(&self) {
        self.exec.queue.close();
        self.exec.queue.wait_idle(STOP_WAIT);
    }
}

fn taken(answer: exec::Answer) -> Answer {
    Answer { status: answer.status, body: answer.body.into_bytes() }
}
