//! What the pack declares, and what its other tests share.
#![allow(clippy::disallowed_methods, reason = "lays plain files out for the test")]

use std::{fs, path::Path};

use didi_plugin_api::{desc::Profile, prelude::*, testkit::Kit};

use crate::ProjectPack;

/// A project folder with these files, and the pack over it.
pub(crate) fn project(files: &[(&str, &str)]) -> (tempfile::TempDir, Kit) {
    let dir = tempfile::tempdir().unwrap();
    lay(dir.path(), files);
    let kit = Kit::open::<ProjectPack>(dir.path());
    (dir, kit)
}

pub(crate) fn lay(dir: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        lay_bytes(dir, path, text.as_bytes());
    }
}

pub(crate) fn lay_bytes(dir: &Path, path: &str, bytes: &[u8]) {
    let file = dir.join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, bytes).unwrap();
}

/// Runs a tool and holds its answer against the output schema that it publishes.
pub(crate) fn call(kit: &Kit, tool: &str, args: &Value) -> Value {
    let answer = kit.call(tool, args).unwrap();
    let desc = kit.tools().find(|desc| desc.name == tool).unwrap();
    if let Some(schema) = &desc.output_schema {
        fits(&answer, schema, tool);
    }
    assert_no_nulls(tool, &answer);
    answer
}

pub(crate) fn code(result: Result<Value, Refusal>) -> (String, Refusal) {
    let refusal = result.unwrap_err();
    (refusal.code.name.to_string(), refusal)
}

fn fits(value: &Value, schema: &Value, at: &str) {
    if let (Some(map), Some(properties)) = (value.as_object(), schema["properties"].as_object()) {
        for (name, inner) in map {
            let known =
                properties.get(name).unwrap_or_else(|| panic!("{at}.{name} is not declared"));
            fits(inner, known, &format!("{at}.{name}"));
        }
        for name in schema["required"].as_array().into_iter().flatten() {
            assert!(map.contains_key(name.as_str().unwrap()), "{at} lacks {name}");
        }
    }
    for item in value.as_array().into_iter().flatten() {
        fits(item, &schema["items"], at);
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    assert!(schema["type"].is_null() || schema["type"] == kind, "{at}: {value} in {schema}");
}

/// At the top only `value`s of a board and the class of `resource_inspect` may be null.
fn assert_no_nulls(tool: &str, answer: &Value) {
    let may = ["value", "previous_value", "resource_type"];
    for (name, value) in answer.as_object().unwrap() {
        assert!(!value.is_null() || may.contains(&name.as_str()), "{tool}: {name} is null");
    }
}

#[test]
fn the_tools_are_those_of_the_contract() {
    let (_dir, kit) = project(&[]);
    let core: Vec<&str> = kit
        .tools()
        .filter(|desc| desc.profile == Profile::Core)
        .map(|desc| desc.name.as_str())
        .collect();
    let expected = [
        "asset_reimport",
        "blackboard_read",
        "blackboard_write",
        "editor_reload_project",
        "project_analyze_impact",
        "project_apply_changes",
        "project_audit_assets",
        "project_get_setting",
        "project_get_uid_map",
        "project_list_autoloads",
        "project_list_input_actions",
        "project_list_resources",
        "project_search_symbols",
        "project_search_text",
        "project_set_autoload",
        "project_set_input_action",
        "project_set_setting",
        "project_verify_changes",
        "resource_create",
        "resource_inspect",
    ];
    assert_eq!(core, expected);
    for desc in kit.tools() {
        // A scan of the whole project has no target to read.
        let previews = desc.effects.mutates_project && desc.name != "editor_reload_project";
        assert_eq!(previews, desc.previews, "{}", desc.name);
        assert!(desc.description.len() <= 140, "{}", desc.name);
        let confirmed = desc.confirmation == Confirmation::Always;
        let asks = [
            "blackboard_clear",
            "editor_reload_project",
            "project_apply_changes",
            "project_move_files",
            "project_rename_references",
        ];
        assert_eq!(confirmed, asks.contains(&desc.name.as_str()), "{}", desc.name);
    }
}

#[test]
fn the_core_tools_stay_small() {
    let (_dir, kit) = project(&[]);
    let sizes: Vec<(String, usize)> = kit
        .tools()
        .filter(|desc| desc.profile == Profile::Core)
        .map(|desc| {
            let schemas = desc.input_schema.to_string().len()
                + desc.output_schema.as_ref().map_or(0, |schema| schema.to_string().len());
            (desc.name.clone(), schemas + desc.description.len() + desc.name.len())
        })
        .collect();
    let total: usize = sizes.iter().map(|(_, size)| size).sum();
    assert!(total <= 20 * 800, "{total} bytes: {sizes:?}");
}

#[test]
fn a_cancelled_call_ends() {
    let (_dir, kit) = project(&[("a.gd", "x")]);
    kit.cancel();
    for (tool, args) in [
        ("project_list_resources", json!({})),
        ("project_search_text", json!({"query": "x"})),
        ("blackboard_write", json!({"path": "a", "value": 1})),
    ] {
        assert_eq!(code(kit.call(tool, &args)).0, "cancelled", "{tool}");
    }
}
