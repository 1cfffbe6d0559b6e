use serde_json::json;

use super::*;

fn body(reply: &Reply, shape: Shape) -> Value {
    let stamp = Stamp { command: "ping".into(), executed_at: "2026".into(), execution_time_ms: 3 };
    serde_json::from_str(&reply.body(shape, Some(&stamp))).unwrap()
}

const LEAN: Shape = Shape { verbose: false, omit_nulls: false };
const VERBOSE: Shape = Shape { verbose: true, omit_nulls: false };
const WITHOUT_NULLS: Shape = Shape { verbose: false, omit_nulls: true };

#[test]
fn a_lean_success_has_its_result_alone_even_when_that_is_null() {
    assert_eq!(body(&Reply::value(&json!(4)), LEAN), json!({"success": true, "result": 4}));
    let nothing = Reply::value(&json!(null));
    assert_eq!(body(&nothing, LEAN), json!({"success": true, "result": null}));
    assert_eq!(body(&nothing, WITHOUT_NULLS), json!({"success": true, "result": null}));
}

#[test]
fn a_lean_failure_has_what_applies() {
    let reply = Reply::busy("settling", "Wait.").with("dialogs", Value::Null);
    let want = json!({
        "success": false, "error": "Server Busy", "errorDetails": "Wait.", "status": "busy",
        "busyReason": "settling", "retryable": true,
    });
    assert_eq!(body(&reply, LEAN), want);
    assert_eq!(reply.status, 503);
}

#[test]
fn a_verbose_reply_says_what_ran_and_when_and_what_is_not_there() {
    let want = json!({
        "success": true, "command": "ping", "result": 1, "error": null, "errorDetails": null,
        "message": null, "warnings": null, "executedAt": "2026", "executionTimeMs": 3,
    });
    assert_eq!(body(&Reply::value(&1), VERBOSE), want);
    let failed = body(&Reply::invalid_request("No.").with("warnings", json!(["w"])), VERBOSE);
    assert_eq!(failed["result"], Value::Null);
    assert!(failed.as_object().unwrap().contains_key("result"));
    assert_eq!(failed["warnings"], json!(["w"]));
}

#[test]
fn nulls_go_at_every_depth_and_stay_in_lists() {
    let reply = Reply::value(&json!({"a": null, "b": {"c": null, "d": [null, {"e": null}]}}));
    assert_eq!(body(&reply, WITHOUT_NULLS)["result"], json!({"b": {"d": [null, {}]}}));
    assert_eq!(body(&reply, LEAN)["result"]["a"], Value::Null);
}

#[test]
fn a_result_passes_as_the_text_that_it_was() {
    let text = r#"{"n":1.10,"n2":12345678901234567890123}"#;
    let reply = Reply::done(RawValue::from_string(text.into()).unwrap());
    assert!(reply.body(LEAN, None).contains(text));
}
