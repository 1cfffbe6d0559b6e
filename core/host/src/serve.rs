//! Serving: wires the parts of one process together and reads until the client is done.
//!
//! The first answers need no pack, so packs are taken up on a thread of their own while the client already
//! says hello.
//!
//! Spec: P-4, the handshake; P-6, the end of a session.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use crate::{
    bridge::Routes,
    builtin,
    catalog::Catalog,
    cli::{Options, Usage},
    dispatch::{Dispatcher, Settings},
    engine::{Engines, Places},
    files::{ProjectFiles, allow_many_files},
    front::stdio::{Lines, Output, Step},
    loader::{Loader, Row, State},
    log::LogRing,
    mcp::{Facts, Pending, Server},
    pipeline::{
        editor::AttachedEditor,
        exec::Exec,
        gates::Gates,
        serve::{Beside, Running},
    },
    recovery::Recovery,
    services::Shared,
    watch,
};

/// How long calls that still run at the end of input may take to end by themselves.
const END_GRACE: Duration = Duration::from_millis(400);

/// How long ending may take in all, whatever hangs: a client that does not read, a pack's own thread.
const END_LIMIT: Duration = Duration::from_millis(900);

/// The parts of a process that serve tools, without the protocol.
pub struct Parts {
    /// Takes packs up.
    pub loader: Arc<Loader>,
    /// What the host's own tools look at.
    pub state: Arc<builtin::State>,
    facts: Facts,
    settings: Settings,
    shared: Shared,
}

impl Parts {
    /// Parts as the options want them, over a project.
    ///
    /// # Errors
    /// An option that can't be used.
    pub fn new(options: &Options, project: PathBuf, log: LogRing) -> Result<Self, Usage> {
        Self::managed(options, project, log, None)
    }

    /// The same, with an editor of the server's own.
    ///
    /// # Errors
    /// An option that can't be used.
    pub fn managed(
        options: &Options,
        project: PathBuf,
        log: LogRing,
        recovery: Option<Arc<Recovery>>,
    ) -> Result<Self, Usage> {
        let loader = Loader::new(options.pack_folders()?, options.pins()?, options.cache_folder());
        let facts = Facts {
            profile: options.profile(),
            yolo: options.skips_confirmations(),
            omit_text_copy: options.text_copy == crate::cli::HowOften::Once,
            page: options.page(),
            descriptor_once: options.session_descriptor == crate::cli::HowOften::Once,
        };
        let settings = Settings {
            profile: facts.profile,
            yolo: facts.yolo,
            confirm_within: options.confirm_within(),
        };
        let routes = Arc::new(Routes::new(options.session_folder(), project.clone()));
        let shared = Shared {
            files: ProjectFiles::new(project),
            engines: Arc::new(Engines::new(places(options, recovery.as_deref()))),
            routes: Arc::clone(&routes),
            recovery: recovery.clone(),
            pipelines: Arc::new(options.pipelines()),
        };
        let state = builtin::State::new(facts, log, routes, recovery);
        Ok(Parts { loader: Arc::new(loader), state, facts, settings, shared })
    }

    /// The catalog of the packs as they now lie in their folders.
    pub fn catalog(&self) -> Catalog {
        Catalog::build(&builtin::open(&self.state), self.loader.load())
    }

    /// A dispatcher over a catalog.
    pub fn dispatcher(&self, catalog: Catalog) -> Arc<Dispatcher> {
        let dispatcher =
            Arc::new(Dispatcher::new(self.settings, self.shared.clone(), Arc::new(catalog)));
        self.state.introduce(&dispatcher);
        dispatcher
    }

    /// Runs requests of the Pipeline over a dispatcher.
    pub fn exec(&self, dispatcher: Arc<Dispatcher>) -> Arc<Exec> {
        let watched = AttachedEditor(Arc::clone(&self.shared.routes));
        Exec::new(dispatcher, Arc::new(Gates::new(Arc::new(watched))))
    }

    /// The same over the packs as they now lie in their folders: for a client that is its own server.
    pub fn own_exec(&self) -> Arc<Exec> {
        self.exec(self.dispatcher(self.catalog()))
    }
}

/// Where engines are looked for; an owned editor's engine is the one for everything.
fn places(options: &Options, recovery: Option<&Recovery>) -> Places {
    let places = options.engine_places();
    match recovery {
        Some(recovery) => Places { exact: Some(recovery.engine().executable.clone()), ..places },
        None => places,
    }
}

/// The editor of the server's own that the options ask for, with its copy of the project.
fn managed(options: &Options, project: &Path) -> Result<Option<Arc<Recovery>>, Usage> {
    let Some((godot, workspace)) = options.managed()? else { return Ok(None) };
    let limit = Duration::from_secs(options.managed_ready_within);
    Recovery::prepare(godot, workspace, project, limit).map(|made| Some(Arc::new(made))).map_err(
        |error| Usage {
            error,
            hint: "name a Godot 4.5 or newer, and a new folder outside of the project".into(),
        },
    )
}

/// Serves until the end of input or a termination signal.
///
/// # Errors
/// An option that can't be used.
pub fn serve(options: &Options, output: Output) -> Result<(), Usage> {
    let log = LogRing::default();
    let parts = prepare(options, &log)?;
    let pending = Pending::default();
    let output = Arc::new(output);
    let server = Server::new(parts.facts, output, pending.clone());
    let beside = Beside::default();
    load(options, &parts, &pending, &server, log, &beside);
    if let Some(recovery) = &parts.shared.recovery {
        recovery.begin(&parts.shared.routes);
    }
    let ended = Arc::new(Ended {
        began: AtomicBool::new(false),
        recovery: parts.shared.recovery.clone(),
        beside,
    });
    end_on_signal(&server, &ended);
    read(&server);
    end(&server, &ended);
    Ok(())
}

/// The parts of a process that serves one project.
fn prepare(options: &Options, log: &LogRing) -> Result<Arc<Parts>, Usage> {
    let mut project = options.project_root()?;
    allow_many_files();
    let recovery = managed(options, &project)?;
    if let Some(recovery) = &recovery {
        project = recovery.project().map_err(|error| Usage {
            error: format!("the copy of the project can't be used: {error}"),
            hint: "name another folder with --recovery-workspace".into(),
        })?;
    }
    Ok(Arc::new(Parts::managed(options, project, log.clone(), recovery)?))
}

/// Serves the Pipeline alone, until a termination signal.
///
/// # Errors
/// An option that can't be used; a project or a port that another process has.
#[allow(clippy::exit, reason = "a pack's thread must not keep the process")]
pub fn serve_pipeline(
    options: &Options,
    port: Option<u16>,
    out: &mut impl io::Write,
) -> Result<(), Usage> {
    let log = LogRing::default();
    let parts = prepare(options, &log)?;
    log.install(options.log_level);
    let ending = signals();
    parts.shared.files.sweep();
    let seen = options.watch_packs.then(|| watch::look(&parts));
    let catalog = parts.catalog();
    report(catalog.rows());
    let dispatcher = parts.dispatcher(catalog);
    let routes = Arc::clone(&parts.shared.routes);
    thread::spawn(move || routes.look_after());
    if let Some(recovery) = &parts.shared.recovery {
        recovery.begin(&parts.shared.routes);
    }
    let mut wish = options.pipeline_wish();
    wish.port = port.or(wish.port);
    let running = Running::start(parts.exec(Arc::clone(&dispatcher)), &wish)
        .map_err(|taken| Usage { error: taken.to_string(), hint: taken.hint().into() })?;
    // Whoever started this may not read; the descriptor says the same.
    let _ = running.tell(out);
    if let Some(seen) = seen {
        let (parts, dispatcher) = (Arc::clone(&parts), Arc::clone(&dispatcher));
        thread::spawn(move || watch::watch(&parts, &dispatcher, |_, _| {}, seen));
    }
    ending.wait();
    thread::spawn(|| {
        thread::sleep(END_LIMIT);
        std::process::exit(0);
    });
    running.stop();
    dispatcher.jobs.cancel_all();
    dispatcher.shared.routes.release();
    if let Some(recovery) = &parts.shared.recovery {
        recovery.stop();
    }
    std::process::exit(0);
}

/// Waits for a termination signal.
struct Ending(#[cfg(unix)] Option<signal_hook::iterator::Signals>);

#[cfg(unix)]
fn signals() -> Ending {
    Ending(crate::signals::ending().ok())
}

#[cfg(not(unix))]
fn signals() -> Ending {
    Ending()
}

impl Ending {
    #[cfg(unix)]
    fn wait(self) {
        match self.0 {
            Some(mut signals) => drop(signals.forever().next()),
            None => park(),
        }
    }

    #[cfg(not(unix))]
    fn wait(self) {
        park();
    }
}

/// Without signals the process is ended from outside.
fn park() {
    loop {
        thread::park();
    }
}

/// Takes the packs up beside the reader, says what was refused, and goes on watching if asked to.
fn load(
    options: &Options,
    parts: &Arc<Parts>,
    pending: &Pending,
    server: &Arc<Server>,
    log: LogRing,
    beside: &Beside,
) {
    let beside = options.pipeline.then(|| (beside.clone(), options.pipeline_wish()));
    let (parts, pending, server) = (Arc::clone(parts), pending.clone(), Arc::clone(server));
    let (level, watches, yolo) = (options.log_level, options.watch_packs, parts.facts.yolo);
    thread::spawn(move || {
        log.install(level);
        if yolo {
            tracing::warn!("confirmations are skipped: every call runs without being asked about");
        }
        parts.shared.files.sweep();
        let seen = watches.then(|| watch::look(&parts));
        let catalog = parts.catalog();
        report(catalog.rows());
        let dispatcher = parts.dispatcher(catalog);
        tell_of_engines(&parts.shared.routes, &server);
        pending.provide(Arc::clone(&dispatcher));
        if let Some((beside, wish)) = beside {
            beside.start(parts.exec(Arc::clone(&dispatcher)), wish);
        }
        if let Some(seen) = seen {
            watch::watch(
                &parts,
                &dispatcher,
                |tools, resources| server.lists_changed(tools, resources),
                seen,
            );
        }
    });
}

/// What is available moves with the engine that is attached, so clients are told to look again.
fn tell_of_engines(routes: &Arc<Routes>, server: &Arc<Server>) {
    let looked_after = Arc::clone(routes);
    thread::spawn(move || looked_after.look_after());
    let server = Arc::downgrade(server);
    routes.watch(move || {
        if let Some(server) = server.upgrade() {
            server.lists_changed(true, true);
        }
    });
}

/// One line a refused pack.
pub fn report(rows: &[Row]) {
    for row in rows {
        let file = row.file.display();
        for reason in &row.reasons {
            if row.state == State::Loaded {
                tracing::warn!("pack file {file}: {reason}");
            } else {
                tracing::warn!("pack file {file} is not served: {reason}");
            }
        }
    }
}

fn read(server: &Arc<Server>) {
    let mut lines = Lines::new(io::stdin());
    loop {
        match lines.step() {
            Step::Line(line) => {
                if !server.receive(line) {
                    return;
                }
            }
            Step::TooLong => server.refuse_long_line(),
            Step::Drained => server.flush(),
            Step::End => return,
        }
    }
}

/// What ending is about.
struct Ended {
    began: AtomicBool,
    recovery: Option<Arc<Recovery>>,
    beside: Beside,
}

/// Ends the process once, whoever comes first; the other waits for the process to be gone.
#[allow(clippy::exit, reason = "a blocked write or a pack's thread must not keep the process")]
fn end(server: &Server, ended: &Ended) {
    if ended.began.swap(true, Ordering::SeqCst) {
        thread::sleep(END_LIMIT * 2);
    }
    thread::spawn(|| {
        thread::sleep(END_LIMIT);
        std::process::exit(0);
    });
    ended.beside.stop();
    server.stop(END_GRACE);
    if let Some(recovery) = &ended.recovery {
        recovery.stop();
    }
    std::process::exit(0);
}

#[cfg(unix)]
fn end_on_signal(server: &Arc<Server>, ended: &Arc<Ended>) {
    let Ok(mut signals) = crate::signals::ending() else { return };
    let (server, ended) = (Arc::clone(server), Arc::clone(ended));
    thread::spawn(move || {
        if signals.forever().next().is_some() {
            end(&server, &ended);
        }
    });
}

#[cfg(not(unix))]
fn end_on_signal(_: &Arc<Server>, _: &Arc<Ended>) {}
