//! `runtime_read_logs`: what the bridge itself recorded, page by page.
//!
//! Spec: P-54, running games.

use didi_plugin_api::prelude::*;

use super::BOTH;

const METHOD: &str = "runtime.getLogs";

/// A page of a ring of records.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Page {
    /// next_cursor of the page before.
    #[serde(default)]
    cursor: u64,
    #[serde(default = "some")]
    #[schemars(range(min = 1, max = 500))]
    limit: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    minimum_level: Option<Severity>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Severity {
    Debug,
    Info,
    Warning,
    Error,
}

fn some() -> u32 {
    100
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Page>(
        "runtime_read_logs",
        "Reads what the bridge in the engine recorded, a page at a time.",
        Effects::READS,
        BOTH,
        METHOD,
    )
    .core()
    .bounded("limit, a 2,000-record ring, 16 KiB messages, 64 KiB details")
    .refuses(&[codes::INVALID_ARGUMENTS, codes::NOT_CONNECTED])
}
