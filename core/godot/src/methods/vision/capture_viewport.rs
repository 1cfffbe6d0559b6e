//! `vision.captureViewport`: what a viewport shows, as a PNG.
//!
//! The picture is taken on the main thread, where the engine wants it, and encoded beside it.

use std::{
    sync::mpsc::{self, TryRecvError},
    thread,
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use didi_engine::{Answer, Task};
use didi_wire::{BridgeError, SessionId, SessionKind};
use godot::{
    classes::{DisplayServer, EditorInterface, Image, Viewport, image::Format},
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    methods::{Begun, Context},
    node_path,
    params::{self, Params},
    refuse,
    waiting::Until,
};

/// How long encoding may take.
const LIMIT: Duration = Duration::from_secs(14);

/// Smallest side of a viewport that shows something; a hidden one has two pixels.
const MIN_SIDE: i32 = 8;

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Args {
    camera_identifier: Option<String>,
    #[allow(dead_code, reason = "the size of an offline preview")]
    resolution: Option<Value>,
    #[allow(dead_code, reason = "reserved")]
    render_debug_flags: Option<Value>,
    node_isolation_path: Option<String>,
    #[allow(dead_code, reason = "of an isolated node")]
    isolation_background: Option<String>,
    select_main_screen: bool,
}

pub(crate) fn run(context: &Context, params: &Params) -> Begun {
    let args: Args = params::read(params)?;
    check_display(context.kind)?;
    check_supported(&args, context.kind)?;
    let (viewport, name) = viewport(context.kind, args.camera_identifier.as_deref())?;
    let image = take(&viewport, &name)?;
    let (width, height) = (image.get_width(), image.get_height());
    let facts = json!({
        "is_live_frame": true,
        "capture_id": SessionId::random(),
        "resolution": { "width": width, "height": height },
        "camera_identifier": name,
        "status": "success",
        "session_kind": context.kind.as_str(),
    });
    Ok(encoding(facts, image.get_data().to_vec(), width, height))
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
    let isolates = args.node_isolation_path.as_ref().is_some_and(|path| !path.is_empty());
    if isolates && kind == SessionKind::Game {
        let error =
            refuse::conflict("session_kind_rejected", "a branch is isolated in an editor alone");
        return Err(error.with("retry_with", json!({ "node_isolation_path": "" })));
    }
    if isolates || args.select_main_screen {
        let message = "this extension neither isolates a branch nor changes the main screen";
        return Err(BridgeError::new(501, "not_implemented", message).with(
            "retry_with",
            json!({ "node_isolation_path": "", "select_main_screen": false }),
        ));
    }
    Ok(())
}

/// The viewport that a name means.
fn viewport(kind: SessionKind, name: Option<&str>) -> Result<(Gd<Viewport>, String), BridgeError> {
    if kind == SessionKind::Game {
        return match name {
            None | Some("active_editor_view") => {
                Ok((node_path::window()?.upcast(), "game".to_owned()))
            }
            Some(_) => {
                Err(refuse::invalid("camera_identifier", "a game has one view, which has no name"))
            }
        };
    }
    let editor = EditorInterface::singleton();
    let flat = || editor.get_editor_viewport_2d().map(Gd::upcast::<Viewport>);
    let deep = || editor.get_editor_viewport_3d().map(Gd::upcast::<Viewport>);
    let found = match name.unwrap_or("active_editor_view") {
        "active_editor_view" => match (flat(), deep()) {
            (Some(flat), _) if shows(&flat) => Some((flat, "editor_2d")),
            (_, Some(deep)) => Some((deep, "editor_3d")),
            _ => None,
        },
        "editor_3d" | "active_editor_view_3d" | "3d" => deep().map(|view| (view, "editor_3d")),
        "editor_2d" | "active_editor_view_2d" | "2d" | "canvas_item" => {
            flat().map(|view| (view, "editor_2d"))
        }
        other => {
            let message = format!("`{other}` is no view of the editor");
            return Err(
                BridgeError::new(404, "not_found", message).with("field", "camera_identifier")
            );
        }
    };
    found
        .map(|(view, name)| (view, name.to_owned()))
        .ok_or_else(|| refuse::engine("viewport_missing", "the editor has no such view"))
}

fn shows(viewport: &Gd<Viewport>) -> bool {
    let size = viewport.get_visible_rect().size;
    #[allow(clippy::cast_precision_loss, reason = "a small number")]
    let least = MIN_SIDE as f32;
    size.x >= least && size.y >= least
}

fn take(viewport: &Gd<Viewport>, name: &str) -> Result<Gd<Image>, BridgeError> {
    if !shows(viewport) {
        let message = format!("the view `{name}` is hidden");
        return Err(BridgeError::new(404, "not_found", message).with("field", "camera_identifier"));
    }
    let image = viewport.get_texture().and_then(|texture| texture.get_image());
    let mut image = image.filter(|image| !image.is_empty()).ok_or_else(|| {
        refuse::engine("viewport_not_read", "the engine gave no picture of the view")
    })?;
    image.convert(Format::RGBA8);
    Ok(image)
}

/// Encodes on a thread of its own; the answer is the facts with the picture.
fn encoding(facts: Value, pixels: Vec<u8>, width: i32, height: i32) -> Box<dyn Task> {
    let (done, encoded) = mpsc::channel();
    let spawned = thread::Builder::new().name("didi encode".into()).spawn(move || {
        let _ = done.send(encode(&pixels, width, height));
    });
    let mut facts = if let Value::Object(facts) = facts { facts } else { Map::new() };
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
