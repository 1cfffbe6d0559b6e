//! When commands are taken up, and how a method waits for a later frame.
//!
//! A starting editor has not read its project yet, and an import pass runs the engine's frames inside its own
//! work: commands wait for both.

use std::{
    cell::Cell,
    time::{Duration, Instant},
};

use didi_engine::{Answer, Task};
use didi_wire::{BridgeError, SessionKind};
use godot::{
    classes::{EditorFileSystem, EditorInterface},
    prelude::*,
};

/// Quiet frames of a starting editor after which its project counts as read.
const QUIET_FRAMES: u32 = 4;

thread_local! {
    static IMPORTING: Cell<bool> = const { Cell::new(false) };
    /// How many scans the editor has applied since it is watched.
    static SCANS_APPLIED: Cell<u64> = const { Cell::new(0) };
    /// A scan that nobody waits for has to begin as soon as no other runs.
    static SCAN_WANTED: Cell<bool> = const { Cell::new(false) };
}

/// Whether commands may be taken up.
pub(crate) struct Readiness {
    /// Quiet frames still to come; 0 once the editor has started.
    quiet_frames_left: u32,
    watches_files: bool,
}

impl Readiness {
    pub(crate) fn new(kind: SessionKind) -> Self {
        match kind {
            SessionKind::Editor => {
                Readiness { quiet_frames_left: QUIET_FRAMES, watches_files: false }
            }
            SessionKind::Game => Readiness { quiet_frames_left: 0, watches_files: true },
        }
    }

    /// Whether the project was read once.
    pub(crate) fn has_started(&self) -> bool {
        self.quiet_frames_left == 0
    }

    /// Looks once a frame, or more often.
    pub(crate) fn look(&mut self) -> bool {
        if self.quiet_frames_left > 0 {
            self.start();
        } else if SCAN_WANTED.get() {
            SCAN_WANTED.set(!begin_scan());
        }
        self.has_started() && !is_importing()
    }

    fn start(&mut self) {
        let Some(mut files) = file_system() else { return };
        if !self.watches_files {
            self.watches_files = true;
            watch(&mut files);
        }
        self.quiet_frames_left =
            if files.is_scanning() { QUIET_FRAMES } else { self.quiet_frames_left - 1 };
    }
}

/// The editor's index of the project, once the editor has one.
pub(crate) fn file_system() -> Option<Gd<EditorFileSystem>> {
    EditorInterface::singleton().get_resource_filesystem()
}

/// A scan of the project that begins after it was asked for, so that it sees all that was there by then.
#[derive(Default)]
pub(crate) struct Scan {
    /// How many scans had been applied when this one began.
    begun_after: Option<u64>,
}

impl Scan {
    /// Looks once a frame: begins the scan once no other runs, and says when it was applied.
    ///
    /// That a scan no longer runs is not enough: its thread has ended then, and the editor takes its findings
    /// over in a frame of its own, which may come later.
    pub(crate) fn is_applied(&mut self) -> bool {
        let applied = SCANS_APPLIED.get();
        if let Some(before) = self.begun_after {
            return applied > before && !is_scanning();
        }
        self.begun_after = begin_scan().then_some(applied);
        false
    }
}

/// Whether an import pass runs.
pub(crate) fn is_importing() -> bool {
    IMPORTING.get()
}

fn is_scanning() -> bool {
    file_system().is_none_or(|files| files.is_scanning())
}

/// Whether a scan has begun. The editor ignores the request while another goes on, or comes to its end.
fn begin_scan() -> bool {
    let Some(mut files) = file_system().filter(|files| !files.is_scanning()) else {
        return false;
    };
    files.scan();
    files.is_scanning()
}

/// Tells the editor of a file that was written. One in a folder that the editor does not list yet is found by a
/// scan, which goes on after the call.
pub(crate) fn announce(path: &str) {
    let Some(mut files) = file_system() else { return };
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    if folder == "res:/" || files.get_filesystem_path(folder).is_some() {
        files.update_file(path);
    } else {
        SCAN_WANTED.set(!begin_scan());
    }
}

fn watch(files: &mut Gd<EditorFileSystem>) {
    let importing = |value| Callable::from_fn("didi_import_watch", move |_| IMPORTING.set(value));
    files.connect("resources_reimporting", &importing(true));
    files.connect("resources_reimported", &importing(false));
    // Comes once a scan, behind all that the scan's findings change.
    let applied = |_: &[&Variant]| SCANS_APPLIED.set(SCANS_APPLIED.get() + 1);
    files.connect("sources_changed", &Callable::from_fn("didi_scan_watch", applied));
}

/// A wait for a later frame: until `look` has an answer, or the time is up.
pub(crate) struct Until<F> {
    look: F,
    end: Instant,
    late: fn() -> BridgeError,
}

impl<F: FnMut() -> Option<Answer> + 'static> Until<F> {
    /// Looks once a frame; `late` is the answer when the time is up.
    pub(crate) fn boxed(limit: Duration, late: fn() -> BridgeError, look: F) -> Box<dyn Task> {
        Box::new(Until { look, end: Instant::now() + limit, late })
    }
}

impl<F: FnMut() -> Option<Answer>> Task for Until<F> {
    fn poll(&mut self) -> Option<Answer> {
        let looked = (self.look)();
        let late = looked.is_none() && Instant::now() >= self.end;
        if late { Some(Err((self.late)())) } else { looked }
    }
}
