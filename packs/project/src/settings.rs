//! `project.godot` as the offline tools read it, by the engine's own rules.
//!
//! Spec: P-50, settings.

use didi_formats::config::ConfigFile;
use didi_plugin_api::prelude::*;

/// The file.
pub(crate) const SETTINGS: &str = "res://project.godot";
/// Largest settings file that is read, in bytes.
const MAX_SETTINGS_BYTES: u64 = 4 * 1024 * 1024;

/// Refusals of reading the file.
pub(crate) const READ_REFUSALS: [Code; 4] =
    [codes::NOT_FOUND, codes::FORBIDDEN, codes::FILE_TOO_LARGE, codes::UNPROCESSABLE];

/// The bytes of `project.godot`.
pub(crate) fn read(ctx: &Ctx<'_>) -> Result<Vec<u8>, Refusal> {
    let project = ctx.project();
    project.read(&project.resolve(SETTINGS, "project")?, MAX_SETTINGS_BYTES)
}

/// Its content.
pub(crate) fn parse(bytes: &[u8]) -> Result<ConfigFile<'_>, Refusal> {
    ConfigFile::parse(bytes).map_err(|error| {
        Refusal::new(codes::UNPROCESSABLE, format!("`{SETTINGS}` can't be understood: {error}"))
            .with("line", error.line)
            .no_remedy("the file has to be repaired by hand at the line named")
    })
}
