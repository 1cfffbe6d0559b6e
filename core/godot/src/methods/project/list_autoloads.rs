//! `project.listAutoloads`: what the project loads before its first scene.

use didi_engine::Answer;
use godot::{classes::ProjectSettings, prelude::*};
use serde_json::{Value, json};

use super::file;
use crate::{methods::Context, params::Params};

pub(crate) fn run(_context: &Context, _params: &Params) -> Answer {
    let autoloads: Vec<Value> =
        file::names_below("autoload/").iter().filter_map(|name| entry(name)).collect();
    Ok(json!({ "status": "success", "autoloads": autoloads }))
}

/// One autoload as the engine has it.
pub(super) fn entry(name: &str) -> Option<Value> {
    let setting = format!("autoload/{name}");
    let settings = ProjectSettings::singleton();
    if !settings.has_setting(&setting) {
        return None;
    }
    let text = settings.get_setting(&setting).stringify().to_string();
    let path = text.strip_prefix('*');
    Some(json!({
        "name": name,
        "path": path.unwrap_or(&text),
        "singleton": path.is_some(),
    }))
}
