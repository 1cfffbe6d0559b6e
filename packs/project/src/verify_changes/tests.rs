#![allow(clippy::disallowed_methods, reason = "looks at the files that the tool left")]

use std::fs;

use didi_plugin_api::{prelude::*, testkit::Kit};

use crate::{
    ProjectPack, engine_tests as engine,
    tests::{code, project},
};

const TOOL: &str = "project_verify_changes";

/// The pack over the sample project and the real engine.
pub(crate) fn bench() -> Option<(tempfile::TempDir, Kit)> {
    let godot = engine::godot()?;
    let dir = engine::fixture("sample");
    engine::run(&godot, dir.path(), &["--import"]);
    let kit = Kit::open::<ProjectPack>(dir.path())
        .children("4.6.3.stable", move |spec| Ok(engine::child(&godot, spec)));
    Some((dir, kit))
}

#[test]
fn what_the_engine_takes_is_ok_and_nothing_is_written() {
    let Some((dir, kit)) = bench() else { return };
    // What was wrong before is not held against the proposal.
    fs::write(dir.path().join("old.gd"), "extends Node\nfunc x(\n").unwrap();
    let player = fs::read_to_string(dir.path().join("player/player.gd")).unwrap();
    let scene = fs::read_to_string(dir.path().join("lamps/lamp.tscn")).unwrap();
    let changes = json!([
        {"path": "res://player/player.gd", "content": player.replace("160.0", "200.0")},
        {"path": "res://extra/new.gd", "content": "class_name Extra\nextends Lamp\n"},
        {"path": "res://extra/new.tscn", "content": scene.replace("uid=\"uid://nf0vd3npbpem\"", "")},
    ]);
    let args =
        json!({"changes": changes, "run_scene": "res://levels/meadow.tscn", "run_frames": 5});
    let answer = kit.call(TOOL, &args).unwrap();
    assert_eq!(answer["all_ok"], true, "{answer}");
    assert_eq!(answer["scripts"].as_array().unwrap().len(), 2);
    assert_eq!(answer["resources"][0]["ok"], true);
    assert_eq!(answer["scene_run"]["ok"], true);
    assert!(!dir.path().join("extra").exists());
    assert_eq!(fs::read_to_string(dir.path().join("player/player.gd")).unwrap(), player);
}

#[test]
fn faults_are_found_in_the_files_and_in_those_that_need_them() {
    let Some((_dir, kit)) = bench() else { return };
    let changes = json!([
        {"path": "res://data/lamp_kind.gd", "content": "extends Resource\n"},
        {"path": "res://bad.gd", "content": "extends Node\nfunc x(\n"},
        {"path": "res://bad.tscn", "content": "[gd_scene format=3]\n[ext_resource type=\"Script\" path=\"res://none.gd\" id=\"1\"]\n[node name=\"A\" type=\"Node\"]\nscript = ExtResource(\"1\")\n"},
        {"path": "res://readme.txt", "content": "x"},
    ]);
    let answer = kit.call(TOOL, &json!({ "changes": changes })).unwrap();
    assert_eq!(answer["all_ok"], false);
    assert_eq!(answer["scripts"][0]["ok"], true, "{answer}");
    assert_eq!(answer["scripts"][1]["ok"], false);
    assert!(answer["scripts"][1]["detail"].as_str().unwrap().contains("Parse Error"), "{answer}");
    assert_eq!(answer["resources"][0]["ok"], false);
    let other = answer["project_errors"].to_string();
    assert!(other.contains("lamp.gd") && other.contains("LampKind"), "{answer}");
    assert_eq!(answer["not_checked"], json!(["res://readme.txt"]));
}

#[test]
fn proposals_that_can_not_be_are_refused() {
    let (_dir, kit) = project(&[("a.gd", "extends Node\n")]);
    let change = |path: &str| json!({"changes": [{"path": path, "content": ""}]});
    for path in ["../x.gd", "res://../x.gd", "res://.git/x", "res://.godot/x", "res://", "C:x.gd"] {
        let (found, refusal) = code(kit.call(TOOL, &change(path)));
        assert_eq!(
            (found.as_str(), &refusal.data["field"]),
            ("invalid_arguments", &json!("changes"))
        );
    }
    let one = json!({"path": "res://b.gd", "content": ""});
    let (found, _) = code(kit.call(TOOL, &json!({"changes": [one, one]})));
    assert_eq!(found, "invalid_arguments");
    let args = json!({"changes": [one], "run_scene": "res://none.tscn"});
    assert_eq!(code(kit.call(TOOL, &args)).0, "not_found");
    assert_eq!(code(kit.call(TOOL, &json!({"changes": [one]}))).0, "engine_unavailable");
}
