//! What schemars says, after the tidy step.
#![allow(dead_code, reason = "the types are here for their schemas")]
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{AnyValue, of_input, of_output};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Plain {
    Near,
    FarAway,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Documented {
    /// Close by.
    Near,
    /// At a distance.
    FarAway,
    Unsaid,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Inner {
    /// How many.
    #[schemars(range(min = 1, max = 9))]
    count: Option<u32>,
    place: Option<Plain>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
/// Words about the type are not published.
struct Args {
    /// A name.
    #[schemars(length(min = 1, max = 64))]
    name: String,
    plain: Plain,
    /// Where.
    documented: Option<Documented>,
    inner: Inner,
    /// The same again.
    another: Option<Inner>,
    #[serde(default)]
    many: Vec<Inner>,
    ratio: Option<f64>,
    anything: AnyValue,
    #[serde(default)]
    labels: BTreeMap<String, u8>,
}

/// What no client takes, at any depth outside of property names.
fn strange(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(map) => {
            for key in ["$ref", "$defs", "$schema", "definitions", "oneOf", "anyOf", "format"] {
                if map.contains_key(key) {
                    found.push(format!("{key} in {schema}"));
                }
            }
            map.values().for_each(|value| strange(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| strange(item, found)),
        _ => {}
    }
}

#[test]
fn an_input_schema_is_a_closed_object_without_anything_strange() {
    let schema = of_input::<Args>();
    let mut found = vec![];
    strange(&schema, &mut found);
    assert_eq!(found, Vec::<String>::new());
    assert_eq!(schema["type"], "object");
    assert_eq!(schema["additionalProperties"], false);
    assert!(schema.get("title").is_none() && schema.get("description").is_none(), "{schema}");
    assert_eq!(schema["required"], json!(["name", "plain", "inner", "anything"]));
}

#[test]
fn lengths_ranges_and_words_come_through() {
    let properties = &of_input::<Args>()["properties"];
    let name = json!({"type": "string", "description": "A name.", "minLength": 1, "maxLength": 64});
    assert_eq!(properties["name"], name);
    let count = &properties["inner"]["properties"]["count"];
    assert_eq!(
        *count,
        json!({"type": "integer", "description": "How many.", "minimum": 1, "maximum": 9})
    );
    assert_eq!(properties["ratio"], json!({"type": "number"}));
}

#[test]
fn a_unit_enum_is_one_list_of_words() {
    let properties = &of_input::<Args>()["properties"];
    assert_eq!(properties["plain"], json!({"type": "string", "enum": ["near", "far_away"]}));
    let documented = &properties["documented"];
    assert_eq!(documented["type"], "string");
    let mut words: Vec<_> = documented["enum"].as_array().unwrap().iter().collect();
    words.sort_by_key(|word| word.as_str());
    assert_eq!(words, ["far_away", "near", "unsaid"]);
    let about = documented["description"].as_str().unwrap();
    assert_eq!(about, "Where. near: Close by. far_away: At a distance.");
}

#[test]
fn an_optional_value_does_not_list_null() {
    let properties = &of_input::<Args>()["properties"];
    let place = &properties["inner"]["properties"]["place"];
    assert_eq!(*place, json!({"type": "string", "enum": ["near", "far_away"]}));
    let another = &properties["another"];
    assert_eq!(another["type"], "object");
    assert_eq!(another["description"], "The same again.");
    assert_eq!(another["properties"], properties["inner"]["properties"]);
}

#[test]
fn nested_types_are_inlined_and_stay_closed() {
    let properties = &of_input::<Args>()["properties"];
    assert_eq!(properties["inner"]["additionalProperties"], false);
    assert_eq!(properties["many"]["items"]["properties"], properties["inner"]["properties"]);
    assert_eq!(properties["labels"]["default"], json!({}));
    assert_eq!(properties["labels"]["additionalProperties"]["type"], "integer");
}

#[test]
fn any_value_names_every_kind() {
    let anything = &of_input::<Args>()["properties"]["anything"];
    assert_eq!(anything["type"].as_array().unwrap().len(), 7);
    assert!(anything["type"].as_array().unwrap().contains(&json!("null")));
}

#[derive(Deserialize, JsonSchema)]
struct Empty {}

#[test]
fn a_tool_without_arguments_still_has_properties() {
    let closed = json!({"type": "object", "properties": {}, "additionalProperties": false});
    assert_eq!(of_input::<Empty>(), closed);
}

#[derive(JsonSchema)]
struct Keywords {
    /// A property may be named like a keyword.
    format: Option<String>,
    properties: Vec<u8>,
    r#type: Option<String>,
}

#[test]
fn properties_named_like_keywords_keep_their_schemas() {
    let properties = &of_input::<Keywords>()["properties"];
    assert_eq!(properties["format"]["type"], "string");
    assert_eq!(properties["properties"]["type"], "array");
    assert_eq!(properties["type"], json!({"type": "string"}));
}

#[test]
fn an_output_schema_names_members_and_the_types_of_those_that_are_always_there() {
    let schema = of_output::<Args>();
    assert_eq!(schema["properties"]["name"], json!({"type": "string"}));
    assert_eq!(schema["properties"]["another"], json!({}));
    assert_eq!(schema["required"], json!(["name", "plain", "inner", "anything"]));
    assert!(schema.get("additionalProperties").is_none(), "an answer may grow");
}
