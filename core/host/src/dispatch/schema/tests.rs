use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Findings, closest, distance};

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "script_path": {"type": "string", "minLength": 1, "maxLength": 8},
            "count": {"type": "integer", "minimum": 1, "maximum": 9},
            "mode": {"type": "string", "enum": ["a", "b"]},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2, "uniqueItems": true},
            "at": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"], "additionalProperties": false},
        },
        "required": ["script_path"],
        "additionalProperties": false,
    })
}

fn map(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn problems(arguments: Value) -> Vec<String> {
    let found = Findings::of(&schema(), &map(arguments));
    let named = found.problems.iter().map(|(path, why)| format!("{path}: {why}"));
    named.chain(found.missing.iter().map(|name| format!("missing {name}"))).collect()
}

#[test]
fn what_fits_passes() {
    assert!(
        problems(
            json!({"script_path": "äöü", "count": 3, "mode": "a", "tags": ["x"], "at": {"x": 1}})
        )
        .is_empty()
    );
    assert!(problems(json!({"script_path": "x", "count": 3.0})).is_empty());
}

#[test]
fn each_bound_is_held_and_named() {
    for (arguments, told) in [
        (json!({}), "missing script_path"),
        (json!({"script_path": ""}), "it is empty"),
        (json!({"script_path": "123456789"}), "more than 8 characters"),
        (json!({"script_path": 7}), "has to be a string, not a number"),
        (json!({"script_path": null}), "has to be a string, not null"),
        (json!({"script_path": "x", "count": 0}), "less than 1"),
        (json!({"script_path": "x", "count": 1e300}), "more than 9"),
        (json!({"script_path": "x", "count": 1.5}), "has to be an integer"),
        (json!({"script_path": "x", "mode": "c"}), "one of `a`, `b`"),
        (json!({"script_path": "x", "tags": ["a", "a"]}), "twice"),
        (json!({"script_path": "x", "tags": ["a", 7]}), "tags[1]"),
        (json!({"script_path": "x", "tags": ["a", "b", "c"]}), "more than 2 items"),
        (json!({"script_path": "x", "at": {}}), "at.x: it is missing"),
        (json!({"script_path": "x", "at": {"x": 1, "y": 2}}), "at.y: it is not one of `x`"),
    ] {
        let found = problems(arguments.clone()).join("; ");
        assert!(found.contains(told), "{arguments}: {found}");
    }
}

#[test]
fn missing_unknown_and_accepted_names_are_in_one_refusal() {
    let arguments = map(json!({"path": "x", "colour": 1}));
    let refusal =
        Findings::of(&schema(), &arguments).refusal("script_create", &schema(), &arguments);
    assert!(refusal.message.starts_with(
        "`script_create` is missing `script_path`, does not take `path`, `colour`; it takes `script_path`"
    ), "{}", refusal.message);
    assert_eq!(refusal.data["missing"], json!(["script_path"]));
    assert_eq!(refusal.data["unknown"], json!(["path", "colour"]));
    assert!(!refusal.data.contains_key("retry_with"));
}

#[test]
fn one_misnamed_argument_is_put_right() {
    let suggest = |arguments: Value| {
        let arguments = map(arguments);
        Findings::of(&schema(), &arguments).refusal("t", &schema(), &arguments).data
    };
    let data = suggest(json!({"path": "x"}));
    assert_eq!((&data["argument"], &data["did_you_mean"]), (&json!("path"), &json!("script_path")));
    assert_eq!(data["retry_with"], json!({"script_path": "x"}));
    let data = suggest(json!({"script_path": "x", "cuont": 3}));
    assert_eq!(data["retry_with"], json!({"count": 3}));
    // The value does not fit under the right name, so nothing is promised.
    assert!(!suggest(json!({"path": 7})).contains_key("retry_with"));
    assert!(!suggest(json!({"script_path": "x", "zzz": 3})).contains_key("did_you_mean"));
}

#[test]
fn names_are_compared_by_edits() {
    assert_eq!((distance("kitten", "sitting"), distance("", "ab"), distance("a", "a")), (3, 2, 0));
    assert_eq!(closest("mod", &["mode".into()], &Map::new()).as_deref(), Some("mode"));
    assert_eq!(closest("x", &["y".into()], &Map::new()), None);
}

proptest! {
    #[test]
    fn no_arguments_panic(name in "[a-z_]{0,12}", text in any::<String>(), number in any::<f64>()) {
        for value in [json!(text), json!(number), json!([text]), json!({ "x": number })] {
            let arguments = map(json!({ name.clone(): value }));
            let _ = Findings::of(&schema(), &arguments).refusal("t", &schema(), &arguments);
        }
    }
}
