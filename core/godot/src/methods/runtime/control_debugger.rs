//! `runtime.controlDebugger`: runs the game under this editor's debugger, lets one that stands go on, and ends it.
//!
//! A game that stands runs no frame, so nothing that is sent to it can let it go on: its editor has to.

use std::time::{Duration, Instant};

use didi_engine::{Answer, Task, debug_adapter};
use didi_wire::BridgeError;
use godot::{
    classes::{DisplayServer, EditorInterface, ProjectSettings},
    prelude::*,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::adapter::{self, Talk};
use crate::{
    debugger::{self, Game},
    methods::{Begun, Context},
    params::{self, Params},
    refuse,
    waiting::Until,
};

/// How long a game may take to come to the debugger, to go on, or to end; less than the deadline of the call.
const LIMIT: Duration = Duration::from_secs(25);

/// Arguments that the editor gives to a game.
const RUN_ARGUMENTS: &str = "editor/run/main_run_args";

/// What a game needs where there is no display. A headless editor does not hand its own over.
const HEADLESS: &str = "--headless";

/// Frames after which the part of the editor that runs games has heard of a changed setting. It hears of it at the end
/// of one.
const FRAMES_TO_HEAR: u32 = 2;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    action: Action,
}

#[derive(Clone, Copy, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    Play,
    Continue,
    Stop,
}

pub(crate) fn run(_context: &Context, params: &Params) -> Begun {
    let args: Args = params::read(params)?;
    match args.action {
        Action::Play => play(),
        Action::Continue => go_on(),
        Action::Stop => stop(),
    }
}

/// Runs the main scene as the editor's own button does.
fn play() -> Begun {
    if is_playing() || debugger::game() != Game::None {
        let error = refuse::conflict("game_already_playing", "the editor runs a game already");
        let stop = json!({ "action": "stop" });
        return Err(refuse::next_call(error, "runtime_control_debugger", stop, "ends that one"));
    }
    check_main_scene()?;
    let run = HeadlessRun::begin();
    let frames_left = if run.is_some() { FRAMES_TO_HEAR } else { 0 };
    Ok(Box::new(Playing { _run: run, frames_left: Some(frames_left), end: Instant::now() + LIMIT }))
}

/// A game that is being started.
struct Playing {
    /// Held until the game is there, as the editor reads it while it starts one.
    _run: Option<HeadlessRun>,
    /// Frames until the editor is asked to play; none once it was.
    frames_left: Option<u32>,
    end: Instant,
}

impl Task for Playing {
    fn poll(&mut self) -> Option<Answer> {
        match self.frames_left {
            Some(0) => {
                self.frames_left = None;
                EditorInterface::singleton().play_main_scene();
                return None;
            }
            Some(left) => {
                self.frames_left = Some(left - 1);
                return None;
            }
            None => {}
        }
        match debugger::game() {
            Game::Runs | Game::Stands => Some(Ok(state(Action::Play))),
            Game::None if is_playing() && Instant::now() < self.end => None,
            Game::None => Some(Err(not_started())),
        }
    }
}

/// Without one the editor would ask a person for it.
fn check_main_scene() -> Result<(), BridgeError> {
    let main = ProjectSettings::singleton().get_setting("application/run/main_scene");
    if !main.stringify().is_empty() {
        return Ok(());
    }
    let error = refuse::conflict("no_main_scene", "the project has no main scene to run");
    let setting = json!({ "setting": "application/run/main_scene" });
    Err(refuse::next_call(error, "project_set_setting", setting, "names one as `value`"))
}

/// What the editor gives to a game, changed in memory until the game is there.
struct HeadlessRun {
    before: Variant,
}

impl HeadlessRun {
    /// Where this editor has no display and its games would look for one.
    fn begin() -> Option<Self> {
        if DisplayServer::singleton().get_name() != "headless" {
            return None;
        }
        let mut settings = ProjectSettings::singleton();
        let before = settings.get_setting(RUN_ARGUMENTS);
        let arguments = before.stringify().to_string();
        if arguments.split_whitespace().any(|argument| argument == HEADLESS) {
            return None;
        }
        let with = format!("{arguments} {HEADLESS}");
        settings.set_setting(RUN_ARGUMENTS, &with.trim().to_variant());
        Some(HeadlessRun { before })
    }
}

impl Drop for HeadlessRun {
    fn drop(&mut self) {
        ProjectSettings::singleton().set_setting(RUN_ARGUMENTS, &self.before);
    }
}

fn not_started() -> BridgeError {
    let message = "the game did not come to the editor's debugger";
    let error = BridgeError::new(502, "game_not_started", message);
    let errors = json!({ "minimum_level": "error" });
    refuse::next_call(error, "runtime_read_output", errors, "tells what the editor said")
}

/// Lets the game go on, over the adapter as everything else of the debugger.
fn go_on() -> Begun {
    adapter::check_stands()?;
    let (port, turns) = (adapter::port()?, debugger::turns());
    let talk = Talk::of(move |known, end, leash, tell| {
        let _ = tell.send(debug_adapter::resume(port, &known, end, leash));
    });
    Ok(Box::new(Resuming { talk: Some(talk), turns, end: Instant::now() + LIMIT }))
}

/// A game that is being let go.
struct Resuming {
    /// Until the adapter has passed it on.
    talk: Option<Talk<()>>,
    turns: u64,
    end: Instant,
}

impl Task for Resuming {
    fn poll(&mut self) -> Option<Answer> {
        if let Some(talk) = &mut self.talk {
            if let Err(error) = talk.poll()? {
                return Some(Err(error));
            }
            self.talk = None;
        }
        // It may stand again by now, at the next error.
        let went_on = debugger::turns() != self.turns || debugger::game() != Game::Stands;
        if went_on {
            return Some(Ok(state(Action::Continue)));
        }
        (Instant::now() >= self.end).then(|| Err(still_there("the game did not go on")))
    }
}

/// Ends the game, also one that stands.
fn stop() -> Begun {
    if !is_playing() && debugger::game() == Game::None {
        let error = refuse::conflict("no_debugged_game", "the editor runs no game");
        return Err(error.with("no_remedy", "what was asked for is so already"));
    }
    EditorInterface::singleton().stop_playing_scene();
    let late = || still_there("the game did not end");
    Ok(Until::boxed(LIMIT, late, || {
        let ended = !is_playing() && debugger::game() == Game::None;
        ended.then(|| Ok(state(Action::Stop)))
    }))
}

fn still_there(message: &str) -> BridgeError {
    BridgeError::new(502, "debug_adapter_failed", message).with("retry_after_ms", 1000)
}

fn is_playing() -> bool {
    EditorInterface::singleton().is_playing_scene()
}

/// Where the game stands now.
fn state(action: Action) -> serde_json::Value {
    let game = debugger::game();
    json!({
        "action": action,
        "playing": is_playing(),
        "stopped": game == Game::Stands,
        "reason": debugger::reason().filter(|_| game == Game::Stands),
        "session_kind": "editor",
    })
}
