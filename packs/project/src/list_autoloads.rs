//! `project_list_autoloads`: the autoloads, from the editor or from `project.godot`.
//!
//! Spec: P-50, settings.

use std::collections::BTreeMap;

use didi_formats::config::ConfigSection;
use didi_plugin_api::prelude::*;

use crate::settings::{self, SETTINGS};

#[cfg(test)]
mod tests;

pub(crate) const METHOD: &str = "project.listAutoloads";
const LIMITATION: &str =
    "project.godot says what is declared, not what a running engine has loaded";

pub(crate) fn tool() -> Tool {
    Tool::new(
        "project_list_autoloads",
        "Lists the project's autoloads with path and whether each is a singleton.",
        Effects::READS,
        run,
    )
    .core()
    .modes(&[Mode::Live, Mode::OfflineFallback])
    .live(&[SessionKind::Editor], &[METHOD])
    .refuses(&refusals())
}

fn refusals() -> Vec<Code> {
    [codes::INVALID_ARGUMENTS, codes::NOT_CONNECTED]
        .into_iter()
        .chain(settings::READ_REFUSALS)
        .collect()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {}

#[derive(Serialize)]
struct Autoload {
    name: String,
    path: String,
    singleton: bool,
}

#[derive(Serialize)]
struct Out {
    status: &'static str,
    autoloads: Vec<Autoload>,
    // Entries that are no strings; the engine can't load them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_understood: Vec<String>,
    read_from: &'static str,
    limitation: &'static str,
}

fn run(ctx: &Ctx<'_>, _: Args) -> ToolResult {
    if ctx.mode() == Mode::Live {
        return Answer::of(ctx.bridge_call(METHOD, json!({}))?);
    }
    let bytes = settings::read(ctx)?;
    let config = settings::parse(&bytes)?;
    let entries = config.sections_named("autoload").flat_map(ConfigSection::entries);
    // Of two entries with one name the last counts, as in the engine.
    let entries: BTreeMap<&str, _> = entries.map(|entry| (&*entry.key, entry.raw())).collect();
    let (mut autoloads, mut not_understood) = (vec![], vec![]);
    for (name, value) in entries {
        let Some(text) = value.as_text() else {
            not_understood.push(name.into());
            continue;
        };
        let singleton = text.starts_with('*');
        let path = text.strip_prefix('*').unwrap_or(&text).into();
        autoloads.push(Autoload { name: name.into(), path, singleton });
    }
    Answer::of(Out {
        status: "success",
        autoloads,
        not_understood,
        read_from: SETTINGS,
        limitation: LIMITATION,
    })
}
