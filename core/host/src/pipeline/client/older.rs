//! Instances that take no raw command lines: the arguments are bound here, by the instance's own listing.
//!
//! A server that claims `exec.argv` binds by itself, and the client needs no listing. One that does not would
//! answer with an error about JSON, so nothing is tried on it: the command's entry is fetched, its parameters
//! are read, and the structured form is sent. What its types mean beyond the plain ones is left to the server,
//! to which such values go as text, as its own binder would hand them on.
//!
//! Spec: P-70, the client of the Pipeline.

use didi_pipeline::{
    bind,
    command::{Command, Kind, Parameter},
};
use serde_json::{Value, json};

/// The path that lists what could be a command, in full.
pub fn listing_of(name: &str) -> String {
    let query: String = form_urlencoded::byte_serialize(name.as_bytes()).collect();
    format!("/api/commands?detail=full&query={query}")
}

/// The entry of exactly this name.
pub fn entry<'l>(listing: &'l Value, name: &str) -> Option<&'l Value> {
    listing["commands"].as_array()?.iter().find(|entry| entry["name"] == name)
}

/// The body of a structured request.
///
/// # Errors
/// Every defect of the arguments, as a newer server would have told them, with the English for them.
pub fn structured(
    name: &str,
    entry: &Value,
    arguments: &[String],
) -> Result<Value, (String, Vec<bind::Problem>)> {
    let command = read(name, entry);
    match bind::bind(&command, arguments) {
        Ok(bound) => Ok(json!({"command": name, "parameters": bound.values})),
        Err(problems) => Err((bind::details(&command, &problems), problems)),
    }
}

fn read(name: &str, entry: &Value) -> Command {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let parameters = entry["parameters"].as_array().into_iter().flatten();
    Command {
        name: name.to_owned(),
        description: text(&entry["description"]),
        tags: vec![],
        package: text(&entry["package"]),
        main_thread_required: entry["mainThreadRequired"] == true,
        runtime_only: entry["runtimeOnly"] == true,
        parameters: parameters
            .map(|parameter| Parameter {
                name: text(&parameter["name"]),
                description: text(&parameter["description"]),
                kind: kind(parameter["type"].as_str().unwrap_or_default()),
                required: parameter["required"] == true,
                default: parameter.get("defaultValue").cloned(),
            })
            .collect(),
        schema: Value::Null,
    }
}

/// The kind of a type's name. The words of an enumeration are not listed, so it goes as text; so does what is
/// not known.
fn kind(type_name: &str) -> Kind {
    if let Some(of) = type_name.strip_suffix("[]") {
        // Items are judged by the server: here it is enough that they are a list.
        return Kind::List(Box::new(match kind(of) {
            Kind::Text => Kind::Any,
            other => other,
        }));
    }
    match type_name {
        "Int16" | "Int32" | "Int64" | "Byte" | "SByte" | "UInt16" | "UInt32" => Kind::Integer,
        "Single" | "Double" | "Decimal" => Kind::Number,
        "Boolean" => Kind::Boolean,
        "JObject" => Kind::Object,
        "Object" | "JToken" => Kind::Any,
        _ => Kind::Text,
    }
}
