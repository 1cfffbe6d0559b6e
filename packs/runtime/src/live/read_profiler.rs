//! `runtime_read_profiler`: what a frame costs, and what bounds it.
//!
//! Spec: P-54, running games.

use didi_plugin_api::prelude::*;

use super::BOTH;

const METHOD: &str = "runtime.readProfiler";

/// Another read goes on.
const READ_ACTIVE: Code = Code::new(423, "profiler_read_active");
/// The game ended under the call.
const LIVE_SESSION_ENDED: Code = Code::new(502, "live_session_ended");

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// 0 is one sample.
    #[serde(default = "second")]
    #[schemars(range(max = 5000))]
    duration_ms: u32,
    #[serde(default = "some")]
    #[schemars(range(min = 1, max = 120))]
    sample_count: u32,
    #[serde(default = "all")]
    #[schemars(length(min = 1, max = 4), extend("uniqueItems" = true))]
    categories: Vec<Category>,
    /// Stalls the game by a known time and looks whether the verdict sees it.
    #[serde(default)]
    self_check: bool,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Category {
    Frame,
    Process,
    Physics,
    Render,
}

fn second() -> u32 {
    1000
}

fn some() -> u32 {
    30
}

fn all() -> Vec<Category> {
    vec![Category::Frame, Category::Process, Category::Physics, Category::Render]
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "runtime_read_profiler",
        "Samples performance monitors over a window and says what bounds the frame.",
        Effects::READS,
        BOTH,
        METHOD,
    )
    .checked(|args: &Args| {
        if args.duration_ms == 0 && args.sample_count != 1 {
            return Err(Refusal::invalid("sample_count", "a window of 0 ms has one sample"));
        }
        Ok(())
    })
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        READ_ACTIVE,
        LIVE_SESSION_ENDED,
    ])
}
