//! `script_check_syntax`: whether a script compiles, and who said so.
//!
//! An engine is asked where one is found; the grammar reads the syntax where not. A text that is in no file is
//! compiled from a copy outside of the project.
//!
//! Spec: P-53, scripts.

use didi_plugin_api::prelude::*;

use crate::{
    check::{self, Subject, Verdict, scratch},
    source,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Alone, or as the place of `source_text`.
    #[schemars(length(max = 1024))]
    file_path: Option<String>,
    /// Unsaved text.
    #[schemars(length(max = 8_388_608))]
    source_text: Option<String>,
}

// Every member is named, and only the verdict is described: the tool list pays for every word.
#[derive(Serialize, JsonSchema)]
struct Out {
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(with = "Option<String>")]
    file_path: String,
    #[serde(flatten)]
    #[schemars(with = "Promised")]
    verdict: Verdict,
}

/// What of a verdict is published.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "a schema only")]
struct Promised {
    has_errors: bool,
    engine_checked: bool,
    #[schemars(default, schema_with = "crate::schemas::objects")]
    diagnostics: (),
    #[schemars(default, schema_with = "crate::schemas::any")]
    diagnostics_count: (),
    #[schemars(default, schema_with = "crate::schemas::any")]
    engine_backend: (),
    #[schemars(default, schema_with = "crate::schemas::any")]
    engine_available: (),
    #[schemars(default, schema_with = "crate::schemas::any")]
    engine_unavailable_reason: (),
    #[schemars(default, schema_with = "crate::schemas::any")]
    engine_version: (),
    #[schemars(default, schema_with = "crate::schemas::any")]
    engine_executable: (),
    #[schemars(default, schema_with = "crate::schemas::any")]
    engine_exit_code: (),
    #[schemars(default, schema_with = "crate::schemas::any")]
    engine_duration_seconds: (),
    #[schemars(default, schema_with = "crate::schemas::any")]
    engine_timed_out: (),
    #[schemars(default, schema_with = "crate::schemas::any")]
    engine_executable_configured: (),
    #[schemars(default, schema_with = "crate::schemas::any")]
    engine_executable_configured_rejected: (),
    #[schemars(default, schema_with = "crate::schemas::any")]
    attached_engine_version: (),
    #[schemars(default, schema_with = "crate::schemas::any")]
    matches_attached_engine: (),
    #[schemars(default, schema_with = "crate::schemas::any")]
    limitation: (),
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "script_check_syntax",
        "Checks a GDScript file or unsaved text: by the engine where one is found, else its syntax.",
        Effects { open_world: true, ..Effects::READS },
        run,
    )
    .core()
    .legacy("analyze_script_diagnostics")
    .bounded("the headless compiler pass stops at 5 seconds")
    .output::<Out>()
    .refuses(&[codes::NOT_FOUND, codes::FORBIDDEN, codes::FILE_TOO_LARGE])
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let place = args.file_path.as_deref().map(|path| source::place(ctx, path)).transpose()?;
    let file_path = place.as_ref().map(ProjectPath::res_path).unwrap_or_default();
    let verdict = match (place, args.source_text) {
        (_, Some(text)) => unsaved(ctx, &file_path, &text)?,
        (Some(place), None) => saved(ctx, &place)?,
        (None, None) => return Err(source::neither()),
    };
    let truncated = verdict.truncated;
    Ok(Answer::of(Out { file_path, verdict })?.truncated(truncated))
}

fn saved(ctx: &Ctx<'_>, place: &ProjectPath) -> Result<Verdict, Refusal> {
    let path = place.res_path();
    let bytes = source::read(ctx, place)?;
    match std::str::from_utf8(&bytes) {
        Ok(source) => check::verdict(ctx, &Subject { path: &path, source, copy: None }),
        Err(error) => Ok(Verdict::invalid_encoding(&path, error.valid_up_to(), &bytes)),
    }
}

fn unsaved(ctx: &Ctx<'_>, path: &str, source: &str) -> Result<Verdict, Refusal> {
    // Without an engine there is nobody to give a copy to.
    let copy = match ctx.engine() {
        Ok(_) => scratch::copy(ctx, source).ok(),
        Err(_) => None,
    };
    let copy = copy.as_deref().and_then(std::path::Path::to_str);
    check::verdict(ctx, &Subject { path, source, copy: copy.or(Some("")) })
}

#[cfg(test)]
mod tests;
