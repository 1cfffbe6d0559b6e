//! How long a call over the bridge may take.

use serde_json::json;

use super::*;

fn seconds(method: &str, params: &Value, limit_s: u64) -> u64 {
    let params = params.as_object().unwrap();
    longest(method, params, Duration::from_secs(limit_s)).as_secs()
}

#[test]
fn a_watched_window_comes_on_top_of_the_deadline() {
    assert_eq!(seconds("runtime.getTree", &json!({"duration_ms": 30_000}), 0), 17);
    assert_eq!(seconds("runtime.watchInvariants", &json!({"duration_ms": 30_000}), 0), 47);
    assert_eq!(seconds("runtime.exploreScene", &json!({"duration_ms": 60_000}), 0), 77);
    assert_eq!(seconds("scene.callMethod", &json!({"timeout_seconds": 30}), 0), 47);
    assert_eq!(seconds("no.such", &json!({"duration_ms": 30_000}), 0), 17);
}

#[test]
fn a_caller_may_wait_less_and_never_longer() {
    assert_eq!(seconds("runtime.watchInvariants", &json!({"duration_ms": 30_000}), 5), 5);
    assert_eq!(seconds("runtime.getTree", &json!({}), 60), 17);
}
