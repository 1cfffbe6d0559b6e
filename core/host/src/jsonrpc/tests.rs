use proptest::prelude::*;

use super::{Line, Message, read_line};

fn fault_of(line: &str) -> (i32, Option<String>) {
    match read_line(line.as_bytes()) {
        Line::Single(Err(fault)) => (fault.error.code, fault.id.map(|id| id.to_string())),
        other => panic!("{line}: {other:?}"),
    }
}

fn id_of(line: &str) -> String {
    match read_line(line.as_bytes()) {
        Line::Single(Ok(Message::Request(request))) => request.id.unwrap().to_string(),
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn ids_are_kept_digit_for_digit() {
    for id in [
        "\"7\"",
        "\"\"",
        "0",
        "-1",
        "9007199254740993",
        "9223372036854775807",
        "18446744073709551615",
    ] {
        assert_eq!(id_of(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)), id);
    }
}

#[test]
fn ids_of_another_kind_are_refused() {
    for id in ["null", "true", "{}", "1.5", "1e2", "1.0", "[]"] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        assert_eq!(fault_of(&line), (-32600, None), "{id}");
        let modern = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"ping","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}}}}"#
        );
        assert_eq!(fault_of(&modern), (-32602, None), "{id}");
    }
    assert_eq!(
        fault_of(r#"{"jsonrpc":"2.0","id":18446744073709551616,"method":"ping"}"#).0,
        -32700
    );
}

#[test]
fn what_is_no_json_and_what_is_no_request_are_two_faults() {
    assert_eq!(fault_of("hello there"), (-32700, None));
    assert_eq!(fault_of(r#"{"jsonrpc":"2.0","id":5,"#), (-32700, None));
    assert_eq!(fault_of("[]"), (-32600, None));
    assert_eq!(fault_of("7"), (-32600, None));
    assert_eq!(fault_of(r#"{"id":8,"method":"ping"}"#), (-32600, Some("8".into())));
    assert_eq!(fault_of(r#"{"jsonrpc":"2.0","id":8}"#), (-32600, Some("8".into())));
    assert_eq!(fault_of(r#"{"jsonrpc":"2.0","id":8,"method":7}"#), (-32600, Some("8".into())));
    assert_eq!(
        fault_of(r#"{"jsonrpc":"2.0","id":8,"method":"ping","params":7}"#),
        (-32600, Some("8".into()))
    );
    assert!(matches!(read_line(b"Content-Length: 46"), Line::ContentLength));
    assert!(matches!(read_line(b" \t"), Line::Blank));
}

#[test]
fn a_message_nested_without_end_is_refused_with_its_id() {
    for (depth, legal) in [(100, true), (126, true), (128, false), (100_000, false)] {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":{}{}}}}}"#,
            "[".repeat(depth),
            "]".repeat(depth)
        );
        let Line::Single(Ok(Message::Request(request))) = read_line(line.as_bytes()) else {
            panic!("{depth}")
        };
        assert_eq!(request.params().is_ok(), legal, "{depth}");
        assert_eq!(request.id.unwrap().to_string(), "1");
    }
}

#[test]
fn text_that_unicode_does_not_allow_is_refused() {
    let bad = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xff\"}";
    assert!(matches!(read_line(bad), Line::Single(Err(fault)) if fault.error.code == -32700));
    let lone = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\ud83d"}}"#;
    let Line::Single(Ok(Message::Request(request))) = read_line(lone.as_bytes()) else { panic!() };
    assert_eq!(request.params().unwrap_err().code, -32700);
    let pair = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\ud83d\ude00"}}"#;
    let Line::Single(Ok(Message::Request(request))) = read_line(pair.as_bytes()) else { panic!() };
    assert_eq!(request.params().unwrap()["x"], "\u{1f600}");
}

proptest! {
    #[test]
    fn no_line_panics(line in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_line(&line);
    }

    #[test]
    fn no_json_like_line_panics(line in r#"[\[\]{}",:0-9a-z\\u]{0,120}"#) {
        let _ = read_line(line.as_bytes());
    }
}
