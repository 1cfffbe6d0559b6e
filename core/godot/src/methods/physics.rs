//! What is in the way: rays through the space of an edited scene or a running game.

pub(crate) mod clearance;
pub(crate) mod raycast;
pub(crate) mod raycast_batch;
pub(crate) mod simulate_step;

use didi_wire::{BridgeError, SessionKind};
use godot::{
    classes::{
        CollisionObject2D, CollisionObject3D, PhysicsDirectSpaceState2D, PhysicsDirectSpaceState3D,
        PhysicsRayQueryParameters2D, PhysicsRayQueryParameters3D, Viewport,
    },
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{json, methods::Context, node_path, refuse};

/// Farthest coordinate.
const MAX_COORDINATE: f32 = 1_000_000.0;

/// A point of two or three dimensions.
#[derive(Deserialize, Clone, Copy)]
#[serde(deny_unknown_fields)]
pub(crate) struct Point {
    x: f32,
    y: f32,
    z: Option<f32>,
}

impl Point {
    pub(super) fn dimension(self) -> u8 {
        if self.z.is_some() { 3 } else { 2 }
    }

    pub(super) fn flat(self) -> Vector2 {
        Vector2::new(self.x, self.y)
    }

    pub(super) fn deep(self) -> Vector3 {
        Vector3::new(self.x, self.y, self.z.unwrap_or_default())
    }

    /// Whether every coordinate is within bounds.
    pub(super) fn is_sound(self) -> bool {
        [self.x, self.y, self.z.unwrap_or_default()].iter().all(|one| one.abs() <= MAX_COORDINATE)
    }
}

/// One ray.
#[derive(Deserialize, Clone, Copy)]
#[serde(deny_unknown_fields)]
pub(super) struct Ray {
    pub(super) from: Point,
    to: Point,
    #[serde(default = "first_layer")]
    collision_mask: u32,
}

pub(super) fn first_layer() -> u32 {
    1
}

impl Ray {
    /// Refuses a ray of no length, of two dimensions at once, or out of bounds.
    pub(super) fn check(self) -> Result<(), BridgeError> {
        let same = self.from.deep() == self.to.deep();
        let sound = self.from.is_sound() && self.to.is_sound();
        if same
            || !sound
            || self.from.dimension() != self.to.dimension()
            || self.collision_mask == 0
        {
            let message = "a ray goes between two different points of one dimension, \
                           each within a million, and has a mask";
            return Err(refuse::invalid("from", message));
        }
        Ok(())
    }

    /// What the ray meets first.
    pub(super) fn cast(self, context: &Context, space: &mut Space) -> Value {
        let hit = match space {
            Space::Flat(space) => self.flat(space),
            Space::Deep(space) => self.deep(space),
        };
        told(context, self.from.dimension(), &hit)
    }

    fn flat(self, space: &mut Gd<PhysicsDirectSpaceState2D>) -> VarDictionary {
        let mut query = PhysicsRayQueryParameters2D::new_gd();
        query.set_from(self.from.flat());
        query.set_to(self.to.flat());
        query.set_collision_mask(self.collision_mask);
        query.set_collide_with_areas(true);
        query.set_hit_from_inside(false);
        space.intersect_ray(&query)
    }

    fn deep(self, space: &mut Gd<PhysicsDirectSpaceState3D>) -> VarDictionary {
        let mut query = PhysicsRayQueryParameters3D::new_gd();
        query.set_from(self.from.deep());
        query.set_to(self.to.deep());
        query.set_collision_mask(self.collision_mask);
        query.set_collide_with_areas(true);
        query.set_hit_from_inside(false);
        query.set_hit_back_faces(true);
        space.intersect_ray(&query)
    }
}

/// What is looked through: the bodies of a plane, or those of a space.
pub(super) enum Space {
    Flat(Gd<PhysicsDirectSpaceState2D>),
    Deep(Gd<PhysicsDirectSpaceState3D>),
}

impl Space {
    /// The one of 2 or 3 dimensions, as it is now.
    ///
    /// # Errors
    /// `no_space_state` (409) where the session has none.
    pub(super) fn of(kind: SessionKind, dimension: u8) -> Result<Self, BridgeError> {
        let viewport = viewport(kind)?;
        let space = if dimension == 2 {
            let world = viewport.find_world_2d();
            world.and_then(|world| world.get_direct_space_state()).map(Space::Flat)
        } else {
            let world = viewport.find_world_3d();
            world.and_then(|world| world.get_direct_space_state()).map(Space::Deep)
        };
        space.ok_or_else(no_space)
    }
}

/// The view whose world is looked through.
pub(super) fn viewport(kind: SessionKind) -> Result<Gd<Viewport>, BridgeError> {
    match kind {
        SessionKind::Game => Ok(node_path::window()?.upcast()),
        SessionKind::Editor => node_path::edited_root()?.get_viewport().ok_or_else(no_space),
    }
}

pub(super) fn no_space() -> BridgeError {
    let error = refuse::conflict("no_space_state", "there is no space to look through now");
    refuse::next_call(error, "runtime_list_sessions", json!({}), "finds a game, which has one")
}

fn told(context: &Context, dimension: u8, hit: &VarDictionary) -> Value {
    if hit.is_empty() {
        return json!({ "dimension": dimension, "hit": false });
    }
    let member = |name: &str| hit.get(name).unwrap_or_default();
    let collider = member("collider").try_to::<Gd<Object>>().ok();
    let node = collider.clone().and_then(|object| object.try_cast::<Node>().ok());
    json!({
        "dimension": dimension,
        "hit": true,
        "collider_path": node.as_ref().map(|node| node_path::of(context.kind, node)),
        "collider_class": collider.map(|object| object.get_class().to_string()),
        "position": json::write(&member("position")).unwrap_or_default(),
        "normal": json::write(&member("normal")).unwrap_or_default(),
        "collision_layer": node.and_then(layer),
    })
}

fn layer(node: Gd<Node>) -> Option<u32> {
    match node.try_cast::<CollisionObject2D>() {
        Ok(flat) => Some(flat.get_collision_layer()),
        Err(node) => {
            node.try_cast::<CollisionObject3D>().ok().map(|deep| deep.get_collision_layer())
        }
    }
}
