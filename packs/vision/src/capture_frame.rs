//! `viewport_capture_frame`: a picture of a viewport, or a stand-in that says what it is.
//!
//! Without an engine there is no frame. The stand-in is a plain grid of the asked size, so that a client's path
//! for pictures can be tried; it never passes for a frame: `is_live_frame` is false and the grid shows
//! nothing of the project.
//!
//! Spec: P-55, pictures.

use didi_plugin_api::prelude::*;

use crate::capture_passes::HEADLESS_ENGINE;

/// Bounds and default of the stand-in's sides, in pixels.
const LEAST_SIDE: u32 = 16;
const MOST_SIDE: u32 = 1024;
const DEFAULT_SIZE: Size = Size { width: 256, height: 192 };

/// Side of a grid cell, in pixels.
const CELL: u32 = 16;

/// The viewports that an editor has.
const CAMERAS: [&str; 8] = [
    "active_editor_view",
    "editor_3d",
    "active_editor_view_3d",
    "3d",
    "editor_2d",
    "active_editor_view_2d",
    "2d",
    "canvas_item",
];

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Such as `editor_3d`.
    #[serde(default = "default_camera")]
    #[schemars(length(max = 64))]
    camera_identifier: String,
    // Size without an engine.
    #[serde(default)]
    resolution: Option<Size>,
    // Reserved: taken and not honoured.
    #[serde(default)]
    #[schemars(length(max = 16), inner(length(max = 64)))]
    render_debug_flags: Vec<String>,
    /// Only this branch.
    #[serde(default)]
    #[schemars(length(max = 1024))]
    node_isolation_path: String,
    #[serde(default)]
    isolation_background: Background,
    // Shows the right main screen meanwhile.
    #[serde(default)]
    select_main_screen: bool,
}

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Size {
    #[schemars(range(min = LEAST_SIDE, max = MOST_SIDE))]
    width: u32,
    #[schemars(range(min = LEAST_SIDE, max = MOST_SIDE))]
    height: u32,
}

#[derive(Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Background {
    #[default]
    Original,
    Transparent,
}

pub(crate) fn default_camera() -> String {
    CAMERAS[0].into()
}

#[derive(Serialize, JsonSchema)]
struct Out {
    is_live_frame: bool,
    #[schemars(default)]
    status: String,
    #[schemars(default)]
    source: String,
    #[schemars(default)]
    resolution: Value,
    #[schemars(default)]
    camera_identifier: String,
    #[schemars(default)]
    message: String,
    #[schemars(default)]
    offline_reason: String,
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "viewport_capture_frame",
        "Takes a picture of the editor's or game's viewport. Without an engine: a plain grid, no frame.",
        Effects::READS,
        run,
    )
    .core()
    .legacy("capture_viewport")
    .modes(&[Mode::Live, Mode::OfflineFallback])
    .live(&[SessionKind::Editor, SessionKind::Game], &["vision.captureViewport"])
    .output::<Out>()
    .refuses(&[
        codes::NOT_FOUND,
        codes::NOT_CONNECTED,
        codes::CONFLICT,
        codes::SESSION_KIND_REJECTED,
        codes::RESPONSE_TOO_LARGE,
        HEADLESS_ENGINE,
    ])
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    if ctx.mode() == Mode::Live {
        return ctx.answer_of_engine("vision.captureViewport", &args);
    }
    if !CAMERAS.contains(&args.camera_identifier.as_str()) {
        let message = format!("no viewport `{}`; there are {}", args.camera_identifier, quoted());
        return Err(Refusal::new(codes::NOT_FOUND, message).field("camera_identifier"));
    }
    if !args.node_isolation_path.is_empty() {
        let message = "one branch alone can be captured by an attached editor only";
        return Err(Refusal::new(codes::NOT_CONNECTED, message)
            .retry_with(json!({"node_isolation_path": ""})));
    }
    let size = args.resolution.unwrap_or(DEFAULT_SIZE);
    ctx.attach("image/png", &grid(size)?)?;
    Answer::of(Out {
        is_live_frame: false,
        status: "synthesized".into(),
        source: "synthesized_grid_preview".into(),
        resolution: json!(size),
        camera_identifier: args.camera_identifier,
        message: "the picture is a plain grid and shows nothing of the project".into(),
        offline_reason: "no engine is attached".into(),
    })
}

fn quoted() -> String {
    CAMERAS.map(|name| format!("`{name}`")).join(", ")
}

/// A grid of two greys as a PNG.
fn grid(size: Size) -> Result<Vec<u8>, Refusal> {
    const DARK: u8 = 72;
    const LIGHT: u8 = 104;
    let pixels: Vec<u8> = (0..size.height)
        .flat_map(|y| (0..size.width).map(move |x| (x / CELL + y / CELL) % 2))
        .map(|odd| if odd == 0 { DARK } else { LIGHT })
        .collect();
    let mut file = vec![];
    let mut encoder = png::Encoder::new(&mut file, size.width, size.height);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Eight);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&pixels));
    written.map_err(|error| {
        Refusal::new(codes::INTERNAL_ERROR, format!("the picture can't be written: {error}"))
            .no_remedy("the server is at fault, not the call")
    })?;
    Ok(file)
}

#[cfg(test)]
mod tests;
