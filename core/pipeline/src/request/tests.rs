use proptest::prelude::*;
use serde_json::json;

use super::*;

fn error(body: &str) -> (u16, String, String) {
    let unreadable = read(body.as_bytes()).unwrap_err();
    let fault = unreadable.reply.outcome.unwrap_err();
    (unreadable.reply.status, fault.error, fault.details)
}

#[test]
fn the_checks_come_in_their_order() {
    let rows = [
        ("", "Bad Request", "Request body is required"),
        (" \n", "Bad Request", "Request body is required"),
        ("{", "Invalid JSON", ""),
        ("\u{1}", "Invalid JSON", ""),
        ("null", "Invalid Request", "Request body must be a JSON object"),
        ("[]", "Invalid Request", "Request body must be a JSON object"),
        ("{}", "Invalid Request", NO_COMMAND),
        (r#"{"command":null}"#, "Invalid Request", NO_COMMAND),
        (r#"{"command":" "}"#, "Invalid Request", NO_COMMAND),
        (r#"{"command":7}"#, "Invalid Request", "'command' must be a string"),
        (r#"{"command":"x","argv":["y"]}"#, "Invalid Request", "Exactly one"),
        (r#"{"argv":["y"],"commandLine":"y"}"#, "Invalid Request", "Exactly one"),
        (r#"{"argv":["y"],"parameters":{}}"#, "Invalid Request", "'parameters' goes with"),
        (r#"{"commandLine":"y","parameters":{}}"#, "Invalid Request", "'parameters' goes with"),
        (r#"{"command":"y","parameters":[]}"#, "Invalid Request", "'parameters' must be an object"),
        (r#"{"argv":[]}"#, "Invalid Request", "'argv' needs"),
        (r#"{"argv":[""]}"#, "Invalid Request", "'argv' needs"),
        (r#"{"argv":"y"}"#, "Invalid Request", "'argv' must be a list"),
        (r#"{"argv":["y",1]}"#, "Invalid Request", "'argv' must be a list"),
        (r#"{"commandLine":"  "}"#, "Invalid Request", NO_COMMAND),
        (r#"{"commandLine":"\"\" a"}"#, "Invalid Request", NO_COMMAND),
        (r#"{"command":"y","job":1}"#, "Invalid Request", "'job' must be"),
        (r#"{"command":"y","timeout":0}"#, "Invalid Request", "'timeout' must be"),
        (r#"{"command":"y","timeout":-1}"#, "Invalid Request", "'timeout' must be"),
        (r#"{"command":"y","timeout":1.5}"#, "Invalid Request", "'timeout' must be"),
        (r#"{"command":"y","timeout":86400001}"#, "Invalid Request", "'timeout' must be"),
    ];
    for (body, want, details) in rows {
        let (status, error, told) = error(body);
        assert_eq!((status, error.as_str()), (400, want), "{body}");
        assert!(told.contains(details), "{body}: {told}");
    }
}

#[test]
fn a_line_that_does_not_split_says_why() {
    assert!(error(r#"{"commandLine":"a \"b"}"#).2.contains("quote"));
    assert!(error(r#"{"commandLine":"a b\\"}"#).2.contains("backslash"));
}

#[test]
fn the_shape_counts_from_where_it_is_read() {
    let unreadable = read(br#"{"verbose":true,"omitNulls":true}"#).unwrap_err();
    assert_eq!(unreadable.shape, Shape { verbose: true, omit_nulls: true });
    assert_eq!(read(b"[]").unwrap_err().shape, Shape::default());
}

#[test]
fn the_three_forms_are_read() {
    let structured =
        read(br#"{"command":"a","parameters":{"b":1},"argv":null,"job":true}"#).unwrap();
    assert_eq!(structured.command, "a");
    assert_eq!(
        structured.arguments,
        Arguments::Named(json!({"b": 1}).as_object().unwrap().clone())
    );
    assert!(structured.job);
    assert_eq!(structured.timeout, DEFAULT_TIMEOUT);
    let argv = read(br#"{"argv":["a","b c",""],"timeout":5}"#).unwrap();
    assert_eq!(argv.arguments, Arguments::Tokens(vec!["b c".into(), String::new()]));
    assert_eq!(argv.timeout, Duration::from_millis(5));
    let line = read(br#"{"commandLine":"a 'b c' --d"}"#).unwrap();
    assert_eq!(line.command, "a");
    assert_eq!(line.arguments, Arguments::Tokens(vec!["b c".into(), "--d".into()]));
}

proptest! {
    #[test]
    fn no_body_panics(body in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&body);
    }

    #[test]
    fn no_json_panics(name in "command|argv|commandLine|parameters|job|timeout", value in "[-\\[\\]{}\",:0-9a-z\\\\ ]{0,40}") {
        let _ = read(format!("{{\"{name}\":{value}}}").as_bytes());
        let _ = read(json!({name: value}).to_string().as_bytes());
    }
}
