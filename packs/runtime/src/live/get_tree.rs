//! `runtime_get_tree`: the tree as it runs.
//!
//! Spec: P-54, running games.

use didi_plugin_api::prelude::*;

use super::BOTH;

pub(super) const METHOD: &str = "runtime.getTree";

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default = "root")]
    #[schemars(length(min = 1, max = 1024))]
    root_path: String,
    #[serde(default = "some")]
    #[schemars(range(max = 16))]
    max_depth: u32,
}

fn root() -> String {
    "/root".into()
}

fn some() -> u32 {
    4
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "runtime_get_tree",
        "Reads the node tree as it runs, and whether it is paused.",
        Effects::READS,
        BOTH,
        METHOD,
    )
    .core()
    .bounded("max_depth, 10,000 nodes, 256 KiB")
    .refuses(&[codes::INVALID_ARGUMENTS, codes::NOT_CONNECTED, codes::NOT_FOUND])
}
