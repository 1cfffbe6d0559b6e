//! Schemas in the form that every tool-calling client takes.
//!
//! schemars says what a type is; the tidy step turns that into a plain object at the top with `properties`,
//! no `$ref`, no `$schema`, no null alternatives, no Rust integer formats, and unit enums as one `enum`.
//!
//! Spec: P-21, tool schemas.

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

/// The input schema of an argument type: closed, inlined, tidy.
pub fn of_input<A: JsonSchema>() -> Value {
    let mut schema = generate::<A>();
    tidy(&mut schema);
    if let Value::Object(root) = &mut schema {
        root.remove("title");
        root.remove("description");
        root.entry("properties").or_insert_with(|| json!({}));
        root.insert("additionalProperties".into(), Value::Bool(false));
    }
    schema
}

/// The output schema of an answer type: its members, and the types of those that are always there.
///
/// It stands in every client's context, so it says which members an answer can have and stops there.
pub fn of_output<A: JsonSchema>() -> Value {
    let mut schema = generate::<A>();
    tidy(&mut schema);
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let mut members = Map::new();
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        let always = required.iter().any(|one| one == name);
        members.insert(name.clone(), if always { plain_type(member) } else { json!({}) });
    }
    let mut whole = json!({"type": "object", "properties": members});
    if !required.is_empty() {
        whole["required"] = required.into();
    }
    whole
}

/// The default of a flag that is on unless a caller says otherwise: `#[serde(default = "didi_plugin_api::schema::yes")]`.
pub fn yes() -> bool {
    true
}

/// A member's type without what is inside.
fn plain_type(member: &Value) -> Value {
    let Some(kind) = member.get("type") else { return json!({}) };
    let mut plain = json!({"type": kind});
    if kind == "array" {
        plain["items"] = json!({});
    }
    plain
}

fn generate<A: JsonSchema>() -> Value {
    let mut settings = schemars::generate::SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    settings.into_generator().into_root_schema_for::<A>().to_value()
}

fn is_null_type(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "null")
}

fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            drop_rust_format(map);
            drop_null_type(map);
            drop_null_alternative(map);
            fold_documented_enum(map);
            // Words about a type were written for the pack's author; an argument has its own.
            if let Some(Value::Object(item)) = map.get_mut("items") {
                item.remove("description");
            }
            for (key, value) in map.iter_mut() {
                // A property may be named like a keyword; its schema is tidied, the map is not.
                if key == "properties" {
                    if let Value::Object(properties) = value {
                        properties.values_mut().for_each(tidy);
                    }
                } else {
                    tidy(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}

fn drop_rust_format(map: &mut Map<String, Value>) {
    let rust_only = |format: &str| {
        format.starts_with("uint")
            || format.starts_with("int")
            || matches!(format, "float" | "double")
    };
    if map.get("format").and_then(Value::as_str).is_some_and(rust_only) {
        map.remove("format");
    }
    if map.get("default").is_some_and(Value::is_null) {
        map.remove("default");
    }
}

fn drop_null_type(map: &mut Map<String, Value>) {
    let Some(Value::Array(kinds)) = map.get_mut("type") else { return };
    // A value that may be anything keeps `null` as a real alternative.
    if kinds.len() > 3 {
        return;
    }
    kinds.retain(|kind| kind != "null");
    if kinds.len() == 1 {
        let only = kinds.remove(0);
        map.insert("type".into(), only);
    }
    // An optional enum lists null among its values, too.
    if let Some(Value::Array(values)) = map.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
}

fn drop_null_alternative(map: &mut Map<String, Value>) {
    for key in ["anyOf", "oneOf"] {
        let Some(Value::Array(alternatives)) = map.get_mut(key) else { continue };
        alternatives.retain(|alternative| !is_null_type(alternative));
        if alternatives.len() != 1 {
            continue;
        }
        let Value::Object(only) = alternatives.remove(0) else { continue };
        map.remove(key);
        for (name, value) in only {
            map.entry(name).or_insert(value);
        }
    }
}

/// A unit enum with documented variants: one `enum`, the words moved into the description.
fn fold_documented_enum(map: &mut Map<String, Value>) {
    let Some(Value::Array(alternatives)) = map.get("oneOf") else { return };
    let mut values = vec![];
    let mut words = vec![];
    for alternative in alternatives {
        match (alternative.get("const"), alternative.get("enum").and_then(Value::as_array)) {
            (Some(value), _) => {
                let name = value.as_str().unwrap_or_default();
                if let Some(about) = alternative.get("description").and_then(Value::as_str) {
                    words.push(format!("{name}: {about}"));
                }
                values.push(value.clone());
            }
            (None, Some(several)) => values.extend(several.iter().cloned()),
            _ => return,
        }
    }
    map.remove("oneOf");
    map.insert("type".into(), "string".into());
    map.insert("enum".into(), values.into());
    if !words.is_empty() {
        let about = map.get("description").and_then(Value::as_str).unwrap_or_default();
        let about = format!("{about} {}", words.join(" "));
        map.insert("description".into(), about.trim().into());
    }
}

/// A JSON value of any kind, with a schema that names every kind.
///
/// A bare `serde_json::Value` publishes the schema `true`, which makes some clients send a string.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct AnyValue(pub Value);

impl JsonSchema for AnyValue {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AnyValue".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": ["null", "boolean", "integer", "number", "string", "array", "object"],
            "items": {}
        })
    }

    fn inline_schema() -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
