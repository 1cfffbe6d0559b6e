//! A view as six planes that face outward, and whether a box or a point lies between them.

use didi_wire::BridgeError;
use godot::{classes::Camera3D, prelude::*};
use serde_json::{Value, json};

use crate::{json, refuse};

/// How much of something lies in the view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Containment {
    Inside,
    Intersecting,
}

impl Containment {
    pub(super) fn word(self) -> &'static str {
        match self {
            Containment::Inside => "inside",
            Containment::Intersecting => "intersecting",
        }
    }
}

/// A lens and where it stands; the three directions have the length 1 and stand upright on each other.
#[derive(Debug)]
pub(super) struct Lens {
    pub(super) eye: Vector3,
    pub(super) ahead: Vector3,
    pub(super) aside: Vector3,
    pub(super) above: Vector3,
    /// Of half the vertical field.
    pub(super) tangent: f32,
    pub(super) aspect: f32,
    pub(super) near: f32,
    pub(super) far: f32,
}

/// The view of a camera.
pub(super) struct Frustum {
    pub(super) eye: Vector3,
    planes: Vec<Plane>,
    /// What is told of it.
    about: Value,
}

impl Frustum {
    /// The engine's own planes of a camera in a scene, whatever its projection.
    pub(super) fn of_camera(camera: &Gd<Camera3D>) -> Result<Self, BridgeError> {
        let planes: Vec<Plane> = camera.get_frustum().iter_shared().collect();
        if planes.len() < 6 {
            return Err(refuse::engine(
                "frustum_not_read",
                "the engine gave no view of the camera",
            ));
        }
        let transform = camera.get_camera_transform();
        let eye = transform.origin;
        let about = json!({
            "position": place(eye),
            "direction": place(-transform.basis.col_c().normalized_or_zero()),
            "fov_degrees": json::write(&camera.get_fov().to_variant()).unwrap_or_default(),
            "near": json::write(&camera.get_near().to_variant()).unwrap_or_default(),
            "far": json::write(&camera.get_far().to_variant()).unwrap_or_default(),
        });
        Ok(Frustum { eye, planes, about })
    }

    /// The view through a lens that stands in no scene.
    pub(super) fn of_lens(lens: &Lens) -> Self {
        let Lens { eye, ahead, tangent, aspect, near, far, .. } = *lens;
        let number = |one: f32| json::write(&one.to_variant()).unwrap_or_default();
        let about = json!({
            "position": place(eye),
            "direction": place(ahead),
            "fov_degrees": number(2.0 * tangent.atan().to_degrees()),
            "near": number(near),
            "far": number(far),
            "aspect": number(aspect),
        });
        Frustum { eye, planes: Self::planes(lens), about }
    }

    fn planes(lens: &Lens) -> Vec<Plane> {
        let Lens { eye, ahead, aside, above, tangent, aspect, near, far } = *lens;
        let side = |direction: Vector3, tangent: f32| {
            let normal = (direction - ahead * tangent).normalized();
            Plane::new(normal, normal.dot(eye))
        };
        vec![
            Plane::new(-ahead, -ahead.dot(eye + ahead * near)),
            Plane::new(ahead, ahead.dot(eye + ahead * far)),
            side(-aside, tangent * aspect),
            side(aside, tangent * aspect),
            side(-above, tangent),
            side(above, tangent),
        ]
    }

    pub(super) fn told(&self) -> Value {
        self.about.clone()
    }

    pub(super) fn holds_point(&self, point: Vector3) -> Option<Containment> {
        let outside = self.planes.iter().any(|plane| plane.distance_to(point) > 0.0);
        (!outside).then_some(Containment::Inside)
    }

    /// A box is out of view when all of it is beyond one plane.
    pub(super) fn holds_box(&self, bounds: Aabb) -> Option<Containment> {
        let corners = corners(bounds);
        let mut inside = true;
        for plane in &self.planes {
            let beyond = corners.iter().filter(|corner| plane.distance_to(**corner) > 0.0).count();
            if beyond == corners.len() {
                return None;
            }
            inside &= beyond == 0;
        }
        Some(if inside { Containment::Inside } else { Containment::Intersecting })
    }
}

/// The eight corners of a box.
pub(super) fn corners(bounds: Aabb) -> [Vector3; 8] {
    let (low, size) = (bounds.position, bounds.size);
    let has = |corner: usize, axis: usize| if corner >> axis & 1 == 1 { 1.0 } else { 0.0 };
    std::array::from_fn(|corner| {
        let share = Vector3::new(has(corner, 0), has(corner, 1), has(corner, 2));
        low + size * share
    })
}

fn place(point: Vector3) -> Value {
    json::write(&point.to_variant()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
