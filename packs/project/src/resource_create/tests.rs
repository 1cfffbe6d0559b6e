//! Tests of `resource_create`: what is written is what the engine reads, and nothing is guessed.
#![allow(clippy::disallowed_methods, reason = "reads plain files of the test")]

use std::fs;

use didi_plugin_api::prelude::*;

use super::classes::{Classes, nearest};
use crate::{
    engine_tests,
    tests::{code, project},
};

const TOOL: &str = "resource_create";
const SCRIPT: &str =
    "class_name Item extends Base\n\n@export var hp := 1\n@export var speed: float = 1.0\n";
const BASE: &str = "class_name Base\nextends Resource\n\n@export var title: String\n";

fn text(dir: &tempfile::TempDir, file: &str) -> String {
    fs::read_to_string(dir.path().join(file)).unwrap()
}

#[test]
fn a_material_by_declared_types() {
    let (dir, kit) = project(&[("art/é.svg", "<svg/>")]);
    let args = json!({"save_path": "res://m/metal.tres", "properties": {
        "metallic": 1, "albedo_color": "#ff0000", "uv1_scale": [1, 2, 3], "emission_enabled": true,
        "resource_name": "Mätäl \"x\"", "metadata/tag": {"type": "StringName", "value": "t"},
        "albedo_texture": {"type": "ExtResource", "path": "res://art/é.svg"},
    }});
    let target = kit.preview(TOOL, &args).unwrap();
    assert!(!target.exists && !dir.path().join("m").exists());
    let answer = kit.call(TOOL, &args).unwrap();
    let expected = "[gd_resource type=\"StandardMaterial3D\" format=3]\n\n\
        [ext_resource type=\"Texture2D\" path=\"res://art/é.svg\" id=\"1_svg\"]\n\n[resource]\n\
        albedo_color = Color(1, 0, 0, 1)\nalbedo_texture = ExtResource(\"1_svg\")\nemission_enabled = true\n\
        metadata/tag = &\"t\"\nmetallic = 1.0\nresource_name = \"Mätäl \\\"x\\\"\"\nuv1_scale = Vector3(1, 2, 3)\n";
    assert_eq!(text(&dir, "m/metal.tres"), expected);
    assert_eq!(answer["status"], "created");
    assert_eq!(answer["resource_type"], "StandardMaterial3D");
    assert_eq!(answer["file_bytes"], expected.len());
    assert_eq!(answer["load_steps"], 2);
    assert_eq!(answer["external_references"][0]["path"], "res://art/é.svg");
    assert_eq!(answer["property_check"]["checked"], true);
    assert_eq!(answer["property_check"]["not_declared_but_written"], json!(["metadata/tag"]));
    let converted = &answer["property_check"]["written_as_declared_type"];
    assert_eq!(converted, &json!(["albedo_color", "metallic", "uv1_scale"]));
    assert_eq!(target.after.unwrap()["size_bytes"], expected.len());
    let (name, refusal) = code(kit.call(TOOL, &args));
    assert_eq!(name, "already_exists");
    assert_eq!(refusal.data["retry_with"], json!({"overwrite": true}));
}

#[test]
fn a_replaced_file_keeps_its_uid_and_a_second_time_nothing_changes() {
    let old =
        "[gd_resource type=\"Curve\" format=3 uid=\"uid://c0000000000b1\"]\r\n\r\n[resource]\r\n";
    let (dir, kit) = project(&[("a.tres", old)]);
    let args = json!({"save_path": "res://a.tres", "resource_type": "Curve", "overwrite": true,
        "properties": [{"name": "max_value", "value": 2}, {"name": "min_value", "value": -1}]});
    let target = kit.preview(TOOL, &args).unwrap();
    assert!(target.exists);
    assert_eq!(kit.call(TOOL, &args).unwrap()["status"], "replaced");
    let expected = "[gd_resource type=\"Curve\" format=3 uid=\"uid://c0000000000b1\"]\n\n[resource]\n\
        max_value = 2.0\nmin_value = -1.0\n";
    assert_eq!(text(&dir, "a.tres"), expected);
    assert_eq!(kit.call(TOOL, &args).unwrap()["status"], "unchanged");
    assert_eq!(text(&dir, "a.tres"), expected);
}

#[test]
fn resources_inside_name_those_above() {
    let (dir, kit) = project(&[]);
    let args = json!({"save_path": "res://g.tres", "resource_type": "GradientTexture2D",
        "sub_resources": [
            {"id": "g", "resource_type": "Gradient", "properties": {
                "offsets": [0, 1], "colors": [[1, 0, 0, 1], {"r": 0, "g": 0, "b": 1, "a": 1}]}},
        ],
        "properties": {"gradient": {"type": "SubResource", "id": "g"}, "fill_to": {"x": 1, "y": 0.5}}});
    let answer = kit.call(TOOL, &args).unwrap();
    let expected = "[gd_resource type=\"GradientTexture2D\" format=3]\n\n[sub_resource type=\"Gradient\" id=\"g\"]\n\
        colors = PackedColorArray(1, 0, 0, 1, 0, 0, 1, 1)\noffsets = PackedFloat32Array(0, 1)\n\n[resource]\n\
        fill_to = Vector2(1, 0.5)\ngradient = SubResource(\"g\")\n";
    assert_eq!(text(&dir, "g.tres"), expected);
    assert_eq!(answer["sub_resources_written"], 1);
    assert!(answer["sub_resource_property_checks"]["g"]["checked"].as_bool().unwrap());
}

#[test]
fn a_class_of_the_project() {
    let files = [("item.gd", SCRIPT), ("item.gd.uid", "uid://b2\n"), ("base.gd", BASE)];
    let (dir, kit) = project(&files);
    let args = json!({"save_path": "res://i.tres", "resource_type": "Item",
        "properties": {"hp": 3, "speed": 2, "title": "é"}});
    let answer = kit.call(TOOL, &args).unwrap();
    assert_eq!(answer["engine_type"], "Resource");
    assert_eq!(answer["resource_type"], "Item");
    let declared = &answer["property_check"]["declared_by_script"];
    assert_eq!(declared, &json!(["hp", "speed", "title"]));
    let expected = "[gd_resource type=\"Resource\" script_class=\"Item\" format=3]\n\n\
        [ext_resource type=\"Script\" uid=\"uid://b2\" path=\"res://item.gd\" id=\"1_itemgd\"]\n\n[resource]\n\
        script = ExtResource(\"1_itemgd\")\nhp = 3\nspeed = 2.0\ntitle = \"é\"\n";
    assert_eq!(text(&dir, "i.tres"), expected);
    let wrong =
        json!({"save_path": "res://j.tres", "resource_type": "Item", "properties": {"titel": "x"}});
    assert_eq!(code(kit.call(TOOL, &wrong)).1.data["did_you_mean"], "title");
}

#[test]
fn what_can_not_be_read_is_refused_by_name() {
    let (dir, kit) =
        project(&[("a.gd", "extends Node\n"), ("n.gd", "class_name Noder extends Node\n")]);
    let refused = |args: Value| {
        let (name, refusal) = code(kit.call(TOOL, &args));
        assert_eq!(name, "invalid_arguments", "{args}");
        assert!(kit.preview(TOOL, &args).is_err());
        refusal
    };
    let with = |properties: Value| json!({"save_path": "res://x.tres", "properties": properties});
    let typed = |class: &str| json!({"save_path": "res://x.tres", "resource_type": class});
    let refusal = refused(with(json!({"metalic": 1})));
    assert_eq!(
        (&refusal.data["did_you_mean"], &refusal.data["field"]),
        (&json!("metallic"), &json!("properties"))
    );
    assert!(refused(with(json!({"metallic": "a lot"}))).message.contains("`float`"));
    refused(with(json!({"albedo_texture": "res://a.png"})));
    refused(with(json!({"albedo_texture": {"type": "ExtResource", "path": "res://gone.png"}})));
    refused(with(json!({"albedo_texture": {"type": "ExtResource", "path": "res://a.gd"}})));
    refused(with(json!({"albedo_texture": {"type": "ExtResource", "path": "res://../a.png"}})));
    refused(with(json!({"next_pass": {"type": "SubResource", "id": "later"}})));
    refused(with(json!([{"name": "metallic", "value": 1}, {"name": "metallic", "value": 2}])));
    refused(with(json!([{"name": "metallic"}])));
    assert_eq!(refused(typed("StandardMaterial3d")).data["did_you_mean"], "StandardMaterial3D");
    refused(typed("BaseMaterial3D"));
    refused(typed("Node2D"));
    refused(typed("Noder"));
    refused(json!({"save_path": "res://x.tscn"}));
    let refusal = refused(json!({"save_path": "res://x.res"}));
    assert_eq!(refusal.data["retry_with"], json!({"save_path": "res://x.tres"}));
    let sub = json!({"id": "a", "resource_type": "Curve"});
    refused(json!({"save_path": "res://x.tres", "sub_resources": [sub, sub]}));
    assert!(kit.record().written.is_empty());
    assert!(!dir.path().join("x.tres").exists());
    let unknown = json!({"save_path": "res://x.tres", "resource_type": "AddonThing",
        "allow_unknown_type": true, "properties": {"foo": [1.5]}});
    let answer = kit.call(TOOL, &unknown).unwrap();
    assert_eq!(answer["property_check"]["allowed_by"], "allow_unknown_type");
    assert_eq!(
        text(&dir, "x.tres"),
        "[gd_resource type=\"AddonThing\" format=3]\n\n[resource]\nfoo = [1.5]\n"
    );
}

#[test]
fn the_table_of_classes() {
    let classes = Classes::new();
    assert_eq!(classes.property("StandardMaterial3D", "albedo_color").as_deref(), Some("Color"));
    assert_eq!(classes.property("Curve", "resource_name").as_deref(), Some("String"));
    assert!(classes.is_a("StandardMaterial3D", "Material"));
    assert!(!classes.is_a("Curve", "Material"));
    assert!(!classes.get("BaseMaterial3D").unwrap().makable);
    assert_eq!(nearest("Curv", ["Curve", "Cure"].into_iter()), Some("Cure"));
}

/// The engine loads what was written and reads the asked values.
#[test]
fn the_engine_reads_what_was_written() {
    let Some(godot) = engine_tests::godot() else { return };
    let probe = "extends SceneTree\nfunc _init():\n\tvar g = load(\"res://g.tres\")\n\
        \tprint(\"> \", g.gradient.colors, g.gradient.offsets, g.fill_to)\n\tvar i = load(\"res://i.tres\")\n\
        \tprint(\"> \", i.hp, \" \", i.speed, \" \", i.title, \" \", i.get_script().resource_path)\n\
        \tprint(\"> \", load(\"res://f.tres\").fallbacks.size())\n\tquit()\n";
    let (dir, kit) = project(&[
        ("project.godot", "config_version=5\n"),
        ("item.gd", &SCRIPT.replace("extends Base", "extends \"res://base.gd\"")),
        ("base.gd", BASE),
        ("probe.gd", probe),
    ]);
    let item = SCRIPT.replace("extends Base", "extends Resource\n@export var title: String");
    crate::tests::lay(dir.path(), &[("item.gd", &item)]);
    for args in [
        json!({"save_path": "res://g.tres", "resource_type": "GradientTexture2D",
            "sub_resources": [{"id": "g", "resource_type": "Gradient", "properties": {
                "offsets": [0, 0.25], "colors": [[1, 0, 0, 1], [1, 0, 0, 1]]}}],
            "properties": {"gradient": {"type": "SubResource", "id": "g"}, "fill_to": [1, 0.5]}}),
        json!({"save_path": "res://i.tres", "resource_type": "Item",
            "properties": {"hp": 3, "speed": 2, "title": "é \"q\""}}),
        json!({"save_path": "res://f.tres", "resource_type": "FontVariation",
            "sub_resources": [{"id": "a", "resource_type": "SystemFont"}],
            "properties": {"fallbacks": [{"type": "SubResource", "id": "a"}]}}),
    ] {
        kit.call(TOOL, &args).unwrap();
    }
    let out = engine_tests::run(&godot, dir.path(), &["--script", "res://probe.gd"]);
    assert!(!out.contains("ERROR"), "{out}");
    let read: Vec<&str> = out.lines().filter_map(|line| line.strip_prefix("> ")).collect();
    assert_eq!(read[0], "[(1.0, 0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 1.0)][0.0, 0.25](1.0, 0.5)");
    assert_eq!(read[1..], ["3 2.0 é \"q\" res://item.gd", "1"]);
}
