//! `viewport_set_camera_transform`: places a camera of the open scene.
//!
//! Spec: P-55, pictures.

use didi_plugin_api::prelude::*;

use crate::EDITOR;

const METHOD: &str = "vision.setCameraTransform";

/// Farthest place, and widest turn in degrees.
const FAR: f64 = 1_000_000.0;
const MOST_DEGREES: f64 = 360_000.0;

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 1024))]
    camera_path: String,
    position: Triple,
    #[serde(skip_serializing_if = "Option::is_none")]
    rotation_degrees: Option<Triple>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 179))]
    fov: Option<f64>,
}

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Triple {
    x: f64,
    y: f64,
    z: f64,
}

impl Triple {
    fn is_within(self, most: f64) -> bool {
        [self.x, self.y, self.z].iter().all(|one| one.abs() <= most)
    }
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "viewport_set_camera_transform",
        "Places a Camera3D of the open scene. Undoable.",
        Effects::CHANGES,
        EDITOR,
        METHOD,
    )
    .probed(METHOD, |args: &Args| &args.camera_path)
    .checked(check)
    .leaves(&[Work::Save])
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::NO_EDITED_SCENE,
        codes::NOT_FOUND,
        codes::NODE_NOT_OWNED,
        codes::NO_CAMERA,
    ])
}

fn check(args: &Args) -> Result<(), Refusal> {
    if !args.position.is_within(FAR) {
        return Err(Refusal::invalid(
            "position",
            format!("`position` lies farther out than {FAR}"),
        ));
    }
    if args.rotation_degrees.is_some_and(|turn| !turn.is_within(MOST_DEGREES)) {
        let message = format!("`rotation_degrees` is within {MOST_DEGREES}");
        return Err(Refusal::invalid("rotation_degrees", message));
    }
    Ok(())
}
