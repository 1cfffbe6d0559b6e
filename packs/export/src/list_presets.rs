//! `project_list_export_presets`: the presets, and whether the engine will see each.
//!
//! Spec: P-56, exports.

use didi_plugin_api::prelude::*;

use crate::presets::{self, Preset};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {}

#[derive(Serialize, JsonSchema)]
struct Out {
    presets: Vec<Preset>,
    preset_count: usize,
    detected_count: usize,
    presets_file_exists: bool,
    sensitive_options_omitted: bool,
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "project_list_export_presets",
        "Lists export presets and whether the engine will detect each. Use before project_export.",
        Effects::READS,
        run,
    )
    .output::<Out>()
    .refuses(&[
        codes::UNPROCESSABLE,
        codes::FORBIDDEN,
        codes::FILE_TOO_LARGE,
        codes::NOT_FOUND,
    ])
}

fn run(ctx: &Ctx<'_>, _: Args) -> ToolResult {
    let read = presets::read(ctx)?;
    let presets_file_exists = read.is_some();
    let presets = read.unwrap_or_default();
    Answer::of(Out {
        preset_count: presets.len(),
        detected_count: presets.iter().filter(|preset| preset.detected).count(),
        presets,
        presets_file_exists,
        sensitive_options_omitted: true,
    })
}
