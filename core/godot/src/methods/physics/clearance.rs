//! `physics.clearance`: how far a shape gets on its way before something stops it.

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::{
    classes::{
        BoxShape3D, CapsuleShape2D, CapsuleShape3D, CircleShape2D, PhysicsShapeQueryParameters2D,
        PhysicsShapeQueryParameters3D, RectangleShape2D, Resource, SphereShape3D,
    },
    prelude::*,
};
use serde::Deserialize;
use serde_json::json;

use super::{Point, Space, first_layer};
use crate::{
    json,
    methods::Context,
    params::{self, Params},
    refuse,
};

/// Largest measure of a shape.
const MAX_SIZE: f32 = 100_000.0;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    shape: Shape,
    from: Point,
    to: Point,
    #[serde(default = "first_layer")]
    collision_mask: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
enum Shape {
    Box { size: Point },
    Sphere { radius: f32 },
    Capsule { radius: f32, height: f32 },
}

/// Which part of the way is safe, and where it is no more.
type Fractions = (f32, f32);

pub(crate) fn run(context: &Context, params: &Params) -> Answer {
    let args: Args = params::read(params)?;
    check(&args)?;
    let dimension = args.from.dimension();
    let (safe, unsafe_at) = match Space::of(context.kind, dimension)? {
        Space::Flat(mut space) => {
            let mut query = PhysicsShapeQueryParameters2D::new_gd();
            query.set_shape(&args.shape.flat());
            query.set_transform(Transform2D::from_angle_origin(0.0, args.from.flat()));
            query.set_motion(args.to.flat() - args.from.flat());
            query.set_collision_mask(args.collision_mask);
            let stuck = !space.intersect_shape_ex(&query).max_results(1).done().is_empty();
            if stuck { NOWHERE } else { fractions(&space.cast_motion(&query)) }
        }
        Space::Deep(mut space) => {
            let mut query = PhysicsShapeQueryParameters3D::new_gd();
            query.set_shape(&args.shape.deep());
            query.set_transform(Transform3D::new(Basis::IDENTITY, args.from.deep()));
            query.set_motion(args.to.deep() - args.from.deep());
            query.set_collision_mask(args.collision_mask);
            let stuck = !space.intersect_shape_ex(&query).max_results(1).done().is_empty();
            if stuck { NOWHERE } else { fractions(&space.cast_motion(&query)) }
        }
    };
    let position = if dimension == 2 {
        args.from.flat().lerp(args.to.flat(), safe).to_variant()
    } else {
        args.from.deep().lerp(args.to.deep(), safe).to_variant()
    };
    Ok(json!({
        "clear": safe >= 1.0,
        "safe_fraction": safe,
        "unsafe_fraction": unsafe_at,
        "safe_position": json::write(&position)?,
        "collide_with_areas": false,
        "dimension": dimension,
    }))
}

/// What is in the way where the shape stands is not told by a sweep, which leaves it out.
const NOWHERE: Fractions = (0.0, 0.0);

fn fractions(swept: &PackedFloat32Array) -> Fractions {
    (swept.get(0).unwrap_or(0.0), swept.get(1).unwrap_or(0.0))
}

fn check(args: &Args) -> Result<(), BridgeError> {
    let one = args.from.dimension() == args.to.dimension();
    if !one || !args.from.is_sound() || !args.to.is_sound() || args.collision_mask == 0 {
        let message = "a sweep goes between two points of one dimension, each within a million, \
                       and has a mask";
        return Err(refuse::invalid("from", message));
    }
    let fits = |size: f32| size > 0.0 && size <= MAX_SIZE;
    let sound = match &args.shape {
        Shape::Box { size } => {
            let deep = size.deep();
            size.dimension() == args.from.dimension()
                && fits(deep.x)
                && fits(deep.y)
                && (size.dimension() == 2 || fits(deep.z))
        }
        Shape::Sphere { radius } => fits(*radius),
        Shape::Capsule { radius, height } => {
            fits(*radius) && fits(*height) && *height >= 2.0 * radius
        }
    };
    if !sound {
        let message = format!(
            "measures are above 0 and at most {MAX_SIZE}, a box has the dimension of the sweep, and a \
             capsule is at least twice as high as its radius"
        );
        return Err(refuse::invalid("shape", message));
    }
    Ok(())
}

impl Shape {
    fn flat(&self) -> Gd<Resource> {
        match self {
            Shape::Box { size } => {
                let mut shape = RectangleShape2D::new_gd();
                shape.set_size(size.flat());
                shape.upcast()
            }
            Shape::Sphere { radius } => {
                let mut shape = CircleShape2D::new_gd();
                shape.set_radius(*radius);
                shape.upcast()
            }
            Shape::Capsule { radius, height } => {
                let mut shape = CapsuleShape2D::new_gd();
                shape.set_radius(*radius);
                shape.set_height(*height);
                shape.upcast()
            }
        }
    }

    fn deep(&self) -> Gd<Resource> {
        match self {
            Shape::Box { size } => {
                let mut shape = BoxShape3D::new_gd();
                shape.set_size(size.deep());
                shape.upcast()
            }
            Shape::Sphere { radius } => {
                let mut shape = SphereShape3D::new_gd();
                shape.set_radius(*radius);
                shape.upcast()
            }
            Shape::Capsule { radius, height } => {
                let mut shape = CapsuleShape3D::new_gd();
                shape.set_radius(*radius);
                shape.set_height(*height);
                shape.upcast()
            }
        }
    }
}
