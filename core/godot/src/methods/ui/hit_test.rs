//! `ui.hitTest`: the controls under a point, the topmost first. No input is sent.

use didi_engine::Answer;
use didi_wire::SessionKind;
use godot::{
    classes::{Control, control::MouseFilter},
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    methods::{Context, ui},
    node_path,
    params::{self, Params},
    refuse,
};

/// Most controls told.
const MAX_RESULTS: usize = 256;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    point: Point,
    root_path: Option<String>,
    #[serde(default)]
    include_mouse_filter_ignore: bool,
    #[serde(default = "some")]
    max_results: usize,
    #[serde(default)]
    space: Space,
}

fn some() -> usize {
    32
}

#[derive(Deserialize, Clone, Copy)]
#[serde(deny_unknown_fields)]
struct Point {
    x: f32,
    y: f32,
}

#[derive(Deserialize, Clone, Copy, Default, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Space {
    #[default]
    Viewport,
    Screen,
}

pub(crate) fn run(context: &Context, params: &Params) -> Answer {
    let args: Args = params::read(params)?;
    if !(1..=MAX_RESULTS).contains(&args.max_results) {
        return Err(refuse::invalid("max_results", format!("1 to {MAX_RESULTS} are taken")));
    }
    if args.space == Space::Screen && context.kind == SessionKind::Editor {
        let error = refuse::invalid("space", "the pixels of a window are those of a game's");
        return Err(error.with("retry_with", json!({ "space": "viewport" })));
    }
    let root = ui::start(context, args.root_path.as_deref())?;
    let given = Vector2::new(args.point.x, args.point.y);
    let point = match (args.space, root.get_viewport()) {
        (Space::Screen, Some(viewport)) => viewport.get_screen_transform().affine_inverse() * given,
        _ => given,
    };
    let walk = ui::Walk::of(&root, true);
    let counts = |control: &Gd<Control>| {
        args.include_mouse_filter_ignore || control.get_mouse_filter() != MouseFilter::IGNORE
    };
    // What comes later in the scene is drawn over what comes before.
    let hits: Vec<&Gd<Control>> = walk
        .controls
        .iter()
        .rev()
        .map(|(control, _)| control)
        .filter(|control| counts(control) && is_under(control, point))
        .collect();
    let shown: Vec<Value> =
        hits.iter().take(args.max_results).map(|control| told(context, control)).collect();
    Ok(json!({
        "hit_count_total": hits.len(),
        "returned_count": shown.len(),
        "topmost": shown.first(),
        "truncated": shown.len() < hits.len() || walk.limit_hit,
        "hits": shown,
        "point": { "x": args.point.x, "y": args.point.y },
        "space": if args.space == Space::Screen { "screen" } else { "viewport" },
        "viewport_point": { "x": point.x, "y": point.y },
        "root_path": node_path::of(context.kind, &root),
        "ordering": "topmost_first",
        "traversed_nodes": walk.traversed,
        "input_injected": false,
    }))
}

fn is_under(control: &Gd<Control>, point: Vector2) -> bool {
    let local = control.get_global_transform_with_canvas().affine_inverse() * point;
    Rect2::new(Vector2::ZERO, control.get_size()).contains_point(local)
}

fn told(context: &Context, control: &Gd<Control>) -> Value {
    let (mouse_filter, mouse_filter_value) = ui::mouse_filter(control);
    json!({
        "node_path": node_path::of(context.kind, &control.clone().upcast()),
        "class": control.get_class().to_string(),
        "global_rect": ui::rect(control.get_global_rect()),
        "mouse_filter": mouse_filter,
        "mouse_filter_value": mouse_filter_value,
    })
}
