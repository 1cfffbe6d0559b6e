//! Tests of `outcome`: which trouble has which exit code, and failures inside delivered results.

use serde_json::{Value, json};

use super::{Trouble, refused, usage};
use crate::pipeline::client::{Answer, Failure};

fn reply(status: u16, body: &Value) -> Trouble {
    let answer = Answer { status, body: body.to_string().into_bytes() };
    refused(&answer, body, "probe")
}

#[test]
fn a_reply_decides_code_and_exit() {
    let args = json!({
        "error": "Invalid Command Arguments", "errorCode": "INVALID_COMMAND_ARGS", "errorDetails": "English.",
        "argProblems": [{"kind": "unknownName", "name": "mesage", "suggestion": "message"}],
        "commandSchema": {"name": "probe", "parameters": [{"name": "message", "type": "String", "required": true}]},
    });
    for (status, body, code, exit) in [
        (400, json!({"error": "Command Not Found", "errorDetails": "no x"}), "COMMAND_FAILED", 6),
        (400, args, "INVALID_COMMAND_ARGS", 2),
        (
            400,
            json!({"error": "x", "refusal": {"data": {"code": "tests_failed"}}}),
            "TESTS_FAILED",
            8,
        ),
        (401, json!({"error": "Unauthorized"}), "UNAUTHORIZED", 3),
        (403, json!({"error": "Forbidden"}), "UNAUTHORIZED", 3),
        (404, Value::Null, "COMMAND_FAILED", 6),
        (413, json!({"error": "Payload Too Large"}), "COMMAND_FAILED", 6),
        (429, json!({"error": "Too Many Queued Jobs"}), "TOO_MANY_JOBS", 7),
        (503, json!({"error": "Server Busy", "busyReason": "settling"}), "EDITOR_NOT_READY", 6),
    ] {
        let trouble = reply(status, &body);
        assert_eq!((trouble.code, trouble.exit), (code, exit), "{body}");
        assert!(!trouble.message.is_empty());
    }
}

#[test]
fn a_failure_on_the_way_decides_code_and_exit() {
    for (failure, code, exit, unknown) in [
        (Failure::Refused("x".into()), "EDITOR_NOT_READY", 6, false),
        (
            Failure::Denied(std::io::ErrorKind::PermissionDenied.into()),
            "PERMISSION_DENIED",
            4,
            false,
        ),
        (Failure::Dead { pid: 1 }, "INSTANCE_GONE", 7, false),
        (Failure::Unanswered("x".into()), "OUTCOME_UNKNOWN", 7, true),
        (Failure::BadAnswer("x".into()), "BAD_REPLY", 7, true),
        (Failure::TimedOut { sent: true }, "TIMED_OUT", 7, true),
        (Failure::TimedOut { sent: false }, "TIMED_OUT", 7, false),
        (Failure::Cancelled { sent: true }, "INTERRUPTED", 130, true),
    ] {
        assert_eq!(failure.may_have_run(), unknown, "{failure}");
        let trouble = Trouble::from(failure);
        assert_eq!((trouble.code, trouble.exit), (code, exit));
        assert_eq!(trouble.more["outcome"] == "unknown", unknown, "{code}");
    }
}

#[test]
fn known_problems_are_told_in_our_words_and_unknown_ones_in_the_servers() {
    let mut body = json!({
        "errorCode": "INVALID_COMMAND_ARGS", "errorDetails": "Their English.",
        "argProblems": [{"kind": "emptyValue", "name": "count"}],
        "commandSchema": {"parameters": [
            {"name": "on", "type": "Boolean", "required": false},
            {"name": "text", "type": "String", "required": true},
            {"name": "count", "type": "Int32", "required": false},
        ]},
    });
    let trouble = reply(400, &body);
    assert_eq!(trouble.message, "--count needs a value.");
    assert_eq!(trouble.hint.as_deref(), Some("usage: probe <text> [--on] [--count Int32]"));
    body["argProblems"][0]["kind"] = "brandNew".into();
    assert_eq!(reply(400, &body).message, "Their English.");
    body["argProblems"] = json!([{"kind": "unknownName", "name": "json"}]);
    assert_eq!(reply(400, &body).hint.as_deref(), Some("write --json before the command's name"));
}

#[test]
fn a_command_without_parameters_is_its_name() {
    assert_eq!(usage("ping", &json!({})), "ping");
}
