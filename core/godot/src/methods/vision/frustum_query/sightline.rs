//! Rays from an eye to what it may see: how many of them get there.

use didi_wire::{BridgeError, SessionKind};
use godot::{
    classes::{PhysicsDirectSpaceState3D, PhysicsRayQueryParameters3D},
    prelude::*,
};
use serde_json::{Value, json};

use super::frustum::corners;
use crate::methods::physics::{self, Space};

/// Most rays of one call.
const MAX_RAYS: usize = 512;

/// Corners are looked at a little inside the box, as nothing else may be in the way there.
const INSIDE: f32 = 0.9;

/// Rays of one call.
pub(super) struct Sightlines {
    space: Gd<PhysicsDirectSpaceState3D>,
    eye: Vector3,
    mask: u32,
    left: usize,
    spent: bool,
}

impl Sightlines {
    pub(super) fn new(kind: SessionKind, eye: Vector3, mask: u32) -> Result<Self, BridgeError> {
        let Space::Deep(space) = Space::of(kind, 3)? else { return Err(physics::no_space()) };
        Ok(Sightlines { space, eye, mask, left: MAX_RAYS, spent: false })
    }

    /// Whether a node was left without rays.
    pub(super) fn is_spent(&self) -> bool {
        self.spent
    }

    /// Rays to the middle of a node and to its corners; null where there are no rays left for it.
    pub(super) fn sample(&mut self, node: &Gd<Node3D>, bounds: Option<Aabb>) -> Value {
        let targets: Vec<Vector3> = match bounds {
            Some(bounds) => {
                let middle = bounds.center();
                let near = corners(bounds).map(|corner| middle + (corner - middle) * INSIDE);
                [middle].into_iter().chain(near).collect()
            }
            None => vec![node.get_global_position()],
        };
        if targets.len() > self.left {
            self.spent = true;
            return Value::Null;
        }
        self.left -= targets.len();
        let clear = targets.iter().filter(|target| self.gets_to(node, **target)).count();
        let status = match clear {
            0 => "blocked",
            _ if clear == targets.len() => "clear",
            _ => "partial",
        };
        json!({ "status": status, "samples": targets.len(), "samples_clear": clear })
    }

    /// Whether nothing is in the way, or only what the node is a part of or what is a part of it.
    fn gets_to(&mut self, node: &Gd<Node3D>, target: Vector3) -> bool {
        let mut query = PhysicsRayQueryParameters3D::new_gd();
        query.set_from(self.eye);
        query.set_to(target);
        query.set_collision_mask(self.mask);
        let hit = self.space.intersect_ray(&query);
        let Some(collider) = hit.get("collider") else { return true };
        let Ok(collider) = collider.try_to::<Gd<Node>>() else { return false };
        let node: Gd<Node> = node.clone().upcast();
        collider == node || collider.is_ancestor_of(&node) || node.is_ancestor_of(&collider)
    }
}
