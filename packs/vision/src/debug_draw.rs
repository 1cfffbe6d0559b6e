//! `viewport_toggle_debug_draw`: collision and navigation hints of games that the editor starts from now on.
//!
//! Spec: P-55, pictures.

use didi_plugin_api::prelude::*;

use crate::EDITOR;

const METHOD: &str = "vision.toggleDebugDraw";

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(skip_serializing_if = "Option::is_none")]
    collision_shapes: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    navigation_mesh: Option<bool>,
    // Taken and not honoured: only a game that runs draws so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = [false]))]
    wireframe: Option<bool>,
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "viewport_toggle_debug_draw",
        "Sets whether games that the editor starts draw collision shapes and navigation meshes.",
        Effects::CHANGES,
        EDITOR,
        METHOD,
    )
    .probed(METHOD, |_: &Args| "the editor's debug options")
    .checked(|args: &Args| {
        if args.collision_shapes.is_none() && args.navigation_mesh.is_none() {
            let message = "one of `collision_shapes` and `navigation_mesh` is needed";
            return Err(Refusal::invalid("collision_shapes", message));
        }
        Ok(())
    })
    .refuses(&[codes::INVALID_ARGUMENTS, codes::NOT_CONNECTED])
}
