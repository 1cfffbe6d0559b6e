//! Editors of a project: those that can be seen, a headless one that is started, and waiting until one answers.
//!
//! Spec: P-57, set-up and diagnosis.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use didi_plugin_api::{ctx::EngineInfo, refusal::Refusal};
use didi_wire::{Descriptor, SessionKind};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value};

use super::report::{State, Step};
use crate::{
    bridge::{Routes, routes::Foreign},
    cancel::Cancel,
    child, source,
};

const STEP: &str = "editor";

/// How often the sessions are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How long a diagnosis waits for the editor's main thread.
const PATIENCE: Duration = Duration::from_secs(5);

/// A read that only the main thread of an editor answers.
const MAIN_THREAD_READ: &str = "editor.getState";

/// Bytes of a failed editor's log that are looked through for its last words.
const LOG_TAIL: usize = 16 * 1024;

/// How an editor answers.
pub(super) enum Answers {
    /// On its main thread, too.
    Yes,
    /// Another client holds it, so it is well.
    Held,
    /// Its bridge does, its main thread not yet.
    Busy(String),
    /// It does not.
    No(Refusal),
}

/// The editors that have this project open.
pub(super) fn of_project(routes: &Routes) -> Vec<Descriptor> {
    let sessions = routes.scan().map(|scan| scan.sessions).unwrap_or_default();
    let own =
        |one: &Descriptor| one.identity.kind == SessionKind::Editor && routes.is_own(&one.identity);
    sessions.into_iter().filter(own).collect()
}

/// Speaks with an editor, and lets it go again.
pub(super) fn ask(routes: &Routes, editor: &Descriptor, patience: Duration) -> Answers {
    let id = editor.identity.session_id.to_string();
    let answers = match routes.attach(&id, Foreign::Refused) {
        Err(refusal) if refusal.code.status == 423 => Answers::Held,
        Err(refusal) => Answers::No(refusal),
        Ok(route) => {
            let asked = route.call(MAIN_THREAD_READ, &Map::new(), patience, &Cancel::default());
            asked.map_or_else(|refusal| Answers::Busy(refusal.message.clone()), |_| Answers::Yes)
        }
    };
    routes.detach();
    answers
}

/// A headless editor that this program started. It stays when the program ends.
pub(super) struct Started {
    running: child::Running,
    log: PathBuf,
}

/// Starts a headless editor on a project.
///
/// # Errors
/// When it can't be started.
pub(super) fn start(engine: &EngineInfo, project: &Path) -> std::io::Result<Started> {
    let name = format!("didi-editor-{}.log", source::random_hex::<4>());
    let log = std::env::temp_dir().join(name);
    let words = ["--headless", "--editor", "--path", &project.to_string_lossy(), "--log-file"];
    let mut args = words.map(ToOwned::to_owned).to_vec();
    args.push(log.to_string_lossy().into_owned());
    let spec = child::Spec {
        program: &engine.executable,
        args: &args,
        env: &[],
        folder: project,
        limit: Duration::MAX,
        max_output_bytes: 0,
        ends_with_us: false,
    };
    Ok(Started { running: child::Running::start(&spec)?, log })
}

impl Started {
    /// Its last words, for when it ended too early.
    fn last_words(&self) -> String {
        let log = fs::read(&self.log).unwrap_or_default();
        let tail = String::from_utf8_lossy(&log[log.len().saturating_sub(LOG_TAIL)..]);
        let telling = |line: &&str| line.contains("ERROR") || line.contains("error");
        let line = tail.lines().rfind(telling).or_else(|| tail.lines().last());
        line.unwrap_or("it said nothing").trim().to_owned()
    }

    /// Lets it run on.
    fn leave(self) {
        self.running.leave();
    }
}

/// What to wait for.
pub(super) struct Wish {
    /// Start a headless editor if none is there.
    pub(super) headless: bool,
    /// Wait until an editor answers.
    pub(super) wait: bool,
    /// How long.
    pub(super) timeout: Duration,
    /// Show that time passes.
    pub(super) shows_progress: bool,
}

/// Starts or awaits an editor as wished.
pub(super) fn bring_up(
    routes: &Routes,
    engine: impl FnOnce() -> Result<EngineInfo, Refusal>,
    wish: &Wish,
) -> Step {
    if !wish.headless && !wish.wait {
        return Step::new(STEP, State::Skipped, "neither --headless nor --wait was given");
    }
    let deadline = source::now() + wish.timeout;
    let is_there = !of_project(routes).is_empty();
    let mut started = None;
    if wish.headless && !is_there {
        let engine = match engine() {
            Ok(engine) => engine,
            Err(refusal) => return no_engine(&refusal),
        };
        match start(&engine, routes.project()) {
            Ok(editor) => started = Some(editor),
            Err(error) => {
                let seen = format!("`{}` can't be started: {error}", engine.executable.display());
                return Step::finding(STEP, State::Fail, "engine_unavailable", seen, NAME_ENGINE);
            }
        }
    }
    let pid = started.as_ref().map(|editor| editor.running.pid());
    if wish.wait {
        let bar = spinner(wish);
        let waited = wait(routes, started.as_mut(), deadline);
        bar.finish_and_clear();
        if let Err(step) = waited {
            // Dropped, the started one is ended: nobody could use it.
            return step;
        }
    }
    if let Some(editor) = started {
        editor.leave();
    }
    let answers = if wish.wait { " and answers" } else { "" };
    match pid {
        Some(pid) => Step::new(
            STEP,
            State::Done,
            format!("a headless editor runs as process {pid}{answers}"),
        ),
        None => {
            Step::new(STEP, State::Unchanged, format!("an editor has the project open{answers}"))
        }
    }
}

const NAME_ENGINE: &str = "name a Godot 4.5 or newer with --godot, or in GODOT_BIN";

/// That there is no engine.
pub(super) fn no_engine(refusal: &Refusal) -> Step {
    Step::finding(STEP, State::Fail, "engine_unavailable", refusal.message.clone(), NAME_ENGINE)
}

fn wait(routes: &Routes, mut started: Option<&mut Started>, deadline: Instant) -> Result<(), Step> {
    let mut busy = None;
    loop {
        for editor in of_project(routes) {
            let left = deadline.saturating_duration_since(source::now());
            match ask(routes, &editor, left.max(LOOK_EVERY)) {
                Answers::Yes | Answers::Held => return Ok(()),
                Answers::Busy(why) => busy = Some(why),
                Answers::No(refusal) => busy = Some(refusal.message.clone()),
            }
        }
        if let Some(editor) = started.as_deref_mut()
            && !editor.running.is_running()
        {
            let seen = format!("the editor ended before it answered: {}", editor.last_words());
            let remedy = format!("`{}` has what it said", editor.log.display());
            return Err(Step::finding(STEP, State::Fail, "editor_ended", seen, remedy));
        }
        if source::now() >= deadline {
            let why = busy.unwrap_or_else(|| "no editor has opened this project".into());
            let remedy = "open the project in the editor and run it again, or give --headless or a longer --timeout";
            let seen = format!("the time to wait is over: {why}");
            return Err(Step::finding(STEP, State::Fail, "editor_not_seen", seen, remedy));
        }
        Cancel::default().wait(LOOK_EVERY);
    }
}

/// Turns on a terminal; says nothing elsewhere.
fn spinner(wish: &Wish) -> ProgressBar {
    if !wish.shows_progress {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
        bar.set_style(style);
    }
    bar.set_message("waiting for the editor");
    bar.enable_steady_tick(LOOK_EVERY);
    bar
}

/// What is to be said of the editors of a project.
pub(super) fn diagnose(routes: &Routes) -> Vec<Step> {
    let editors = of_project(routes);
    if editors.is_empty() {
        let seen = "no editor has this project open";
        let remedy = "open the project in Godot, or run `didi setup` with --headless";
        return vec![Step::finding(STEP, State::Skipped, "editor_absent", seen, remedy)];
    }
    editors.iter().map(|editor| diagnose_one(routes, editor)).collect()
}

fn diagnose_one(routes: &Routes, editor: &Descriptor) -> Step {
    let identity = &editor.identity;
    let (pid, build) = (identity.pid, identity.build_id.as_deref().unwrap_or("unknown"));
    let version = identity.engine_version.as_deref().unwrap_or("of unknown version");
    let who = format!("the editor of process {pid}, Godot {version}");
    let well = match ask(routes, editor, PATIENCE) {
        Answers::Yes => format!("{who}, answers"),
        Answers::Held => format!("{who}, is held by a client"),
        Answers::Busy(why) => {
            let seen = format!("{who}, is there, but its main thread does not answer: {why}");
            let remedy = "wait until it has started, or close the dialog that it shows";
            return Step::finding(STEP, State::Warn, "editor_busy", seen, remedy);
        }
        Answers::No(refusal) => {
            let seen = format!("{who}, does not answer: {}", refusal.message);
            let remedy = "close the editor and open it again";
            return Step::finding(STEP, State::Fail, "editor_unresponsive", seen, remedy);
        }
    };
    if build != env!("CARGO_PKG_VERSION") {
        let seen = format!("{well}, and has Didi {build} loaded");
        let remedy = "close the editor, run `didi setup`, and open it again";
        return Step::finding(STEP, State::Warn, "editor_other_build", seen, remedy);
    }
    Step::new(STEP, State::Ok, well)
}

/// Kept for a refusal's rejected candidates, as the engine's finder lists them.
pub(super) fn rejected(refusal: &Refusal) -> Vec<String> {
    let listed = refusal.data.get("rejected").and_then(Value::as_array).into_iter().flatten();
    listed
        .filter_map(|one| Some(format!("{} {}", one["file"].as_str()?, one["rejected"].as_str()?)))
        .collect()
}
