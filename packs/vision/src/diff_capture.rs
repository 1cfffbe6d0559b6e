//! `viewport_diff_capture`: a fresh picture beside an earlier one, by numbers and as a picture of what differs.
//!
//! Spec: P-55, pictures.

use didi_plugin_api::prelude::*;

use crate::{
    capture_frame::{Background, Size, default_camera},
    capture_passes::HEADLESS_ENGINE,
};

const METHOD: &str = "vision.diffViewport";

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// `capture_id` of an earlier capture.
    #[schemars(length(min = 32, max = 32), regex(pattern = "^[0-9a-f]{32}$"))]
    baseline_capture_id: String,
    /// Channel difference that does not count.
    #[serde(default)]
    threshold: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    min_ssim: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 64))]
    max_hamming_distance: Option<u32>,
    #[serde(default = "default_camera")]
    #[schemars(length(max = 64))]
    camera_identifier: String,
    // The size of an offline preview.
    #[serde(skip_serializing_if = "Option::is_none")]
    resolution: Option<Size>,
    #[serde(default)]
    #[schemars(length(max = 1024))]
    node_isolation_path: String,
    #[serde(default)]
    isolation_background: Background,
    #[serde(default)]
    select_main_screen: bool,
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "viewport_diff_capture",
        "Takes a new picture and compares it with an earlier capture: pixels, SSIM, hash, diff image.",
        Effects::READS,
        &[SessionKind::Editor, SessionKind::Game],
        METHOD,
    )
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::NOT_FOUND,
        codes::CONFLICT,
        codes::SESSION_KIND_REJECTED,
        HEADLESS_ENGINE,
    ])
}
