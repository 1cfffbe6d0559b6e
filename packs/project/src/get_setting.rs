//! `project_get_setting`: one project setting, from the editor or from `project.godot`.
//!
//! Spec: P-50, settings.

use didi_plugin_api::prelude::*;

use crate::settings::{self, SETTINGS};

#[cfg(test)]
mod tests;

const METHOD: &str = "project.getSetting";
const LIMITATION: &str =
    "only what project.godot sets is known; an attached editor knows defaults and overrides";
/// No setting has the name.
pub(crate) const SETTING_NOT_FOUND: Code = Code::new(404, "setting_not_found");

pub(crate) fn tool() -> Tool {
    Tool::new(
        "project_get_setting",
        "Reads one project setting such as application/config/name.",
        Effects::READS,
        run,
    )
    .core()
    .modes(&[Mode::Live, Mode::OfflineFallback])
    .live(&[SessionKind::Editor], &[METHOD])
    .refuses(&refusals())
}

fn refusals() -> Vec<Code> {
    let own = [codes::INVALID_ARGUMENTS, SETTING_NOT_FOUND, codes::NOT_CONNECTED];
    own.into_iter().chain(settings::READ_REFUSALS).collect()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 256))]
    setting: String,
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    if ctx.mode() == Mode::Live {
        return Answer::of(ctx.bridge_call(METHOD, json!({"setting": args.setting}))?);
    }
    let bytes = settings::read(ctx)?;
    let config = settings::parse(&bytes)?;
    let Some(value) = config.setting(&args.setting) else {
        let message = format!("`{SETTINGS}` does not set `{}`", args.setting);
        return Err(Refusal::new(codes::NOT_FOUND, message).next_call(
            "runtime_list_sessions",
            "an attached editor knows the settings that have their default",
        ));
    };
    Answer::of(json!({
        "status": "success",
        "setting": args.setting,
        "value_literal": value.text,
        "read_from": SETTINGS,
        "limitation": LIMITATION,
    }))
}
