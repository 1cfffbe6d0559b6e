use didi_plugin_api::prelude::*;
use serde_json::{Map, value::RawValue};

use super::{narrow, splice};

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.into()).unwrap()
}

fn stamp() -> Map<String, Value> {
    let Value::Object(map) = json!({"execution_mode": "local"}) else { unreachable!() };
    map
}

#[test]
fn stamped_members_come_before_the_tools_own() {
    for (data, whole) in [
        (r#"{"a":1}"#, r#"{"execution_mode":"local","a":1}"#),
        (r"{}", r#"{"execution_mode":"local"}"#),
        (r"{ }", r#"{"execution_mode":"local"}"#),
        ("{\"a\":\n{\"b\":2}}", r#"{"execution_mode":"local","a":{"b":2}}"#),
        (r#"{"a":{"b":{}}}"#, r#"{"execution_mode":"local","a":{"b":{}}}"#),
    ] {
        assert_eq!(splice(&stamp(), &raw(data)).get(), whole);
    }
}

#[test]
fn sections_that_were_not_asked_for_are_left_out_and_named() {
    let sections = ["server", "log"].map(String::from);
    let mut stamped = stamp();
    let data = raw(r#"{"lights":[1],"server":{"a":1},"log":[]}"#);
    let kept = narrow(&data, &sections, &sections[1..], &mut stamped);
    assert_eq!(kept.get(), r#"{"lights":[1],"log":[]}"#);
    assert_eq!(stamped["omitted_fields"], json!(["server"]));
}
