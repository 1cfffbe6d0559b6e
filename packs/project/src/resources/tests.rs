#![allow(clippy::disallowed_methods, reason = "lays plain files out for the test")]

use didi_plugin_api::{digest::sha256_hex, prelude::*};

use crate::tests::{call, lay, project};

#[test]
fn the_tree_lists_the_project() {
    let (_dir, kit) = project(&[("project.godot", ""), ("a/b.gd", "")]);
    let tree = kit.read("godot://project/tree", "").unwrap();
    assert_eq!(tree["total_resources"], 2);
    assert_eq!(tree["resources"][0]["path"], "res://a/b.gd");
    assert!(tree["project_root"].is_string());
}

#[test]
fn a_board_resource_says_whether_the_board_exists() {
    let (dir, kit) = project(&[]);
    for uri in ["blackboard://{board}/state", "blackboard://{board}/tasks"] {
        assert_eq!(kit.read(uri, "plan").unwrap()["exists"], false);
    }
    assert!(!dir.path().join(".didi").exists());
    call(
        &kit,
        "blackboard_write",
        &json!({"board": "plan", "path": "a", "value": 1, "author": "ann", "ttl_seconds": 9}),
    );
    call(&kit, "blackboard_task_create", &json!({"board": "plan", "title": "t"}));
    let state = kit.read("blackboard://{board}/state", "plan").unwrap();
    assert_eq!((&state["exists"], &state["value"]), (&json!(true), &json!({"a": 1})));
    assert_eq!(state["metadata"]["/a"]["author"], "ann");
    assert!(state["metadata"]["/a"]["expires_at_ms"].is_u64());
    let tasks = kit.read("blackboard://{board}/tasks", "plan").unwrap();
    assert_eq!(tasks["tasks"][0]["status"], "pending");
    assert_eq!(kit.read("blackboard://{board}/state", "a b").unwrap_err().data["field"], "board");
}

#[test]
fn records_of_runs_are_listed_with_what_changed_since() {
    let (dir, kit) = project(&[("a.gd", "one"), ("b.gd", "two")]);
    let empty = kit.read("godot://project/scenarios", "").unwrap();
    assert_eq!((&empty["count"], &empty["scenarios"]), (&json!(0), &json!([])));

    let hash = |text: &str| sha256_hex(text.as_bytes());
    let good = json!({"name": "good", "kind": "scenario", "verdict": "pass", "ran_at": 3, "scene_path": "res://m.tscn",
        "assertions": {"total": 1}, "frames": 60, "steps": [1], "files": {"res://a.gd": hash("one"), "res://new.gd": null}});
    let stale = json!({"name": "stale", "kind": "tests", "verdict": "pass", "ran_at": 2, "framework": "gut",
        "files": {"res://a.gd": hash("one"), "res://b.gd": hash("old"), "res://gone.gd": hash("x")}});
    let bare = json!({"name": "bare", "ran_at": 1});
    lay(
        dir.path(),
        &[
            (".didi/scenarios/good.json", &good.to_string()),
            (".didi/scenarios/stale.json", &stale.to_string()),
            (".didi/scenarios/bare.json", &bare.to_string()),
            (".didi/scenarios/bad.json", "{"),
            (".didi/scenarios/good.png", ""),
        ],
    );
    let listed = kit.read("godot://project/scenarios", "").unwrap();
    assert_eq!((&listed["count"], &listed["truncated"]), (&json!(4), &json!(false)));
    let names: Vec<&Value> =
        listed["scenarios"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["good", "stale", "bare", "bad"]);
    let [good, stale, bare, bad] = [0, 1, 2, 3].map(|at| &listed["scenarios"][at]);
    assert_eq!((&good["stale"], &good["changed_files"]), (&json!(false), &json!([])));
    assert_eq!((&good["frames"], good.get("steps")), (&json!(60), None));
    assert_eq!(good["record"], "res://.didi/scenarios/good.json");
    assert_eq!(stale["changed_files"], json!(["res://b.gd", "res://gone.gd"]));
    assert_eq!((&stale["stale"], &bare["stale"]), (&json!(true), &json!(true)));
    assert_eq!((&bad["unreadable"], &bad["stale"]), (&json!(true), &json!(true)));

    lay(dir.path(), &[("new.gd", "x")]);
    let listed = kit.read("godot://project/scenarios", "").unwrap();
    assert_eq!(listed["scenarios"][0]["changed_files"], json!(["res://new.gd"]));
}
