//! The session of this engine: opened when the main loop begins, served once a frame, closed when it ends.

use std::{fs, sync::Arc, time::Instant};

use didi_engine::{
    Pump, Session, SessionConfig,
    debugger::Debugger,
    pace::{Pace, Sight},
    pump::Guarded,
    ring::Level,
};
use didi_wire::SessionKind;
use godot::{
    classes::{Engine, Os, ProjectSettings},
    init::is_editor_hint,
    prelude::*,
};
use serde_json::json;

use crate::{
    backend::GodotBackend, debugger, edit::made, logger, methods::preview, node_path, purpose,
    status, surroundings,
};

thread_local! {
    /// Lent to the frame that runs; a frame inside it finds nothing, so no command begins inside another.
    static BRIDGE: Guarded<Bridge> = const { Guarded::empty() };
}

/// Fields go in this order when it is dropped: what runs is answered before the connections end.
struct Bridge {
    pump: Pump,
    backend: GodotBackend,
    pace: Pace,
    /// Whether the game's time is to stop in the first frame.
    pauses: bool,
    session: Session,
}

/// Opens a session if this engine is an editor or a game with a project.
pub(crate) fn open() {
    let arguments = surroundings::arguments();
    let kind = purpose::session_kind(&arguments, is_editor_hint(), surroundings::is_quiet());
    let (Some(kind), Some(project_path)) = (kind, project_path()) else { return };
    let config = SessionConfig {
        build_id: Some(env!("CARGO_PKG_VERSION").into()),
        engine_version: engine_version(),
        debugged_by: Debugger::of_arguments(&arguments),
        ..SessionConfig::new(kind, project_path, surroundings::temp(), surroundings::sessions())
    };
    match Session::open(config, logger::output()) {
        Ok(session) => {
            let pauses = kind == SessionKind::Game && purpose::starts_paused(&arguments);
            let opened = Bridge::new(session, kind, pauses);
            status::show(Some(Arc::clone(opened.session.shared())));
            BRIDGE.with(|bridge| drop(bridge.replace(Some(opened))));
        }
        Err(fault) => {
            let mut message = fault.to_string();
            let mut cause = std::error::Error::source(&fault);
            while let Some(inner) = cause {
                message = format!("{message}: {inner}");
                cause = inner.source();
            }
            logger::output().push(Level::Error, "didi", &message, json!({ "file": null }));
            godot_warn!("Didi: no session was opened: {message}");
        }
    }
}

/// Closes the session: commands that wait are answered, threads end, the socket and the descriptor go.
pub(crate) fn close() {
    status::show(None);
    preview::end();
    debugger::drop_kept();
    made::forget();
    if let Some(mut bridge) = BRIDGE.with(|bridge| bridge.replace(None)) {
        bridge.give_sleep_back();
    }
}

/// Serves the session for one frame.
pub(crate) fn frame() {
    BRIDGE.with(|bridge| bridge.with(Bridge::frame));
}

impl Bridge {
    fn new(session: Session, kind: SessionKind, pauses: bool) -> Self {
        let shared = session.shared();
        let (queue, output) = (shared.queue.clone(), shared.output.clone());
        Bridge {
            pump: Pump::new(queue, output, kind),
            backend: GodotBackend::new(kind, shared.clone()),
            pace: Pace::new(),
            pauses,
            session,
        }
    }

    fn frame(&mut self) {
        if std::mem::take(&mut self.pauses)
            && let Ok(mut tree) = node_path::scene_tree()
        {
            tree.set_pause(true);
        }
        if self.session.shared().clients.take_wish() {
            self.session.detach_clients();
        }
        status::refresh(self.session.shared());
        let wait_until = self.pace();
        self.pump.frame(&mut self.backend, wait_until);
        self.pace.frame_ended(Instant::now());
    }

    /// Takes the editor's sleep over while a client is attached; a game keeps its own time.
    fn pace(&mut self) -> Option<Instant> {
        if self.session.identity().kind != SessionKind::Editor {
            return None;
        }
        let attached = self.session.shared().attached_clients() > 0;
        if !attached && !self.pace.has_taken_over() {
            return None;
        }
        let mut os = Os::singleton();
        let sight = Sight {
            attached,
            saves_power: os.is_in_low_processor_usage_mode(),
            sleep_us: u32::try_from(os.get_low_processor_usage_mode_sleep_usec()).unwrap_or(0),
        };
        let plan = self.pace.plan(Instant::now(), sight);
        if let Some(sleep_us) = plan.set_sleep_us {
            set_sleep(&mut os, sleep_us);
        }
        plan.wait_until
    }

    fn give_sleep_back(&mut self) {
        if self.pace.has_taken_over() {
            let mut os = Os::singleton();
            let now = u32::try_from(os.get_low_processor_usage_mode_sleep_usec()).unwrap_or(0);
            if let Some(sleep_us) = self.pace.give_back(now) {
                set_sleep(&mut os, sleep_us);
            }
        }
    }
}

fn set_sleep(os: &mut Gd<Os>, sleep_us: u32) {
    os.set_low_processor_usage_mode_sleep_usec(i32::try_from(sleep_us).unwrap_or(i32::MAX));
}

/// The project's canonical folder. An exported game has none, and no session.
fn project_path() -> Option<String> {
    let folder = ProjectSettings::singleton().globalize_path("res://").to_string();
    if folder.is_empty() {
        return None;
    }
    let folder = fs::canonicalize(folder).ok()?;
    folder.join("project.godot").is_file().then(|| folder.to_str().map(str::to_owned))?
}

fn engine_version() -> Option<String> {
    let version = Engine::singleton().get_version_info().get("string")?;
    Some(version.to_string())
}
