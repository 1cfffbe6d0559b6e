#![allow(clippy::disallowed_methods, reason = "looks at the files that the tool left")]

use std::fs;

use didi_plugin_api::prelude::*;

use crate::{
    engine_tests as engine,
    tests::{code, lay, project},
};

const TOOL: &str = "project_rename_references";

const SCENE: &str = "[gd_scene format=3]\r\n\r\n\
    [ext_resource type=\"Script\" path=\"res://door.gd\" id=\"1\"]\r\n\r\n\
    [sub_resource type=\"Animation\" id=\"a\"]\r\n\
    resource_name = \"opened\"\r\nlength = 1.0\r\n\
    tracks/0/type = \"value\"\r\ntracks/0/imported = false\r\ntracks/0/enabled = true\r\n\
    tracks/0/path = NodePath(\".:opened\")\r\ntracks/0/interp = 1\r\ntracks/0/loop_wrap = true\r\n\
    tracks/0/keys = {\r\n\"times\": PackedFloat32Array(0),\r\n\"transitions\": PackedFloat32Array(1),\r\n\"update\": 1,\r\n\"values\": [true]\r\n}\r\n\
    tracks/1/type = \"method\"\r\ntracks/1/imported = false\r\ntracks/1/enabled = true\r\n\
    tracks/1/path = NodePath(\".\")\r\ntracks/1/interp = 1\r\ntracks/1/loop_wrap = true\r\n\
    tracks/1/keys = {\r\n\"times\": PackedFloat32Array(0.5),\r\n\"transitions\": PackedFloat32Array(1),\r\n\"values\": [{\r\n\"args\": [\"opened\"],\r\n\"method\": &\"opened\"\r\n}]\r\n}\r\n\r\n\
    [node name=\"opened\" type=\"Node\"]\r\nscript = ExtResource(\"1\")\r\nopened = true ; opened\r\n\r\n\
    [connection signal=\"opened\" from=\".\" to=\".\" method=\"_on_opened\"]\r\n";
const DOOR: &str = "extends Node\nsignal turned\nvar opened := false # opened\nfunc _on_opened():\n\topened = true\n";

#[test]
fn connections_and_tracks_change_and_nothing_else() {
    let (dir, kit) = project(&[("door.tscn", SCENE), ("door.gd", DOOR)]);
    let args = json!({"target": "opened", "new_name": "ajar"});
    let preview = kit.preview(TOOL, &args).unwrap();
    let after = preview.after.unwrap();
    assert_eq!(after["places"].as_array().unwrap().len(), 3);
    let answer = kit.call(TOOL, &args).unwrap();
    assert_eq!(answer["updated_files"], after["updated_files"]);
    assert_eq!((&answer["updated_file_count"], &answer["changed_lines"]), (&json!(1), &json!(3)));
    let expected = SCENE
        .replace("NodePath(\".:opened\")", "NodePath(\".:ajar\")")
        .replace("&\"opened\"", "&\"ajar\"")
        .replace("signal=\"opened\"", "signal=\"ajar\"");
    assert_eq!(fs::read_to_string(dir.path().join("door.tscn")).unwrap(), expected);
    assert_eq!(fs::read_to_string(dir.path().join("door.gd")).unwrap(), DOOR);
    let left: Vec<_> = answer["code_references_not_updated"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["path"].as_str().unwrap(), one["line"].as_u64().unwrap()))
        .collect();
    let line = SCENE.lines().position(|line| line.starts_with("opened = ")).unwrap() as u64 + 1;
    assert_eq!(left, [("res://door.gd", 3), ("res://door.gd", 5), ("res://door.tscn", line)]);
    let again = kit.call(TOOL, &args).unwrap();
    assert_eq!((&again["updated_file_count"], &again["changed_lines"]), (&json!(0), &json!(0)));
}

#[test]
fn a_name_in_use_is_refused_with_its_places() {
    let (_dir, kit) = project(&[("door.tscn", SCENE), ("door.gd", DOOR)]);
    let args = json!({"target": "opened", "new_name": "turned"});
    let (found, refusal) = code(kit.call(TOOL, &args));
    assert_eq!(found, "conflict");
    assert_eq!(refusal.data["used_in"][0]["line"], 2);
    assert_eq!(kit.preview(TOOL, &args).unwrap_err().code.name, "conflict");
    for (target, new_name, field) in [
        ("a b", "c", "target"),
        ("a", "c.d", "new_name"),
        ("a", "a", "new_name"),
        ("1a", "b", "target"),
    ] {
        let args = json!({"target": target, "new_name": new_name});
        let (found, refusal) = code(kit.call(TOOL, &args));
        assert_eq!((found.as_str(), &refusal.data["field"]), ("invalid_arguments", &json!(field)));
    }
}

#[test]
fn a_file_that_changes_behind_the_plan_is_not_written() {
    let (dir, kit) = project(&[("door.tscn", SCENE)]);
    let args = json!({"target": "opened", "new_name": "ajar"});
    let one = kit.preview(TOOL, &args).unwrap();
    lay(dir.path(), &[("door.tscn", &SCENE.replace("1.0", "2.0"))]);
    assert_ne!(kit.preview(TOOL, &args).unwrap().before, one.before);
}

#[test]
fn the_engine_reads_the_new_names() {
    let Some(godot) = engine::godot() else { return };
    let (dir, kit) = project(&[
        ("project.godot", "config_version=5\n[application]\nconfig/name=\"x\"\n"),
        (
            "door.tscn",
            &SCENE
                .replace("signal=\"opened\"", "signal=\"turned\"")
                .replace("opened = true ; opened\r\n", ""),
        ),
        ("door.gd", DOOR),
    ]);
    engine::run(&godot, dir.path(), &["--import"]);
    kit.call(TOOL, &json!({"target": "_on_opened", "new_name": "_on_turned"})).unwrap();
    lay(dir.path(), &[("door.gd", &DOOR.replace("_on_opened", "_on_turned"))]);
    assert_eq!(engine::complaints(&godot, dir.path(), &["res://door.tscn"]), Vec::<String>::new());
}
