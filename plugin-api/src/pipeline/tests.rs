//! Tests of what replies say of their own failures.

use serde_json::{Value, json};

use super::{inner_failure, reason};

#[test]
fn a_delivered_failure_is_seen_in_objects_and_in_texts() {
    let seen =
        |result: Value| inner_failure(&result).map(|inner| (inner.message, inner.tests_failed));
    assert_eq!(
        seen(json!({"success": false, "error": "compile"})),
        Some(("compile".into(), false))
    );
    assert_eq!(seen(json!("{\"success\": false, \"message\": \"m\"}")), Some(("m".into(), false)));
    assert_eq!(
        seen(json!({"success": false, "failed": 2})),
        Some(("it does not say why".into(), true))
    );
    assert_eq!(
        seen(json!({"success": false, "error": {"a": 1}})),
        Some(("{\"a\":1}".into(), false))
    );
    for fine in
        [json!(null), json!("{oops"), json!({"success": true}), json!({"success": 0}), json!([1])]
    {
        assert_eq!(seen(fine.clone()), None, "{fine}");
    }
}

#[test]
fn a_reason_is_the_best_that_is_there() {
    assert_eq!(reason(400, &json!({"error": "a", "errorDetails": "b", "message": "c"})), "b");
    assert_eq!(reason(400, &json!({"error": "", "message": "c"})), "c");
    assert_eq!(reason(502, &Value::Null), "status 502 without a reason");
}
