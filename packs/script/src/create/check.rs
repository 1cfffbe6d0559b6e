//! Asks an engine whether a script compiles, and turns its report into diagnostics.
//!
//! `--check-only` loads one script without running it: no scene, no autoload. What it says about an
//! identifier is therefore weighed by [`super::names`] before it counts as the script's fault.
//!
//! Spec: P-53, scripts.

use didi_plugin_api::prelude::*;

use super::{Diagnostic, names, report};

/// Milliseconds that the compiler may take.
const CHECK_MS: u64 = 5000;
/// Bytes of its output that are read.
const OUTPUT_BYTES: usize = 256 << 10;

pub(super) const LIMITATION: &str =
    "the script was compiled by itself: nothing was run, and scenes that use it were not looked at";
pub(super) const LIMITATION_OFFLINE: &str =
    "only the syntax was read: names, types and base classes are for an engine to check";

/// The members of an answer that say how the check went.
#[derive(Default, Serialize)]
#[allow(clippy::struct_field_names, reason = "they stand among others in the answer")]
pub(super) struct Engine {
    engine_checked: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine_backend: Option<&'static str>,
    engine_available: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine_unavailable_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine_executable: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine_exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine_duration_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine_timed_out: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine_executable_configured: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine_executable_configured_rejected: Option<Value>,
    // No engine is attached to this tool, so neither is known.
    attached_engine_version: Option<String>,
    matches_attached_engine: Option<bool>,
}

/// What a check found. Without `diagnostics` no compiler answered.
pub(super) struct Check {
    pub(super) engine: Engine,
    pub(super) diagnostics: Option<Vec<Diagnostic>>,
}

/// Compiles the file that was just written. The write is done, so nothing here refuses the call.
pub(super) fn by_engine(ctx: &Ctx<'_>, script: &str, source: &str) -> Check {
    let info = match ctx.engine() {
        Ok(info) => info,
        Err(refusal) => return unavailable(refusal),
    };
    let spec = ChildSpec {
        program: None,
        args: arguments(ctx, script),
        env: vec![],
        folder: None,
        timeout_ms: CHECK_MS,
        max_output_bytes: OUTPUT_BYTES,
    };
    let ran = match ctx.run_child(&spec) {
        Ok(ran) => ran,
        Err(refusal) => return unavailable(refusal),
    };
    let mut engine = Engine {
        engine_checked: true,
        engine_backend: Some("check_only"),
        engine_available: !ran.timed_out,
        engine_version: Some(info.version),
        engine_executable: Some(info.executable.to_string_lossy().into_owned()),
        engine_exit_code: ran.exit_code,
        engine_duration_seconds: Some(seconds(ran.ran_ms)),
        engine_timed_out: Some(ran.timed_out),
        ..Engine::default()
    };
    if ran.timed_out {
        engine.engine_unavailable_reason =
            Some(format!("the compiler was stopped after {} s", CHECK_MS / 1000));
        return Check { engine, diagnostics: None };
    }
    let mut diagnostics = report::read(&ran, script);
    names::weigh(ctx, source, &mut diagnostics);
    Check { engine, diagnostics: Some(diagnostics) }
}

fn arguments(ctx: &Ctx<'_>, script: &str) -> Vec<String> {
    let project = ctx.project().root().folder().to_string_lossy().into_owned();
    ["--headless", "--path", &project, "--check-only", "--script", script]
        .map(str::to_owned)
        .to_vec()
}

fn unavailable(mut refusal: Refusal) -> Check {
    let engine = Engine {
        engine_unavailable_reason: Some(refusal.message),
        engine_executable_configured: refusal.data.remove("engine_executable_configured"),
        engine_executable_configured_rejected: refusal
            .data
            .remove("engine_executable_configured_rejected"),
        ..Engine::default()
    };
    Check { engine, diagnostics: None }
}

#[allow(clippy::cast_precision_loss, reason = "a run of a few seconds")]
fn seconds(milliseconds: u64) -> f64 {
    milliseconds as f64 / 1000.0
}
