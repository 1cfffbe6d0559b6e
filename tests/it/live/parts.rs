//! Tiles, animations and controls in a scene.

use didi_tests::{
    Project,
    live::{Engine, ask_engine},
};
use serde_json::{Value, json};

pub(crate) const MAP: &str = r#"[gd_scene load_steps=5 format=3]

[ext_resource type="Texture2D" path="res://icon.svg" id="1"]

[sub_resource type="TileSetAtlasSource" id="a"]
texture = ExtResource("1")
0:0/0 = 0
1:0/0 = 0

[sub_resource type="TileSet" id="t"]
sources/0 = SubResource("a")

[sub_resource type="Animation" id="w"]
resource_name = "walk"
length = 0.5
loop_mode = 1
tracks/0/type = "value"
tracks/0/path = NodePath("Tiles:modulate")
tracks/0/interp = 1
tracks/0/keys = {
"times": PackedFloat32Array(0, 0.25),
"transitions": PackedFloat32Array(1, 1),
"update": 0,
"values": [Color(1, 1, 1, 1), Color(1, 0, 0, 1)]
}

[sub_resource type="AnimationLibrary" id="l"]
_data = {
&"walk": SubResource("w")
}

[node name="Map" type="Node2D"]

[node name="Tiles" type="TileMapLayer" parent="."]
tile_set = SubResource("t")

[node name="Player" type="AnimationPlayer" parent="."]
libraries = {
&"": SubResource("l")
}

[node name="Panel" type="Control" parent="."]
offset_right = 200.0
offset_bottom = 100.0

[node name="Button" type="Button" parent="Panel"]
offset_right = 80.0
offset_bottom = 30.0
text = "Light it"

[node name="Hidden" type="Label" parent="Panel"]
visible = false
"#;

pub(crate) const LIBRARY: &str = r#"[gd_resource type="AnimationLibrary" load_steps=2 format=3]

[sub_resource type="Animation" id="r"]
resource_name = "run"

[resource]
_data = {
&"run": SubResource("r")
}
"#;

fn opened() -> Option<(Project, Engine, didi_tests::live::Client)> {
    let project = Project::sample();
    project.write("map.tscn", MAP);
    project.write("more.tres", LIBRARY);
    let engine = Engine::editor(&project)?;
    let mut client = engine.connect();
    client.done("scene.open", json!({"scene_path": "res://map.tscn"}));
    Some((project, engine, client))
}

#[test]
fn cells_are_written_as_one_step_and_saved() {
    let Some((project, _engine, mut client)) = opened() else { return };
    let layer = json!({"tilemap_path": "/root/Map/Tiles"});
    let empty = client.done("tilemap.getUsedRect", layer.clone());
    assert_eq!(empty["size"], json!({"x": 0, "y": 0}));
    let write = |cells: Value| json!({"tilemap_path": "/root/Map/Tiles", "cells": cells});
    let cells = json!([
        {"coords": [0, 0], "source_id": 0, "atlas_coords": [0, 0]},
        {"position": {"x": 4, "y": -2}, "source_id": 0, "atlas_coords": {"x": 1, "y": 0}},
    ]);
    let written = client.done("tilemap.setCells", write(cells.clone()));
    assert_eq!(written["cells"][1]["atlas_coords"], json!({"x": 1, "y": 0}), "{written}");
    assert_eq!(written["undo_steps"].as_array().unwrap().len(), 1);
    let again = client.done("tilemap.setCells", write(cells));
    assert_eq!((&again["undo_redo_registered"], again.get("undo_steps")), (&json!(false), None));
    let used = client.done("tilemap.getUsedRect", layer.clone());
    assert_eq!(
        (&used["position"], &used["size"]),
        (&json!({"x": 0, "y": -2}), &json!({"x": 5, "y": 3}))
    );
    client.done("editor.undo", json!({}));
    assert_eq!(client.done("tilemap.getUsedRect", layer), empty);
    client.done("editor.redo", json!({}));
    client.done("tilemap.setCells", write(json!([{"coords": [0, 0], "erase": true}])));
    client.done("editor.saveScene", json!({}));
    let body = "var map = load(\"res://map.tscn\").instantiate()\nvar cells = map.get_node(\"Tiles\").get_used_cells()\nmap.free()\nreturn str(cells)";
    assert_eq!(ask_engine(&project, body), json!("[(4, -2)]"));
    let mut refused = |cells: Value| client.refused("tilemap.setCells", write(cells)).1;
    assert_eq!(
        refused(json!([{"coords": [0, 0], "source_id": 0, "atlas_coords": [7, 7]}])),
        "tilemap_tile_not_found"
    );
    assert_eq!(
        refused(json!([{"coords": [0, 0], "erase": true}, {"coords": [0, 0], "erase": true}])),
        "duplicate_tilemap_coordinate"
    );
    let wrong = json!({"tilemap_path": "/root/Map", "cells": [{"coords": [0, 0], "erase": true}]});
    assert_eq!(client.refused("tilemap.setCells", wrong).1, "tilemap_target_wrong_type");
}

#[test]
fn animations_are_listed_and_a_library_is_added() {
    let Some((project, _engine, mut client)) = opened() else { return };
    let player = json!({"animation_player_path": "Player"});
    let listed = client.done("anim.listTracks", player.clone());
    let walk = &listed["animations"][0];
    assert_eq!((&walk["name"], &walk["loop_mode_name"]), (&json!("walk"), &json!("linear")));
    assert_eq!(walk["tracks"][0]["key_times"], json!([0.0, 0.25]), "{walk}");
    assert_eq!(walk["tracks"][0]["type_name"], "value");
    let add = json!({"animation_player_path": "Player", "library_path": "res://more.tres", "library_name": "more"});
    let added = client.done("anim.addLibrary", add.clone());
    assert_eq!(added["animations"], json!(["more/run", "walk"]), "{added}");
    assert_eq!(client.refused("anim.addLibrary", add.clone()).1, "animation_library_already_added");
    client.done("editor.undo", json!({}));
    assert_eq!(client.done("anim.listTracks", player), listed);
    client.done("anim.addLibrary", add);
    client.done("editor.saveScene", json!({}));
    let body = "var map = load(\"res://map.tscn\").instantiate()\nvar list = map.get_node(\"Player\").get_animation_list()\nmap.free()\nreturn list";
    assert_eq!(ask_engine(&project, body), json!(["more/run", "walk"]));
    let icon = json!({"animation_player_path": "Player", "library_path": "res://icon.svg", "library_name": "x"});
    assert_eq!(client.refused("anim.addLibrary", icon).1, "not_an_animation_library");
}

#[test]
fn controls_are_listed_with_their_places_and_texts() {
    let Some((_project, _engine, mut client)) = opened() else { return };
    let listed = client.done("ui.listControls", json!({}));
    let paths: Vec<&str> = listed["controls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["node_path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["/root/Map/Panel", "/root/Map/Panel/Button"]);
    assert_eq!(listed["controls"][1]["text"], "Light it");
    assert_eq!(listed["controls"][1]["depth"], 2);
    let all =
        client.done("ui.listControls", json!({"visible_only": false, "class_filter": ["Label"]}));
    assert_eq!((&all["match_count_total"], &all["truncated"]), (&json!(1), &json!(false)));
    let one = client.done("ui.listControls", json!({"max_results": 1}));
    assert_eq!((&one["returned_count"], &one["truncated"]), (&json!(1), &json!(true)));
}

#[test]
fn a_game_tells_what_is_under_a_point() {
    let project = Project::sample();
    // A project that no editor has imported has no textures.
    let bare =
        MAP.replace("[ext_resource type=\"Texture2D\" path=\"res://icon.svg\" id=\"1\"]\n", "");
    project.write("map.tscn", bare.replace("texture = ExtResource(\"1\")\n", ""));
    project.set_main_scene("res://map.tscn");
    let Some(engine) = Engine::game(&project) else { return };
    let mut client = engine.connect();
    let hit = client.done("ui.hitTest", json!({"point": {"x": 5, "y": 5}}));
    assert_eq!(hit["topmost"]["node_path"], "/root/Map/Panel/Button", "{hit}");
    assert_eq!(hit["hit_count_total"], 2);
    let miss = client.done("ui.hitTest", json!({"point": {"x": 500, "y": 300}}));
    assert_eq!((&miss["hit_count_total"], &miss["topmost"]), (&json!(0), &Value::Null));
    let play = json!({"animation_player_path": "/root/Map/Player", "animation_name": "walk"});
    assert_eq!(client.done("anim.playTrack", play)["playing"], true);
    let none = json!({"animation_player_path": "/root/Map/Player", "animation_name": "fly"});
    assert_eq!(client.refused("anim.playTrack", none).0, 404);
}

#[test]
fn rays_meet_what_is_in_the_way() {
    let project = Project::sample();
    project.write(
        "wall.tscn",
        "[gd_scene load_steps=2 format=3]\n\n[sub_resource type=\"RectangleShape2D\" id=\"r\"]\nsize = Vector2(20, 20)\n\n\
         [node name=\"Room\" type=\"Node2D\"]\n\n[node name=\"Wall\" type=\"StaticBody2D\" parent=\".\"]\nposition = Vector2(100, 0)\n\n\
         [node name=\"Shape\" type=\"CollisionShape2D\" parent=\"Wall\"]\nshape = SubResource(\"r\")\n",
    );
    project.set_main_scene("res://wall.tscn");
    let Some(engine) = Engine::game(&project) else { return };
    let mut client = engine.connect();
    // The space knows of a body after the first step of its physics.
    client.done("runtime.setPaused", json!({"paused": true}));
    client.done("runtime.step", json!({"frames": 10}));
    let ray = json!({"from": {"x": 0, "y": 0}, "to": {"x": 200, "y": 0}});
    let hit = client.done("physics.raycast", ray.clone());
    assert_eq!(
        (&hit["hit"], &hit["collider_path"]),
        (&json!(true), &json!("/root/Room/Wall")),
        "{hit}"
    );
    assert_eq!((&hit["position"]["x"], &hit["normal"]["x"]), (&json!(90.0), &json!(-1.0)));
    let up = json!({"from": {"x": 0, "y": 0}, "to": {"x": 0, "y": -200}});
    let both = client.done("physics.raycastBatch", json!({"rays": [ray, up]}));
    assert_eq!((&both["hit_count"], &both["results"][1]["hit"]), (&json!(1), &json!(false)));
    let none = json!({"from": {"x": 1, "y": 1}, "to": {"x": 1, "y": 1}});
    assert_eq!(client.refused("physics.raycast", none).0, 400);
}

#[test]
fn a_bus_is_changed_and_told_how_to_change_back() {
    let project = Project::sample();
    let Some(engine) = Engine::game(&project) else { return };
    let mut client = engine.connect();
    let buses = client.done("audio.listBuses", json!({}));
    assert_eq!((&buses["bus_count"], &buses["buses"][0]["name"]), (&json!(1), &json!("Master")));
    let change = json!({"bus": "Master", "volume_db": -6.0, "mute": true});
    let changed = client.done("audio.configureBus", change);
    assert_eq!(
        (&changed["after"]["volume_db"], &changed["after"]["mute"]),
        (&json!(-6.0), &json!(true))
    );
    client.done("audio.configureBus", changed["revert_with"].clone());
    assert_eq!(client.done("audio.listBuses", json!({})), buses);
    assert_eq!(client.refused("audio.configureBus", json!({"bus": 9, "mute": true})).0, 404);
}

#[test]
fn a_signal_is_emitted_to_who_listens() {
    let Some((project, _engine, mut client)) = opened() else { return };
    project.write("heard.gd", "@tool\nextends Node2D\n\n@export var heard := \"\"\n\nfunc hear(text: String):\n\theard = text\n");
    project.write("says.gd", "@tool\nextends Node2D\n\nsignal said(text: String)\n");
    for (name, script) in [("Ear", "heard"), ("Mouth", "says")] {
        client.done("scene.instantiateNode", json!({"node_type": "Node2D", "name": name}));
        let script = json!({"target_node": name, "script_path": format!("res://{script}.gd")});
        client.done("script.attachToNode", script);
    }
    let emit = |arguments: Value| json!({"emitter_node": "Mouth", "signal_name": "said", "arguments": arguments});
    assert_eq!(client.done("signal.emit", emit(json!(["hello"])))["emitted"], false);
    let connect = json!({"emitter_node": "Mouth", "signal_name": "said", "target_node": "Ear", "target_method": "hear"});
    client.done("signal.connect", connect);
    assert_eq!(client.done("signal.emit", emit(json!(["hello"])))["emitted"], true);
    let heard = json!({"target_node": "Ear", "property_name": "heard"});
    assert_eq!(client.done("scene.getProperty", heard)["value"], "hello");
    assert_eq!(
        client.refused("signal.emit", emit(json!([1]))).1,
        "signal_emit_argument_type_mismatch"
    );
    assert_eq!(client.refused("signal.emit", emit(json!([]))).1, "signal_emit_arity_mismatch");
    let many: Value = (0..17).collect();
    assert_eq!(client.refused("signal.emit", emit(many)).1, "signal_emit_argument_count_exceeded");
}

const LOOKS: &str = r#"[gd_scene load_steps=3 format=3]

[sub_resource type="Shader" id="s"]
code = "shader_type canvas_item;
uniform float glow : hint_range(0, 2) = 0.5;
uniform vec4 tint : source_color = vec4(1.0);
"

[sub_resource type="ShaderMaterial" id="m"]
shader = SubResource("s")

[node name="Looks" type="Node3D"]

[node name="Eye" type="Camera3D" parent="."]

[node name="Pic" type="Sprite2D" parent="."]
material = SubResource("m")
"#;

#[test]
fn a_shaders_values_and_a_cameras_place_are_set_and_saved() {
    let project = Project::sample();
    project.write("looks.tscn", LOOKS);
    let Some(engine) = Engine::editor(&project) else { return };
    let mut client = engine.connect();
    client.done("scene.open", json!({"scene_path": "res://looks.tscn"}));
    let pic = json!({"target_node": "Pic", "property_name": "material"});
    let listed = client.done("shader.listUniforms", pic);
    assert_eq!(
        (&listed["uniform_count"], &listed["shader_mode"]),
        (&json!(2), &json!("canvas_item"))
    );
    let set = |name: &str, value: Value| json!({"target_node": "Pic", "property_name": "material", "uniform_name": name, "value": value});
    let glow = client.done("shader.setUniform", set("glow", json!(1.5)));
    assert_eq!((&glow["applied"], &glow["value"]), (&json!(true), &json!(1.5)), "{glow}");
    client.done("shader.setUniform", set("tint", json!({"r": 1, "g": 0, "b": 0})));
    client.done("editor.undo", json!({}));
    client.done("editor.redo", json!({}));
    assert_eq!(client.refused("shader.setUniform", set("glow", json!("x"))).1, "invalid_arguments");
    assert_eq!(client.refused("shader.setUniform", set("shine", json!(1))).1, "not_found");
    let place = json!({"camera_path": "Eye", "position": {"x": 1, "y": 2, "z": 3}, "fov": 50});
    let placed = client.done("vision.setCameraTransform", place);
    assert_eq!(placed["new"]["position"], json!({"x": 1.0, "y": 2.0, "z": 3.0}), "{placed}");
    let wrong = json!({"camera_path": "Pic", "position": {"x": 1, "y": 2, "z": 3}});
    assert_eq!(client.refused("vision.setCameraTransform", wrong).0, 404);
    client.done("editor.saveScene", json!({}));
    let body = "var looks = load(\"res://looks.tscn\").instantiate()\nvar material = looks.get_node(\"Pic\").material\nvar eye = looks.get_node(\"Eye\")\n\
        var told = [material.get_shader_parameter(\"glow\"), str(material.get_shader_parameter(\"tint\")), str(eye.position), eye.fov]\nlooks.free()\nreturn told";
    let expected = json!([1.5, "(1.0, 0.0, 0.0, 1.0)", "(1.0, 2.0, 3.0)", 50.0]);
    assert_eq!(ask_engine(&project, body), expected);
}

#[test]
fn a_tool_scripts_method_is_called_and_a_coroutine_awaited() {
    let Some((project, _engine, mut client)) = opened() else { return };
    project.write(
        "tool.gd",
        "@tool\nextends Node2D\n\nfunc add(a: int, b := 2):\n\treturn a + b\n\n\
         func slow():\n\tawait get_tree().create_timer(0.2).timeout\n\treturn \"done\"\n\nfunc _hidden():\n\tpass\n",
    );
    project.write("plain.gd", "extends Node2D\n\nfunc add():\n\tpass\n");
    for (name, script) in [("Tool", "tool"), ("Plain", "plain")] {
        client.done("scene.instantiateNode", json!({"node_type": "Node2D", "name": name}));
        let script = json!({"target_node": name, "script_path": format!("res://{script}.gd")});
        client.done("script.attachToNode", script);
    }
    let call = |node: &str, method: &str, arguments: Value| json!({"target_node": node, "method_name": method, "arguments": arguments});
    let sum = client.done("scene.callMethod", call("Tool", "add", json!([5])));
    assert_eq!((&sum["returned"], &sum["awaited"]), (&json!(7), &json!(false)), "{sum}");
    let slow = client.done("scene.callMethod", call("Tool", "slow", json!([])));
    assert_eq!((&slow["returned"], &slow["awaited"]), (&json!("done"), &json!(true)), "{slow}");
    let mut code = |node: &str, method: &str, arguments: Value| {
        client.refused("scene.callMethod", call(node, method, arguments)).1
    };
    assert_eq!(code("Tool", "_hidden", json!([])), "method_private");
    assert_eq!(code("Tool", "queue_free", json!([])), "method_not_declared");
    assert_eq!(code("Tool", "add", json!([])), "argument_count_mismatch");
    assert_eq!(code("Tool", "add", json!(["x"])), "argument_type_mismatch");
    assert_eq!(code("Plain", "add", json!([])), "script_not_tool");
    assert_eq!(code("Panel", "add", json!([])), "node_has_no_script");
}

#[test]
fn cells_of_a_grid_are_written_as_one_step_and_saved() {
    let project = Project::sample();
    project.write(
        "grid.tscn",
        "[gd_scene load_steps=3 format=3]\n\n[sub_resource type=\"BoxMesh\" id=\"b\"]\n\n\
         [sub_resource type=\"MeshLibrary\" id=\"l\"]\nitem/2/name = \"Box\"\nitem/2/mesh = SubResource(\"b\")\n\n\
         [node name=\"Level\" type=\"Node3D\"]\n\n[node name=\"Grid\" type=\"GridMap\" parent=\".\"]\nmesh_library = SubResource(\"l\")\n",
    );
    let Some(engine) = Engine::editor(&project) else { return };
    let mut client = engine.connect();
    client.done("scene.open", json!({"scene_path": "res://grid.tscn"}));
    let write = |cells: Value| json!({"gridmap_path": "Grid", "cells": cells});
    let cells = json!([{"position": [1, 0, 2], "item": 2, "orientation": 10}, {"coords": {"x": 0, "y": 0, "z": 0}, "item": 2}]);
    let written = client.done("gridmap.setCells", write(cells.clone()));
    assert_eq!(written["cells"][0]["orientation"], 10, "{written}");
    assert_eq!(client.done("gridmap.setCells", write(cells))["undo_redo_registered"], false);
    client.done("editor.undo", json!({}));
    let cleared =
        client.done("gridmap.setCells", write(json!([{"position": [1, 0, 2], "item": -1}])));
    assert_eq!(cleared["undo_redo_registered"], false, "{cleared}");
    client.done("editor.redo", json!({}));
    client.done("editor.saveScene", json!({}));
    let body = "var level = load(\"res://grid.tscn\").instantiate()\nvar cells = level.get_node(\"Grid\").get_used_cells()\nlevel.free()\nreturn cells.size()";
    assert_eq!(ask_engine(&project, body), json!(2));
    let mut code = |cells: Value| client.refused("gridmap.setCells", write(cells)).1;
    assert_eq!(code(json!([{"position": [0, 0, 0], "item": 9}])), "gridmap_item_not_found");
    assert_eq!(
        code(json!([{"position": [0, 0, 0], "item": -1, "orientation": 3}])),
        "invalid_arguments"
    );
}
