//! The owned editor: one thread starts it, sees it end, and ends it.
//!
//! The thread lives as long as the server, as the kernel ends the editor when that thread ends.
//!
//! Spec: P-58, managed recovery.

use std::{
    io,
    path::{Path, PathBuf},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread,
    time::Duration,
};

use crate::{cancel::Cancel, child, source};

/// How often a running editor is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How long an order may take to be carried out.
const ORDER_LIMIT: Duration = Duration::from_secs(15);

/// What became of the editor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    /// None was started.
    None,
    /// It runs as this process.
    Runs(u32),
    /// It ended: its exit code, where it had one.
    Ended(Option<i32>),
}

/// How it is started.
#[derive(Debug, Clone)]
pub(super) struct Start {
    pub(super) program: PathBuf,
    pub(super) project: PathBuf,
    pub(super) log: PathBuf,
    pub(super) env: Vec<(String, String)>,
}

enum Order {
    Start(Start, Sender<io::Result<u32>>),
    Look(Sender<Life>),
    End(Sender<Life>),
}

/// The thread's handle.
pub(super) struct Editor {
    orders: Sender<Order>,
}

impl Editor {
    /// A thread without an editor.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(super) fn new() -> io::Result<Self> {
        let (orders, inbox) = mpsc::channel();
        thread::Builder::new().name("didi owned editor".into()).spawn(move || keep(&inbox))?;
        Ok(Editor { orders })
    }

    /// Starts one; the one before has to be gone.
    ///
    /// # Errors
    /// When it can't be started.
    pub(super) fn start(&self, start: Start) -> io::Result<u32> {
        let gone = || io::Error::other("the editor's thread has ended");
        self.ask(|answer| Order::Start(start, answer)).ok_or_else(gone)?
    }

    /// What became of it, looked at now.
    pub(super) fn life(&self) -> Life {
        self.ask(Order::Look).unwrap_or(Life::None)
    }

    /// Ends it with everything under it.
    pub(super) fn end(&self) -> Life {
        self.ask(Order::End).unwrap_or(Life::None)
    }

    fn ask<R>(&self, order: impl FnOnce(Sender<R>) -> Order) -> Option<R> {
        let (answer, inbox) = mpsc::channel();
        self.orders.send(order(answer)).ok()?;
        inbox.recv_timeout(ORDER_LIMIT).ok()
    }
}

fn keep(inbox: &Receiver<Order>) {
    let mut running: Option<child::Running> = None;
    let mut life = Life::None;
    loop {
        let order = match inbox.recv_timeout(LOOK_EVERY) {
            Ok(order) => Some(order),
            Err(RecvTimeoutError::Timeout) => None,
            // Dropped, the editor is ended.
            Err(RecvTimeoutError::Disconnected) => return,
        };
        if let Some(child) = &mut running
            && !child.is_running()
        {
            let report = child.end_by(source::now(), &Cancel::default());
            running = None;
            life = Life::Ended(report.exit_code);
        }
        match order {
            None => {}
            Some(Order::Look(answer)) => drop(answer.send(life)),
            Some(Order::End(answer)) => {
                if let Some(child) = running.take() {
                    drop(child);
                    life = Life::Ended(None);
                }
                let _ = answer.send(life);
            }
            Some(Order::Start(start, answer)) => {
                let started = launch(&start);
                let pid = started
                    .as_ref()
                    .map(child::Running::pid)
                    .map_err(|error| io::Error::new(error.kind(), error.to_string()));
                if let Ok(child) = started {
                    life = Life::Runs(child.pid());
                    running = Some(child);
                }
                let _ = answer.send(pid);
            }
        }
    }
}

fn launch(start: &Start) -> io::Result<child::Running> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut args = ["--headless", "--editor", "--path"].map(ToOwned::to_owned).to_vec();
    args.extend([text(&start.project), "--log-file".into(), text(&start.log)]);
    child::Running::start(&child::Spec {
        program: &start.program,
        args: &args,
        env: &start.env,
        folder: &start.project,
        limit: Duration::MAX,
        max_output_bytes: 0,
        ends_with_us: true,
    })
}
