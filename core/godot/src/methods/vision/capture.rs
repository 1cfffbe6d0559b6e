//! How a picture of a view is taken, for whoever does something with it.
//!
//! It is taken on the main thread, where the engine wants it; what is made of it is made beside it.

mod isolation;
pub(super) mod main_screen;
pub(super) mod store;
pub(super) mod view;

use std::{
    cell::Cell,
    sync::{
        Arc,
        mpsc::{self, TryRecvError},
    },
    thread,
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use didi_engine::{Answer, Task};
use didi_wire::{BridgeError, SessionId, SessionKind};
use godot::{
    classes::{DisplayServer, Engine, Image},
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use self::{isolation::Isolation, main_screen::MainScreen, store::Capture};
use crate::{
    methods::{Begun, runtime::active::Active},
    refuse,
    waiting::Until,
};

/// Frames after which what was changed for a picture has been drawn.
pub(super) const FRAMES: u64 = 3;

/// How long the work on a picture may take.
const LIMIT: Duration = Duration::from_secs(14);

/// What is to be seen.
#[derive(Deserialize)]
#[serde(from = "Asked")]
pub(super) struct Look {
    /// The view.
    camera_identifier: Option<String>,
    /// The branch that is to be seen alone.
    isolated: Option<String>,
    /// Whether nothing is behind that branch.
    transparent: bool,
    /// Whether the view's own screen is shown meanwhile.
    select_main_screen: bool,
}

/// The same as callers say it.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Asked {
    camera_identifier: Option<String>,
    #[allow(dead_code, reason = "the size of an offline preview")]
    resolution: Option<Value>,
    node_isolation_path: Option<String>,
    isolation_background: Option<String>,
    select_main_screen: bool,
}

impl From<Asked> for Look {
    fn from(asked: Asked) -> Self {
        Look {
            camera_identifier: asked.camera_identifier,
            isolated: asked.node_isolation_path.filter(|path| !path.is_empty()),
            transparent: asked.isolation_background.as_deref() == Some("transparent"),
            select_main_screen: asked.select_main_screen,
        }
    }
}

/// A picture.
pub(super) struct Taken {
    /// As it is kept for later comparisons.
    pub(super) capture: Arc<Capture>,
    /// The view that it was taken of.
    pub(super) view: String,
    /// What every answer about it tells: its name, its size, and what was done for it.
    pub(super) facts: Map<String, Value>,
}

impl Taken {
    fn of(image: &Gd<Image>, view: String, mut facts: Map<String, Value>) -> Self {
        let (width, height) = (image.get_width(), image.get_height());
        let id = SessionId::random().to_string();
        facts.insert("capture_id".into(), id.as_str().into());
        facts.insert("resolution".into(), json!({ "width": width, "height": height }));
        let pixels = image.get_data().to_vec();
        Taken { capture: store::keep(Capture { id, width, height, pixels }), view, facts }
    }
}

/// Takes a picture, and goes on with what `finish` makes of it.
///
/// # Errors
/// `headless_engine`, `session_kind_rejected` (409), `not_found` (404).
pub(super) fn take(
    kind: SessionKind,
    look: Look,
    finish: impl FnOnce(Taken) -> Box<dyn Task> + 'static,
) -> Begun {
    check_display(kind)?;
    check_supported(&look, kind)?;
    let Some(mut staged) = Staged::of(&look, kind)? else {
        let (view, name) = view::find(kind, look.camera_identifier.as_deref())?;
        view::draw_if_nothing_does();
        let image = view::take(&view, &name)?;
        return Ok(finish(Taken::of(&image, name, Map::new())));
    };
    let drawn_at = Engine::singleton().get_process_frames() + FRAMES;
    let mut finish = Some(finish);
    let mut working: Option<Box<dyn Task>> = None;
    Ok(Until::boxed(LIMIT, late, move || {
        if let Some(working) = &mut working {
            return working.poll();
        }
        view::draw_if_nothing_does();
        if Engine::singleton().get_process_frames() < drawn_at {
            return None;
        }
        // Taken before everything is put back, and worked on after.
        let taken = view::find(kind, look.camera_identifier.as_deref())
            .and_then(|(view, name)| view::take(&view, &name).map(|image| (image, name)));
        let told = staged.put_back();
        match taken {
            Ok((image, name)) => {
                let finish = finish.take()?;
                working = Some(finish(Taken::of(&image, name, told)));
                None
            }
            Err(refused) => Some(Err(refused)),
        }
    }))
}

thread_local! {
    static STAGED: Cell<bool> = const { Cell::new(false) };
}

/// The turn of a picture for which something is drawn otherwise than usual: any other one would show that, too.
///
/// # Errors
/// `conflict` (409) while another has it.
pub(super) fn turn() -> Result<Active, BridgeError> {
    Active::begin(&STAGED).ok_or_else(|| {
        let message = "another picture is being taken, for which the view is drawn otherwise";
        refuse::conflict("conflict", message).with("retry_after_ms", 100)
    })
}

/// What is other than usual while a picture is taken. Dropped, it is as before.
struct Staged {
    screen: Option<MainScreen>,
    isolation: Option<Isolation>,
    /// Given on when all of it is as before.
    _turn: Active,
}

impl Staged {
    /// Sets up what a picture needs; none where it needs nothing.
    fn of(look: &Look, kind: SessionKind) -> Result<Option<Self>, BridgeError> {
        let turn = turn()?;
        let name = look.camera_identifier.as_deref();
        let screen = look.select_main_screen.then(|| MainScreen::select(name));
        let isolation = match &look.isolated {
            Some(path) => {
                let (view, _) = view::find(kind, name)?;
                Some(Isolation::of(path, view, look.transparent)?)
            }
            None => None,
        };
        let needs = screen.is_some() || isolation.is_some();
        Ok(needs.then_some(Staged { screen, isolation, _turn: turn }))
    }

    /// Puts everything back, and says what was done.
    fn put_back(&mut self) -> Map<String, Value> {
        self.isolation = None;
        self.screen.as_mut().map(MainScreen::put_back).unwrap_or_default()
    }
}

/// Without a display there is no picture to take.
pub(super) fn check_display(kind: SessionKind) -> Result<(), BridgeError> {
    let driver = DisplayServer::singleton().get_name().to_string();
    if driver != "headless" {
        return Ok(());
    }
    let error = refuse::conflict("headless_engine", "a headless engine draws nothing")
        .with("display_driver", driver)
        .with("session_kind", kind.as_str());
    Err(match kind {
        SessionKind::Game => {
            let arguments = json!({ "headless": false });
            refuse::next_call(error, "runtime_launch", arguments, "starts the game with a window")
                .with("relaunch_argument", "headless")
        }
        SessionKind::Editor => error.with("no_remedy", "the editor was started without a display"),
    })
}

fn check_supported(look: &Look, kind: SessionKind) -> Result<(), BridgeError> {
    if look.isolated.is_some() && kind == SessionKind::Game {
        let error =
            refuse::conflict("session_kind_rejected", "a branch is isolated in an editor alone");
        return Err(error.with("retry_with", json!({ "node_isolation_path": "" })));
    }
    if look.select_main_screen && kind == SessionKind::Game {
        let error = refuse::conflict("session_kind_rejected", "a game has no main screens");
        return Err(error.with("retry_with", json!({ "select_main_screen": false })));
    }
    Ok(())
}

/// Works on a thread of its own, and answers what comes of it.
pub(super) fn beside<T: Send + 'static>(
    work: impl FnOnce() -> Option<T> + Send + 'static,
    answer: impl FnOnce(T) -> Answer + 'static,
) -> Box<dyn Task> {
    let (done, worked) = mpsc::channel();
    let spawned = thread::Builder::new().name("didi picture".into()).spawn(move || {
        let _ = done.send(work());
    });
    let lost = spawned.is_err();
    let mut answer = Some(answer);
    Until::boxed(LIMIT, late, move || {
        let made = match worked.try_recv() {
            Err(TryRecvError::Empty) if !lost => return None,
            Err(_) => None,
            Ok(made) => made,
        };
        let answer = answer.take()?;
        Some(made.ok_or_else(not_encoded).and_then(answer))
    })
}

/// Pixels of four bytes as a PNG, the way an answer holds it.
pub(super) fn encode(pixels: &[u8], width: i32, height: i32) -> Option<Value> {
    let (width, height) = (u32::try_from(width).ok()?, u32::try_from(height).ok()?);
    let mut picture = vec![];
    let mut encoder = png::Encoder::new(&mut picture, width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    encoder.write_header().ok()?.write_image_data(pixels).ok()?;
    Some(json!({ "mime_type": "image/png", "data": STANDARD.encode(picture) }))
}

fn not_encoded() -> BridgeError {
    refuse::engine("picture_not_encoded", "the picture could not be encoded")
}

fn late() -> BridgeError {
    refuse::engine("picture_not_encoded", "the picture was not encoded in time")
}
