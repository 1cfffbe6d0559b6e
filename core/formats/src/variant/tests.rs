//! Tests of `variant`: values as the engine 4.6.3 reads them with `str_to_var`.

use proptest::prelude::*;

use super::{Value, cut, parse, unescape};

fn float(raw: &str) -> f64 {
    parse(raw).unwrap().as_f64().unwrap()
}

#[test]
fn scalars() {
    assert_eq!(parse("null").unwrap(), Value::Null);
    assert_eq!(parse("nil").unwrap(), Value::Null);
    assert_eq!(parse("true").unwrap(), Value::Bool(true));
    assert_eq!(parse("-12").unwrap(), Value::Int(-12));
    assert_eq!(parse("99999999999999999999").unwrap(), Value::Int(i64::MAX));
    assert_eq!(float("5.").to_bits(), 5.0_f64.to_bits());
    assert_eq!(float("1e").to_bits(), 1.0_f64.to_bits());
    assert_eq!(float("-2.5e-3").to_bits(), (-0.0025_f64).to_bits());
    assert_eq!(float("inf").to_bits(), f64::INFINITY.to_bits());
    assert_eq!(float("-inf").to_bits(), f64::NEG_INFINITY.to_bits());
    assert_eq!(float("inf_neg").to_bits(), f64::NEG_INFINITY.to_bits());
    assert!(float("nan").is_nan());
    assert_eq!(parse("#ff8000").unwrap(), Value::HtmlColor("#ff8000"));
}

#[test]
fn strings_and_their_kin() {
    assert_eq!(parse(r#""a\tb\"\q""#).unwrap(), Value::String("a\tb\"q".into()));
    assert_eq!(parse(r#"&"name""#).unwrap(), Value::StringName("name".into()));
    assert_eq!(parse(r#"@"name""#).unwrap(), Value::StringName("name".into()));
    assert_eq!(parse(r#"NodePath("A/B:c")"#).unwrap(), Value::NodePath("A/B:c".into()));
    assert_eq!(parse(r#"^"A""#).unwrap(), Value::NodePath("A".into()));
    assert_eq!(parse("\"two\nlines; [x]\"").unwrap().as_str(), Some("two\nlines; [x]"));
}

/// BL-05: only ASCII survives as a hexadecimal escape; the rest is what 4.6.3 makes of it.
#[test]
fn hexadecimal_escapes_follow_the_engine_and_are_flagged() {
    let read = unescape(r"a\u00c3\u00a9 \u00e9b\u4e2dc\U01f600d");
    assert_eq!(read.text, "aé \u{fffd}b c d");
    assert!(read.lossy);
    let read = unescape(r"\u0041\U000042");
    assert_eq!((&*read.text, read.lossy), ("AB", false));
    assert_eq!(unescape(r"\ud83d\ude00").text, " ");
    assert_eq!(unescape("\\é").text, "é");
    assert_eq!(unescape(r"cut\u00").text, r"cut\u00");
}

#[test]
fn collections() {
    let value = parse("{ \"k\" : [ 1, 2, ], &\"n\": {} , }").unwrap();
    assert_eq!(value.get("k").unwrap().as_array().unwrap().len(), 2);
    assert!(value.get("n").unwrap().is_empty());
    assert_eq!(value.get("gone"), None);
    let typed = parse("Array[ExtResource(\"1_a\")]([ExtResource(\"2\"), null])").unwrap();
    let Value::Array { element, items } = &typed else { panic!("{typed:?}") };
    assert_eq!(*element, Some("ExtResource(\"1_a\")"));
    assert_eq!(items[0], Value::ExtResource("2".into()));
    let typed = parse("Dictionary[int, String]({1: \"a\", 1: \"b\"})").unwrap();
    let Value::Dictionary { types, entries } = &typed else { panic!("{typed:?}") };
    assert_eq!((*types, entries.len()), (Some(("int", "String")), 2));
}

#[test]
fn constructors() {
    let value = parse("Vector2( 1, -2.5 )").unwrap();
    assert_eq!(value.type_name(), "Vector2");
    assert_eq!(value.preview(99), "Vector2(1, -2.5)");
    assert_eq!(parse("SubResource( 7 )").unwrap(), Value::SubResource("7".into()));
    assert_eq!(
        parse("Resource(\"uid://a\", \"res://b\")").unwrap(),
        Value::Resource(vec!["uid://a".into(), "res://b".into()])
    );
    for raw in ["RID()", "Callable()", "Signal()", "FutureThing([1], {\"a\": 2})"] {
        assert!(matches!(parse(raw), Ok(Value::Construct { .. })), "{raw}");
    }
}

/// BL-35: the events of an input action.
#[test]
fn an_input_event_is_an_object() {
    let raw = "{\n\"deadzone\": 0.5,\n\"events\": [Object(InputEventKey,\"device\":-1,\
        \"physical_keycode\":32,\"script\":null)\n, Object(InputEventJoypadButton,\"button_index\":0)\n]\n}";
    let action = parse(raw).unwrap();
    let events = action.get("events").unwrap().as_array().unwrap();
    assert_eq!(events[0].type_name(), "InputEventKey");
    assert_eq!(events[0].get("physical_keycode").unwrap().as_i64(), Some(32));
    assert_eq!(events[1].get("button_index").unwrap().as_i64(), Some(0));
}

/// BL-22: a packed array is counted and cut, not built.
#[test]
fn packed_arrays_stay_text() {
    let body: Vec<String> = (0..400_000).map(|number: i32| number.to_string()).collect();
    let raw = format!("PackedInt32Array({})", body.join(", "));
    let value = parse(&raw).unwrap();
    assert_eq!(value.len(), Some(400_000));
    assert_eq!(value.preview(32), "PackedInt32Array(0, 1, 2, 3, …");
    let Value::Packed(packed) = value else { panic!() };
    assert_eq!(packed.numbers().nth(399_999), Some(399_999.0));

    let lengths = [
        ("PackedByteArray(\"AQID/w==\")", 4),
        ("PackedByteArray(\"AQ\nID\")", 3),
        ("PackedByteArray()", 0),
        ("PoolByteArray( 1, 2, 3 )", 3),
        ("PackedVector2Array(1, 2, 3)", 1),
        ("PackedVector3Array(1, 2, 3, 4, 5, inf)", 2),
        ("PackedColorArray(1, 1, 1, 1)", 1),
        ("PackedVector4Array()", 0),
        ("PackedInt32Array( -1,2 ,3\n,\n4)", 4),
        ("PackedFloat32Array(-0.5,1.,-inf,1e5, 2.5e-3,nan, -7)", 7),
    ];
    for (raw, wanted) in lengths {
        assert_eq!(parse(raw).unwrap().len(), Some(wanted), "{raw}");
    }
    let strings = parse("PackedStringArray(\"a\", \"b,\\\"c\",)").unwrap();
    assert_eq!(strings.as_texts().unwrap(), ["a", "b,\"c"]);
}

#[test]
fn what_the_engine_refuses_is_an_error_with_its_place() {
    let refused = [
        "",
        "[1,,2]",
        "-",
        "{1 2}",
        "Vector2(1,2,)",
        "Vector2(1)",
        "Color(1,1,1)",
        "PackedInt32Array(1,)",
        "PackedInt32Array(1,,2)",
        "PackedInt32Array(1,-,2)",
        "PackedInt32Array(1, .5, 2)",
        "PackedInt32Array(1, 1.5.2, 2)",
        "PackedInt32Array(1, 2",
        "NodePath()",
        ".5",
        "+1",
        "bar",
        "\"\\u12\"",
        "\"\\ud83d\"",
        "\"\\ude00\"",
        "\"open",
        "[1",
        "{",
        "Array([1])",
        "PackedByteArray(\"!!\")",
        "1 2",
        "é",
        "]",
    ];
    for raw in refused {
        assert!(parse(raw).is_err(), "{raw}");
    }
    let error = parse("[1,\n \"é\" 2]").unwrap_err();
    assert_eq!(error.to_string(), "line 2, column 6: expected `,` or `]`, found `2`");
}

#[test]
fn depth_is_bounded_by_an_error() {
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(parse(&deep(200)).is_ok());
    assert!(parse(&deep(201)).unwrap_err().message.contains("200 levels"));
    assert!(parse(&"[".repeat(100_000)).is_err());
}

#[test]
fn previews_are_cut_at_a_letter() {
    assert_eq!(parse("\"éééééé\"").unwrap().preview(8), "\"éé…");
    assert_eq!(parse("[1, 2]").unwrap().preview(6), "[1, 2]");
    assert_eq!(parse("[1, 2]").unwrap().preview(2), "");
    assert_eq!(cut("ééé", 5), "é…");
    assert_eq!(cut("abc", 3), "abc");
    assert_eq!(cut("abcd", 2), "");
}

proptest! {
    #[test]
    fn any_text_gives_a_value_or_an_error(raw in "\\PC{0,40}") {
        let _ = parse(&raw);
    }

    #[test]
    fn near_values_never_panic(raw in r#"[\[\]{}(),:"\\ua0-9.e\-&^#; NVecPacked]{0,40}"#) {
        if let Ok(value) = parse(&raw) {
            for bound in [0, 3, 8] {
                prop_assert!(value.preview(bound).len() <= bound);
            }
        }
    }

    #[test]
    fn a_preview_without_a_cut_reads_back(text in "\\PC{0,20}", number in any::<i64>()) {
        let value = Value::Array {
            element: None,
            items: vec![Value::String(text.as_str().into()), Value::Int(number)],
        };
        let shown = value.preview(1_000);
        prop_assert_eq!(parse(&shown).unwrap(), value);
    }
}
