//! Answers and targets as they cross.
#![allow(clippy::disallowed_methods, reason = "lays plain files out for the test")]
use std::fs;

use serde_json::json;

use super::{Answer, Fact, Target};
use crate::{digest::sha256_hex, project_path::ProjectRoot, refusal::codes};

#[test]
fn an_answer_is_an_object_and_nothing_else() {
    for bad in [json!(null), json!([1]), json!("text"), json!(7)] {
        let refusal = Answer::of(bad).unwrap_err();
        assert_eq!(refusal.code, codes::INTERNAL_ERROR);
        assert!(refusal.has_remedy());
    }
    assert_eq!(Answer::of(json!({"a": 1})).unwrap().data.get(), r#"{"a":1}"#);
}

#[test]
fn an_answer_crosses_with_its_text_untouched() {
    let answer = Answer::of(json!({"n": 1.0, "z": [], "a": {}})).unwrap();
    let answer = answer.truncated(false).fact(Fact::SceneSaved(false));
    let crossed = serde_json::to_string(&answer).unwrap();
    assert_eq!(
        crossed,
        r#"{"data":{"n":1.0,"z":[],"a":{}},"facts":[{"scene_saved":false}],"truncated":false}"#
    );
    let back: Answer = serde_json::from_str(&crossed).unwrap();
    assert_eq!((back.data.get(), back.truncated), (answer.data.get(), Some(false)));
    assert_eq!(back.facts, answer.facts);
}

#[test]
fn an_answer_says_no_more_than_it_has() {
    let crossed = serde_json::to_string(&Answer::of(json!({})).unwrap()).unwrap();
    assert_eq!(crossed, r#"{"data":{}}"#);
}

#[test]
fn a_file_as_a_target_is_its_digest_and_changes_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let root = ProjectRoot::canonical(folder.path().canonicalize().unwrap());
    let target = || Target::file(&root.resolve("res://a.txt").unwrap()).unwrap();
    let absent = target();
    assert_eq!((absent.exists, &absent.before), (false, &json!({"exists": false})));

    fs::write(folder.path().join("a.txt"), "one").unwrap();
    let found = target().after(json!({"text": "two"})).planned(&["one step"]).unwrap();
    assert_eq!(found.subject, "res://a.txt");
    assert_eq!(found.before["sha256"], sha256_hex(b"one"));
    assert_eq!(found.before["size_bytes"], 3);
    let crossed = serde_json::to_vec(&found).unwrap();
    let arrived: Target = serde_json::from_slice(&crossed).unwrap();
    assert_eq!(arrived.plan.as_ref().unwrap().get(), r#"["one step"]"#);
    assert_eq!(serde_json::to_vec(&arrived).unwrap(), crossed);
}
