//! `ui.listControls`: the controls there are, where they are, and what they say.

use didi_engine::{Answer, ring::cut};
use didi_wire::SessionKind;
use godot::{classes::Control, prelude::*};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    methods::{Context, ui},
    node_path,
    params::{self, Params},
    refuse,
};

/// Most controls told, and classes of a filter.
const MAX_RESULTS: usize = 256;
const MAX_CLASSES: usize = 16;

/// Longest text, in bytes.
const MAX_TEXT_BYTES: usize = 256;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Args {
    root_path: Option<String>,
    max_results: usize,
    visible_only: bool,
    include_text: bool,
    class_filter: Option<Vec<String>>,
}

impl Default for Args {
    fn default() -> Self {
        Args {
            root_path: None,
            max_results: 64,
            visible_only: true,
            include_text: true,
            class_filter: None,
        }
    }
}

pub(crate) fn run(context: &Context, params: &Params) -> Answer {
    let args: Args = params::read(params)?;
    let classes = args.class_filter.as_deref().unwrap_or_default();
    if !(1..=MAX_RESULTS).contains(&args.max_results) || classes.len() > MAX_CLASSES {
        let message = format!("`max_results` is 1 to {MAX_RESULTS}, classes at most {MAX_CLASSES}");
        return Err(refuse::invalid("max_results", message));
    }
    let root = ui::start(context, args.root_path.as_deref())?;
    let mut walk = ui::Walk::of(&root, args.visible_only);
    let of_class = |control: &Gd<Control>| {
        args.class_filter.is_none() || classes.iter().any(|class| control.is_class(class))
    };
    walk.controls.retain(|(control, _)| of_class(control));
    let matches = walk.controls.len();
    let controls: Vec<Value> = walk
        .controls
        .iter()
        .take(args.max_results)
        .map(|(control, depth)| told(context, control, *depth, args.include_text))
        .collect();
    Ok(json!({
        "returned_count": controls.len(),
        "truncated": controls.len() < matches || walk.limit_hit,
        "controls": controls,
        "root_path": node_path::of(context.kind, &root),
        "match_count_total": matches,
        "traversed_nodes": walk.traversed,
        "traversal_limit_hit": walk.limit_hit,
        "visible_only": args.visible_only,
        "ordering": "scene_tree_order",
        "input_injected": false,
    }))
}

fn told(context: &Context, control: &Gd<Control>, depth: u32, with_text: bool) -> Value {
    let (mouse_filter, mouse_filter_value) = ui::mouse_filter(control);
    let mut told = json!({
        "node_path": node_path::of(context.kind, &control.clone().upcast()),
        "class": control.get_class().to_string(),
        "depth": depth,
        "global_rect": ui::rect(control.get_global_rect()),
        "visible": control.is_visible_in_tree(),
        "mouse_filter": mouse_filter,
        "mouse_filter_value": mouse_filter_value,
    });
    if context.kind == SessionKind::Game {
        told["screen_rect"] = ui::rect(ui::screen_rect(control));
    }
    if with_text {
        text(&mut told, control);
    }
    told
}

/// The text that a control has, and the one that it draws where that is another.
fn text(told: &mut Value, control: &Gd<Control>) {
    let value = control.get("text");
    if value.get_type() != VariantType::STRING {
        return;
    }
    let text = value.stringify().to_string();
    put(told, "text", &text);
    let displayed = control.atr(&text).to_string();
    if displayed != text {
        put(told, "displayed_text", &displayed);
    }
}

fn put(told: &mut Value, name: &str, text: &str) {
    let kept = cut(text, MAX_TEXT_BYTES);
    told[name] = kept.into();
    if kept.len() < text.len() {
        told[format!("{name}_truncated")] = true.into();
    }
}
