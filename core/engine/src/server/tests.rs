use didi_wire::descriptor::{Identity, SCHEMA_VERSION};
use didi_wire::{PROTOCOL_VERSION, SessionId, SessionKind, SessionToken};

use super::*;

fn shared() -> Shared {
    let identity = Identity {
        schema_version: SCHEMA_VERSION,
        session_id: SessionId::random(),
        pid: 1,
        kind: SessionKind::Game,
        project_path: "/game".into(),
        endpoint: "/none".into(),
        started_at_ms: 1,
        protocol_version: PROTOCOL_VERSION.into(),
        build_id: None,
        engine_version: None,
    };
    let descriptor = Descriptor { identity, token: SessionToken::random() };
    Shared::new(descriptor, Arc::new(LogRing::new()), Arc::new(LogRing::new()))
}

fn ask(shared: &Shared, method: &str, mut params: Value) -> Reply {
    params[TOKEN_PARAM] = shared.descriptor.token.reveal().into();
    let request = json!({"id": 9, "method": method, "params": params});
    Connection { shared, attached: false }.reply(request.to_string().as_bytes())
}

fn code(reply: &Reply) -> (u16, String) {
    let error = reply.response.body.as_ref().unwrap_err();
    (error.code, error.code_name().unwrap_or_default().to_owned())
}

#[test]
fn the_handshake_is_the_whole_identity_without_the_token() {
    let shared = shared();
    let reply = ask(&shared, "session.handshake", json!({}));
    let mut answer = reply.response.body.unwrap();
    assert!(!answer.to_string().contains(shared.descriptor.token.reveal()));
    assert_eq!(answer.as_object_mut().unwrap().remove("status"), Some(json!("ok")));
    let identity: Identity = serde_json::from_value(answer).unwrap();
    assert_eq!(identity, shared.descriptor.identity);
}

#[test]
fn pages_of_both_logs_say_whose_they_are() {
    let shared = shared();
    shared.output.push(Level::Error, "engine", "printed", Value::Null);
    shared.telemetry.push(Level::Info, "bridge", "told", Value::Null);
    let output = ask(&shared, "runtime.getOutput", json!({"limit": 5})).response.body.unwrap();
    assert_eq!((&output["stream"], &output["session_kind"]), (&json!("engine"), &json!("game")));
    assert_eq!(output["records"][0]["message"], "printed");
    let logs = ask(&shared, "runtime.getLogs", json!({"cursor": 0})).response.body.unwrap();
    assert_eq!(logs["records"][0]["message"], "told");
    assert_eq!(logs["records"][1]["message"], "client attached");
    assert_eq!(logs.get("stream"), None);
    for params in [json!({"limit": 0}), json!({"limit": "x"}), json!({"more": 1})] {
        assert_eq!(code(&ask(&shared, "runtime.getLogs", params)).0, 400);
    }
}

#[test]
fn names_that_are_no_methods_are_told_apart() {
    let shared = shared();
    let code = |name| code(&ask(&shared, name, json!({})));
    assert_eq!(code("scene.teleport"), (404, "unknown_method".into()));
    assert_eq!(code("script.reflectClass"), (409, "offline_only_method".into()));
}

#[test]
fn status_of_unknown_work_is_refused_at_once() {
    let shared = shared();
    let reply = ask(&shared, "asset.reimportStatus", json!({"reimport_id": "x"}));
    assert_eq!(code(&reply), (404, "reimport_not_found".into()));
    let reply = ask(&shared, "editor.reloadStatus", json!({}));
    assert_eq!(code(&reply), (400, "invalid_arguments".into()));
}

#[test]
fn only_the_token_attaches_a_client() {
    let shared = shared();
    let mut connection = Connection { shared: &shared, attached: false };
    for params in [json!({}), json!({TOKEN_PARAM: 7}), json!({TOKEN_PARAM: "0".repeat(64)})] {
        let request = json!({"id": 1, "method": "session.handshake", "params": params});
        let reply = connection.reply(request.to_string().as_bytes());
        assert_eq!(code(&reply), (401, "session_token_rejected".into()));
        assert!(!reply.goes_on);
    }
    assert_eq!(shared.attached_clients(), 0);
    let token = shared.descriptor.token.reveal();
    let request = json!({"id": 1, "method": "session.handshake", "params": {TOKEN_PARAM: token}});
    for _ in 0..2 {
        assert!(connection.reply(request.to_string().as_bytes()).goes_on);
        assert_eq!(shared.attached_clients(), 1);
    }
    drop(connection);
    assert_eq!(shared.attached_clients(), 0);
}

#[test]
fn garbage_is_answered_and_the_connection_goes_on() {
    let shared = shared();
    let mut connection = Connection { shared: &shared, attached: false };
    let reply = connection.reply(b"{nonsense");
    assert_eq!((code(&reply), reply.goes_on), ((400, "malformed_request".into()), true));
    assert_eq!(reply.response.id, None);
    let reply = connection.reply(br#"{"id": 5, "params": {}}"#);
    assert_eq!(reply.response.id, Some(didi_wire::RequestId(5)));
}

#[test]
fn the_bridge_notes_who_came_and_what_failed_and_never_a_token() {
    let shared = shared();
    ask(&shared, "scene.teleport", json!({"secret": 1}));
    let records = shared.telemetry.since(1, Level::Debug);
    let messages: Vec<&str> = records.iter().map(|record| record.message.as_str()).collect();
    assert_eq!(
        messages,
        ["client attached", "`scene.teleport` is no method of the bridge", "client detached"]
    );
    assert_eq!(records[1].details["code"], "unknown_method");
    let all = serde_json::to_string(&records).unwrap();
    assert!(!all.contains(shared.descriptor.token.reveal()) && !all.contains("secret"));
}
