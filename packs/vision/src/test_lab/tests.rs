#![allow(
    clippy::disallowed_methods,
    reason = "lays plain files out for the test, and starts the engine that it is about"
)]
use std::{fs, process::Command};

use didi_formats::scene::Scene;
use didi_plugin_api::{
    prelude::*,
    testkit::{Kit, real_engine},
};

use crate::VisionPack;

const TOOL: &str = "viewport_create_test_lab";
const LAB: &str = "didi_test_lab.tscn";
const BOX_SCENE: &str = "[gd_scene format=3 uid=\"uid://c0000000000b1\"]\n\n[sub_resource \
    type=\"BoxMesh\" id=\"b\"]\n\n[node name=\"Box\" type=\"MeshInstance3D\"]\nmesh = SubResource(\"b\")\n";

fn project(files: &[(&str, &str)]) -> (tempfile::TempDir, Kit) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("project.godot"), "config_version=5\n").unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let kit = Kit::open::<VisionPack>(folder.path());
    (folder, kit)
}

/// The lab around a file, read back, after the engine-side checks that any lab has to pass.
#[track_caller]
fn lab(files: &[(&str, &str)], args: &Value) -> (Value, String) {
    let (folder, kit) = project(files);
    let got = kit.call(TOOL, args).unwrap();
    let text = fs::read_to_string(folder.path().join(LAB)).unwrap();
    let scene = Scene::parse(text.as_bytes()).unwrap();
    assert_eq!(scene.problems(), []);
    assert_eq!(scene.nodes()[0].name, "DidiTestLab");
    (got, text)
}

fn of(path: &str) -> Value {
    json!({ "target_resource_path": path })
}

#[test]
fn a_scene_is_instanced_with_its_uid() {
    let (got, text) = lab(&[("box.tscn", BOX_SCENE)], &of("res://box.tscn"));
    assert_eq!(got["status"], "created_offline");
    assert_eq!(got["lab_path"], "res://didi_test_lab.tscn");
    assert_eq!(got["target_instanced"], true);
    assert_eq!(got["needs_import"], false);
    assert_eq!(got["cameras"], json!(["Cameras/Front", "Cameras/Top", "Cameras/Isometric"]));
    assert_eq!(got["size_bytes"], text.len());
    assert!(text.contains(
        "[ext_resource type=\"PackedScene\" uid=\"uid://c0000000000b1\" path=\"res://box.tscn\" \
         id=\"1_target\"]"
    ));
    assert!(
        text.contains("[node name=\"Target\" parent=\".\" instance=ExtResource(\"1_target\")]")
    );
    assert!(!text.contains("projection"));
}

#[test]
fn each_kind_stands_as_it_can() {
    let import = |kind: &str| {
        format!(
            "[remap]\n\nimporter=\"x\"\ntype=\"{kind}\"\nuid=\"uid://abc\"\npath=\"res://.godot/x\"\n"
        )
    };
    let mesh = "[gd_resource type=\"BoxMesh\" format=3]\n\n[resource]\n";
    let material = "[gd_resource type=\"StandardMaterial3D\" format=3]\n\n[resource]\n";
    let theme = "[gd_resource type=\"Theme\" format=3]\n\n[resource]\n";
    for (name, text, sidecar, want) in [
        ("a.glb", "glTF", Some(import("PackedScene")), "instance=ExtResource"),
        ("a.glb", "glTF", None, "type=\"PackedScene\" path"),
        ("a.obj", "v 0 0 0", Some(import("Mesh")), "mesh = ExtResource"),
        ("a.obj", "v 0 0 0", None, "mesh = ExtResource"),
        ("a.png", "x", Some(import("CompressedTexture2D")), "texture = ExtResource"),
        ("m.tres", mesh, None, "type=\"BoxMesh\" path"),
        ("m.tres", material, None, "material_override = ExtResource"),
        ("m.tres", theme, None, ""),
        ("m.tres", "junk", None, ""),
        ("a.gd", "extends Node", None, ""),
        ("a.wav", "x", Some(import("AudioStreamWAV")), ""),
    ] {
        let import_name = format!("{name}.import");
        let mut files = vec![(name, text)];
        files.extend(sidecar.as_deref().map(|text| (import_name.as_str(), text)));
        let (got, lab) = lab(&files, &of(&format!("res://{name}")));
        assert_eq!(got["target_instanced"], !want.is_empty(), "{name} {got}");
        assert!(lab.contains(want), "{name}: {lab}");
        assert_eq!(lab.contains("ext_resource"), !want.is_empty());
        assert!(lab.contains(&format!("metadata/target_resource_path = \"res://{name}\"")));
        let bare = sidecar.is_none() && (name == "a.glb" || name == "a.obj");
        assert_eq!(got["needs_import"], bare);
    }
}

#[test]
fn strings_are_written_by_the_engines_rules() {
    let args = json!({ "target_resource_path": "res://Имя 名前/b 'x'.tscn", "environment": "a\"b\\é",
                       "camera_rig": ["my \"cam\"", "left"], "orthographic": true });
    let (got, text) = lab(&[("Имя 名前/b 'x'.tscn", BOX_SCENE)], &args);
    assert_eq!(got["cameras"], json!(["Cameras/Left"]));
    assert!(text.contains("path=\"res://Имя 名前/b 'x'.tscn\""));
    assert!(text.contains("metadata/environment = \"a\\\"b\\\\é\""));
    assert!(text.contains("PackedStringArray(\"my \\\"cam\\\"\", \"left\")"));
    assert!(text.contains("projection = 1\nsize = 4\ncurrent = true"));
}

#[test]
fn the_lightings_differ() {
    let with = |name: &str| {
        let args = json!({ "target_resource_path": "res://b.tscn", "environment": name });
        let (_, text) = lab(&[("b.tscn", BOX_SCENE)], &args);
        text.lines().filter(|line| !line.starts_with("metadata")).collect::<Vec<_>>().join("\n")
    };
    assert_ne!(with("night"), with("outdoor_day"));
    assert_ne!(with("sunset"), with("studio_neutral"));
    assert_eq!(with("of my own"), with("studio_neutral"));
}

#[test]
fn a_lab_is_replaced_when_asked_and_keeps_its_uid() {
    let old =
        "[gd_scene format=3 uid=\"uid://lab0000000001\"]\n\n[node name=\"X\" type=\"Node\"]\n";
    let (folder, kit) = project(&[("b.tscn", BOX_SCENE), (LAB, old)]);
    let refusal = kit.call(TOOL, &of("res://b.tscn")).unwrap_err();
    assert_eq!(refusal.code, codes::ALREADY_EXISTS);
    assert_eq!(refusal.data["retry_with"], json!({ "overwrite": true }));
    assert_eq!(kit.preview(TOOL, &of("res://b.tscn")).unwrap_err(), refusal);
    let args = json!({ "target_resource_path": "res://b.tscn", "overwrite": true });
    let target = kit.preview(TOOL, &args).unwrap();
    assert_eq!((target.exists, &target.before["size_bytes"]), (true, &json!(old.len())));
    assert_eq!(fs::read_to_string(folder.path().join(LAB)).unwrap(), old);
    assert_eq!(kit.call(TOOL, &args).unwrap()["status"], "replaced_offline");
    let text = fs::read_to_string(folder.path().join(LAB)).unwrap();
    assert!(text.starts_with("[gd_scene format=3 uid=\"uid://lab0000000001\"]\n"));
}

#[test]
fn wrong_targets_are_refused_and_nothing_is_written() {
    let (folder, kit) = project(&[("b.tscn", BOX_SCENE)]);
    for (path, code) in [
        ("res://none.tscn", "not_found"),
        ("res://../b.tscn", "invalid_arguments"),
        ("b.tscn", "invalid_arguments"),
        ("res://didi_test_lab.tscn", "invalid_arguments"),
        ("res://", "not_found"),
    ] {
        let refusal = kit.call(TOOL, &of(path)).unwrap_err();
        assert_eq!(
            (refusal.code.name.as_ref(), &refusal.data["field"]),
            (code, &json!("target_resource_path"))
        );
        assert_eq!(kit.preview(TOOL, &of(path)).unwrap_err(), refusal);
    }
    assert!(!folder.path().join(LAB).exists());
    let target = kit.preview(TOOL, &of("res://b.tscn")).unwrap();
    assert_eq!((target.exists, target.subject.as_str()), (false, "res://didi_test_lab.tscn"));
    assert!(!folder.path().join(LAB).exists());
}

const LOADER: &str = "extends SceneTree\nfunc _init():\n\tvar lab = \
    load(\"res://didi_test_lab.tscn\").instantiate()\n\tprint(\"COUNT \", lab.get_child_count(), \" \", \
    lab.get_node(\"Target\").get_class())\n\tvar camera = lab.get_node(\"Cameras/Isometric\")\n\t\
    print(\"LOOKS \", (-camera.transform.basis.z).dot((Vector3(0, 1, 0) - \
    camera.transform.origin).normalized()) > 0.999, \" \", \
    camera.transform.basis.is_conformal())\n\tprint(\"META \", lab.get_meta(\"environment\"))\n\tlab.free()\n\
    \tquit()\n";

#[test]
fn a_real_engine_loads_a_lab() {
    let Some(engine) = real_engine() else { return };
    let material = "[gd_resource type=\"StandardMaterial3D\" format=3]\n\n[resource]\n";
    let mesh = "[gd_resource type=\"BoxMesh\" format=3]\n\n[resource]\n";
    let (folder, kit) = project(&[
        ("Имя/b 'x'.tscn", BOX_SCENE),
        ("material.tres", material),
        ("mesh.tres", mesh),
        ("load.gd", LOADER),
    ]);
    for target in ["res://Имя/b 'x'.tscn", "res://material.tres", "res://mesh.tres"] {
        let args = json!({ "target_resource_path": target, "overwrite": true,
                           "environment": "q\"\\é", "orthographic": true });
        kit.call(TOOL, &args).unwrap();
        let ran = Command::new("timeout")
            .arg("20")
            .arg(&engine)
            .args(["--headless", "--path"])
            .arg(folder.path())
            .args(["--script", "res://load.gd"])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        let erred = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(said.contains("COUNT 5 MeshInstance3D"), "{target}: {said}{erred}");
        assert!(said.contains("LOOKS true true"), "{said}");
        assert!(said.contains("META q\"\\é"), "{said}");
        assert!(!erred.contains("ERROR"), "{erred}");
    }
}
