//! Tests of `run_command` in a scripted host: forms, capabilities, and what is never sent.

use std::sync::Mutex;

use didi_plugin_api::{
    pipeline::{Instance, Outcome, Question, Reply, Request},
    prelude::*,
    testkit::Kit,
};

use crate::UnityPack;

const TOOL: &str = "unity_run_command";

fn instance(capabilities: Option<&[&str]>) -> Instance {
    Instance {
        name: "Game".into(),
        kind: "editor".into(),
        folder: "/projects/Game".into(),
        version: "6000.1".into(),
        pid: 7,
        process: "alive".into(),
        capabilities: capabilities.map(|all| all.iter().map(|it| (*it).to_owned()).collect()),
        info: None,
        started_at: String::new(),
        last_heartbeat: String::new(),
    }
}

/// A host whose instance answers commands so, and says of itself that it is ready.
fn kit(
    capabilities: Option<&'static [&'static str]>,
    result: Value,
) -> (Kit, &'static Mutex<Vec<Request>>) {
    let sent: &'static Mutex<Vec<Request>> = Box::leak(Box::default());
    let kit = Kit::open::<UnityPack>(env!("CARGO_MANIFEST_DIR")).pipeline(
        vec![instance(capabilities)],
        move |request| {
            sent.lock().unwrap().push(request.clone());
            let body = match request.question {
                Question::Exec { .. } => json!({"success": true, "result": result}),
                Question::Commands { .. } => json!({"commands": []}),
                _ => json!({"status": "ready"}),
            };
            let outcome = Outcome::Answered { status: 200, body };
            Ok(Reply { instance: instance(capabilities), outcome })
        },
    );
    (kit, sent)
}

#[test]
fn exactly_one_form_is_taken() {
    let (kit, sent) = kit(Some(&["exec.argv", "exec.commandLine"]), json!(1));
    for (wrong, field) in [
        (json!({}), "command"),
        (json!({"command": "a", "argv": ["a"]}), "command"),
        (json!({"command_line": "a", "argv": ["a"]}), "command"),
        (json!({"argv": ["a"], "parameters": {}}), "parameters"),
        (json!({"command_line": "a", "parameters": {"b": 1}}), "parameters"),
        (json!({"command": " "}), "command"),
        (json!({"argv": [""]}), "argv"),
        (json!({"command_line": "  "}), "command_line"),
    ] {
        let refusal = kit.call(TOOL, &wrong).unwrap_err();
        assert_eq!(refusal.code, codes::INVALID_ARGUMENTS, "{wrong}");
        assert_eq!(refusal.data["field"], field, "{wrong}");
    }
    assert!(sent.lock().unwrap().is_empty(), "nothing was sent");
}

#[test]
fn raw_forms_go_to_instances_that_claim_them_alone() {
    for capabilities in [None, Some(&[][..]), Some(&["exec.other"][..])] {
        let (kit, sent) = kit(capabilities, json!(1));
        for raw in [json!({"argv": ["a"]}), json!({"command_line": "a"})] {
            let refusal = kit.call(TOOL, &raw).unwrap_err();
            assert_eq!(refusal.code, codes::INVALID_ARGUMENTS, "{raw}");
            assert!(refusal.data.contains_key("missing_capability"));
        }
        kit.call(TOOL, &json!({"command": "a"})).unwrap();
        let execs = sent
            .lock()
            .unwrap()
            .iter()
            .filter(|it| matches!(it.question, Question::Exec { .. }))
            .count();
        assert_eq!(execs, 1, "the structured form alone");
    }
}

#[test]
fn a_long_result_is_cut_at_a_letter_and_says_so() {
    let (kit, _) = kit(None, json!("é".repeat(2000)));
    let got = kit.call(TOOL, &json!({"command": "a", "max_result_bytes": 1025})).unwrap();
    assert_eq!(got["result"]["size_bytes"], 4002);
    assert_eq!(got["result"]["begins"], "é".repeat(512));
}

#[test]
fn the_time_is_the_instances_and_the_host_waits_a_little_longer() {
    let (kit, sent) = kit(None, json!(null));
    kit.call(TOOL, &json!({"command": "a", "timeout_seconds": 5, "job": true})).unwrap();
    let sent = sent.lock().unwrap();
    let last = sent.last().unwrap();
    let Question::Exec { body } = &last.question else { panic!("{sent:?}") };
    assert_eq!(json!(body), json!({"command": "a", "timeout": 5000, "job": true}));
    assert!(last.timeout_ms > 5000);
}

#[test]
fn a_reason_that_never_ends_is_cut_like_the_result() {
    let (kit, _) = kit(None, json!({"success": false, "error": "x".repeat(100_000)}));
    let told = kit.answer(TOOL, &json!({"command": "a", "max_result_bytes": 1024})).unwrap();
    assert_eq!(told.truncated, Some(true));
    let data: Value = serde_json::from_str(told.data.get()).unwrap();
    assert_eq!(data["succeeded"], false);
    assert!(told.data.get().len() < 8192, "{}", told.data.get().len());
}

#[test]
fn a_list_that_holds_nothing_leads_no_further() {
    let (kit, _) = kit(None, json!(1));
    assert_eq!(kit.call("unity_list_commands", &json!({})).unwrap()["next_offset"], Value::Null);
    for whole in ["unity_list_commands", "unity_editor_status", "unity_command_progress"] {
        assert_eq!(kit.answer(whole, &json!({})).unwrap().truncated, Some(false), "{whole}");
    }
}
