use proptest::prelude::*;

use super::*;
use didi_pipeline::command::Parameter;

fn command() -> Command {
    let parameter = |name: &str, kind: Kind, required| Parameter {
        name: name.into(),
        description: String::new(),
        kind,
        required,
        default: None,
    };
    Command {
        name: "log".into(),
        description: String::new(),
        tags: vec![],
        package: String::new(),
        main_thread_required: false,
        runtime_only: false,
        parameters: vec![
            parameter("message", Kind::Text, true),
            parameter("max_count", Kind::Integer, false),
            parameter("on", Kind::Boolean, false),
            parameter("value", Kind::Any, false),
        ],
        schema: json!({}),
    }
}

fn bound(arguments: Arguments) -> Result<(Value, Option<Value>), String> {
    bind_arguments(&command(), arguments)
        .map(|bound| (Value::Object(bound.arguments), bound.echo))
        .map_err(|reply| reply.outcome.unwrap_err().details)
}

fn named_as(value: Value) -> Result<Value, String> {
    bound(Arguments::Named(value.as_object().unwrap().clone())).map(|(arguments, _)| arguments)
}

#[test]
fn named_parameters_are_found_in_any_spelling_and_text_becomes_their_type() {
    let given = json!({"Message": "007", "MAX-COUNT": "5", "on": "TRUE", "value": "07"});
    let want = json!({"message": "007", "max_count": 5, "on": true, "value": "07"});
    assert_eq!(named_as(given), Ok(want));
    let nulls = json!({"message": "m", "max_count": null, "value": null});
    assert_eq!(named_as(nulls), Ok(json!({"message": "m", "value": null})));
}

#[test]
fn named_parameters_that_do_not_fit_are_refused() {
    for (given, part) in [
        (json!({}), "needs 'message'"),
        (json!({"message": "m", "request_id": "12345678"}), "no parameter 'request_id'"),
        (json!({"message": "m", "max_count": "many"}), "takes Int64"),
        (json!({"message": "m", "max_count": 1, "max-count": 2}), "given twice"),
    ] {
        let told = named_as(given).unwrap_err();
        assert!(told.contains(part), "{told}");
    }
}

#[test]
fn tokens_are_bound_and_echoed_as_they_were_stored() {
    let tokens =
        |words: &[&str]| Arguments::Tokens(words.iter().map(ToString::to_string).collect());
    let (arguments, echo) = bound(tokens(&["hi", "--max-count", "5"])).unwrap();
    assert_eq!(arguments, json!({"message": "hi", "max_count": 5}));
    assert_eq!(echo, Some(json!({"message": "hi", "max_count": "5"})));
    assert!(bound(tokens(&["--on"])).unwrap_err().contains("needs 'message'"));
    let Arguments::Tokens(bad) = tokens(&["--mesage", "x"]) else { unreachable!() };
    let reply = bind_arguments(&command(), Arguments::Tokens(bad)).err().unwrap();
    assert_eq!(reply.more["errorCode"], "INVALID_COMMAND_ARGS");
    assert_eq!(reply.more["argProblems"][0]["suggestion"], "message");
    assert!(reply.more["commandSchema"].get("schema").is_none());
}

proptest! {
    #[test]
    fn no_parameters_panic(names in proptest::collection::vec("[a-z_-]{0,12}", 0..6), text in "\\PC{0,20}") {
        let given = names.iter().map(|name| (name.clone(), json!(text))).collect();
        let _ = bind_arguments(&command(), Arguments::Named(given));
        let tokens = names.iter().map(|name| format!("--{name}={text}")).collect();
        let _ = bind_arguments(&command(), Arguments::Tokens(tokens));
    }
}
