//! What records of each kind take, and what a refusal says of the others.

use serde_json::json;

use super::*;

const KINDS: &[Kind] = &[
    ("press", &[("name", Rule::Text(4), true), ("strength", Rule::Number(0.0, 1.0), false)]),
    ("move", &[("by", Rule::Point, true), ("device", Rule::Whole(-1, 3), false)]),
];
const CELLS: &[Kind] = &[("", &[("at", Rule::Cell(-8, 8), true), ("erase", Rule::Flag, false)])];

fn said(tag: &str, kinds: &[Kind], records: &Value) -> Result<(), String> {
    let records: Vec<Record> = serde_json::from_value(records.clone()).unwrap();
    check("events", tag, kinds, &records).map_err(|refusal| {
        assert_eq!(refusal.data["field"], "events");
        assert_eq!(refusal.code, codes::INVALID_ARGUMENTS);
        refusal.message
    })
}

#[test]
fn records_that_fit_are_taken() {
    let events = json!([
        {"type": "press", "name": "jump", "strength": 1},
        {"type": "move", "by": {"x": 1.5, "y": 0}, "device": -1},
    ]);
    assert_eq!(said("type", KINDS, &events), Ok(()));
    let cells = json!([{"at": [1, -8]}, {"at": {"x": 8, "y": 0}, "erase": true}]);
    assert_eq!(said("", CELLS, &cells), Ok(()));
}

#[test]
fn places_sizes_and_colours_have_their_members_and_their_bounds() {
    const THINGS: &[Kind] = &[(
        "",
        &[
            ("eye", Rule::Point3(10.0), false),
            ("at", Rule::Place(10.0), false),
            ("size", Rule::Size(10.0), false),
            ("color", Rule::Color, false),
            ("cell", Rule::Cell3(-2, 2), false),
        ],
    )];
    for good in [
        json!({"eye": {"x": 0, "y": -10, "z": 10}, "at": {"x": 1, "y": 2}}),
        json!({"at": {"x": 1, "y": 2, "z": 3}, "size": {"x": 0.5, "y": 10}}),
        json!({"color": {"r": 0, "g": 1, "b": 0.5}, "cell": [1, -2, 2]}),
        json!({"cell": {"x": 0, "y": 0, "z": 0}}),
    ] {
        assert_eq!(said("", THINGS, &json!([good])), Ok(()));
    }
    for bad in [
        json!({"eye": {"x": 0, "y": 0}}),
        json!({"eye": {"x": 0, "y": 0, "z": 10.5}}),
        json!({"at": {"x": 0, "z": 0}}),
        json!({"at": {"x": 0, "y": "0"}}),
        json!({"size": {"x": 0, "y": 1}}),
        json!({"color": {"r": 0, "g": 1.5, "b": 0}}),
        json!({"color": {"r": 0, "g": 1, "b": 0, "a": 1}}),
        json!({"cell": [0, 0]}),
        json!({"cell": [0, 0, 3]}),
    ] {
        assert!(said("", THINGS, &json!([bad])).is_err(), "{bad}");
    }
}

#[test]
fn what_does_not_fit_is_named_with_its_place() {
    for (record, words) in [
        (json!({"name": "a"}), "`type` has to be one of `press`, `move`"),
        (json!({"type": "fly"}), "`type` has to be one of"),
        (json!({"type": "press"}), "`name` is missing"),
        (json!({"type": "press", "name": "jumps"}), "a text of 1 to 4 bytes"),
        (json!({"type": "press", "name": ""}), "a text of 1 to 4 bytes"),
        (json!({"type": "press", "name": "a", "strength": 1.1}), "from 0 to 1"),
        (json!({"type": "press", "name": "a", "by": 1}), "accepted are `name`, `strength`"),
        (json!({"type": "move", "by": {"x": 1}}), "`{x, y}` of numbers"),
        (json!({"type": "move", "by": {"x": 1, "y": 2, "z": 3}}), "`{x, y}` of numbers"),
        (json!({"type": "move", "by": {"x": 1, "y": 2}, "device": 4}), "from -1 to 3"),
    ] {
        let good = json!({"type": "press", "name": "a"});
        let said = said("type", KINDS, &json!([good, record])).unwrap_err();
        assert!(said.starts_with("`events[1]`: ") && said.contains(words), "{said}");
    }
    for at in [json!([1]), json!([1, 9]), json!([1, 0.5]), json!({"x": 1, "z": 1}), json!("1,1")] {
        let said = said("", CELLS, &json!([{"at": at}])).unwrap_err();
        assert!(said.contains("`at` has to be `[x, y]`"), "{said}");
    }
    assert!(
        said("", CELLS, &json!([{"at": [0, 0], "type": 1}])).unwrap_err().contains("not taken")
    );
}
