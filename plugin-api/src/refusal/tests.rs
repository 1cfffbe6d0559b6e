//! Refusals as they cross, and their ways out.

use serde_json::{Value, json};

use super::{Code, REMEDY_FIELDS, Refusal, codes};

#[test]
fn a_refusal_crosses_as_flat_json_and_comes_back_the_same() {
    let refusal = Refusal::new(codes::NOT_FOUND, "`res://a.txt` is not there")
        .with("path", "res://a.txt")
        .next_call_with("project_list", json!({"below": "res://"}), "lists what is there");
    let crossed = serde_json::to_value(&refusal).unwrap();
    assert_eq!(
        crossed,
        json!({
            "status": 404,
            "name": "not_found",
            "message": "`res://a.txt` is not there",
            "data": {
                "path": "res://a.txt",
                "next_call": {
                    "tool": "project_list",
                    "arguments": {"below": "res://"},
                    "reason": "lists what is there",
                },
            },
        })
    );
    assert_eq!(serde_json::from_value::<Refusal>(crossed).unwrap(), refusal);
}

#[test]
fn a_code_that_this_side_does_not_know_is_read() {
    let text = r#"{"status": 409, "name": "of_a_pack", "message": "no", "later": true}"#;
    let refusal: Refusal = serde_json::from_str(text).unwrap();
    assert_eq!((refusal.code.status, &*refusal.code.name), (409, "of_a_pack"));
    assert!(refusal.data.is_empty());
}

#[test]
fn each_way_out_is_one_that_counts() {
    let new = || Refusal::new(Code::new(400, "bad"), "bad");
    let ways: [(Refusal, &str, Value); 7] = [
        (new().field("name"), "field", json!("name")),
        (new().retry_with(json!({"a": 1})), "retry_with", json!({"a": 1})),
        (
            new().next_call("look", "finds it"),
            "next_call",
            json!({"tool": "look", "reason": "finds it"}),
        ),
        (new().restart_with("--tools full"), "restart_with", json!("--tools full")),
        (new().retry_after_ms(250), "retry_after_ms", json!(250)),
        (new().no_remedy("it is so"), "no_remedy", json!("it is so")),
        (new().field("name").with("missing", json!(["b"])), "missing", json!(["b"])),
    ];
    for (refusal, field, value) in ways {
        assert!(REMEDY_FIELDS.contains(&field), "{field}");
        assert_eq!(refusal.data[field], value);
        assert!(refusal.has_remedy());
    }
    assert!(!new().with("path", "x").floor().has_remedy(), "the floor is the host's to fill");
}
