//! `viewport_capture_passes`: the 3D scene drawn once a pass: colour, depth, normals, segmentation.
//!
//! Only an engine draws. Without one there is no picture that would not be a lie, so the call is refused.
//!
//! Spec: P-55, pictures.

use didi_plugin_api::prelude::*;

const METHOD: &str = "vision.capturePasses";
/// A headless engine draws nothing.
pub(crate) const HEADLESS_ENGINE: Code = Code::new(409, "headless_engine");

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 4), extend("uniqueItems" = true))]
    passes: Vec<Pass>,
    /// Of an editor.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    camera_identifier: Option<String>,
    /// Distance that is white.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1_000_000))]
    depth_far: Option<f64>,
    #[serde(default)]
    select_main_screen: bool,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Pass {
    Color,
    Depth,
    Normal,
    Segmentation,
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "viewport_capture_passes",
        "Draws the 3D scene once a pass: color, depth, normal, segmentation.",
        Effects::READS,
        run,
    )
    .modes(&[Mode::Live, Mode::OfflineFallback])
    .live(&[SessionKind::Editor, SessionKind::Game], &[METHOD])
    .bounded("a 4,096-node walk and the segmentation palette")
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::NOT_FOUND,
        codes::NO_EDITED_SCENE,
        codes::CONFLICT,
        codes::SESSION_KIND_REJECTED,
        HEADLESS_ENGINE,
    ])
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    if args.depth_far.is_some_and(|far| far <= 0.0) {
        let message = "`depth_far` is a distance, which is above 0";
        return Err(Refusal::invalid("depth_far", message));
    }
    if ctx.mode() == Mode::Live {
        return ctx.answer_of_engine(METHOD, args);
    }
    let message = "passes are drawn by an engine, and none is attached";
    Err(Refusal::new(codes::NOT_CONNECTED, message)
        .next_call("runtime_list_sessions", "finds the engines that can be attached"))
}
