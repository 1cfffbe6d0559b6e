//! `physics_raycast_query`: what one ray meets first.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{
    BOTH,
    space::{Ray, SPATIAL_CODES},
};

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Ray>(
        "physics_raycast_query",
        "Casts a ray through the 2D or 3D physics world and tells what it meets first.",
        Effects::READS,
        BOTH,
        "physics.raycast",
    )
    .checked(|ray: &Ray| ray.check())
    .refuses(SPATIAL_CODES)
}
