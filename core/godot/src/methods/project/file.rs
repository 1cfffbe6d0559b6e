//! `project.godot` as the engine keeps it: changed in memory, saved whole, read back from the disk.

use std::fs::OpenOptions;

use didi_wire::BridgeError;
use godot::{
    classes::{ConfigFile, ProjectSettings},
    global::{Error, var_to_str},
    prelude::*,
};

use crate::{json, methods::runtime::headless_run, refuse};

const FILE: &str = "res://project.godot";

/// What an answer says of changes here.
pub(super) const LIMITATION: &str = "the project's file is written at once; undo does not take it back, and a running game keeps what it began with";

/// Names of the settings below a prefix, sorted and without it.
pub(super) fn names_below(prefix: &str) -> Vec<String> {
    let list = ProjectSettings::singleton().get_property_list();
    let mut names: Vec<String> = list
        .iter_shared()
        .filter_map(|property| {
            let name = property.get("name")?.stringify().to_string();
            name.strip_prefix(prefix).map(str::to_owned)
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// What the file on disk says of a setting; nothing where it says nothing.
pub(super) fn written(setting: &str) -> Option<Variant> {
    let mut file = ConfigFile::new_gd();
    if file.load(FILE) != Error::OK {
        return None;
    }
    let (section, key) = setting.split_once('/').unwrap_or(("", setting));
    file.has_section_key(section, key).then(|| file.get_value(section, key))
}

/// Refuses a file that the engine can't read, and whose rest a save would lose. The engine's own words, with the
/// line, are among the diagnostics of the answer.
///
/// # Errors
/// `conflict` (409).
pub(super) fn check_loads() -> Result<(), BridgeError> {
    let loaded = ConfigFile::new_gd().load(FILE);
    if loaded == Error::OK {
        return Ok(());
    }
    let message = "`project.godot` can't be loaded as it is on disk";
    let error = refuse::conflict("conflict", message).with("engine_error", format!("{loaded:?}"));
    Err(error.with("no_remedy", "the file has to be mended at the line that the engine names"))
}

/// The same in the file's own words.
pub(super) fn literal(setting: &str) -> Option<String> {
    written(setting).map(|value| var_to_str(&value).to_string())
}

/// Whether the engine has a default of its own for a setting.
pub(super) fn is_defined_by_engine(setting: &str) -> bool {
    ProjectSettings::singleton().property_can_revert(setting)
}

/// A copy of a value that later changes do not reach.
pub(super) fn held(setting: &str) -> Variant {
    let value = ProjectSettings::singleton().get_setting(setting);
    match value.get_type() {
        VariantType::DICTIONARY | VariantType::ARRAY => {
            value.call("duplicate", &[true.to_variant()])
        }
        _ => value,
    }
}

/// Sets a value, or takes the setting out with nil, and saves the file; when that fails the setting is as it
/// was.
///
/// # Errors
/// As [`check_loads`]; `project_file_not_writable` (409).
pub(super) fn store(setting: &str, value: &Variant) -> Result<(), BridgeError> {
    check_loads()?;
    let mut settings = ProjectSettings::singleton();
    let before = settings.has_setting(setting).then(|| held(setting));
    let path = settings.globalize_path(FILE).to_string();
    let writable = OpenOptions::new().append(true).open(&path);
    let saved = if writable.is_ok() {
        settings.set_setting(setting, value);
        headless_run::aside(|| settings.save())
    } else {
        Error::ERR_FILE_CANT_WRITE
    };
    if saved == Error::OK {
        return Ok(());
    }
    settings.set_setting(setting, &before.unwrap_or_default());
    let message = "`project.godot` could not be written";
    Err(refuse::conflict("project_file_not_writable", message)
        .with("project_file", FILE)
        .with("exists", std::path::Path::new(&path).exists())
        .with("read_only", writable.is_err())
        .with("rolled_back", true)
        .with("engine_error", format!("{saved:?}"))
        .with("no_remedy", "the file's own permissions keep it from being written"))
}

/// The engine's name of a value's type.
pub(super) fn type_of(value: &Variant) -> &'static str {
    json::type_name(value.get_type())
}
