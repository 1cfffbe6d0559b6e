use didi_wire::BridgeError;

use super::*;

fn printed(lines: usize) -> LogRing {
    let ring = LogRing::new();
    ring.push(Level::Info, "engine", "only said", Value::Null);
    for number in 0..lines {
        let details = json!({"file": "res://a.gd", "line": number, "function": "_ready"});
        ring.push(Level::Error, "engine", &format!("wrong {number}"), details);
    }
    ring
}

#[test]
fn a_call_gets_the_lines_printed_since_it_began() {
    let ring = printed(1);
    let since = ring.next_sequence();
    ring.push(Level::Warning, "engine", "during", json!({"file": "res://b.gd", "line": 3}));
    let mut answer: Answer = Ok(json!({"done": true}));
    attach(&mut answer, "scene.open", &ring, since);
    let answer = answer.unwrap();
    let expected = json!([{"level": "warning", "message": "during", "function": null,
        "file": "res://b.gd", "line": 3}]);
    assert_eq!(answer["engine_diagnostics"], expected);
    assert_eq!(answer.get("engine_diagnostics_omitted"), None);
    assert!(answer["engine_diagnostics_note"].is_string());
}

#[test]
fn a_refusal_gets_them_in_its_data_and_what_is_left_out_is_counted() {
    let mut answer: Answer = Err(BridgeError::new(404, "not_found", "no such node"));
    attach(&mut answer, "scene.open", &printed(11), 1);
    let data = answer.unwrap_err().data;
    assert_eq!(data["engine_diagnostics"].as_array().unwrap().len(), MAX_LINES);
    assert_eq!(data["engine_diagnostics_omitted"], 3);
}

#[test]
fn long_lines_are_cut() {
    let ring = LogRing::new();
    ring.push(Level::Error, "engine", &"x".repeat(MAX_MESSAGE_BYTES + 1), Value::Null);
    let mut answer: Answer = Ok(json!({}));
    attach(&mut answer, "scene.open", &ring, 1);
    let line = &answer.unwrap()["engine_diagnostics"][0];
    assert_eq!(line["message"].as_str().unwrap().len(), MAX_MESSAGE_BYTES);
    assert_eq!(line["message_truncated"], true);
}

#[test]
fn silence_and_readers_of_the_log_get_none() {
    for (method, since) in [("scene.open", 99), ("runtime.getOutput", 1), ("runtime.getLogs", 1)] {
        let mut answer: Answer = Ok(json!({}));
        attach(&mut answer, method, &printed(2), since);
        assert_eq!(answer.unwrap(), json!({}), "{method}");
    }
}
