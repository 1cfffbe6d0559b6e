#![allow(clippy::disallowed_methods, reason = "lays plain files out for the test")]

use std::{fs, path::Path};

use didi_plugin_api::{
    prelude::*,
    testkit::{Kit, real_engine, run_for_real},
};

use crate::ScenePack;

const BASE: &str = r#"[gd_scene format=3 uid="uid://c0000000000b1"]

[ext_resource type="Script" path="res://base.gd" id="1"]

[sub_resource type="Animation" id="Animation_a"]
tracks/0/type = "value"
tracks/0/path = NodePath("Old/Kid:visible")
tracks/0/keys = {
"times": PackedFloat32Array(0),
"transitions": PackedFloat32Array(1),
"update": 1,
"values": [true]
}

[sub_resource type="AnimationLibrary" id="AnimationLibrary_l"]
_data = {
&"go": SubResource("Animation_a")
}

[node name="Base" type="Node2D" unique_id=1 node_paths=PackedStringArray("aim")]
script = ExtResource("1")
aim = NodePath("Old/Kid")
metadata/text = "Old and NodePath(\"Old\")"

[node name="Old" type="Node2D" parent="." unique_id=2]

[node name="Kid" type="Node2D" parent="Old" unique_id=3]

[node name="Older" type="Node2D" parent="." unique_id=4]

[node name="Player" type="AnimationPlayer" parent="." unique_id=5]
libraries = {
&"": SubResource("AnimationLibrary_l")
}

[connection signal="visibility_changed" from="Old" to="." method="queue_redraw"]
[connection signal="visibility_changed" from="Older" to="Old/Kid" method="hide"]
"#;

const CHILD: &str = r#"[gd_scene format=3]

[ext_resource type="PackedScene" uid="uid://c0000000000b1" path="res://base.tscn" id="1"]

[node name="Child" instance=ExtResource("1")]

[node name="Old" parent="." index="0"]
position = Vector2(5, 0)

[node name="Extra" type="Node2D" parent="Old"]
"#;

const HOLDER: &str = r#"[gd_scene format=3]

[ext_resource type="PackedScene" path="res://child.tscn" id="1"]

[node name="Holder" type="Node2D"]

[node name="Inst" parent="." instance=ExtResource("1")]

[node name="Old" parent="Inst" index="0"]
position = Vector2(9, 0)

[node name="Old" type="Node2D" parent="."]

[connection signal="visibility_changed" from="Inst/Old" to="Old" method="hide"]

[editable path="Inst"]
"#;

const SCRIPT: &str = "extends Node2D\n@export var aim: Node2D\nfunc kid() -> Node:\n\tvar s := \"Old/Kid\"\n\treturn $Old/Kid if s else get_node(\"Old\")\n";

fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    put("project.godot", "config_version=5\n\n[application]\n\nconfig/name=\"T\"\n");
    put("base.tscn", BASE);
    put("child.tscn", CHILD);
    put("holder.tscn", &HOLDER.replace('\n', "\r\n"));
    put("base.gd", SCRIPT);
    dir
}

fn rename(update_scripts: bool) -> Value {
    json!({"in_scene": "res://base.tscn", "target_node": "Old", "new_name": "New one", "update_scripts": update_scripts})
}

fn read(folder: &Path, name: &str) -> String {
    String::from_utf8(fs::read(folder.join(name)).unwrap()).unwrap()
}

/// Lines that differ, as `before -> after`.
fn changed(before: &str, after: &str) -> Vec<String> {
    assert_eq!(before.lines().count(), after.lines().count());
    let pairs = before.lines().zip(after.lines()).filter(|(one, other)| one != other);
    pairs.map(|(_, after)| after.trim().to_owned()).collect()
}

/// BL-13.
#[test]
fn every_place_follows_and_nothing_else_changes() {
    let dir = project();
    let kit = Kit::open::<ScenePack>(dir.path());
    let answer = kit.call("scene_rename_node", &rename(true)).unwrap();
    assert_eq!(answer["status"], "renamed");
    assert_eq!(
        changed(BASE, &read(dir.path(), "base.tscn")),
        [
            r#"tracks/0/path = NodePath("New one/Kid:visible")"#,
            r#"aim = NodePath("New one/Kid")"#,
            r#"[node name="New one" type="Node2D" parent="." unique_id=2]"#,
            r#"[node name="Kid" type="Node2D" parent="New one" unique_id=3]"#,
            r#"[connection signal="visibility_changed" from="New one" to="." method="queue_redraw"]"#,
            r#"[connection signal="visibility_changed" from="Older" to="New one/Kid" method="hide"]"#,
        ]
    );
    assert_eq!(
        changed(CHILD, &read(dir.path(), "child.tscn")),
        [
            r#"[node name="New one" parent="." index="0"]"#,
            r#"[node name="Extra" type="Node2D" parent="New one"]"#,
        ]
    );
    let holder = read(dir.path(), "holder.tscn");
    assert_eq!(
        changed(HOLDER, &holder.replace("\r\n", "\n")),
        [
            r#"[node name="New one" parent="Inst" index="0"]"#,
            r#"[connection signal="visibility_changed" from="Inst/New one" to="Old" method="hide"]"#,
        ]
    );
    assert_eq!(holder.matches("\r\n").count(), holder.matches('\n').count());
    let script = changed(SCRIPT, &read(dir.path(), "base.gd"));
    assert_eq!(script, [r#"return $"New one/Kid" if s else get_node("New one")"#]);
    assert_eq!(answer["place_count"], 12);
}

#[test]
fn scripts_are_listed_and_left_unless_asked_for() {
    let dir = project();
    let kit = Kit::open::<ScenePack>(dir.path());
    let target = kit.preview("scene_rename_node", &rename(false)).unwrap();
    let listed = &target.before["script_places"][0];
    assert_eq!(
        (&listed["path"], listed["places"].as_array().unwrap().len()),
        (&json!("res://base.gd"), 2)
    );
    let answer = kit.call("scene_rename_node", &rename(false)).unwrap();
    assert_eq!(read(dir.path(), "base.gd"), SCRIPT);
    assert_eq!(answer["script_places"][0]["places"][0]["after"], "$\"New one/Kid\"");
}

/// BL-20: a reference with a stale path and the right uid leads to the file that has the uid.
#[test]
fn scenes_and_scripts_are_followed_by_uid_where_the_path_is_stale() {
    let dir = project();
    let stale = |name: &str, from: &str, to: &str| {
        let text = read(dir.path(), name);
        assert!(text.contains(from));
        fs::write(dir.path().join(name), text.replace(from, to)).unwrap();
    };
    stale("child.tscn", "path=\"res://base.tscn\"", "path=\"res://moved/base.tscn\"");
    let script = "path=\"res://base.gd\"";
    stale("base.tscn", script, "uid=\"uid://c00000000000g\" path=\"res://moved/base.gd\"");
    fs::write(dir.path().join("base.gd.uid"), "uid://c00000000000g\n").unwrap();
    let kit = Kit::open::<ScenePack>(dir.path());
    let answer = kit.call("scene_rename_node", &rename(true)).unwrap();
    let files: Vec<_> = answer["changed_files"].as_array().unwrap().iter().collect();
    assert_eq!(files.len(), 4, "{files:#?}");
    assert!(read(dir.path(), "child.tscn").contains("[node name=\"New one\" parent=\".\""));
    assert!(read(dir.path(), "base.gd").contains("$\"New one/Kid\""));
}

#[test]
fn a_preview_names_every_file_and_changes_none() {
    let dir = project();
    let kit = Kit::open::<ScenePack>(dir.path());
    let target = kit.preview("scene_rename_node", &rename(true)).unwrap();
    let files: Vec<_> = target.before["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].clone())
        .collect();
    assert_eq!(
        files,
        ["res://base.tscn", "res://child.tscn", "res://holder.tscn", "res://base.gd"]
    );
    assert_eq!(read(dir.path(), "base.tscn"), BASE);
    assert!(kit.record().written.is_empty());
}

/// BL-04, BL-25.
#[test]
fn what_can_not_be_done_is_refused_with_the_argument_at_fault() {
    let dir = project();
    fs::write(dir.path().join("twice.tscn"), "[gd_scene format=3]\n\n[node name=\"R\" type=\"Node\"]\n\n[node name=\"X\" type=\"Node\" parent=\".\"]\n\n[node name=\"X\" type=\"Node\" parent=\".\"]\n").unwrap();
    let kit = Kit::open::<ScenePack>(dir.path());
    let refuse = |scene: &str, node: &str, name: &str| {
        let args = json!({"in_scene": scene, "target_node": node, "new_name": name});
        let refusal = kit.call("scene_rename_node", &args).unwrap_err();
        (refusal.code.name.into_owned(), refusal.data["field"].as_str().unwrap().to_owned())
    };
    let pair = |code: &str, field: &str| (code.to_owned(), field.to_owned());
    assert_eq!(refuse("res://base.tscn", "Old", "Older"), pair("already_exists", "new_name"));
    assert_eq!(refuse("res://base.tscn", "Old", "a/b"), pair("invalid_arguments", "new_name"));
    assert_eq!(refuse("res://base.tscn", "None", "A"), pair("not_found", "target_node"));
    assert_eq!(refuse("res://child.tscn", "Player", "A"), pair("not_found", "target_node"));
    assert_eq!(refuse("res://twice.tscn", "X", "A"), pair("conflict", "target_node"));
    let none = json!({"in_scene": "res://none.tscn", "target_node": "X", "new_name": "A"});
    assert_eq!(kit.call("scene_rename_node", &none).unwrap_err().code.name, "not_found");
    assert_eq!(read(dir.path(), "base.tscn"), BASE);
}

#[test]
fn the_same_name_again_changes_nothing_and_says_so() {
    let dir = project();
    let kit = Kit::open::<ScenePack>(dir.path());
    let args =
        json!({"in_scene": "res://base.tscn", "target_node": "/root/Base/Old", "new_name": "Old"});
    assert_eq!(kit.call("scene_rename_node", &args).unwrap()["status"], "unchanged");
    assert!(kit.record().written.is_empty());
}

#[test]
fn a_root_has_its_name_in_its_own_file_alone() {
    let dir = project();
    let kit = Kit::open::<ScenePack>(dir.path());
    let args = json!({"in_scene": "res://base.tscn", "target_node": ".", "new_name": "Main"});
    kit.call("scene_rename_node", &args).unwrap();
    assert_eq!(changed(BASE, &read(dir.path(), "base.tscn")).len(), 1);
    assert_eq!(read(dir.path(), "child.tscn"), CHILD);
}

/// BL-13.
#[test]
fn a_real_engine_finds_every_path_afterwards() {
    let Some(engine) = real_engine() else { return };
    let dir = project();
    let kit = Kit::open::<ScenePack>(dir.path());
    kit.call("scene_rename_node", &rename(true)).unwrap();
    let probe = "extends SceneTree\nfunc _init():\n\tvar h = load(\"res://holder.tscn\").instantiate()\n\tvar b = h.get_node(\"Inst\")\n\tprint(\"pos \", b.get_node(\"New one\").position.x)\n\tprint(\"extra \", b.has_node(\"New one/Extra\"))\n\tprint(\"kid \", b.kid().name)\n\tprint(\"aim \", b.aim.name)\n\tprint(\"track \", b.get_node(\"Player\").get_animation(\"go\").track_get_path(0))\n\tprint(\"linked \", b.get_node(\"New one\").visibility_changed.get_connections().size())\n\th.free()\n\tquit()\n";
    fs::write(dir.path().join("probe.gd"), probe).unwrap();
    run(&engine, dir.path(), &["--import"]);
    let said = run(&engine, dir.path(), &["-s", "res://probe.gd"]);
    for line in
        ["pos 9.0", "extra true", "kid Kid", "aim Kid", "track New one/Kid:visible", "linked 2"]
    {
        assert!(said.iter().any(|one| one == line), "{line}: {said:#?}");
    }
    let complaint = |line: &String| line.contains("res://") && line.contains(": ");
    assert!(!said.iter().any(complaint), "{said:#?}");
}

fn run(engine: &Path, project: &Path, args: &[&str]) -> Vec<String> {
    let line = ["--headless", "--path", project.to_str().unwrap()];
    let spec = ChildSpec {
        program: None,
        args: line.iter().chain(args).map(|arg| (*arg).into()).collect(),
        env: vec![],
        folder: None,
        timeout_ms: 60_000,
        max_output_bytes: 1 << 20,
    };
    let ran = run_for_real(engine, project, &spec).unwrap();
    ran.lines.into_iter().map(|line| line.text).collect()
}
