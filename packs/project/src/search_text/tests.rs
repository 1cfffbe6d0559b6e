#![allow(clippy::disallowed_methods, reason = "lays plain files out for the test")]

use didi_plugin_api::prelude::*;

use super::{MAX_PREVIEW_BYTES, preview};
use crate::tests::{call, code, lay_bytes, project};

const TOOL: &str = "project_search_text";

fn found(answer: &Value) -> Vec<String> {
    let show = |one: &Value| {
        format!("{}:{}:{}", one["path"].as_str().unwrap(), one["line"], one["column"])
    };
    answer["matches"].as_array().unwrap().iter().map(show).collect()
}

#[test]
fn matches_come_by_path_line_and_column_in_code_points() {
    let (_dir, kit) = project(&[
        ("a.gd", "\u{feff}var speed = 1\r\nvar имя = speed # speed\r\n"),
        ("b.tscn", "[node name=\"Speed\"]\n"),
        ("c.md", "speed\n"),
        ("d.png", "speed\n"),
    ]);
    let answer = call(&kit, TOOL, &json!({"query": "speed"}));
    assert_eq!(found(&answer), ["res://a.gd:1:5", "res://a.gd:2:11", "res://a.gd:2:19"]);
    assert_eq!(answer["matches"][1]["preview"], "var имя = speed # speed");
    assert_eq!(answer["scanned_files"], 2);
    assert_eq!(answer["unsearchable_files"], 2);
    assert_eq!(answer["unsearchable_extensions"], json!([".md", ".png"]));
    assert_eq!(answer["search_kind"], "text");
    assert_eq!(answer["lexical"], false);
    let loose = call(&kit, TOOL, &json!({"query": "SPEED", "case_sensitive": false}));
    assert_eq!(loose["matches"].as_array().unwrap().len(), 4);
    let other = call(&kit, TOOL, &json!({"query": "ИМЯ", "case_sensitive": false}));
    assert_eq!(found(&other), ["res://a.gd:2:5"]);
}

#[test]
fn the_query_is_literal_and_can_be_a_word() {
    let (_dir, kit) = project(&[
        ("a.gd", "hit()\nhit_all()\nwhit\na.*b [x] $\n"),
        ("sub/b.gd", "hit\n"),
        ("sub/c.cfg", "hit\n"),
    ]);
    let literal = call(&kit, TOOL, &json!({"query": ".*b [x] $"}));
    assert_eq!(found(&literal), ["res://a.gd:4:2"]);
    let word =
        call(&kit, TOOL, &json!({"query": "hit", "whole_word": true, "extensions": [".gd"]}));
    assert_eq!(found(&word), ["res://a.gd:1:1", "res://sub/b.gd:1:1"]);
    let below = call(&kit, TOOL, &json!({"query": "hit", "search_path": "res://sub"}));
    assert_eq!(found(&below), ["res://sub/b.gd:1:1", "res://sub/c.cfg:1:1"]);
}

#[test]
fn a_bound_says_truncated() {
    let (_dir, kit) = project(&[("a.gd", "x x x\n"), ("b.gd", "x\n")]);
    let exact = kit.answer(TOOL, &json!({"query": "x", "max_results": 4})).unwrap();
    assert_eq!(exact.truncated, Some(false));
    let fewer = kit.answer(TOOL, &json!({"query": "x", "max_results": 2})).unwrap();
    assert_eq!(fewer.truncated, Some(true));
    let shown: Value = serde_json::from_str(fewer.data.get()).unwrap();
    assert_eq!(found(&shown), ["res://a.gd:1:1", "res://a.gd:1:3"]);
}

#[test]
fn a_file_that_can_not_be_read_is_skipped_and_said() {
    let (dir, kit) = project(&[("a.gd", "needle\n")]);
    lay_bytes(dir.path(), "latin.gd", b"needle \xe9\n");
    lay_bytes(dir.path(), "huge.json", &vec![b'x'; 4 * 1024 * 1024 + 1]);
    let answer = kit.answer(TOOL, &json!({"query": "needle"})).unwrap();
    assert_eq!(answer.truncated, Some(true));
    let shown: Value = serde_json::from_str(answer.data.get()).unwrap();
    assert_eq!(found(&shown), ["res://a.gd:1:1"]);
    assert_eq!(shown["skipped_files"], 2);
    assert_eq!(shown["diagnostics"][0]["path"], "res://huge.json");
    assert_eq!(shown["diagnostics"][1]["path"], "res://latin.gd");
}

#[test]
fn a_long_line_is_shown_around_the_match() {
    let line = format!("{}needle{}", "я".repeat(5_000), "ю".repeat(5_000));
    let (_dir, kit) = project(&[("data.json", &line)]);
    let answer = kit.answer(TOOL, &json!({"query": "needle"})).unwrap();
    assert_eq!(answer.truncated, Some(true));
    let shown: Value = serde_json::from_str(answer.data.get()).unwrap();
    let preview = shown["matches"][0]["preview"].as_str().unwrap();
    assert!(preview.contains("needle") && preview.len() <= MAX_PREVIEW_BYTES);
    assert_eq!(shown["matches"][0]["column"], 5_001);
}

#[test]
fn a_preview_begins_and_ends_between_characters() {
    for at in [0, 1, 500, 2_999] {
        let line = format!("{}{}", "a".repeat(at % 2), "я".repeat(1_500));
        let at = (0..=at).rfind(|at| line.is_char_boundary(*at)).unwrap();
        let (shown, cut) = preview(&line, at);
        assert!(cut && shown.len() <= MAX_PREVIEW_BYTES && shown.len() > 1_000);
    }
    assert_eq!(preview("short", 2), ("short".into(), false));
}

#[test]
fn many_files_answer_as_few_do() {
    let files: Vec<(String, String)> =
        (0..400).map(|at| (format!("f{at:03}.gd"), format!("# {at}\nneedle\n"))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let (_dir, kit) = project(&files);
    let answer = call(&kit, TOOL, &json!({"query": "needle", "max_results": 300}));
    let wanted: Vec<String> = (0..300).map(|at| format!("res://f{at:03}.gd:2:1")).collect();
    assert_eq!(found(&answer), wanted);
    assert_eq!(answer["scanned_files"], 301);
}

#[test]
fn a_query_that_can_not_be_searched_is_refused() {
    let (_dir, kit) = project(&[("a.gd", "x\n")]);
    for (args, field) in [
        (json!({"query": "a\nb"}), "query"),
        (json!({"query": "x", "search_path": "res://a.gd"}), "search_path"),
        (json!({"query": "x", "search_path": "res://.git"}), "search_path"),
    ] {
        let (_, refusal) = code(kit.call(TOOL, &args));
        assert_eq!(refusal.data["field"], field, "{args}");
    }
    let unknown = kit.call(TOOL, &json!({"query": "x", "extensions": [".png"]}));
    assert_eq!(code(unknown).0, "invalid_arguments");
}
