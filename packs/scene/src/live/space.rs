//! Points, rays and shapes as arguments of the spatial tools.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::codes;

/// Farthest coordinate.
const FAR: f64 = 1_000_000.0;

/// There is no space to look through.
pub(super) const NO_SPACE_STATE: Code = Code::new(409, "no_space_state");

/// What every spatial tool may be refused with.
pub(super) const SPATIAL_CODES: &[Code] =
    &[codes::INVALID_ARGUMENTS, codes::NOT_CONNECTED, codes::NO_EDITED_SCENE, NO_SPACE_STATE];

/// A point of a plane.
#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Flat {
    x: f64,
    y: f64,
}

/// A point of a plane, or with `z` of a space.
#[derive(Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Point {
    x: f64,
    y: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    z: Option<f64>,
}

impl Point {
    /// 2 or 3.
    pub(super) fn dimension(self) -> u8 {
        if self.z.is_some() { 3 } else { 2 }
    }

    fn is_within(self) -> bool {
        [self.x, self.y, self.z.unwrap_or(0.0)].iter().all(|one| one.abs() <= FAR)
    }
}

/// Refuses two points that are not of one dimension, or that lie too far out.
pub(super) fn check_pair(names: [&str; 2], ends: [Point; 2]) -> Result<(), Refusal> {
    for (name, end) in names.iter().zip(ends) {
        if !end.is_within() {
            return Err(Refusal::invalid(name, format!("`{name}` lies farther out than {FAR}")));
        }
    }
    if ends[0].dimension() != ends[1].dimension() {
        let message =
            format!("`{}` and `{}` have one dimension: both `z`, or none", names[0], names[1]);
        return Err(Refusal::invalid(names[1], message));
    }
    Ok(())
}

/// One ray.
#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Ray {
    pub(super) from: Point,
    to: Point,
    #[serde(default = "first_layer")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    collision_mask: u32,
}

impl Ray {
    /// Refuses a ray of no length, and what [`check_pair`] refuses.
    pub(super) fn check(self) -> Result<(), Refusal> {
        check_pair(["from", "to"], [self.from, self.to])?;
        if self.from == self.to {
            return Err(Refusal::invalid("to", "a ray ends elsewhere than it begins"));
        }
        Ok(())
    }
}

pub(super) fn first_layer() -> u32 {
    1
}
