//! `runtime_read_output`: what the engine printed, page by page.
//!
//! Spec: P-54, running games.

use didi_plugin_api::prelude::*;

use super::{BOTH, read_logs::Page};

const METHOD: &str = "runtime.getOutput";

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Page>(
        "runtime_read_output",
        "Reads what the engine printed, errors with file and line, a page at a time.",
        Effects::READS,
        BOTH,
        METHOD,
    )
    .core()
    .bounded("limit, its own 2,000-record ring, and byte caps")
    .refuses(&[codes::INVALID_ARGUMENTS, codes::NOT_CONNECTED])
}
