//! Controls of the user interface.

pub(crate) mod hit_test;
pub(crate) mod list_controls;

use didi_wire::BridgeError;
use godot::{
    classes::{Control, control::MouseFilter},
    obj::EngineEnum,
    prelude::*,
};
use serde_json::{Value, json};

use crate::{methods::Context, node_path};

/// Most nodes of one walk.
const MAX_TRAVERSED: usize = 10_000;

/// Where a walk begins: what was named, or the whole.
pub(super) fn start(context: &Context, path: Option<&str>) -> Result<Gd<Node>, BridgeError> {
    match path {
        Some(path) => node_path::any(context.kind, path),
        None => node_path::root(context.kind),
    }
}

/// Controls at and below a node in the order of the scene, with their depth.
pub(super) struct Walk {
    pub(super) controls: Vec<(Gd<Control>, u32)>,
    pub(super) traversed: usize,
    pub(super) limit_hit: bool,
}

impl Walk {
    /// Walks; hidden controls and what is below them are left out on demand.
    pub(super) fn of(root: &Gd<Node>, visible_only: bool) -> Self {
        let mut walk = Walk { controls: vec![], traversed: 0, limit_hit: false };
        let mut open = vec![(root.clone(), 0)];
        while let Some((node, depth)) = open.pop() {
            if walk.traversed == MAX_TRAVERSED {
                walk.limit_hit = true;
                break;
            }
            walk.traversed += 1;
            let children = node.get_children();
            match node.try_cast::<Control>() {
                Ok(control) if visible_only && !control.is_visible_in_tree() => continue,
                Ok(control) => walk.controls.push((control, depth)),
                Err(_) => {}
            }
            let children: Vec<Gd<Node>> = children.iter_shared().collect();
            open.extend(children.into_iter().rev().map(|child| (child, depth + 1)));
        }
        walk
    }
}

/// The word for what a control does with the mouse.
pub(super) fn mouse_filter(control: &Gd<Control>) -> (&'static str, i32) {
    let filter = control.get_mouse_filter();
    let word = match filter {
        MouseFilter::STOP => "stop",
        MouseFilter::PASS => "pass",
        MouseFilter::IGNORE => "ignore",
        _ => "unknown",
    };
    (word, filter.ord())
}

/// A rectangle as JSON.
pub(super) fn rect(rect: Rect2) -> Value {
    crate::json::write(&rect.to_variant()).unwrap_or_else(|_| json!(null))
}

/// A control's rectangle in the pixels of its window.
pub(super) fn screen_rect(control: &Gd<Control>) -> Rect2 {
    let transform = control.get_viewport().map(|viewport| viewport.get_screen_transform());
    let local = Rect2::new(Vector2::ZERO, control.get_size());
    let placed = control.get_global_transform_with_canvas() * local;
    transform.map_or(placed, |transform| transform * placed)
}
