use proptest::prelude::*;
use serde_json::json;

use super::*;

fn malformed(payload: &str) -> Malformed {
    Request::from_slice(payload.as_bytes()).unwrap_err()
}

#[test]
fn a_request_reads_back() {
    let params = json!({"a": [1, null]}).as_object().unwrap().clone();
    let request = Request { id: RequestId(7), method: "scene.open".into(), params };
    assert_eq!(Request::from_slice(&request.to_vec()).unwrap(), request);
    let bare = Request::from_slice(br#"{"id": 1, "method": "x"}"#).unwrap();
    assert!(bare.params.is_empty());
}

#[test]
fn what_is_no_request_says_so_with_its_id() {
    assert_eq!(malformed("{").id, None);
    assert_eq!(malformed(r#"{"id": 4}"#).id, Some(RequestId(4)));
    assert_eq!(malformed(r#"{"id": 4, "method": "x", "params": []}"#).id, Some(RequestId(4)));
    assert_eq!(malformed(r#"{"id": "4", "method": "x"}"#).id, None);
    assert_eq!(malformed(r#"{"id": -4, "method": "x"}"#).id, None);
    assert_eq!(malformed(r#"{"id": 4, "method": "x", "jsonrpc": "2.0"}"#).id, Some(RequestId(4)));
    assert_eq!(malformed("[]").id, None);
    assert!(Request::from_slice(b"\xff").is_err());
}

#[test]
fn a_null_result_is_a_result() {
    let response = Response::success(RequestId(1), Value::Null);
    assert_eq!(response.to_vec(), br#"{"id":1,"result":null}"#);
    assert_eq!(Response::from_slice(&response.to_vec()).unwrap(), response);
}

#[test]
fn an_answer_has_either_a_result_or_an_error() {
    for payload in [
        r#"{"id": 1}"#,
        r#"{"id": 1, "result": 1, "error": {"code": 500, "message": "x"}}"#,
        r#"{"id": 1, "result": 1, "more": 1}"#,
        r#"{"result": 1, "id": "1"}"#,
        "",
    ] {
        assert!(Response::from_slice(payload.as_bytes()).is_err(), "{payload}");
    }
}

#[test]
fn an_error_tells_its_outcome_and_whether_the_route_is_given_up() {
    let unknown = BridgeError::new(504, "x", "late").outcome_is(Outcome::Unknown);
    assert_eq!((unknown.outcome(), unknown.asks_for_quarantine()), (Some(Outcome::Unknown), true));
    let early = BridgeError::new(504, "x", "late").outcome_is(Outcome::NotStarted);
    assert_eq!((early.outcome(), early.asks_for_quarantine()), (Some(Outcome::NotStarted), false));
    let silent = BridgeError::new(404, "not_found", "no such node");
    assert_eq!((silent.outcome(), silent.code_name()), (None, Some("not_found")));
    let response = Response::failure(None, unknown);
    assert_eq!(Response::from_slice(&response.to_vec()).unwrap(), response);
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(payload in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Request::from_slice(&payload);
        let _ = Response::from_slice(&payload);
    }
}
