//! `ui_list_controls`: the controls there are, where they are, and what they say.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{BOTH, codes};

const METHOD: &str = "ui.listControls";

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    root_path: Option<String>,
    #[serde(default = "some")]
    #[schemars(range(min = 1, max = 256))]
    max_results: u32,
    #[serde(default = "didi_plugin_api::schema::yes")]
    visible_only: bool,
    #[serde(default = "didi_plugin_api::schema::yes")]
    include_text: bool,
    /// Classes, with what extends them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16), inner(length(max = 64)))]
    class_filter: Option<Vec<String>>,
}

fn some() -> u32 {
    64
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "ui_list_controls",
        "Lists the Control nodes with rectangle, class and text; in a game with window pixels, too.",
        Effects::READS,
        BOTH,
        METHOD,
    )
    .core()
    .bounded("max_results and a 10,000-node traversal")
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::NO_EDITED_SCENE,
        codes::NOT_FOUND,
    ])
}
