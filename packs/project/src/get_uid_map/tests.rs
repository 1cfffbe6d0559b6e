//! Tests of `project_get_uid_map`.

use didi_plugin_api::{prelude::*, testkit::Kit};

use crate::tests::project;

const SCENE: &str =
    "[gd_scene format=3 uid=\"uid://c0000000000b1\"]\n\n[node name=\"A\" type=\"Node\"]\n";

fn kit() -> (tempfile::TempDir, Kit) {
    project(&[
        ("a.tscn", SCENE),
        ("b.tscn", SCENE),
        ("é.gd", "extends Node\n"),
        ("é.gd.uid", "uid://b2\n"),
        ("plain.gd", "extends Node\n"),
        ("icon.svg", "<svg/>"),
        ("icon.svg.import", "[remap]\n\nimporter=\"texture\"\nuid=\"uid://d3\"\n"),
        ("odd.gd.uid", "uid://e4\n"),
    ])
}

/// BL-19: two files with one uid.
#[test]
fn the_map_comes_from_headers_and_sidecars_and_names_duplicates() {
    let (_dir, kit) = kit();
    let answer = kit.call("project_get_uid_map", &json!({})).unwrap();
    let expected = json!({"uid://b2": "res://é.gd", "uid://c0000000000b1": "res://a.tscn",
        "uid://d3": "res://icon.svg"});
    assert_eq!(answer["uid_map"], expected);
    assert_eq!(answer["total_uids"], 3);
    assert_eq!(answer["uid_map_source"], "project_files");
    let twice = json!([{"uid": "uid://c0000000000b1", "paths": ["res://a.tscn", "res://b.tscn"]}]);
    assert_eq!(answer["duplicates"], twice);
    assert!(answer.get("entries").is_none());
}

#[test]
fn references_are_resolved_or_say_why_not() {
    let (_dir, kit) = kit();
    let queries =
        ["uid://b2", "res://icon.svg", "res://plain.gd", "uid://zz9", "uid://Ä", "res://gone", "x"];
    let answer = kit.call("project_get_uid_map", &json!({"resolve": queries})).unwrap();
    let entries = answer["entries"].as_array().unwrap();
    assert_eq!(entries[0]["path"], "res://é.gd");
    assert_eq!(entries[1]["uid"], "uid://d3");
    assert_eq!(
        entries[2],
        json!({"query": "res://plain.gd", "found": true, "path": "res://plain.gd", "source": "index"})
    );
    let reasons: Vec<_> =
        entries[3..].iter().map(|entry| entry["reason"].as_str().unwrap()).collect();
    assert_eq!(
        reasons,
        ["not_in_project_files", "malformed_uid", "not_in_project_files", "unsupported_query"]
    );
    assert!(entries[3..].iter().all(|entry| entry["found"] == false));
}

#[test]
fn an_editor_is_asked_and_compared() {
    let (_dir, kit) = kit();
    let kit = kit.mode(Mode::Live).bridge(|_, params| {
        assert_eq!(params["queries"].as_array().unwrap().len(), 4);
        Ok(json!({"entries": [
            {"found": true, "uid": "uid://b2", "path": "res://é.gd"},
            {"found": true, "uid": "uid://c0000000000b1", "path": "res://b.tscn"},
            {"found": false},
            {"found": true, "uid": "uid://zz9", "path": "res://new.gd"},
        ]}))
    });
    let queries = ["uid://b2", "uid://c0000000000b1", "uid://d3", "uid://zz9"];
    let answer = kit.call("project_get_uid_map", &json!({"resolve": queries})).unwrap();
    let entries = answer["entries"].as_array().unwrap();
    let states: Vec<_> =
        entries.iter().map(|entry| entry["index_state"].as_str().unwrap()).collect();
    assert_eq!(states, ["agrees", "differs", "differs", "absent"]);
    assert_eq!(entries[1]["path"], "res://b.tscn");
    assert_eq!(entries[2]["reason"], "unknown_to_engine");
    assert_eq!(entries[3]["path"], "res://new.gd");
}
