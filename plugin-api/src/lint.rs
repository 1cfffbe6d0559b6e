//! What every tool declaration has to keep to, so that every client accepts the list.
//!
//! The host runs these checks when it takes a pack up and refuses the tool that fails; the test kit runs them
//! for packs kept elsewhere. The rules come from what published clients reject.
//!
//! Spec: P-21, tool schemas.

use serde_json::Value;

use crate::desc::{Confirmation, Mode, ToolDesc};

/// Longest tool name, in characters, so that a client's own prefix still fits into 64.
pub const MAX_NAME_CHARS: usize = 48;

/// Longest tool description, in bytes.
pub const MAX_DESCRIPTION_BYTES: usize = 600;

/// Names that the host adds to a tool's arguments, so that a pack can't use them.
pub const HOST_ARGUMENTS: [&str; 4] = ["dry_run", "confirmation_token", "request_id", "fields"];

/// What is wrong with a declaration, one sentence each; empty when nothing is.
pub fn tool(desc: &ToolDesc) -> Vec<String> {
    let mut found = vec![];
    name(&desc.name, &mut found);
    description(desc, &mut found);
    for older in &desc.legacy_names {
        name(older, &mut found);
    }
    input(&desc.input_schema, &mut found);
    if let Some(output) = &desc.output_schema {
        if output.get("type").and_then(Value::as_str) != Some("object") {
            found.push("the output schema is not an object".into());
        }
        walk(output, "output", true, &mut found);
    }
    declarations(desc, &mut found);
    found
}

fn name(name: &str, found: &mut Vec<String>) {
    let legal =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    let starts = name.chars().next().is_some_and(|letter| letter.is_ascii_lowercase());
    if !starts || name.len() > MAX_NAME_CHARS || !name.chars().all(legal) {
        found.push(format!(
            "the name `{name}` is not 1 to {MAX_NAME_CHARS} of `a-z 0-9 _`, a letter first"
        ));
    }
}

fn description(desc: &ToolDesc, found: &mut Vec<String>) {
    if desc.description.is_empty() || desc.description.len() > MAX_DESCRIPTION_BYTES {
        found.push(format!("the description has not 1 to {MAX_DESCRIPTION_BYTES} bytes"));
    }
    if !desc.description.is_ascii() || !desc.title.is_ascii() {
        found.push("the title and the description have to be ASCII".into());
    }
}

fn declarations(desc: &ToolDesc, found: &mut Vec<String>) {
    if desc.modes.is_empty() {
        found.push("no mode is declared".into());
    }
    let live = desc.modes.contains(&Mode::Live);
    if live == desc.sessions.is_empty() || live == desc.bridge_methods.is_empty() {
        found.push("a live mode, session kinds and bridge methods go together".into());
    }
    let mutates = desc.effects.mutates_project;
    if !mutates && desc.confirmation != Confirmation::Never {
        found.push("a read can't ask for a confirmation".into());
    }
    if !mutates && (desc.previews || !desc.follow_ups.is_empty()) {
        found.push("previews and follow-ups belong to mutations".into());
    }
    if desc.confirmation == Confirmation::OnOverwrite {
        let overwrite = &desc.input_schema["properties"]["overwrite"]["type"];
        if overwrite != "boolean" || !desc.previews {
            found.push(
                "confirmation on overwrite needs a boolean argument `overwrite` and a preview"
                    .into(),
            );
        }
    }
}

fn input(schema: &Value, found: &mut Vec<String>) {
    if schema.get("type").and_then(Value::as_str) != Some("object")
        || !schema.get("properties").is_some_and(Value::is_object)
    {
        found.push("the input schema is not an object with properties".into());
    }
    for key in ["anyOf", "oneOf", "allOf", "not", "enum"] {
        if schema.get(key).is_some() {
            found.push(format!("the input schema has `{key}` at its top"));
        }
    }
    if let Some(Value::Object(properties)) = schema.get("properties") {
        for (name, property) in properties {
            if HOST_ARGUMENTS.contains(&name.as_str()) {
                found.push(format!("the argument `{name}` belongs to the host"));
            }
            if property.get("type").is_none() {
                found.push(format!("the argument `{name}` has no type"));
            }
        }
    }
    walk(schema, "input", false, found);
}

/// Nesting of a published schema, in levels.
const MAX_SCHEMA_DEPTH: usize = 24;

fn walk(schema: &Value, at: &str, output: bool, found: &mut Vec<String>) {
    walk_at_depth(schema, at, output, 0, found);
}

fn walk_at_depth(schema: &Value, at: &str, output: bool, depth: usize, found: &mut Vec<String>) {
    if depth > MAX_SCHEMA_DEPTH {
        found.push(format!("the schema at `{at}` is nested deeper than {MAX_SCHEMA_DEPTH}"));
        return;
    }
    let Value::Object(map) = schema else { return };
    for key in ["$ref", "$dynamicRef", "$defs", "$schema"] {
        if map.contains_key(key) {
            found.push(format!("the schema at `{at}` has `{key}`"));
        }
    }
    let is_array = match map.get("type") {
        Some(Value::String(kind)) => kind == "array",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "array"),
        _ => false,
    };
    if is_array && !map.contains_key("items") {
        found.push(format!("the array at `{at}` has no `items`"));
    }
    let strict = !output && map.get("type").and_then(Value::as_str) == Some("string");
    if strict && !map.contains_key("maxLength") && !map.contains_key("enum") {
        found.push(format!("the string at `{at}` has no `maxLength`"));
    }
    for (key, value) in map {
        match (key.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                for (name, property) in properties {
                    walk_at_depth(property, &format!("{at}.{name}"), output, depth + 1, found);
                }
            }
            ("items", item) => walk_at_depth(item, &format!("{at}[]"), output, depth + 1, found),
            ("anyOf" | "oneOf" | "allOf", Value::Array(alternatives)) => {
                for alternative in alternatives {
                    walk_at_depth(alternative, at, output, depth + 1, found);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
