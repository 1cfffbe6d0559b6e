//! Tests of the forms that are taken, and of those that are left for the schema to judge.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{counted, integer, normalize, number, within_bounds};

fn schema() -> Value {
    json!({"type": "object", "properties": {
        "count": {"type": "integer"},
        "speed": {"type": "number"},
        "name": {"type": "string"},
        "flag": {"type": "boolean"},
        "point": {"type": "object", "properties": {"x": {"type": "number"}, "y": {"type": "number"}}},
        "space": {"type": "object", "properties": {"x": {"type": "number"}, "y": {"type": "number"}, "z": {"type": "number"}}},
        "counts": {"type": "array", "items": {"type": "integer"}},
    }})
}

fn normalized(value: Value) -> (Value, bool) {
    let (mut value, mut differs) = (value, false);
    normalize(&schema(), &mut value, &mut differs);
    (value, differs)
}

#[test]
fn forms_that_mean_one_thing_are_taken() {
    for (given, wanted) in [
        (json!({"count": "12"}), json!({"count": 12})),
        (json!({"count": "-7"}), json!({"count": -7})),
        (json!({"speed": "1.5e2"}), json!({"speed": 150.0})),
        (json!({"speed": "-3"}), json!({"speed": -3})),
        (json!({"point": [1, 2.5]}), json!({"point": {"x": 1, "y": 2.5}})),
        (json!({"point": ["1", "2"]}), json!({"point": {"x": 1, "y": 2}})),
        (json!({"point": {"x": "1", "y": 2}}), json!({"point": {"x": 1, "y": 2}})),
        (json!({"counts": ["1", 2]}), json!({"counts": [1, 2]})),
    ] {
        assert_eq!(normalized(given.clone()), (wanted, true), "{given}");
    }
}

#[test]
fn everything_else_is_left_as_it_is() {
    for given in [
        json!({"count": " 12"}),
        json!({"count": "+12"}),
        json!({"count": "012"}),
        json!({"count": "1.0"}),
        json!({"count": "9223372036854775808"}),
        json!({"count": ""}),
        json!({"count": true}),
        json!({"speed": "NaN"}),
        json!({"speed": "1 "}),
        json!({"speed": "0x1"}),
        json!({"speed": "true"}),
        json!({"name": "12"}),
        json!({"flag": "true"}),
        json!({"point": [1]}),
        json!({"point": [1, 2, 3]}),
        json!({"space": [1, 2]}),
        json!({"unknown": "12"}),
    ] {
        assert_eq!(normalized(given.clone()), (given.clone(), false), "{given}");
    }
}

#[test]
fn bounds_are_kept() {
    let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    let map = |value: Value| value.as_object().unwrap().clone();
    assert!(within_bounds(&map(json!({"a": nested(7)}))).is_ok());
    assert!(within_bounds(&map(json!({"a": nested(8)}))).is_err());
    assert!(within_bounds(&map(json!({"a": vec![1; 4095]}))).is_ok());
    assert!(within_bounds(&map(json!({"a": vec![1; 4096]}))).is_err());
    assert!(within_bounds(&map(json!({"a": "x".repeat(65_533)}))).is_ok());
    assert!(within_bounds(&map(json!({"a": "x".repeat(65_534)}))).is_err());
    let mut values = 0;
    assert!(counted(&json!({"a": [1, 2], "b": null}), 1, &mut values));
    assert_eq!(values, 5);
}

proptest! {
    #[test]
    fn numbers_come_back_as_they_were(value: i64, real in -1e300..1e300_f64) {
        prop_assert_eq!(integer(&value.to_string()), Some(json!(value)));
        let read = number(&json!(real).to_string()).and_then(|value| value.as_f64()).unwrap();
        prop_assert_eq!(read.to_bits(), real.to_bits(), "{} of {}", read, real);
    }

    #[test]
    fn no_text_is_taken_that_json_would_not_read_as_a_number(text in ".{0,12}") {
        let read = serde_json::from_str::<Value>(&text).ok().filter(Value::is_number);
        if read.is_none() {
            prop_assert_eq!(integer(&text), None);
            prop_assert_eq!(number(&text), None);
        }
    }
}
