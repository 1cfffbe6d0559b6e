//! `vision.frustumQuery`: the nodes of a space that lie in a camera's view, and what stands between.
//!
//! What is tested is a box, where the node has one, so a node counts as in view as soon as its box may be.

mod frustum;
mod sightline;

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::{
    classes::{Camera3D, VisualInstance3D},
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Value, json};

use self::{
    frustum::{Containment, Frustum},
    sightline::Sightlines,
};
use super::Triple;
use crate::{
    json,
    methods::{Context, physics},
    node_path,
    params::{self, Params},
    refuse,
};

/// Most nodes told, and most looked at.
const MAX_RESULTS: usize = 256;
const MAX_EXAMINED: usize = 40_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    camera_node: Option<String>,
    camera: Option<Free>,
    #[serde(default)]
    sightline: bool,
    #[serde(default = "physics::first_layer")]
    collision_mask: u32,
    #[serde(default = "some")]
    max_results: usize,
}

fn some() -> usize {
    64
}

/// A camera that stands in no scene.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Free {
    position: Triple,
    look_at: Triple,
    fov_degrees: f32,
    near: f32,
    far: f32,
    aspect: f32,
    up: Option<Triple>,
}

/// A node in view.
struct Seen {
    node: Gd<Node3D>,
    /// Its box in the world, or the point where it is.
    bounds: Option<Aabb>,
    containment: Containment,
    distance: f32,
}

pub(crate) fn run(context: &Context, params: &Params) -> Answer {
    let args: Args = params::read(params)?;
    if !(1..=MAX_RESULTS).contains(&args.max_results) || args.collision_mask == 0 {
        let message = format!("1 to {MAX_RESULTS} results and a mask are taken");
        return Err(refuse::invalid("max_results", message));
    }
    let (frustum, camera) = match (&args.camera_node, &args.camera) {
        (Some(path), None) => {
            let camera = camera(context, path)?;
            (Frustum::of_camera(&camera)?, Some(camera))
        }
        (None, Some(free)) => (Frustum::of_lens(&lens(free)?), None),
        _ => {
            let message = "exactly one of `camera_node` and `camera` is needed";
            return Err(refuse::invalid("camera_node", message));
        }
    };
    let (mut seen, examined, cut) = walk(context, &frustum, camera.as_ref())?;
    seen.sort_by(|a, b| a.distance.total_cmp(&b.distance));
    let found = seen.len();
    seen.truncate(args.max_results);
    let lines = || Sightlines::new(context.kind, frustum.eye, args.collision_mask);
    let mut lines = args.sightline.then(lines).transpose()?;
    let nodes: Vec<Value> = seen.iter().map(|one| told(context, one, lines.as_mut())).collect();
    let unsampled = lines.is_some_and(|lines| lines.is_spent());
    Ok(json!({
        "camera": frustum.told(),
        "node_count": nodes.len(),
        "examined": examined,
        "truncated": cut || unsampled || nodes.len() < found,
        "nodes": nodes,
    }))
}

fn camera(context: &Context, path: &str) -> Result<Gd<Camera3D>, BridgeError> {
    node_path::any(context.kind, path)?.try_cast::<Camera3D>().map_err(|_| {
        let message = format!("`{path}` is no `Camera3D`");
        let code = "camera_path_does_not_resolve_to_camera3d";
        BridgeError::new(404, code, message).with("field", "camera_node")
    })
}

fn lens(free: &Free) -> Result<frustum::Lens, BridgeError> {
    let (eye, at) = (free.position.vector(), free.look_at.vector());
    let up = free.up.map_or(Vector3::UP, Triple::vector);
    let sound = free.near > 0.0
        && free.near < free.far
        && (1.0..=179.0).contains(&free.fov_degrees)
        && (0.01..=100.0).contains(&free.aspect);
    let ahead = (at - eye).try_normalized();
    let aside = ahead.and_then(|ahead| ahead.cross(up).try_normalized());
    let (Some(ahead), Some(aside)) = (ahead.filter(|_| sound), aside) else {
        let message = "a camera looks elsewhere than along `up`, with 0 < near < far, a field of 1 to \
                       179 degrees and an aspect of 0.01 to 100";
        return Err(refuse::invalid("camera", message));
    };
    Ok(frustum::Lens {
        eye,
        ahead,
        aside,
        above: aside.cross(ahead),
        tangent: (free.fov_degrees.to_radians() / 2.0).tan(),
        aspect: free.aspect,
        near: free.near,
        far: free.far,
    })
}

/// Everything of the space that the view may hold, how much was looked at, and whether that was not all.
fn walk(
    context: &Context,
    frustum: &Frustum,
    camera: Option<&Gd<Camera3D>>,
) -> Result<(Vec<Seen>, usize, bool), BridgeError> {
    let (mut seen, mut open, mut examined) = (vec![], vec![node_path::root(context.kind)?], 0);
    while let Some(node) = open.pop() {
        if examined == MAX_EXAMINED {
            return Ok((seen, examined, true));
        }
        examined += 1;
        open.extend(node.get_children().iter_shared());
        let Ok(node) = node.try_cast::<Node3D>() else { continue };
        let is_the_camera = camera.is_some_and(|camera| node.instance_id() == camera.instance_id());
        if is_the_camera || !node.is_inside_tree() {
            continue;
        }
        let place = node.get_global_transform();
        let bounds =
            node.clone().try_cast::<VisualInstance3D>().ok().map(|body| place * body.get_aabb());
        let (containment, middle) = match bounds {
            Some(bounds) => (frustum.holds_box(bounds), bounds.center()),
            None => (frustum.holds_point(place.origin), place.origin),
        };
        if let Some(containment) = containment {
            let distance = frustum.eye.distance_to(middle);
            seen.push(Seen { node, bounds, containment, distance });
        }
    }
    Ok((seen, examined, false))
}

fn told(context: &Context, seen: &Seen, lines: Option<&mut Sightlines>) -> Value {
    let distance = json::write(&seen.distance.to_variant()).unwrap_or_default();
    let mut told = json!({
        "path": node_path::of(context.kind, &seen.node.clone().upcast()),
        "class": seen.node.get_class().to_string(),
        "containment": seen.containment.word(),
        "tested": if seen.bounds.is_some() { "box" } else { "origin" },
        "visible_in_tree": seen.node.is_visible_in_tree(),
        "distance": distance,
    });
    if let Some(lines) = lines {
        told["sightline"] = lines.sample(&seen.node, seen.bounds);
    }
    told
}
