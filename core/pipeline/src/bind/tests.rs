//! Tests of `bind`: the grammar as a table, one line a defect, and what holds for every input.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Problem, bind, details, missing};
use crate::{
    command::{Command, Kind, Parameter},
    tokens,
};

fn parameter(name: &str, kind: Kind, required: bool) -> Parameter {
    Parameter { name: name.into(), description: String::new(), kind, required, default: None }
}

fn command(parameters: Vec<Parameter>) -> Command {
    Command {
        name: "probe".into(),
        description: String::new(),
        tags: vec![],
        package: String::new(),
        main_thread_required: false,
        runtime_only: false,
        parameters,
        schema: Value::Null,
    }
}

/// Text, a whole number, a boolean and an untyped value, all optional.
fn probe() -> Command {
    command(vec![
        parameter("message", Kind::Text, false),
        parameter("count", Kind::Integer, false),
        parameter("on", Kind::Boolean, false),
        parameter("value", Kind::Any, false),
    ])
}

fn parse(command: &Command, line: &str) -> Result<Map<String, Value>, Vec<Problem>> {
    bind(command, &tokens::split(line).expect("a line that splits")).map(|bound| bound.values)
}

fn problems(command: &Command, line: &str) -> Value {
    json!(parse(command, line).expect_err(line))
}

#[test]
fn values_that_look_like_something_else() {
    for (line, values) in [
        ("--message 007", json!({"message": "007"})),
        (r#"--message """#, json!({"message": ""})),
        ("--message -foo", json!({"message": "-foo"})),
        ("--message=--on", json!({"message": "--on"})),
        ("--message a=b", json!({"message": "a=b"})),
        ("--message=a=b", json!({"message": "a=b"})),
        ("--count 5", json!({"count": 5})),
        ("--count 007", json!({"count": 7})),
        ("--count -5", json!({"count": -5})),
        ("--on", json!({"on": true})),
        ("--on false", json!({"on": false})),
        ("--on=TRUE", json!({"on": true})),
        ("--value 07", json!({"value": 7})),
        ("--value -07", json!({"value": -7})),
        ("--value TRUE", json!({"value": true})),
        ("--value 1.25", json!({"value": 1.25})),
        ("--value 1.2.3", json!({"value": "1.2.3"})),
        ("--value .5", json!({"value": ".5"})),
        ("--value -", json!({"value": "-"})),
        ("--value 1e5", json!({"value": "1e5"})),
        ("--value 99999999999999999999", json!({"value": "99999999999999999999"})),
        ("--value '[1, {\"a\": null}]'", json!({"value": [1, {"a": null}]})),
        ("--value '{oops'", json!({"value": "{oops"})),
        ("--value", json!({"value": true})),
        ("-5", json!({"message": "-5"})),
        ("-5x", json!({"message": "-5x"})),
        ("-", json!({"message": "-"})),
        ("-- -x", json!({"message": "-x"})),
        ("-- --message", json!({"message": "--message"})),
        ("-- message=1", json!({"message": "message=1"})),
        ("a -- 7", json!({"message": "a", "count": 7})),
        ("--MESSAGE a --Count 1", json!({"message": "a", "count": 1})),
        ("count=5", json!({"message": "count=5"})),
        ("", json!({})),
    ] {
        assert_eq!(parse(&probe(), line).map(Value::Object), Ok(values), "{line}");
    }
    let eval = command(vec![
        parameter("code", Kind::Text, true),
        parameter("timeout", Kind::Integer, false),
    ]);
    assert_eq!(
        parse(&eval, r#""timeout=5;""#).map(Value::Object),
        Ok(json!({"code": "timeout=5;"}))
    );
}

#[test]
fn every_defect_has_its_kind() {
    for (line, expected) in [
        ("--message --on", json!([{"kind": "emptyValue", "name": "message"}])),
        ("--count=", json!([{"kind": "emptyValue", "name": "count"}])),
        ("--count", json!([{"kind": "emptyValue", "name": "count"}])),
        ("--=", json!([{"kind": "emptyName", "token": "--="}])),
        ("--=x", json!([{"kind": "emptyName", "token": "--=x"}])),
        ("-x", json!([{"kind": "singleDash", "token": "-x"}])),
        ("-on=1", json!([{"kind": "singleDash", "token": "-on=1"}])),
        ("--on --on", json!([{"kind": "duplicate", "name": "on"}])),
        (
            "--count 1 --count=",
            json!([{"kind": "duplicate", "name": "count"}, {"kind": "emptyValue", "name": "count"}]),
        ),
        ("--mesage 1", json!([{"kind": "unknownName", "name": "mesage", "suggestion": "message"}])),
        ("--far-away 1", json!([{"kind": "unknownName", "name": "far-away"}])),
        ("--no 1", json!([{"kind": "unknownName", "name": "no"}])),
        ("--onn", json!([{"kind": "unknownName", "name": "onn", "suggestion": "on"}])),
        ("message=1", json!([{"kind": "bareAssignment", "name": "message", "token": "message=1"}])),
        (
            "--count five",
            json!([{"kind": "typeMismatch", "name": "count", "token": "five", "expectedType": "Int64"}]),
        ),
        (
            "a 1 true v more and",
            json!([{"kind": "excessPositional", "token": "more", "capacity": 4, "given": 6}]),
        ),
        (
            "--on a b",
            json!([{"kind": "typeMismatch", "name": "on", "token": "a", "expectedType": "Boolean"}]),
        ),
        (
            "--value v a 1 true more",
            json!([{"kind": "positionalConflict", "name": "value", "token": "more"}]),
        ),
        (
            "--message m 1 true v more",
            json!([{"kind": "excessPositional", "token": "more", "capacity": 3, "given": 4}]),
        ),
    ] {
        assert_eq!(problems(&probe(), line), expected, "{line}");
    }
    // `code=` names the slot that it fills.
    let eval = command(vec![parameter("code", Kind::Text, true)]);
    assert_eq!(
        problems(&eval, "code=1;"),
        json!([{"kind": "bareAssignment", "name": "code", "token": "code=1;"}])
    );
}

#[test]
fn all_defects_of_a_line_are_told_together() {
    assert_eq!(
        problems(&probe(), "--mesage x --count= --on maybe -y 1 2 3"),
        json!([
            {"kind": "unknownName", "name": "mesage", "suggestion": "message"},
            {"kind": "emptyValue", "name": "count"},
            {"kind": "singleDash", "token": "-y"},
            {"kind": "positionalConflict", "name": "on", "token": "2"},
            {"kind": "typeMismatch", "name": "on", "token": "maybe", "expectedType": "Boolean"},
        ])
    );
}

#[test]
fn positional_values_fill_required_places_first() {
    let mixed = command(vec![
        parameter("colour", Kind::Text, false),
        parameter("from", Kind::Text, true),
        parameter("to", Kind::Text, true),
    ]);
    assert_eq!(
        parse(&mixed, "a b c").map(Value::Object),
        Ok(json!({"colour": "c", "from": "a", "to": "b"}))
    );
    assert_eq!(parse(&mixed, "--from x b").map(Value::Object), Ok(json!({"from": "x", "to": "b"})));
    let none = command(vec![]);
    assert_eq!(
        problems(&none, "x"),
        json!([{"kind": "excessPositional", "token": "x", "capacity": 0, "given": 1}])
    );
}

#[test]
fn dashes_and_underscores_name_one_parameter() {
    let one = command(vec![parameter("on_error", Kind::Text, false)]);
    for line in ["--on-error stop", "--on_error stop", "--ON-Error=stop"] {
        assert_eq!(parse(&one, line).map(Value::Object), Ok(json!({"on_error": "stop"})), "{line}");
    }
    assert_eq!(problems(&one, "--on-error a --on_error b")[0]["kind"], "duplicate");
    assert_eq!(problems(&one, "on-error=stop")[0]["kind"], "bareAssignment");
}

#[test]
fn structured_types_take_json() {
    let words = vec!["Front".to_owned(), "back".to_owned()];
    let all = command(vec![
        parameter("side", Kind::Choice { name: "Side".into(), words }, false),
        parameter("at", Kind::List(Box::new(Kind::Number)), false),
        parameter("more", Kind::Object, false),
        parameter("size", Kind::Number, false),
    ]);
    for (line, values) in [
        ("--side FRONT", json!({"side": "Front"})),
        ("--at '[1, 2.5]'", json!({"at": [1, 2.5]})),
        (r#"--more '{"a": [true]}'"#, json!({"more": {"a": [true]}})),
        ("--size 3", json!({"size": 3})),
        ("--size -2.5e1", json!({"size": -25.0})),
    ] {
        assert_eq!(parse(&all, line).map(Value::Object), Ok(values), "{line}");
    }
    for (line, expected) in [
        ("--side left", "Side"),
        ("--at 1", "Double[]"),
        ("--at '[1, \"x\"]'", "Double[]"),
        ("--more '[1]'", "JObject"),
        ("--more '{'", "JObject"),
        ("--size inf", "Double"),
        ("--size NaN", "Double"),
        ("--size 1e999", "Double"),
    ] {
        let found = problems(&all, line);
        assert_eq!(found[0]["kind"], "typeMismatch", "{line}");
        assert_eq!(found[0]["expectedType"], expected, "{line}");
    }
    assert_eq!(problems(&all, "--more")[0]["kind"], "emptyValue");
}

#[test]
fn what_is_echoed_is_what_was_typed() {
    let bound = bind(&probe(), &["--count", "007", "--on", "--value", "07", "--message", "007"]);
    let bound = bound.expect("it binds");
    let stored = json!({"message": "007", "count": "007", "on": true, "value": 7});
    assert_eq!(Value::Object(bound.stored), stored);
    let values = json!({"message": "007", "count": 7, "on": true, "value": 7});
    assert_eq!(Value::Object(bound.values), values);
}

#[test]
fn what_a_client_can_tell_is_a_part_of_what_a_server_tells() {
    let checked =
        |line: &str| json!(super::check_form(&tokens::split(line).expect("a line that splits")));
    assert_eq!(
        checked("--=1 -x --count= --on --on -- -y"),
        json!([
            {"kind": "emptyName", "token": "--=1"},
            {"kind": "singleDash", "token": "-x"},
            {"kind": "emptyValue", "name": "count"},
            {"kind": "duplicate", "name": "on"},
        ])
    );
    for line in ["--message -x", "-5 -", "--on -- -x --on", "a=b --count 1"] {
        assert_eq!(checked(line), json!([]), "{line}");
    }
}

#[test]
fn a_missing_parameter_is_no_problem_of_binding() {
    let two = command(vec![
        parameter("path_to", Kind::Text, true),
        parameter("data", Kind::Text, true),
        parameter("note", Kind::Text, false),
    ]);
    let given = parse(&two, "--data x").expect("it binds");
    assert_eq!(missing(&two, &given), ["path_to"]);
    let given = json!({"Path-To": 1, "DATA": null});
    assert!(missing(&two, given.as_object().expect("an object")).is_empty());
}

#[test]
fn the_english_names_the_way_out() {
    let told = |line: &str| details(&probe(), &parse(&probe(), line).expect_err(line));
    assert_eq!(told("--mesage 1"), "probe has no parameter --mesage. Did you mean --message?");
    assert_eq!(
        told("--far-away 1 --count"),
        "probe has no parameter --far-away. --count needs a value. \
         Valid parameters: --message, --count, --on, --value."
    );
    assert_eq!(
        told("a 1 true v w"),
        "probe takes 4 argument(s) but 5 were given (starting at 'w')."
    );
}

#[test]
fn a_kind_of_a_newer_server_is_read() {
    let read: Problem = serde_json::from_value(json!({"kind": "brandNew", "name": "x", "hue": 3}))
        .expect("it reads");
    assert_eq!(read.text("probe"), "");
}

#[test]
fn a_very_long_name_costs_nothing_and_suggests_nothing() {
    let long = format!("--{}", "m".repeat(1 << 20));
    let found = bind(&probe(), &[long.as_str(), "x"]).expect_err("no such name");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].suggestion, None);
}

/// Tokens of the letters that mean something.
fn token() -> impl Strategy<Value = String> {
    prop_oneof![
        "-{0,3}(message|count|on|value|mesage)?(=[a0-]{0,2})?",
        "[-=a0.{}\\[\\]]{0,5}",
        any::<String>(),
    ]
}

proptest! {
    #[test]
    fn no_input_panics(tokens in prop::collection::vec(token(), 0..12)) {
        match bind(&probe(), &tokens) {
            Ok(bound) => {
                prop_assert_eq!(bound.stored.len(), bound.values.len());
                prop_assert!(bound.values.len() <= tokens.len());
            }
            Err(problems) => {
                prop_assert!(!problems.is_empty());
                prop_assert!(problems.iter().all(|problem| !problem.text("probe").is_empty()));
            }
        }
    }

    #[test]
    fn problems_accumulate(
        tokens in prop::collection::vec(token(), 0..6).prop_filter(
            "a lone -- would make positional values of what follows",
            |tokens| tokens.iter().all(|token| token != "--"),
        ),
        unknown in prop::collection::vec("--zz[a-z]{8,12}=x", 1..4),
    ) {
        // Unknown flags that hold their own values take nothing from the others.
        let count = |result: Result<_, Vec<Problem>>| result.map_or_else(|it| it.len(), |_| 0);
        let before = count(bind(&probe(), &tokens));
        let both: Vec<_> = unknown.iter().chain(&tokens).collect();
        prop_assert_eq!(count(bind(&probe(), &both)), before + unknown.len());
    }

    #[test]
    fn flags_bind_in_any_order(order in Just(vec!["--message=m", "--count=1", "--on", "--value=v"]).prop_shuffle()) {
        let bound = bind(&probe(), &order).expect("it binds");
        let ordered = json!({"message": "m", "count": 1, "on": true, "value": "v"});
        prop_assert_eq!(Value::Object(bound.values), ordered);
    }
}
