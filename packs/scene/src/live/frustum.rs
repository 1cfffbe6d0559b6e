//! `spatial_query_frustum`: what a camera has in view.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::{prelude::*, records::Kind};

use super::{
    BOTH, codes,
    space::{NO_SPACE_STATE, first_layer},
};

/// Farthest coordinate, and farthest plane.
const FAR: f64 = 1_000_000.0;

/// A camera that stands in no scene.
const CAMERA: &[Kind] = &[(
    "",
    &[
        ("position", Rule::Point3(FAR), true),
        ("look_at", Rule::Point3(FAR), true),
        ("fov_degrees", Rule::Number(1.0, 179.0), true),
        ("near", Rule::Number(f64::MIN_POSITIVE, FAR), true),
        ("far", Rule::Number(f64::MIN_POSITIVE, FAR), true),
        ("aspect", Rule::Number(0.01, 100.0), true),
        ("up", Rule::Point3(FAR), false),
    ],
)];

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    camera_node: Option<String>,
    /// Or `{position, look_at, fov_degrees, near, far, aspect, up}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    camera: Option<Record>,
    /// Casts rays to each node.
    #[serde(default)]
    sightline: bool,
    /// Of those rays.
    #[serde(default = "first_layer")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    collision_mask: u32,
    #[serde(default = "some")]
    #[schemars(range(min = 1, max = 256))]
    max_results: u32,
}

fn some() -> u32 {
    64
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "spatial_query_frustum",
        "Lists the 3D nodes in a camera's view, nearest first, and on demand what hides them.",
        Effects::READS,
        BOTH,
        "vision.frustumQuery",
    )
    .bounded("max_results and a 40,000-node scan; 512 sightline rays")
    .checked(check)
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::NO_EDITED_SCENE,
        codes::NOT_FOUND,
        codes::NO_CAMERA,
        NO_SPACE_STATE,
    ])
}

fn check(args: &Args) -> Result<(), Refusal> {
    let camera = match (&args.camera_node, &args.camera) {
        (Some(_), None) => return Ok(()),
        (None, Some(camera)) => camera,
        _ => {
            let message = "exactly one of `camera_node` and `camera` is needed";
            return Err(Refusal::invalid("camera_node", message));
        }
    };
    records::check("camera", "", CAMERA, std::slice::from_ref(camera))?;
    let number = |name: &str| camera.0[name].as_f64();
    if number("near") >= number("far") {
        return Err(Refusal::invalid("camera", "`near` is less than `far`"));
    }
    if camera.0["position"] == camera.0["look_at"] {
        return Err(Refusal::invalid("camera", "`look_at` is another place than `position`"));
    }
    Ok(())
}
