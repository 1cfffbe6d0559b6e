//! `project_set_autoload`: has the project load a script or scene before its first scene.
//!
//! Spec: P-50, settings.

use didi_plugin_api::prelude::*;

const METHOD: &str = "project.setAutoload";
pub(crate) const EDITOR: &[SessionKind] = &[SessionKind::Editor];

/// `project.godot` can't be written.
pub(crate) const FILE_NOT_WRITABLE: Code = Code::new(409, "project_file_not_writable");

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 256))]
    name: String,
    /// A script or scene.
    #[schemars(length(min = 1, max = 1024))]
    path: String,
    #[serde(default = "didi_plugin_api::schema::yes")]
    singleton: bool,
    #[serde(default)]
    replace: bool,
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "project_set_autoload",
        "Adds or replaces an autoload in project.godot.",
        Effects::SETS,
        EDITOR,
        METHOD,
    )
    .core()
    .probed(METHOD, |args: &Args| &args.name)
    .leaves(&[Work::Restart])
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::NOT_FOUND,
        codes::ALREADY_EXISTS,
        codes::CONFLICT,
        FILE_NOT_WRITABLE,
    ])
}
