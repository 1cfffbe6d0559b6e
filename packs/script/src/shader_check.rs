//! `shader_check_compile`: compiles one shader with the engine's shader language, without a window.
//!
//! The shader and what it includes are copied into a scratch project, so that no code of the project runs. Even
//! the engine's renderer for headless runs reads and checks shaders; a shader that is known to be wrong goes along
//! in the same run, and an engine that does not complain about it is not believed about the other one either.
//!
//! Spec: P-53, scripts.

use didi_plugin_api::prelude::*;

mod includes;
mod report;
mod scratch;

/// Most diagnostics listed.
const MAX_DIAGNOSTICS: usize = 1000;
/// Bytes of the engine's output that are read.
const OUTPUT_BYTES: usize = 1 << 20;

const LIMITATION: &str = "the shader language was checked; a graphics driver, which has limits of its own, was not asked";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 1024))]
    shader_path: String,
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 1, max = 300))]
    timeout_seconds: u64,
}

fn default_timeout() -> u64 {
    30
}

/// Something wrong with a shader or with what it includes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Diagnostic {
    severity: &'static str,
    rule: &'static str,
    message: String,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
}

#[derive(Serialize)]
#[allow(clippy::struct_field_names, reason = "the names of the contract")]
struct Out {
    success: bool,
    shader_path: String,
    includes: Vec<String>,
    diagnostics: Vec<Diagnostic>,
    diagnostics_count: usize,
    engine_checked: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine_unchecked_reason: Option<String>,
    engine_version: String,
    engine_executable: String,
    // No engine is attached to this tool, so neither is known.
    attached_engine_version: Option<String>,
    matches_attached_engine: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    timed_out: bool,
    output_truncated: bool,
    limitation: &'static str,
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "shader_check_compile",
        "Compiles one .gdshader with its includes in a bounded headless Godot and lists the errors.",
        Effects { open_world: true, ..Effects::READS },
        run,
    )
    .bounded("1 MiB of engine output and 1000 diagnostics")
    .refuses(&[
        codes::ENGINE_UNAVAILABLE,
        codes::TOOLCHAIN_UNAVAILABLE,
        codes::NOT_FOUND,
        codes::FORBIDDEN,
        codes::FILE_TOO_LARGE,
        codes::BINARY_OR_INVALID_UTF8,
    ])
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let place = ctx.project().resolve(&args.shader_path, "shader_path")?;
    let shader_path = place.res_path();
    if place.extension() != "gdshader" {
        let message = format!("`{shader_path}` is not a `.gdshader` file");
        return Err(Refusal::invalid("shader_path", message));
    }
    let sources = includes::gather(ctx, &place)?;
    let engine = ctx.engine()?;
    let folder = scratch::lay(ctx, &sources)?;
    let ran = ctx.run_child(&ChildSpec {
        program: None,
        args: scratch::arguments(&folder, &shader_path),
        env: vec![],
        folder: None,
        timeout_ms: args.timeout_seconds.clamp(1, 300) * 1000,
        max_output_bytes: OUTPUT_BYTES,
    })?;
    let said = report::read(&ran, &shader_path);
    let unchecked = said.unchecked.or(sources.differs);
    let mut diagnostics = sources.problems;
    let explained = |one: &Diagnostic| {
        diagnostics.iter().any(|own| own.path == one.path && own.line == one.line)
    };
    let more: Vec<Diagnostic> = said.found.into_iter().filter(|one| !explained(one)).collect();
    diagnostics.extend(more);
    let diagnostics_count = diagnostics.len();
    diagnostics.truncate(MAX_DIAGNOSTICS);
    let truncated = diagnostics_count > diagnostics.len() || ran.output_truncated || ran.timed_out;
    let out = Out {
        success: unchecked.is_none() && diagnostics_count == 0,
        includes: sources.files.into_iter().skip(1).map(|file| file.path).collect(),
        shader_path,
        diagnostics,
        diagnostics_count,
        engine_checked: unchecked.is_none(),
        engine_unchecked_reason: unchecked,
        engine_version: engine.version,
        engine_executable: engine.executable.to_string_lossy().into_owned(),
        attached_engine_version: None,
        matches_attached_engine: None,
        exit_code: ran.exit_code,
        timed_out: ran.timed_out,
        output_truncated: ran.output_truncated,
        limitation: LIMITATION,
    };
    Ok(Answer::of(out)?.truncated(truncated))
}

#[cfg(test)]
mod tests;
