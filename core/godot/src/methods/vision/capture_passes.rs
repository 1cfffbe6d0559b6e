//! `vision.capturePasses`: the 3D scene of a view, drawn once a pass: colour, depth, normals, segments.
//!
//! The rendering server is told how to draw, and no node: no property of the scene changes, so nothing could be saved by
//! accident. Each pass is drawn, taken and put back before the next; the pictures are encoded beside the main thread.

mod palette;
mod scene;
mod stage;

use std::time::Duration;

use didi_engine::{Answer, Task};
use didi_wire::{BridgeError, SessionKind};
use godot::{
    classes::{Camera3D, Engine, Viewport},
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Value, json};

use self::{
    palette::{CAPACITY, Segment},
    scene::{Scene, segments},
    stage::Stage,
};
use super::capture::{self, FRAMES, main_screen::MainScreen, view};
use crate::{
    methods::{Begun, Context, runtime::active::Active},
    node_path,
    params::{self, Params},
    refuse,
    waiting::Until,
};

/// How long all passes may take.
const LIMIT: Duration = Duration::from_secs(14);
/// The one view of an editor that has depth.
const VIEW: &str = "editor_3d";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    passes: Vec<Pass>,
    camera_identifier: Option<String>,
    depth_far: Option<f32>,
    #[serde(default)]
    select_main_screen: bool,
}

/// One way to draw the scene.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "snake_case")]
enum Pass {
    Color,
    Depth,
    Normal,
    Segmentation,
}

impl Pass {
    fn word(self) -> &'static str {
        match self {
            Pass::Color => "color",
            Pass::Depth => "depth",
            Pass::Normal => "normal",
            Pass::Segmentation => "segmentation",
        }
    }
}

/// One pass as it was drawn.
struct Drawn {
    pass: Pass,
    width: i32,
    height: i32,
    pixels: Vec<u8>,
}

pub(crate) fn run(context: &Context, params: &Params) -> Begun {
    let args: Args = params::read(params)?;
    let kind = context.kind;
    check(&args, kind)?;
    capture::check_display(kind)?;
    let turn = capture::turn()?;
    let name = (kind == SessionKind::Editor).then_some(VIEW);
    let screen = args.select_main_screen.then(|| MainScreen::select(name));
    let (view, view_name) = view::find(kind, name)?;
    let camera = view.get_camera_3d().ok_or_else(no_camera)?;
    let scene = Scene::walk(kind)?;
    let far =
        args.depth_far.or_else(|| scene.farthest(&camera)).unwrap_or_else(|| camera.get_far());
    let asked = args.passes;
    let passes = Passes { kind, view, view_name, camera, scene, far, screen, asked, _turn: turn };
    Ok(passes.begin())
}

fn check(args: &Args, kind: SessionKind) -> Result<(), BridgeError> {
    let twice = |at: usize| args.passes[..at].contains(&args.passes[at]);
    if args.passes.is_empty() || (0..args.passes.len()).any(twice) {
        return Err(refuse::invalid("passes", "one to four different passes are taken"));
    }
    if args.depth_far.is_some_and(|far| far <= 0.0) {
        return Err(refuse::invalid("depth_far", "a distance is above 0"));
    }
    let deep = ["active_editor_view", VIEW, "active_editor_view_3d", "3d"];
    match (kind, args.camera_identifier.as_deref()) {
        (SessionKind::Game, Some(_)) => {
            Err(refuse::invalid("camera_identifier", "a game has one view, which has no name"))
        }
        (SessionKind::Editor, Some(name)) if !deep.contains(&name) => {
            let message = format!("`{name}` is no view with depth; `{VIEW}` is");
            Err(BridgeError::new(404, "not_found", message).with("field", "camera_identifier"))
        }
        (SessionKind::Game, None) if args.select_main_screen => {
            let error = refuse::conflict("session_kind_rejected", "a game has no main screens");
            Err(error.with("retry_with", json!({ "select_main_screen": false })))
        }
        _ => Ok(()),
    }
}

fn no_camera() -> BridgeError {
    let error = BridgeError::new(404, "not_found", "no camera looks at a 3D scene in this view")
        .with("field", "passes");
    refuse::next_call(error, "viewport_capture_frame", json!({}), "shows what the view draws")
}

/// Passes on their way.
struct Passes {
    kind: SessionKind,
    view: Gd<Viewport>,
    view_name: String,
    camera: Gd<Camera3D>,
    scene: Scene,
    far: f32,
    screen: Option<MainScreen>,
    asked: Vec<Pass>,
    _turn: Active,
}

impl Passes {
    fn begin(self) -> Box<dyn Task> {
        let mut passes = Some(self);
        let mut drawn: Vec<Drawn> = vec![];
        let mut staged: Option<(Stage, u64)> = None;
        let mut working: Option<Box<dyn Task>> = None;
        Until::boxed(LIMIT, late, move || {
            if let Some(working) = &mut working {
                return working.poll();
            }
            view::draw_if_nothing_does();
            let frame = Engine::singleton().get_process_frames();
            if let Some((_, due)) = &staged
                && frame < *due
            {
                return None;
            }
            if let Some((stage, _)) = staged.take() {
                let passes = passes.as_ref()?;
                let taken = passes.check_camera().and_then(|()| passes.take(drawn.len()));
                // What was drawn otherwise is drawn as it was from here on, whatever the picture came to.
                drop(stage);
                match taken {
                    Ok(one) => drawn.push(one),
                    Err(refused) => return Some(Err(refused)),
                }
            }
            if let Err(refused) = passes.as_ref()?.check_camera() {
                return Some(Err(refused));
            }
            if let Some(pass) = passes.as_ref()?.asked.get(drawn.len()) {
                let stage = passes.as_ref()?.stage(*pass);
                staged = Some((stage, frame + FRAMES));
                return None;
            }
            working = Some(passes.take()?.finish(std::mem::take(&mut drawn)));
            None
        })
    }

    fn stage(&self, pass: Pass) -> Stage {
        Stage::set(pass, &self.view, &self.camera, &self.scene, self.far)
    }

    /// A game may free its camera in any frame, or look through another one.
    fn check_camera(&self) -> Result<(), BridgeError> {
        if !self.camera.is_instance_valid() {
            return Err(no_camera());
        }
        let looks_through = self.view.is_instance_valid()
            && self.view.get_camera_3d().is_some_and(|camera| camera == self.camera);
        if looks_through {
            return Ok(());
        }
        let message = "the view looked through another camera while its passes were drawn";
        Err(refuse::conflict("conflict", message).with("retry_after_ms", 0))
    }

    fn take(&self, at: usize) -> Result<Drawn, BridgeError> {
        if !self.view.is_instance_valid() {
            return Err(refuse::engine("viewport_missing", "the view has gone meanwhile"));
        }
        let image = view::take(&self.view, &self.view_name)?;
        let (width, height) = (image.get_width(), image.get_height());
        Ok(Drawn { pass: self.asked[at], width, height, pixels: image.get_data().to_vec() })
    }

    /// Encodes beside the main thread, and tells what was drawn.
    fn finish(mut self, drawn: Vec<Drawn>) -> Box<dyn Task> {
        let told = self.screen.as_mut().map(MainScreen::put_back).unwrap_or_default();
        // The colours alone are drawn as they are.
        let paints = drawn.iter().any(|one| one.pass != Pass::Color);
        let painted = if paints { self.scene.painted() } else { 0 };
        let mut facts = json!({
            "status": "success",
            "session_kind": self.kind.as_str(),
            "camera_identifier": self.view_name,
            "camera": node_path::of(self.kind, &self.camera.clone().upcast()),
            "pass_order": drawn.iter().map(|one| one.pass.word()).collect::<Vec<_>>(),
            "resolution": drawn.first().map(|one| json!({ "width": one.width, "height": one.height })),
            "depth_far": self.far,
            "encoding": "srgb8_relative",
            "painted_node_count": painted,
            "examined_node_count": self.scene.examined(),
            "scan_limit_reached": self.scene.is_cut(),
            "not_painted": self.scene.others(self.kind),
        });
        merge(&mut facts, told.into());
        let (kind, scene) = (self.kind, self.scene);
        capture::beside(
            move || work(&drawn),
            move |(images, seen)| answer(facts, images, seen, &scene, kind),
        )
    }
}

/// Pictures as answers hold them, and what is seen of each colour of the palette.
fn work(drawn: &[Drawn]) -> Option<(Vec<Value>, Option<palette::Seen>)> {
    let images = drawn.iter().map(|one| capture::encode(&one.pixels, one.width, one.height));
    let segmented = drawn.iter().find(|one| one.pass == Pass::Segmentation);
    let seen =
        segmented.map(|one| palette::seen(&one.pixels, usize::try_from(one.width).unwrap_or(1)));
    Some((images.collect::<Option<Vec<_>>>()?, seen))
}

fn answer(
    mut facts: Value,
    images: Vec<Value>,
    seen: Option<palette::Seen>,
    scene: &Scene,
    kind: SessionKind,
) -> Answer {
    let mut cut = scene.is_cut() || scene.names_are_cut();
    if let Some(seen) = seen {
        let unpainted = scene.painted().saturating_sub(CAPACITY);
        cut |= unpainted > 0;
        let entries: Vec<Value> = segments(scene, &seen, kind);
        let told = json!({
            "segmentation": entries,
            "segmentation_unclaimed_pixels": seen.unclaimed,
            "segmentation_capacity": CAPACITY,
            "segmentation_unpainted": unpainted,
        });
        merge(&mut facts, told);
    }
    merge(&mut facts, json!({ "truncated": cut, "images": images }));
    Ok(facts)
}

/// One entry of the segmentation.
fn entry(id: usize, node_path: &str, class: &str, segment: &Segment) -> Value {
    let hex = |[r, g, b]: [u8; 3]| format!("#{r:02x}{g:02x}{b:02x}");
    let [left, top, right, bottom] = segment.bounds;
    json!({
        "id": id,
        "node_path": node_path,
        "class": class,
        "color": hex(palette::color(id)),
        "observed_color": hex(segment.observed()),
        "pixels": segment.pixels,
        "bounds": { "x": left, "y": top, "width": right - left + 1, "height": bottom - top + 1 },
    })
}

fn merge(facts: &mut Value, more: Value) {
    if let (Value::Object(facts), Value::Object(more)) = (facts, more) {
        facts.extend(more);
    }
}

fn late() -> BridgeError {
    refuse::engine("picture_not_encoded", "the passes were not drawn in time")
}
