//! `spatial_query_clearance`: how far a shape gets before something is in its way.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{
    BOTH,
    space::{Point, SPATIAL_CODES, check_pair, first_layer},
};

/// Largest size of a shape.
const MOST: f64 = 100_000.0;

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// `box {size}`, `sphere {radius}`, `capsule {radius, height}`.
    shape: Shape,
    from: Point,
    /// `from` again asks whether it fits.
    to: Point,
    #[serde(default = "first_layer")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    collision_mask: u32,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Shape {
    kind: Form,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<Size>,
    #[serde(skip_serializing_if = "Option::is_none")]
    radius: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Form {
    Box,
    Sphere,
    Capsule,
}

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Size {
    x: f64,
    y: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    z: Option<f64>,
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "spatial_query_clearance",
        "Sweeps a box, sphere or capsule through the physics world and tells how far it gets.",
        Effects::READS,
        BOTH,
        "physics.clearance",
    )
    .checked(check)
    .refuses(SPATIAL_CODES)
}

fn check(args: &Args) -> Result<(), Refusal> {
    check_pair(["from", "to"], [args.from, args.to])?;
    args.shape.check(args.from.dimension())
}

impl Shape {
    /// Each form has its own measures, each above 0.
    fn check(&self, dimension: u8) -> Result<(), Refusal> {
        let given = (self.size.is_some(), self.radius.is_some(), self.height.is_some());
        let fits = match self.kind {
            Form::Box => given == (true, false, false),
            Form::Sphere => given == (false, true, false),
            Form::Capsule => given == (false, true, true),
        };
        if !fits {
            let message =
                "a box has a `size`, a sphere a `radius`, a capsule a `radius` and a `height`";
            return Err(Refusal::invalid("shape", message));
        }
        let size = self.size.iter().flat_map(|size| [Some(size.x), Some(size.y), size.z]);
        let measures = size.chain([self.radius, self.height]).flatten();
        if measures.into_iter().any(|one| !(one > 0.0 && one <= MOST)) {
            return Err(Refusal::invalid(
                "shape",
                format!("its measures are above 0 and at most {MOST}"),
            ));
        }
        if self.size.is_some_and(|size| size.z.is_some() != (dimension == 3)) {
            return Err(Refusal::invalid(
                "shape",
                "its `size` has the dimension of `from` and `to`",
            ));
        }
        if self.height.zip(self.radius).is_some_and(|(height, radius)| height < 2.0 * radius) {
            return Err(Refusal::invalid(
                "shape",
                "a capsule is at least twice as high as its radius",
            ));
        }
        Ok(())
    }
}
