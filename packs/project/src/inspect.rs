//! `resource_inspect`: what is known of one file without loading it: header, uid, names of other files,
//! import options.
//!
//! Spec: P-50, the project's files.

use didi_formats::{
    FormatError,
    config::{ConfigFile, ConfigSection},
    variant,
};
use didi_plugin_api::prelude::*;
use didi_project::{facts::MAX_IMPORT_BYTES, walk::File};
use serde_json::Map;

use crate::index;

#[cfg(test)]
mod tests;

/// Import options that `asset_configure_import` can change.
const CONFIGURABLE: [&str; 5] =
    ["loop", "loop_offset", "edit/loop_mode", "edit/loop_begin", "edit/loop_end"];
/// Longest literal of an import option, in bytes.
const MAX_LITERAL_BYTES: usize = 1_024;

pub(crate) fn tool() -> Tool {
    Tool::new(
        "resource_inspect",
        "Reads one file's class, uid, dependencies and import options from disk, without loading it.",
        Effects::READS,
        run,
    )
    .core()
    .output::<Out>()
    .refuses(&[codes::INVALID_ARGUMENTS, codes::NOT_FOUND, codes::FORBIDDEN])
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 1024))]
    resource_path: String,
}

#[derive(Serialize, JsonSchema)]
struct Out {
    path: String,
    #[schemars(default)]
    filename: String,
    #[serde(rename = "type")]
    #[schemars(default)]
    kind: &'static str,
    // Null where the file declares none.
    #[schemars(default, schema_with = "crate::answer::any")]
    resource_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<String>,
    #[schemars(default)]
    file_size: u64,
    #[schemars(default)]
    dependencies: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(default, schema_with = "crate::answer::object")]
    import: Option<Import>,
    #[serde(skip_serializing_if = "Option::is_none")]
    import_error: Option<String>,
}

/// What the `.import` file beside an asset says.
#[derive(Debug, Default, Serialize)]
struct Import {
    #[serde(skip_serializing_if = "Option::is_none")]
    importer: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    valid: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    configurable: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parse_error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let place = ctx.project().resolve(&args.resource_path, "resource_path")?;
    let file = existing(&place)?;
    let indexed = index::describe(&file);
    let (import, import_error) = match import_of(ctx, &file) {
        None => (None, None),
        Some(Ok(import)) => (Some(import), None),
        Some(Err(why)) => (None, Some(why)),
    };
    Answer::of(Out {
        path: indexed.path,
        filename: indexed.filename,
        kind: indexed.kind,
        resource_type: indexed.resource_type,
        uid: indexed.uid,
        file_size: indexed.file_size,
        dependencies: indexed.dependencies,
        import,
        import_error,
    })
}

fn existing(place: &ProjectPath) -> Result<File, Refusal> {
    if let Some(file) = File::at(place) {
        return Ok(file);
    }
    let path = place.res_path();
    match place.real().metadata() {
        Ok(_) => Err(Refusal::new(codes::NOT_FOUND, format!("`{path}` is a folder, not a file"))
            .next_call_with(
                "project_list_resources",
                json!({"search_path": path}),
                "lists the files in it",
            )),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            Err(Refusal::new(codes::FORBIDDEN, format!("`{path}` can't be read: {error}"))
                .with("reason", "unreadable")
                .no_remedy("the file's permissions keep the server from reading it"))
        }
        Err(_) => Err(Refusal::new(codes::NOT_FOUND, format!("no file `{path}` in the project"))
            .next_call_with(
                "project_list_resources",
                json!({"fuzzy_query": place.file_name()}),
                "finds files with a similar name",
            )),
    }
}

/// The `.import` file beside a file, if there is one; the error is a sentence.
fn import_of(ctx: &Ctx<'_>, file: &File) -> Option<Result<Import, String>> {
    let place = ctx.project().root().resolve(&format!("{}.import", file.path)).ok()?;
    if !place.is_file() {
        return None;
    }
    Some(match place.read(MAX_IMPORT_BYTES) {
        Ok(bytes) => Ok(parse(&bytes).unwrap_or_else(|error| Import {
            line: Some(error.line),
            parse_error: Some(error.to_string()),
            ..Import::default()
        })),
        Err(refusal) => Err(refusal.message),
    })
}

fn parse(bytes: &[u8]) -> Result<Import, FormatError> {
    let config = ConfigFile::parse(bytes)?;
    let text = |key: &str| config.text("remap", key).map(Into::into);
    let valid = config.get("remap", "valid").is_none_or(|value| value.text != "false");
    let options: Map<String, Value> = config
        .sections_named("params")
        .flat_map(ConfigSection::entries)
        .map(|entry| (entry.key.to_string(), plain(entry.value)))
        .collect();
    let configurable =
        CONFIGURABLE.iter().filter(|name| options.contains_key(**name)).map(|name| (*name).into());
    Ok(Import {
        importer: text("importer"),
        kind: text("type"),
        uid: text("uid"),
        valid: Some(valid),
        configurable: Some(configurable.collect()),
        options: Some(options),
        ..Import::default()
    })
}

/// A simple value as JSON, any other as the text that stands in the file.
fn plain(literal: &str) -> Value {
    match variant::parse(literal) {
        Ok(variant::Value::Null) => Value::Null,
        Ok(variant::Value::Bool(value)) => value.into(),
        Ok(variant::Value::Int(value)) => value.into(),
        Ok(variant::Value::Float(value)) if value.is_finite() => value.into(),
        Ok(variant::Value::String(text)) => variant::cut(&text, MAX_LITERAL_BYTES).into(),
        _ => variant::cut(literal, MAX_LITERAL_BYTES).into(),
    }
}
