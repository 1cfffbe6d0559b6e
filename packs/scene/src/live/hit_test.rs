//! `ui_hit_test`: the controls under a point. No input is sent.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{BOTH, read, space::Flat};

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    point: Flat,
    #[serde(default = "root")]
    #[schemars(length(max = 1024))]
    root_path: String,
    #[serde(default)]
    include_mouse_filter_ignore: bool,
    #[serde(default = "some")]
    #[schemars(range(min = 1, max = 256))]
    max_results: u32,
    /// `screen`: a game's window pixels.
    #[serde(default)]
    space: Space,
}

#[derive(Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Space {
    #[default]
    Viewport,
    Screen,
}

fn root() -> String {
    "/root".into()
}

fn some() -> u32 {
    32
}

pub(crate) fn tool() -> Tool {
    read::<Args>(
        "ui_hit_test",
        "Finds the Control nodes under a point, topmost first.",
        BOTH,
        "ui.hitTest",
    )
    .bounded("max_results on the hits returned; 10,000-node traversal")
}
