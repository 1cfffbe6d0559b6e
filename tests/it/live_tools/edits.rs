//! Edits of the open scene outside the core profile: made, saved, taken back and made again, and read by a separate
//! engine; and everything that they refuse.

use didi_tests::{
    Caller, Project,
    live::{Engine, ask_engine},
};
use serde_json::{Value, json};

use super::taken_back_and_made_again;

/// A branch, a grid, a shader, a camera, a connection, and an instance whose inside is another scene's.
const ROOM: &str = r#"[gd_scene load_steps=9 format=3 uid="uid://b3q1w0e8ydroo"]

[ext_resource type="PackedScene" path="res://lamps/lamp.tscn" id="1"]
[ext_resource type="Script" path="res://calls.gd" id="2"]
[ext_resource type="Script" path="res://plain.gd" id="3"]

[sub_resource type="Shader" id="s"]
code = "shader_type canvas_item;
uniform float glow : hint_range(0, 2) = 0.5;
uniform int kind : hint_enum(\"Warm\", \"Cold\") = 0;
uniform vec4 tint : source_color = vec4(1.0);
"

[sub_resource type="ShaderMaterial" id="m"]
shader = SubResource("s")

[sub_resource type="ShaderMaterial" id="e"]

[sub_resource type="BoxMesh" id="b"]

[sub_resource type="MeshLibrary" id="l"]
item/2/name = "Box"
item/2/mesh = SubResource("b")

[node name="Room" type="Node3D"]

[node name="A" type="Node3D" parent="." groups=["lit"]]
transform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 2, 3)

[node name="Inner" type="Node3D" parent="A"]

[node name="B" type="Node3D" parent="."]
transform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, 10, 0, 0)

[node name="Grid" type="GridMap" parent="."]
mesh_library = SubResource("l")

[node name="Pic" type="Sprite2D" parent="."]
material = SubResource("m")

[node name="Bare" type="Sprite2D" parent="."]
material = SubResource("e")

[node name="Eye" type="Camera3D" parent="."]

[node name="Tick" type="Timer" parent="."]

[node name="Calls" type="Node" parent="."]
script = ExtResource("2")

[node name="Plain" type="Node" parent="."]
script = ExtResource("3")

[node name="Lamp" parent="." instance=ExtResource("1")]

[connection signal="timeout" from="Tick" to="B" method="hide"]
[connection signal="said" from="Calls" to="Calls" method="hear"]
"#;

const CALLS: &str = "@tool\nextends Node\n\nsignal said(text: String, list: Array)\nsignal bare(call: Callable)\n\n@export var heard := \"\"\n\n\n\
    func hear(text: String, list: Array) -> void:\n\theard = text + str(list.size())\n\n\n\
    func slow(seconds: float) -> String:\n\tawait get_tree().create_timer(seconds).timeout\n\theard = \"slept\"\n\treturn heard\n\n\n\
    func add(a: int, b := 2) -> int:\n\treturn a + b\n\n\n\
    func tie() -> void:\n\tget_parent().get_node(\"Tick\").timeout.connect(_hidden)\n\n\n\
    func _hidden() -> void:\n\tpass\n";

/// An editor with the room open, and a scene that inherits from it beside.
fn opened() -> Option<(Project, Engine, Caller)> {
    let project = Project::sample();
    project.write("calls.gd", CALLS);
    project.write("plain.gd", "extends Node\n\n\nfunc told() -> int:\n\treturn 1\n");
    project.write("room.tscn", ROOM);
    project.write(
        "heir.tscn",
        "[gd_scene load_steps=2 format=3 uid=\"uid://b3q1w0e8ydhei\"]\n\n\
         [ext_resource type=\"PackedScene\" path=\"res://room.tscn\" id=\"1\"]\n\n\
         [node name=\"Heir\" instance=ExtResource(\"1\")]\n\n[node name=\"Own\" type=\"Node3D\" parent=\".\"]\n",
    );
    let engine = Engine::editor(&project)?;
    let mut caller = Caller::of(&project);
    caller.done("scene_open", json!({"scene_path": "res://room.tscn"}));
    Some((project, engine, caller))
}

/// Every edit, by the tool's name.
fn edits() -> Vec<(&'static str, Value)> {
    let tick = json!({"emitter_node": "Tick", "signal_name": "timeout", "target_node": "B", "target_method": "hide"});
    let glow = json!({"target_node": "Pic", "property_name": "material", "uniform_name": "glow", "value": 1.5});
    let place = json!({"camera_path": "Eye", "position": {"x": 1, "y": 2, "z": 3}, "rotation_degrees": {"x": 0, "y": 90, "z": 0}, "fov": 50});
    let cells = json!([{"position": [1, 0, 2], "item": 2, "orientation": 10}, {"coords": {"x": 0, "y": 0, "z": 0}, "item": 2}]);
    vec![
        ("scene_reparent_node", json!({"target_node": "A", "new_parent_path": "/root/Room/B"})),
        ("scene_duplicate_node", json!({"target_node": "/root/Room/A"})),
        ("scene_remove_from_group", json!({"target_node": "A", "group": "lit"})),
        ("signal_disconnect", tick),
        ("script_detach_from_node", json!({"target_node": "Plain"})),
        ("shader_set_uniform", glow),
        ("viewport_set_camera_transform", place),
        ("gridmap_set_cells", json!({"gridmap_path": "Grid", "cells": cells})),
    ]
}

#[test]
fn every_further_edit_is_taken_back_and_made_again() {
    let Some((project, _engine, mut caller)) = opened() else { return };
    taken_back_and_made_again(&mut caller, &project, "room.tscn", edits());
}

#[test]
fn a_separate_engine_loads_what_the_edits_made() {
    let Some((project, _engine, mut caller)) = opened() else { return };
    for (tool, arguments) in edits() {
        // The copy is made of a node that another edit has moved.
        let arguments = if tool == "scene_duplicate_node" {
            json!({"target_node": "/root/Room/B/A"})
        } else if tool == "scene_remove_from_group" {
            json!({"target_node": "B/A", "group": "lit"})
        } else {
            arguments
        };
        let mut preview = arguments.clone();
        preview["dry_run"] = true.into();
        let previewed = caller.done(tool, preview)["mutation_preview"].clone();
        assert!(previewed["changes"][0]["before"].is_object(), "{tool}: {previewed}");
        caller.edits(tool, arguments);
    }
    caller.done("editor_save_scene", json!({}));
    let body = "var room = load(\"res://room.tscn\").instantiate()\nroot.add_child(room)\n\
        var a = room.get_node(\"B/A\")\nvar copy = room.get_node(\"B/ACopy\")\nvar eye = room.get_node(\"Eye\")\n\
        return [str(room.get_node(\"B\").transform * a.position), a.is_in_group(\"lit\"), copy.is_in_group(\"lit\"), copy.get_child_count(), copy.get_child(0).name,\n\
        \troom.get_node(\"Tick\").timeout.get_connections().size(), room.get_node(\"Plain\").get_script() == null,\n\
        \troom.get_node(\"Pic\").material.get_shader_parameter(\"glow\"), str(eye.position), eye.rotation_degrees.y, eye.fov,\n\
        \troom.get_node(\"Grid\").get_used_cells().size(), room.get_node(\"Grid\").get_cell_item_orientation(Vector3i(1, 0, 2))]";
    let said = ask_engine(&project, body);
    let wanted = json!([
        "(1.0, 2.0, 3.0)",
        false,
        true,
        1,
        "Inner",
        0,
        true,
        1.5,
        "(1.0, 2.0, 3.0)",
        90.0,
        50.0,
        2,
        10
    ]);
    let (said, wanted) = (said.as_array().unwrap(), wanted.as_array().unwrap());
    for (at, (said, wanted)) in said.iter().zip(wanted).enumerate() {
        let close = said.as_f64().zip(wanted.as_f64()).is_some_and(|(a, b)| (a - b).abs() < 1e-4);
        assert!(said == wanted || close, "{at}: {said} and not {wanted}");
    }
}

#[test]
fn further_edits_refuse_what_the_scene_can_not_hold() {
    let Some((project, _engine, mut caller)) = opened() else { return };
    let before = caller.saved(&project, "room.tscn");
    let uniform = |node: &str, name: &str, value: Value| json!({"target_node": node, "property_name": "material", "uniform_name": name, "value": value});
    let cells = |path: &str, cells: Value| json!({"gridmap_path": path, "cells": cells});
    let at = |item: i32| json!([{"position": [0, 0, 0], "item": item}]);
    let twice = json!([{"position": [0, 0, 0], "item": 2}, {"coords": [0, 0, 0], "item": -1}]);
    let eye = |path: &str| json!({"camera_path": path, "position": {"x": 0, "y": 0, "z": 0}});
    let connection = |node: &str, signal: &str, method: &str| json!({"emitter_node": node, "signal_name": signal, "target_node": node, "target_method": method});
    for (tool, arguments, code) in [
        (
            "scene_reparent_node",
            json!({"target_node": "A", "new_parent_path": "A/Inner"}),
            "invalid_arguments",
        ),
        (
            "scene_reparent_node",
            json!({"target_node": "Room", "new_parent_path": "A"}),
            "not_found",
        ),
        (
            "scene_reparent_node",
            json!({"target_node": "/root", "new_parent_path": "A"}),
            "invalid_arguments",
        ),
        (
            "scene_reparent_node",
            json!({"target_node": "Lamp/Light", "new_parent_path": "A"}),
            "node_not_owned",
        ),
        (
            "scene_reparent_node",
            json!({"target_node": "A", "new_parent_path": "Lamp/Light"}),
            "node_not_owned",
        ),
        ("scene_duplicate_node", json!({"target_node": "Lamp/Light"}), "node_not_owned"),
        ("scene_duplicate_node", json!({"target_node": "Nobody"}), "not_found"),
        ("scene_remove_from_group", json!({"target_node": "A", "group": "dark"}), "not_found"),
        (
            "scene_remove_from_group",
            json!({"target_node": "Lamp/Light", "group": "dark"}),
            "node_not_owned",
        ),
        (
            "signal_disconnect",
            connection("Tick", "timeout", "stop"),
            "missing_or_ambiguous_signal_connection",
        ),
        ("script_detach_from_node", json!({"target_node": "A"}), "no_script_attached"),
        ("script_detach_from_node", json!({"target_node": "Lamp/Light"}), "node_not_owned"),
        ("shader_set_uniform", uniform("Pic", "shine", json!(1)), "not_found"),
        ("shader_set_uniform", uniform("Pic", "glow", json!(2.5)), "invalid_arguments"),
        ("shader_set_uniform", uniform("Pic", "glow", json!("x")), "invalid_arguments"),
        ("shader_set_uniform", uniform("A", "glow", json!(1)), "not_found"),
        ("shader_set_uniform", uniform("Bare", "glow", json!(1)), "no_shader_assigned"),
        ("shader_set_uniform", uniform("Lamp/Light", "speed", json!(1)), "node_not_owned"),
        (
            "shader_list_uniforms",
            json!({"target_node": "Pic", "property_name": "texture"}),
            "not_a_shader_material",
        ),
        ("viewport_set_camera_transform", eye("A"), "camera_path_does_not_resolve_to_camera3d"),
        ("viewport_set_camera_transform", eye("Lamp/Light"), "node_not_owned"),
        ("gridmap_set_cells", cells("Nobody", at(2)), "gridmap_target_not_found"),
        ("gridmap_set_cells", cells("A", at(2)), "gridmap_target_wrong_type"),
        ("gridmap_set_cells", cells("Grid", at(9)), "gridmap_item_not_found"),
        ("gridmap_set_cells", cells("Grid", twice), "duplicate_gridmap_position"),
        (
            "gridmap_set_cells",
            cells("Grid", json!([{"position": [0, 0, 0], "item": -1, "orientation": 3}])),
            "invalid_arguments",
        ),
    ] {
        let refusal = caller.refusal(tool, arguments.clone());
        assert_eq!(refusal["data"]["code"], code, "{tool} {arguments}: {refusal}");
        if tool != "shader_list_uniforms" {
            let mut preview = arguments;
            preview["dry_run"] = true.into();
            assert_eq!(caller.refused(tool, preview), code, "a preview misses what the call does");
        }
    }
    assert_eq!(caller.saved(&project, "room.tscn"), before, "a refusal changes nothing");
    caller.done("scene_open", json!({"scene_path": "res://heir.tscn"}));
    for (tool, arguments) in [
        ("scene_reparent_node", json!({"target_node": "A", "new_parent_path": "Own"})),
        ("scene_duplicate_node", json!({"target_node": "A"})),
    ] {
        let refusal = caller.refusal(tool, arguments);
        assert_eq!(refusal["data"]["code"], "node_inherited", "{tool}: {refusal}");
        assert_eq!(refusal["data"]["base_scene"], "res://room.tscn", "{tool}: {refusal}");
    }
}

#[test]
fn a_tool_scripts_method_runs_once_it_is_confirmed() {
    let Some((project, _engine, mut caller)) = opened() else { return };
    let call = |node: &str, method: &str, arguments: Value| json!({"target_node": node, "method_name": method, "arguments": arguments});
    assert_eq!(
        caller.refused("scene_call_method", call("Calls", "add", json!([1]))),
        "confirmation_required"
    );
    let sum = caller.confirmed("scene_call_method", call("Calls", "add", json!([5])));
    assert_eq!((&sum["returned"], &sum["awaited"]), (&json!(7), &json!(false)), "{sum}");
    let slept = caller.confirmed("scene_call_method", call("Calls", "slow", json!([0.2])));
    assert_eq!((&slept["returned"], &slept["awaited"]), (&json!("slept"), &json!(true)), "{slept}");
    let heard = |caller: &mut Caller, project: &Project| {
        caller.done("editor_save_scene", json!({}));
        let body = "var room = load(\"res://room.tscn\").instantiate()\nvar heard = room.get_node(\"Calls\").heard\nroom.free()\nreturn heard";
        ask_engine(project, body)
    };
    assert_eq!(
        heard(&mut caller, &project),
        "slept",
        "a separate engine loads what the method left"
    );
    let emit = |arguments: Value| json!({"emitter_node": "Calls", "signal_name": "said", "arguments": arguments});
    assert_eq!(caller.refused("signal_emit", emit(json!(["hello", []]))), "confirmation_required");
    let emitted = caller.confirmed("signal_emit", emit(json!(["hello", [1, 2]])));
    assert_eq!((&emitted["emitted"], &emitted["connection_count"]), (&json!(true), &json!(1)));
    assert_eq!(heard(&mut caller, &project), "hello2");
    let deep = json!([[[[[[1]]]]]]);
    for (node, method, arguments, code) in [
        ("Calls", "_hidden", json!([]), "method_private"),
        ("Calls", "queue_free", json!([]), "method_not_declared"),
        ("Calls", "add", json!([]), "argument_count_mismatch"),
        ("Calls", "add", json!([1, 2, 3]), "argument_count_mismatch"),
        ("Calls", "add", json!(["x"]), "argument_type_mismatch"),
        ("Calls", "add", deep, "invalid_arguments"),
        ("Plain", "told", json!([]), "script_not_tool"),
        ("A", "told", json!([]), "node_has_no_script"),
        ("Nobody", "told", json!([]), "not_found"),
    ] {
        let mut preview = call(node, method, arguments);
        preview["dry_run"] = true.into();
        assert_eq!(caller.refused("scene_call_method", preview), code, "{node}.{method}");
    }
    // What a script connects while it runs is in no scene.
    caller.confirmed("scene_call_method", call("Calls", "tie", json!([])));
    let tied = json!({"emitter_node": "Tick", "signal_name": "timeout", "target_node": "Calls", "target_method": "_hidden"});
    assert_eq!(caller.refused("signal_disconnect", tied), "unsupported_existing_connection_flags");
    let long = json!({"target_node": "Calls", "method_name": "slow", "arguments": [20], "timeout_seconds": 1, "dry_run": true});
    let token =
        caller.done("scene_call_method", long.clone())["mutation_preview"]["confirmation_token"]
            .clone();
    let late = json!({"target_node": "Calls", "method_name": "slow", "arguments": [20], "timeout_seconds": 1, "confirmation_token": token});
    assert_eq!(caller.refused("scene_call_method", late), "unknown_outcome");
    let many: Value = (0..65).collect();
    let nested = (0..9).fold(json!(1), |inner, _| json!([inner]));
    for (arguments, code) in [
        (json!([1, []]), "signal_emit_argument_type_mismatch"),
        (json!(["a"]), "signal_emit_arity_mismatch"),
        (json!(["x".repeat(5000), []]), "signal_emit_arguments_too_large"),
        (json!(["a", many]), "signal_emit_arguments_too_large"),
        (json!(["a", nested]), "signal_emit_arguments_too_large"),
    ] {
        let mut preview = emit(arguments);
        preview["dry_run"] = true.into();
        assert_eq!(caller.refused("signal_emit", preview), code);
    }
    let none = json!({"emitter_node": "Calls", "signal_name": "sung", "dry_run": true});
    assert_eq!(caller.refused("signal_emit", none), "declared_signal_not_found");
    let bare = json!({"emitter_node": "Calls", "signal_name": "bare", "arguments": ["x"], "dry_run": true});
    assert_eq!(caller.refused("signal_emit", bare), "unsupported_signal_emit_argument");
}

#[test]
fn what_a_scene_holds_is_read_as_another_engine_loads_it() {
    let Some((project, engine, mut caller)) = opened() else { return };
    let body = "var room = load(\"res://room.tscn\").instantiate()\nroot.add_child(room)\n\
        var lit = room.find_children(\"*\", \"\", true, false).filter(func(one): return one.is_in_group(\"lit\"))\n\
        var groups = room.get_node(\"A\").get_groups().filter(func(one): return not one.begins_with(\"_\"))\n\
        var signals = room.get_node(\"Tick\").get_signal_list().map(func(one): return one.name)\nsignals.sort()\n\
        var uniforms = room.get_node(\"Pic\").material.shader.get_shader_uniform_list().map(func(one): return one.name)\n\
        return [lit.map(func(one): return one.name), groups, signals, uniforms]";
    let said = ask_engine(&project, body);
    let members = caller.done("scene_get_group_members", json!({"group": "lit"}));
    assert_eq!(
        (&members["members"], &members["truncated"]),
        (&json!(["/root/Room/A"]), &json!(false))
    );
    assert_eq!(said[0], json!(["A"]));
    assert_eq!(caller.done("scene_list_groups", json!({"target_node": "A"}))["groups"], said[1]);
    let listed = caller.done("signal_list_connections", json!({"emitter_node": "Tick"}));
    let signals = listed["signals"].as_array().unwrap();
    let names: Value = signals.iter().map(|one| one["name"].clone()).collect();
    assert_eq!(names, said[2], "{listed}");
    let timeout = signals.iter().find(|one| one["name"] == "timeout").unwrap();
    assert_eq!(timeout["connections"][0]["target_node"], "/root/Room/B", "{timeout}");
    assert_eq!(timeout["connections"][0]["origin"], "scene");
    let both = json!({"emitter_node": "Tick", "target_node": "Tick"});
    assert_eq!(caller.refused("signal_list_connections", both), "invalid_arguments");
    let pic = json!({"target_node": "Pic", "property_name": "material"});
    let uniforms = caller.done("shader_list_uniforms", pic.clone());
    let list = uniforms["uniforms"].as_array().unwrap();
    assert_eq!(list.iter().map(|one| one["name"].clone()).collect::<Value>(), said[3]);
    let glow = list.iter().find(|one| one["name"] == "glow").unwrap();
    assert_eq!((&glow["hint"]["kind"], &glow["hint"]["maximum"]), (&json!("range"), &json!(2.0)));
    let kind = list.iter().find(|one| one["name"] == "kind").unwrap();
    assert_eq!(kind["hint"]["kind"], "enum", "{kind}");
    assert_eq!(caller.refused("shader_get_visual_graph", pic), "not_a_visual_shader");
    // Nobody sits before this editor, so nothing is selected; a script of the editor's selects.
    assert_eq!(caller.done("scene_get_selection", json!({}))["count"], 0);
    project.write("select.gd", "@tool\nextends Node\n\n\nfunc go() -> void:\n\tEditorInterface.edit_node(get_parent().get_node(\"B\"))\n");
    caller.edits("scene_instantiate_node", json!({"node_type": "Node", "name": "Select"}));
    caller.edits(
        "script_attach_to_node",
        json!({"target_node": "Select", "script_path": "res://select.gd"}),
    );
    caller.confirmed("scene_call_method", json!({"target_node": "Select", "method_name": "go"}));
    let selected = caller.done("scene_get_selection", json!({}));
    assert_eq!(selected["selected"][0]["node_path"], "/root/Room/B", "{selected}");
    drop(engine);
    assert_eq!(caller.refused("scene_list_groups", json!({"target_node": "A"})), "not_connected");
}
