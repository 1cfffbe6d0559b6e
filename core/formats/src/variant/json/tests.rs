//! Tests of `json` and of the writer under it.

use proptest::prelude::*;
use serde_json::json;

use super::{Json, Named, plain_text, text};
use crate::variant::{Value, check, float_text, number_text, parse, write};

fn plain(json: &Json) -> String {
    plain_text(json, None, "\n").unwrap()
}

fn typed(json: &Json, wanted: &str) -> String {
    plain_text(json, Some(wanted), "\n").unwrap()
}

#[test]
fn floats_as_the_engine_writes_them() {
    for (value, alone, inside) in [
        (0.0, "0.0", "0"),
        (-0.0, "0.0", "0"),
        (1.0, "1.0", "1"),
        (0.5, "0.5", "0.5"),
        (-2.5, "-2.5", "-2.5"),
        (100_000.0, "100000.0", "100000"),
        (1e10, "10000000000.0", "10000000000"),
        (1e15, "1e+15", "1e+15"),
        (1e20, "1e+20", "1e+20"),
        (123_456_789_012_345_680.0, "1.2345678901234568e+17", "1.2345678901234568e+17"),
        (0.0001, "0.0001", "0.0001"),
        (0.00001, "1e-05", "1e-05"),
        (1.5e-7, "1.5e-07", "1.5e-07"),
        (1e-300, "1e-300", "1e-300"),
        (f64::MAX, "1.7976931348623157e+308", "1.7976931348623157e+308"),
        (f64::INFINITY, "inf", "inf"),
        (f64::NEG_INFINITY, "inf_neg", "inf_neg"),
        (f64::NAN, "nan", "nan"),
    ] {
        assert_eq!((&*float_text(value), &*number_text(value)), (alone, inside));
    }
}

#[test]
fn json_by_its_own_kinds() {
    assert_eq!(plain(&json!(null)), "null");
    assert_eq!(plain(&json!(true)), "true");
    assert_eq!(plain(&json!(i64::MIN)), i64::MIN.to_string());
    assert_eq!(plain(&json!(1.0)), "1.0");
    assert_eq!(plain(&json!("caf\u{e9} \"x\"\n\\ 'y'")), "\"café \\\"x\\\"\n\\\\ 'y'\"");
    assert_eq!(plain(&json!([1, [2.5], {}])), "[1, [2.5], {}]");
    assert_eq!(plain(&json!({"b": 1, "a": {"c": []}})), "{\n\"b\": 1,\n\"a\": {\n\"c\": []\n}\n}");
    assert!(plain_text(&json!(u64::MAX), None, "\n").is_err());
    assert_eq!(plain_text(&json!({"a": 1}), None, "\r\n").unwrap(), "{\r\n\"a\": 1\r\n}");
}

#[test]
fn json_for_a_wanted_type() {
    assert_eq!(typed(&json!(2), "float"), "2.0");
    assert_eq!(typed(&json!(2.0), "int"), "2");
    assert_eq!(typed(&json!("n'm"), "StringName"), "&\"n\\'m\"");
    assert_eq!(typed(&json!("A/B:c"), "NodePath"), "NodePath(\"A/B:c\")");
    assert_eq!(typed(&json!([1, 0.1]), "Vector2"), "Vector2(1, 0.1)");
    assert_eq!(typed(&json!({"y": 2, "x": 1}), "Vector2i"), "Vector2i(1, 2)");
    assert_eq!(typed(&json!([1, 0.5, 0]), "Color"), "Color(1, 0.5, 0, 1)");
    assert_eq!(typed(&json!({"r": 1, "g": 0, "b": 0, "a": 0.5}), "Color"), "Color(1, 0, 0, 0.5)");
    assert_eq!(typed(&json!("#f00"), "Color"), "Color(1, 0, 0, 1)");
    assert_eq!(typed(&json!(["a", "b"]), "PackedStringArray"), "PackedStringArray(\"a\", \"b\")");
    assert_eq!(
        typed(&json!([[1, 2], 3, 4]), "PackedVector2Array"),
        "PackedVector2Array(1, 2, 3, 4)"
    );
    assert_eq!(typed(&json!([0, 255]), "PackedByteArray"), "PackedByteArray(0, 255)");
    assert_eq!(typed(&json!([1, 2]), "Array[float]"), "Array[float]([1.0, 2.0])");
    assert_eq!(
        typed(&json!({"a": 1}), "Dictionary[StringName, float]"),
        "Dictionary[StringName, float]({\n&\"a\": 1.0\n})"
    );
    assert_eq!(typed(&json!([1, 0, 0, 1, 2, 3]), "Transform2D"), "Transform2D(1, 0, 0, 1, 2, 3)");
    assert_eq!(typed(&json!(null), "Texture2D"), "null");
}

#[test]
fn typed_literals() {
    assert_eq!(plain(&json!({"type": "Vector3", "x": 1, "y": 2, "z": 3})), "Vector3(1, 2, 3)");
    assert_eq!(plain(&json!({"type": "NodePath", "value": "."})), "NodePath(\".\")");
    assert_eq!(plain(&json!({"type": "float", "value": 3})), "3.0");
    assert_eq!(
        plain(&json!({"type": "PackedInt32Array", "values": [1, 2]})),
        "PackedInt32Array(1, 2)"
    );
    assert_eq!(
        plain(&json!({"type": "Array", "element_type": "int", "values": [1]})),
        "Array[int]([1])"
    );
    assert_eq!(
        plain(
            &json!({"type": "Dictionary", "entries": [[1, "a"], [{"type": "StringName", "value": "k"}, 2]]})
        ),
        "{\n1: \"a\",\n&\"k\": 2\n}"
    );
    assert_eq!(plain(&json!({"type": "Dictionary", "entries": {"type": 1}})), "{\n\"type\": 1\n}");
    let mut resolve = |named: Named<'_>| match named {
        Named::External(path) => Ok(format!("ExtResource(\"{}\")", path.len())),
        Named::Internal(id) => Err(format!("no `{id}`")),
    };
    let external = json!({"type": "ExtResource", "path": "res://a"});
    let read = text(&external, Some("Texture2D"), "\n", &mut resolve).unwrap();
    assert_eq!(read, "ExtResource(\"7\")");
    let fault =
        text(&json!([{"type": "SubResource", "id": "x"}]), None, "\n", &mut resolve).unwrap_err();
    assert_eq!(fault.message, "at `/0`: no `x`");
}

#[test]
fn what_does_not_fit_names_both_types() {
    for (json, wanted) in [
        (json!("1"), "int"),
        (json!(1.5), "int"),
        (json!(1), "String"),
        (json!(null), "int"),
        (json!([1, 2.5]), "Vector2i"),
        (json!([1, 2, 3]), "Vector2"),
        (json!({"x": 1, "z": 2}), "Vector2"),
        (json!("red"), "Color"),
        (json!([1, 2, 3]), "PackedVector2Array"),
        (json!([256]), "PackedByteArray"),
        (json!([1, "a"]), "Array[int]"),
        (json!("res://a.png"), "Texture2D"),
        (json!({"type": "Vector3", "values": [1, 2, 3]}), "Vector2"),
        (json!({"type": "ExtResource", "path": "res://a"}), "int"),
    ] {
        let fault = plain_text(&json, Some(wanted), "\n").unwrap_err();
        assert!(fault.expected.is_some(), "{json} as {wanted}: {fault}");
    }
    let fault = plain_text(&json!("a"), Some("Vector2"), "\n").unwrap_err();
    assert_eq!(fault.message, "a `Vector2` is needed, and a `String` was sent");
    assert!(plain_text(&json!({"type": "Vecor2", "x": 1}), None, "\n").is_err());
    let mut deep = json!(1);
    for _ in 0..20 {
        deep = json!([deep]);
    }
    assert!(plain_text(&deep, None, "\n").is_err());
}

fn readable(number: f64) -> bool {
    number == 0.0 || (1e-290..1e300).contains(&number.abs())
}

/// Whether two numbers are the same, or neighbours: one in a hundred is none that the engine reads.
fn near(one: f64, other: f64) -> bool {
    let zeros = one.abs() + other.abs() == 0.0;
    zeros || one.to_bits().abs_diff(other.to_bits()) <= 2
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>()
            .prop_filter("of a size that the engine reads", |float| readable(*float))
            .prop_map(Json::from),
        "[^\0]{0,8}".prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            proptest::collection::btree_map("[a-zé\"]{0,4}", inner, 0..4)
                .prop_map(|map| Json::Object(map.into_iter().collect())),
        ]
    })
}

fn same(json: &Json, value: &Value<'_>) -> bool {
    match (json, value) {
        (Json::Null, Value::Null) => true,
        (Json::Bool(one), Value::Bool(other)) => one == other,
        (Json::Number(one), Value::Int(other)) => one.as_i64() == Some(*other),
        (Json::Number(one), Value::Float(other)) => {
            one.as_f64().is_some_and(|one| near(one, *other))
        }
        (Json::String(one), Value::String(other)) => one == other,
        (Json::Array(one), Value::Array { items, .. }) => {
            one.len() == items.len() && one.iter().zip(items).all(|(one, other)| same(one, other))
        }
        (Json::Object(one), Value::Dictionary { entries, .. }) => {
            let pair =
                |((key, value), (at, other)): ((&String, &Json), &(Value<'_>, Value<'_>))| {
                    at.as_str() == Some(key) && same(value, other)
                };
            one.len() == entries.len() && one.iter().zip(entries).all(pair)
        }
        _ => false,
    }
}

proptest! {
    #[test]
    fn json_reads_back_as_it_was(json in any_json()) {
        let text = plain_text(&json, None, "\n").unwrap();
        check(&text).unwrap();
        let value = parse(&text).unwrap();
        prop_assert!(same(&json, &value), "{json} {text}");
        // The two writers agree.
        let again = write(&value, "\n");
        prop_assert!(same(&json, &parse(&again).unwrap()), "{json} {again}");
    }
}
