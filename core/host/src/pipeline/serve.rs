//! The Pipeline's server as a part of a process: its threads, its start and its end.
//!
//! Nothing of it is made unless it is asked for. Beside standard input and output it waits until the project's place
//! is free, as another server of the same project may have it.
//!
//! Spec: P-68, the listener.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use super::{
    advert::{Advert, HEARTBEAT_EVERY, Taken},
    client::registry,
    exec::Exec,
    http::{self, Door},
};
use crate::cancel::Cancel;

/// Threads that serve connections.
const WORKERS: usize = 2;

/// Threads that judge large requests, write lists and long results, look for an editor, and write the descriptor.
const MAX_BLOCKING: usize = 4;

/// How long commands that run may take to stop at the end.
const STOP_WAIT: Duration = Duration::from_millis(300);

/// How often a server beside standard input tries again for a place that another one has.
const RETRY_EVERY: Duration = Duration::from_secs(5);

/// How a Pipeline is served.
#[derive(Debug, Clone, Default)]
pub struct Wish {
    /// Its port; the first free one of the usual range without it.
    pub port: Option<u16>,
    /// Whether the descriptor is written where Unity's own tool looks, too.
    pub unity_layout: bool,
    /// Whether pages without an origin may call.
    pub allow_browser_clients: bool,
}

impl Taken {
    /// The way out.
    pub fn hint(&self) -> &'static str {
        match self {
            Taken::Project(_) => "use that server, or end it first",
            Taken::Port(_) => "name a free port with --port, or end one of the servers",
            Taken::Folder(_) => "the project's folder has to be writable",
        }
    }
}

/// A Pipeline that is served.
pub struct Running {
    door: Arc<Door>,
    end: Cancel,
}

impl Running {
    /// Takes the project's place and a port, and serves on threads of its own.
    ///
    /// # Errors
    /// When another process has the place or the port.
    pub fn start(exec: Arc<Exec>, wish: &Wish) -> Result<Self, Taken> {
        let (advert, listener) = Advert::claim(exec.project(), wish.port, wish.unity_layout)?;
        let advert = Arc::new(advert);
        if let Some(place) = advert.places().first() {
            // So that clients elsewhere find it. Those in the project do without.
            let _ = registry::announce(&exec.dispatcher.shared.pipelines.sessions, place);
        }
        let door = Arc::new(Door::new(exec, advert, wish.allow_browser_clients));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(WORKERS)
            .max_blocking_threads(MAX_BLOCKING)
            .thread_name("pipeline")
            .enable_all()
            .build()
            .map_err(Taken::Folder)?;
        let end = Cancel::default();
        let gates = Arc::clone(&door.exec.gates);
        let ended = end.clone();
        thread::spawn(move || gates.look_after(&ended));
        // On the runtime, and not on a thread: a timer that ends before those of requests keeps them from waking somebody
        // each time that they set one.
        runtime.spawn(beat(Arc::clone(&door.advert), end.clone()));
        let served = Arc::clone(&door);
        thread::spawn(move || runtime.block_on(http::serve(served, listener)));
        Ok(Running { door, end })
    }

    /// Says where it listens. The token is in the descriptor alone.
    ///
    /// # Errors
    /// When nobody reads.
    pub fn tell(&self, out: &mut impl io::Write) -> io::Result<()> {
        writeln!(out, "Pipeline: server started on port {}", self.door.advert.port())?;
        for place in self.door.advert.places() {
            writeln!(out, "Pipeline: descriptor written to {}", place.display())?;
        }
        out.flush()
    }

    /// Takes the descriptor away, asks what runs to stop, and waits a little for it.
    pub fn stop(&self) {
        self.end.raise();
        self.door.advert.withdraw();
        self.door.exec.queue.close();
        self.door.exec.queue.wait_idle(STOP_WAIT);
    }
}

/// Writes the descriptor anew for as long as the server lives.
async fn beat(advert: Arc<Advert>, end: Cancel) {
    let mut is_told = false;
    loop {
        tokio::time::sleep(HEARTBEAT_EVERY).await;
        if end.is_raised() {
            return;
        }
        let writing = Arc::clone(&advert);
        // The disk may take its time.
        let written = tokio::task::spawn_blocking(move || writing.write()).await;
        if let Ok(Err(error)) = written
            && !std::mem::replace(&mut is_told, true)
        {
            tracing::warn!("the Pipeline's descriptor can't be written: {error}");
        }
    }
}

/// A Pipeline beside standard input and output; none until it is started.
#[derive(Clone, Default)]
pub struct Beside(Arc<Both>);

#[derive(Default)]
struct Both {
    end: Cancel,
    running: Mutex<Option<Running>>,
}

impl Beside {
    /// Starts it on a thread of its own, as soon as the project's place is free.
    pub fn start(&self, exec: Arc<Exec>, wish: Wish) {
        let both = Arc::clone(&self.0);
        thread::spawn(move || {
            let mut is_told = false;
            while !both.end.is_raised() {
                let mut running = both.running.lock().unwrap_or_else(PoisonError::into_inner);
                match Running::start(Arc::clone(&exec), &wish) {
                    Ok(started) => {
                        let port = started.door.advert.port();
                        tracing::info!("Pipeline: server started on port {port}");
                        *running = Some(started);
                        return;
                    }
                    Err(taken) if !std::mem::replace(&mut is_told, true) => {
                        tracing::warn!("the Pipeline is not served: {taken}; it is tried again");
                    }
                    Err(_) => {}
                }
                drop(running);
                both.end.wait(RETRY_EVERY);
            }
        });
    }

    /// Ends it, if it was started.
    pub fn stop(&self) {
        self.0.end.raise();
        let running = self.0.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = running.as_ref() {
            running.stop();
        }
    }
}
