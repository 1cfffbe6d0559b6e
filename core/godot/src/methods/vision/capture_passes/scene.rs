//! What of the scene is painted in a pass.

use didi_wire::{BridgeError, SessionKind};
use godot::{
    classes::{Camera3D, GeometryInstance3D, GridMap},
    prelude::*,
};
use serde_json::Value;

use super::{
    entry,
    palette::{CAPACITY, Seen},
};
use crate::node_path;

/// Most nodes that are looked at.
const MAX_EXAMINED: usize = 4096;
/// Most nodes that can't be painted that are named.
const MAX_NAMED: usize = 16;

/// The bodies of a scene that are drawn.
pub(super) struct Scene {
    /// In the order of the walk; the place is the segment's number.
    pub(super) bodies: Vec<Gd<GeometryInstance3D>>,
    /// What draws and has no one body to paint.
    others: Vec<Gd<Node>>,
    examined: usize,
    cut: bool,
}

impl Scene {
    /// Everything visible below the edited scene, or in a game.
    ///
    /// # Errors
    /// `no_edited_scene`.
    pub(super) fn walk(kind: SessionKind) -> Result<Self, BridgeError> {
        let mut scene = Scene { bodies: vec![], others: vec![], examined: 0, cut: false };
        let mut open = vec![node_path::root(kind)?];
        while let Some(node) = open.pop() {
            if scene.examined == MAX_EXAMINED {
                scene.cut = true;
                break;
            }
            scene.examined += 1;
            let children: Vec<Gd<Node>> = node.get_children().iter_shared().collect();
            open.extend(children.into_iter().rev());
            scene.add(node);
        }
        Ok(scene)
    }

    fn add(&mut self, node: Gd<Node>) {
        match node.try_cast::<GeometryInstance3D>() {
            Ok(body) if body.is_visible_in_tree() => self.bodies.push(body),
            Ok(_) => {}
            Err(node) => {
                if let Ok(grid) = node.try_cast::<GridMap>()
                    && grid.is_visible_in_tree()
                {
                    self.others.push(grid.upcast());
                }
            }
        }
    }

    /// How many nodes are painted.
    pub(super) fn painted(&self) -> usize {
        self.bodies.len()
    }

    /// How many were looked at.
    pub(super) fn examined(&self) -> usize {
        self.examined
    }

    /// Whether there are more.
    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }

    /// Whether there are more that can't be painted than are named.
    pub(super) fn names_are_cut(&self) -> bool {
        self.others.len() > MAX_NAMED
    }

    /// Nodes that are drawn in every pass as they always are.
    pub(super) fn others(&self, kind: SessionKind) -> Vec<String> {
        let there = self.others.iter().filter(|node| node.is_instance_valid());
        there.take(MAX_NAMED).map(|node| node_path::of(kind, node)).collect()
    }

    /// How far from the camera the last corner of what it may see is.
    pub(super) fn farthest(&self, camera: &Gd<Camera3D>) -> Option<f32> {
        let to_camera = camera.get_global_transform().affine_inverse();
        let depths = self.bodies.iter().flat_map(|body| {
            let bounds = to_camera * body.get_global_transform() * body.get_aabb();
            [-bounds.position.z, -bounds.end().z]
        });
        depths.max_by(f32::total_cmp).filter(|far| *far > 0.0).map(|far| far.min(camera.get_far()))
    }
}

/// The entries of the segments that are seen.
pub(super) fn segments(scene: &Scene, seen: &Seen, kind: SessionKind) -> Vec<Value> {
    let painted = scene.bodies.iter().take(CAPACITY).zip(&seen.segments).enumerate();
    let visible =
        painted.filter(|(_, (body, segment))| segment.pixels > 0 && body.is_instance_valid());
    let told = visible.map(|(id, (body, segment))| {
        let path = node_path::of(kind, &body.clone().upcast());
        entry(id, &path, &body.get_class().to_string(), segment)
    });
    told.collect()
}
