//! `spatial_query_raycast_batch`: what many rays meet, all against one state of the world.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{
    BOTH, codes,
    space::{Ray, SPATIAL_CODES},
};

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// All 2D or all 3D.
    #[schemars(length(min = 1, max = 256))]
    rays: Vec<Ray>,
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "spatial_query_raycast_batch",
        "Casts up to 256 rays through one state of the physics world.",
        Effects::READS,
        BOTH,
        "physics.raycastBatch",
    )
    .checked(check)
    .refuses(SPATIAL_CODES)
}

fn check(args: &Args) -> Result<(), Refusal> {
    let dimension = args.rays.first().map(|ray| ray.from.dimension());
    for (index, ray) in args.rays.iter().enumerate() {
        let fault = match ray.check() {
            Err(refusal) => refusal.message,
            Ok(()) if Some(ray.from.dimension()) != dimension => {
                "all rays have one dimension".into()
            }
            Ok(()) => continue,
        };
        let message = format!("`rays[{index}]`: {fault}");
        return Err(Refusal::new(codes::INVALID_ARGUMENTS, message)
            .with("index", index)
            .field("rays"));
    }
    Ok(())
}
