//! `runtime.controlDebugger`: runs the game under this editor's debugger, lets one that stands go on, and ends it.
//!
//! A game that stands runs no frame, so nothing that is sent to it can let it go on: its editor has to.

use std::{
    cell::Cell,
    time::{Duration, Instant},
};

use didi_engine::{Answer, Task, debug_adapter};
use didi_wire::{BridgeError, Outcome};
use godot::{
    classes::{EditorInterface, ProjectSettings, ResourceLoader},
    prelude::*,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    active::Active,
    adapter::{self, Talk},
    headless_run::HeadlessRun,
};
use crate::{
    debugger::{self, Game},
    methods::{Begun, Context},
    params::{self, Params},
    refuse,
    waiting::Until,
};

/// How long a game may take to come to the debugger, to go on, or to end; less than the deadline of the call.
const LIMIT: Duration = Duration::from_secs(25);

/// Frames after which the part of the editor that runs games has heard of a changed setting. It hears of it at the end
/// of one.
const FRAMES_TO_HEAR: u32 = 2;

thread_local! {
    /// Whether a game is being started.
    static STARTING: Cell<bool> = const { Cell::new(false) };
}

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
        return Err(already_playing("the editor runs a game already"));
    }
    let Some(active) = Active::begin(&STARTING) else {
        return Err(already_playing("the editor starts a game already"));
    };
    check_main_scene()?;
    let run = HeadlessRun::begin();
    let frames_left = if run.is_some() { FRAMES_TO_HEAR } else { 0 };
    let end = Instant::now() + LIMIT;
    Ok(Box::new(Playing { _active: active, run, frames_left: Some(frames_left), end }))
}

fn already_playing(message: &str) -> BridgeError {
    let error = refuse::conflict("game_already_playing", message);
    refuse::next_call(
        error,
        "runtime_control_debugger",
        json!({ "action": "stop" }),
        "ends that one",
    )
}

/// A game that is being started.
struct Playing {
    _active: Active,
    /// Held until the game's process is there, as the editor reads it while it starts one.
    run: Option<HeadlessRun>,
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
            None => self.run = None,
        }
        match debugger::game() {
            Game::Runs | Game::Stands => Some(Ok(state(Action::Play))),
            Game::None if !is_playing() => Some(Err(not_started())),
            Game::None => (Instant::now() >= self.end).then(|| Err(still_starts())),
        }
    }
}

/// Without one that is there the editor would ask a person for it.
fn check_main_scene() -> Result<(), BridgeError> {
    let main = ProjectSettings::singleton().get_setting("application/run/main_scene").stringify();
    let message = match main.is_empty() {
        true => "the project has no main scene to run".to_owned(),
        false if ResourceLoader::singleton().exists(&main) => return Ok(()),
        false => format!("the project's main scene is not there: `{main}`"),
    };
    let error = refuse::conflict("no_main_scene", message);
    let setting = json!({ "setting": "application/run/main_scene" });
    Err(refuse::next_call(error, "project_set_setting", setting, "names one as `value`"))
}

fn not_started() -> BridgeError {
    let message = "the game did not come to the editor's debugger";
    let error = BridgeError::new(502, "game_not_started", message);
    let errors = json!({ "minimum_level": "error" });
    refuse::next_call(error, "runtime_read_output", errors, "tells what the editor said")
}

/// Its process is there, and the call has no time left to wait for it.
fn still_starts() -> BridgeError {
    let message = "the game was started and has not come to the editor's debugger";
    let error = BridgeError::new(502, "game_not_started", message).with("playing", true);
    refuse::next_call(error, "runtime_control_debugger", json!({ "action": "stop" }), "ends it")
}

/// Lets the game go on, over the adapter as everything else of the debugger.
fn go_on() -> Begun {
    adapter::check_stands()?;
    let port = adapter::port()?;
    let talk = Talk::of(move |known, end, leash, tell| {
        let _ = tell.send(debug_adapter::resume(port, &known, end, leash));
    });
    Ok(Box::new(Resuming { talk, is_told: false, end: Instant::now() + LIMIT }))
}

/// A game that is being let go.
struct Resuming {
    /// Held until the game has gone on, so that another call does not let its next stop go.
    talk: Talk<()>,
    /// Whether the adapter has passed it on.
    is_told: bool,
    end: Instant,
}

impl Task for Resuming {
    fn poll(&mut self) -> Option<Answer> {
        if !self.is_told {
            match self.talk.poll()? {
                Ok(()) => self.is_told = true,
                Err(error) if error.outcome() == Some(Outcome::Unknown) && self.went_on() => {}
                Err(error) => return Some(Err(error)),
            }
        }
        if self.went_on() {
            return Some(Ok(state(Action::Continue)));
        }
        let late = || adapter::unknown("the game was told to go on, and did not in time");
        (Instant::now() >= self.end).then(|| Err(late()))
    }
}

impl Resuming {
    /// It may stand again by now, at the next error.
    fn went_on(&self) -> bool {
        self.talk.is_past() || debugger::game() != Game::Stands
    }
}

/// Ends the game, also one that stands.
fn stop() -> Begun {
    if !is_playing() && debugger::game() == Game::None {
        let error = refuse::conflict("no_debugged_game", "the editor runs no game");
        return Err(error.with("no_remedy", "what was asked for is so already"));
    }
    EditorInterface::singleton().stop_playing_scene();
    let late = || {
        BridgeError::new(
            502,
            "debug_adapter_failed",
            "the game was told to end, and did not in time",
        )
        .with("outcome", Outcome::Unknown.as_str())
        .with("retry_after_ms", 1000)
    };
    Ok(Until::boxed(LIMIT, late, || {
        let ended = !is_playing() && debugger::game() == Game::None;
        ended.then(|| Ok(state(Action::Stop)))
    }))
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
