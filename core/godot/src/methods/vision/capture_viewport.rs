//! `vision.captureViewport`: what a viewport shows, as a PNG.
//!
//! The picture is taken on the main thread, where the engine wants it, and encoded beside it.

mod isolation;
mod main_screen;
mod view;

use std::{
    sync::mpsc::{self, TryRecvError},
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

use self::{isolation::Isolation, main_screen::MainScreen};
use crate::{
    methods::{Begun, Context},
    params::{self, Params},
    refuse,
    waiting::Until,
};

/// Frames after which what was changed for a picture has been drawn.
const FRAMES: u64 = 3;

/// How long encoding may take.
const LIMIT: Duration = Duration::from_secs(14);

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Args {
    camera_identifier: Option<String>,
    #[allow(dead_code, reason = "the size of an offline preview")]
    resolution: Option<Value>,
    #[allow(dead_code, reason = "reserved")]
    render_debug_flags: Option<Value>,
    node_isolation_path: Option<String>,
    isolation_background: Option<String>,
    select_main_screen: bool,
}

pub(crate) fn run(context: &Context, params: &Params) -> Begun {
    let args: Args = params::read(params)?;
    check_display(context.kind)?;
    check_supported(&args, context.kind)?;
    let kind = context.kind;
    let name = args.camera_identifier.clone();
    let Some(mut staged) = Staged::of(&args, kind)? else {
        return captured(kind, name.as_deref(), Map::new());
    };
    let drawn_at = Engine::singleton().get_process_frames() + FRAMES;
    let mut encoding: Option<Box<dyn Task>> = None;
    Ok(Until::boxed(LIMIT, late, move || {
        if let Some(encoding) = &mut encoding {
            return encoding.poll();
        }
        if Engine::singleton().get_process_frames() < drawn_at {
            return None;
        }
        // Taken before everything is put back, and encoded after.
        let taken = view::find(kind, name.as_deref())
            .and_then(|(view, name)| view::take(&view, &name).map(|image| (image, name)));
        let told = staged.put_back();
        match taken {
            Ok((image, name)) => {
                encoding = Some(encode_with(kind, &image, &name, told));
                None
            }
            Err(refused) => Some(Err(refused)),
        }
    }))
}

/// What is other than usual while a picture is taken. Dropped, it is as before.
struct Staged {
    screen: Option<MainScreen>,
    isolation: Option<Isolation>,
}

impl Staged {
    /// Sets up what a picture needs; none where it needs nothing.
    fn of(args: &Args, kind: SessionKind) -> Result<Option<Self>, BridgeError> {
        let name = args.camera_identifier.as_deref();
        let screen = args.select_main_screen.then(|| MainScreen::select(name));
        let isolation = match isolated(args) {
            Some(path) => {
                let transparent = args.isolation_background.as_deref() == Some("transparent");
                let (view, _) = view::find(kind, name)?;
                Some(Isolation::of(path, view, transparent)?)
            }
            None => None,
        };
        let needs = screen.is_some() || isolation.is_some();
        Ok(needs.then_some(Staged { screen, isolation }))
    }

    /// Puts everything back, and says what was done.
    fn put_back(&mut self) -> Map<String, Value> {
        self.isolation = None;
        self.screen.as_mut().map(MainScreen::put_back).unwrap_or_default()
    }
}

/// The branch that is to be seen alone.
fn isolated(args: &Args) -> Option<&str> {
    args.node_isolation_path.as_deref().filter(|path| !path.is_empty())
}

fn captured(kind: SessionKind, name: Option<&str>, told: Map<String, Value>) -> Begun {
    let (view, name) = view::find(kind, name)?;
    let image = view::take(&view, &name)?;
    Ok(encode_with(kind, &image, &name, told))
}

fn encode_with(
    kind: SessionKind,
    image: &Gd<Image>,
    name: &str,
    told: Map<String, Value>,
) -> Box<dyn Task> {
    let (width, height) = (image.get_width(), image.get_height());
    let mut facts = told;
    facts.insert("is_live_frame".into(), true.into());
    facts.insert("capture_id".into(), SessionId::random().to_string().into());
    facts.insert("resolution".into(), json!({ "width": width, "height": height }));
    facts.insert("camera_identifier".into(), name.into());
    facts.insert("status".into(), "success".into());
    facts.insert("session_kind".into(), kind.as_str().into());
    encoding(facts, image.get_data().to_vec(), width, height)
}

/// Without a display there is no picture to take.
fn check_display(kind: SessionKind) -> Result<(), BridgeError> {
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

fn check_supported(args: &Args, kind: SessionKind) -> Result<(), BridgeError> {
    if isolated(args).is_some() && kind == SessionKind::Game {
        let error =
            refuse::conflict("session_kind_rejected", "a branch is isolated in an editor alone");
        return Err(error.with("retry_with", json!({ "node_isolation_path": "" })));
    }
    if args.select_main_screen && kind == SessionKind::Game {
        let error = refuse::conflict("session_kind_rejected", "a game has no main screens");
        return Err(error.with("retry_with", json!({ "select_main_screen": false })));
    }
    Ok(())
}

/// Encodes on a thread of its own; the answer is the facts with the picture.
fn encoding(
    mut facts: Map<String, Value>,
    pixels: Vec<u8>,
    width: i32,
    height: i32,
) -> Box<dyn Task> {
    let (done, encoded) = mpsc::channel();
    let spawned = thread::Builder::new().name("didi encode".into()).spawn(move || {
        let _ = done.send(encode(&pixels, width, height));
    });
    let mut lost = spawned.is_err();
    Until::boxed(LIMIT, late, move || {
        let picture = match encoded.try_recv() {
            Err(TryRecvError::Empty) if !lost => return None,
            Err(_) => {
                lost = true;
                None
            }
            Ok(picture) => picture,
        };
        Some(answer(&mut facts, picture))
    })
}

fn answer(facts: &mut Map<String, Value>, picture: Option<Vec<u8>>) -> Answer {
    let Some(picture) = picture else {
        return Err(refuse::engine("picture_not_encoded", "the picture could not be encoded"));
    };
    let mut facts = std::mem::take(facts);
    let image = json!({ "mime_type": "image/png", "data": STANDARD.encode(picture) });
    facts.insert("image".into(), image);
    Ok(facts.into())
}

fn encode(pixels: &[u8], width: i32, height: i32) -> Option<Vec<u8>> {
    let (width, height) = (u32::try_from(width).ok()?, u32::try_from(height).ok()?);
    let mut picture = vec![];
    let mut encoder = png::Encoder::new(&mut picture, width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    encoder.write_header().ok()?.write_image_data(pixels).ok()?;
    Some(picture)
}

fn late() -> BridgeError {
    refuse::engine("picture_not_encoded", "the picture was not encoded in time")
}
