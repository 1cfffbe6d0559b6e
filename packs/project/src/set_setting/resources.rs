//! Settings that name files which have to be there: translations and the main scene.
//!
//! The engine registers what it is told and reports an error at every start when a file is missing, or is a
//! table of which only the imported parts can be loaded.
//!
//! Spec: P-50, settings.

use didi_formats::config::ConfigFile;
use didi_plugin_api::prelude::*;
use didi_project::facts::MAX_IMPORT_BYTES;

/// A table was registered, and its imported parts should be.
pub(super) const TRANSLATION_SOURCE_REGISTERED: Code =
    Code::new(409, "translation_source_registered");
/// A table that is not imported yet.
pub(super) const TRANSLATION_SOURCE_NOT_IMPORTED: Code =
    Code::new(409, "translation_source_not_imported");
/// A file that holds no translation.
pub(super) const NOT_A_TRANSLATION: Code = Code::new(409, "not_a_translation");

const TRANSLATIONS: &str = "internationalization/locale/translations";
const MAIN_SCENE: &str = "application/run/main_scene";

/// Checks the files that a value of such a setting names.
pub(super) fn check(ctx: &Ctx<'_>, setting: &str, value: &Value) -> Result<(), Refusal> {
    match setting {
        MAIN_SCENE => match value.as_str().filter(|path| path.starts_with("res://")) {
            Some(path) => exists(ctx, path, None).map(|_| ()),
            None => Ok(()),
        },
        TRANSLATIONS => translations(ctx, value),
        _ => Ok(()),
    }
}

fn translations(ctx: &Ctx<'_>, value: &Value) -> Result<(), Refusal> {
    // Both ways of writing the list; what is no list is refused for its type.
    let listed = value.as_array().or_else(|| value["values"].as_array());
    let paths: Vec<&str> = listed.into_iter().flatten().filter_map(Value::as_str).collect();
    for (index, path) in paths.iter().enumerate().filter(|(_, path)| path.starts_with("res://")) {
        let place = exists(ctx, path, Some(index))?;
        match place.extension().as_str() {
            "translation" | "po" | "mo" | "tres" | "res" => {}
            "csv" => return Err(source(ctx, &paths, index)),
            _ => {
                let message = format!("`{path}` holds no translation");
                return Err(Refusal::new(NOT_A_TRANSLATION, message)
                    .with("index", index)
                    .field("value"));
            }
        }
    }
    Ok(())
}

fn exists(ctx: &Ctx<'_>, path: &str, index: Option<usize>) -> Result<ProjectPath, Refusal> {
    let place = ctx.project().resolve(path, "value")?;
    if place.is_file() {
        return Ok(place);
    }
    let refusal = Refusal::new(codes::NOT_FOUND, format!("no file `{path}` in the project"))
        .with("resource_exists", false);
    Err(match index {
        Some(index) => refusal.with("index", index).field("value"),
        None => refusal.field("value"),
    })
}

/// The refusal of a table: with the parts that its import made, if there are any.
fn source(ctx: &Ctx<'_>, paths: &[&str], index: usize) -> Refusal {
    let path = paths[index];
    let files = imported(ctx, path);
    if files.is_empty() {
        let message = format!("`{path}` is a table that is not imported yet");
        return Refusal::new(TRANSLATION_SOURCE_NOT_IMPORTED, message)
            .with("index", index)
            .next_call("asset_reimport", "makes the translations that can be registered");
    }
    let message = format!("`{path}` is a table, and the translations made of it are registered");
    let mut value: Vec<&str> = paths.to_vec();
    value.splice(index..=index, files.iter().map(String::as_str));
    let retry = json!({ "value": value });
    Refusal::new(TRANSLATION_SOURCE_REGISTERED, message)
        .with("index", index)
        .with("translation_files", json!(files))
        .retry_with(retry)
}

/// The files that an import made of a table.
fn imported(ctx: &Ctx<'_>, path: &str) -> Vec<String> {
    let read = || {
        let project = ctx.project();
        let place = project.resolve(&format!("{path}.import"), "value").ok()?;
        let bytes = project.read(&place, MAX_IMPORT_BYTES).ok()?;
        let config = ConfigFile::parse(&bytes).ok()?;
        let files = config.get("deps", "files").or_else(|| config.get("deps", "dest_files"))?;
        let files = files.parse().ok()?.as_texts()?;
        Some(files.into_iter().map(std::borrow::Cow::into_owned).collect::<Vec<String>>())
    };
    read().unwrap_or_default()
}
