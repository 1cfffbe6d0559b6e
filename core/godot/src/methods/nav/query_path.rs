//! `nav.queryPath`: a path over the navigation map of the session's world.
//!
//! An engine gives a path to the nearest place that can be reached where the end can't, so a path alone says
//! nothing: it has to end where the map is nearest to the end, and that has to be near.

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::{classes::Engine, prelude::*};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    json,
    methods::{
        Context,
        physics::{self, Point},
    },
    params::{self, Params},
    refuse,
};

/// Most points told.
const MAX_POINTS: usize = 256;

/// How far from the asked end a path may stop: an agent's height above the mesh, or its radius beside it.
const NEAR_FLAT: f32 = 32.0;
const NEAR_DEEP: f32 = 2.0;

/// How far from the map's nearest place the last point may be; both are computed in single precision.
const SAME_PLACE: f32 = 0.01;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    start_point: Point,
    end_point: Point,
    #[serde(default = "physics::first_layer")]
    navigation_layers: u32,
    #[serde(default = "params::yes")]
    optimize: bool,
}

/// A path, and how far its last point is from where it should end.
struct Found {
    points: Vec<Variant>,
    from_nearest: f32,
    from_end: f32,
    near: f32,
}

pub(crate) fn run(context: &Context, params: &Params) -> Answer {
    let args: Args = params::read(params)?;
    let (start, end) = (args.start_point, args.end_point);
    let one = start.dimension() == end.dimension();
    if !one || !start.is_sound() || !end.is_sound() || args.navigation_layers == 0 {
        let message = "a path goes between two points of one dimension, each within a million";
        return Err(refuse::invalid("start_point", message));
    }
    let found = if start.dimension() == 2 { flat(context, &args)? } else { deep(context, &args)? };
    let reachable = !found.points.is_empty()
        && found.from_nearest <= SAME_PLACE * found.near
        && found.from_end <= found.near;
    let told: Vec<Value> = found
        .points
        .iter()
        .take(MAX_POINTS)
        .map(|point| json::write(point).unwrap_or_default())
        .collect();
    Ok(json!({
        "dimension": start.dimension(),
        "reachable": reachable,
        "truncated": told.len() < found.points.len(),
        "points": told,
        "distance_from_end": Some(found.from_end).filter(|_| !found.points.is_empty()),
        "navigation_layers": args.navigation_layers,
        "optimize": args.optimize,
    }))
}

/// Asks the engine's own server by name: both have the same methods, and the bindings hold neither of them to be
/// final.
struct Map {
    server: Gd<Object>,
    id: Variant,
}

impl Map {
    /// The map of the session's world, once it knows of a region.
    fn of(context: &Context, dimension: u8) -> Result<Self, BridgeError> {
        let view = physics::viewport(context.kind)?;
        let id = if dimension == 2 {
            view.find_world_2d().map(|world| world.get_navigation_map())
        } else {
            view.find_world_3d().map(|world| world.get_navigation_map())
        };
        let server = Engine::singleton().get_singleton(&format!("NavigationServer{dimension}D"));
        let (Some(id), Some(server)) = (id, server) else { return Err(no_map()) };
        let mut map = Map { server, id: id.to_variant() };
        let regions = map.ask("map_get_regions", &[]).try_to_relaxed::<AnyArray>();
        let synced = map.ask("map_get_iteration_id", &[]).try_to::<i64>().unwrap_or(0) > 0;
        if !synced || regions.is_ok_and(|regions| regions.is_empty()) {
            return Err(no_map());
        }
        Ok(map)
    }

    fn ask(&mut self, method: &str, more: &[Variant]) -> Variant {
        let arguments: Vec<Variant> = [std::slice::from_ref(&self.id), more].concat();
        self.server.call(method, &arguments)
    }

    fn path(&mut self, args: &Args, ends: [Variant; 2]) -> Variant {
        let [start, end] = ends;
        let layers = args.navigation_layers.to_variant();
        self.ask("map_get_path", &[start, end, args.optimize.to_variant(), layers])
    }

    fn nearest(&mut self, point: Variant) -> Variant {
        self.ask("map_get_closest_point", &[point])
    }
}

fn flat(context: &Context, args: &Args) -> Result<Found, BridgeError> {
    let mut map = Map::of(context, 2)?;
    let (start, end) = (args.start_point.flat(), args.end_point.flat());
    let path = map.path(args, [start.to_variant(), end.to_variant()]);
    let path = path.try_to::<PackedVector2Array>().unwrap_or_default();
    let nearest = map.nearest(end.to_variant()).try_to::<Vector2>().unwrap_or(end);
    let last = path.as_slice().last().copied().unwrap_or(start);
    Ok(Found {
        points: path.as_slice().iter().map(ToGodot::to_variant).collect(),
        from_nearest: last.distance_to(nearest),
        from_end: last.distance_to(end),
        near: NEAR_FLAT,
    })
}

fn deep(context: &Context, args: &Args) -> Result<Found, BridgeError> {
    let mut map = Map::of(context, 3)?;
    let (start, end) = (args.start_point.deep(), args.end_point.deep());
    let path = map.path(args, [start.to_variant(), end.to_variant()]);
    let path = path.try_to::<PackedVector3Array>().unwrap_or_default();
    let nearest = map.nearest(end.to_variant()).try_to::<Vector3>().unwrap_or(end);
    let last = path.as_slice().last().copied().unwrap_or(start);
    Ok(Found {
        points: path.as_slice().iter().map(ToGodot::to_variant).collect(),
        from_nearest: last.distance_to(nearest),
        from_end: last.distance_to(end),
        near: NEAR_DEEP,
    })
}

fn no_map() -> BridgeError {
    let message = "the world has no navigation region that its map knows of";
    let error = refuse::conflict("no_navigation_map", message);
    let reason = "finds a game, whose map is kept up every frame";
    refuse::next_call(error, "runtime_list_sessions", json!({}), reason)
}
