//! Rays, sweeps, views, paths and points of a running game and of an edited scene, beside what a script of the game
//! asks its own engine.

use didi_tests::{Caller, Project, live::Engine, server::PATIENCE, until, until_ok};
use serde_json::{Value, json};

const ARENA: &str = r#"[gd_scene load_steps=10 format=3 uid="uid://b3q1w0e8ydare"]

[ext_resource type="Script" path="res://arena.gd" id="1"]

[sub_resource type="BoxShape3D" id="b"]
size = Vector3(2, 2, 2)

[sub_resource type="RectangleShape2D" id="r"]
size = Vector2(20, 20)

[sub_resource type="BoxMesh" id="m"]

[sub_resource type="NavigationMesh" id="n"]
vertices = PackedVector3Array(-5, 0, -5, -5, 0, 5, 5, 0, 5, 5, 0, -5)
polygons = [PackedInt32Array(0, 1, 2), PackedInt32Array(0, 2, 3)]

[sub_resource type="NavigationPolygon" id="p"]
vertices = PackedVector2Array(0, 0, 100, 0, 100, 100, 0, 100)
polygons = Array[PackedInt32Array]([PackedInt32Array(0, 1, 2, 3)])

[sub_resource type="Animation" id="w"]
resource_name = "walk"
length = 30.0
tracks/0/type = "value"
tracks/0/path = NodePath("Mark:position")
tracks/0/interp = 1
tracks/0/keys = {
"times": PackedFloat32Array(0, 30),
"transitions": PackedFloat32Array(1, 1),
"update": 0,
"values": [Vector3(0, 50, 0), Vector3(0, 80, 0)]
}

[sub_resource type="AnimationLibrary" id="l"]
_data = {
&"walk": SubResource("w")
}

[node name="Arena" type="Node3D"]
script = ExtResource("1")

[node name="Wall" type="StaticBody3D" parent="."]
transform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -10)

[node name="Shape" type="CollisionShape3D" parent="Wall"]
shape = SubResource("b")

[node name="Eye" type="Camera3D" parent="."]
current = true

[node name="Near" type="MeshInstance3D" parent="."]
transform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -5)
mesh = SubResource("m")

[node name="Behind" type="MeshInstance3D" parent="."]
transform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -20)
mesh = SubResource("m")

[node name="Away" type="MeshInstance3D" parent="."]
transform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 20)
mesh = SubResource("m")

[node name="Mark" type="Node3D" parent="."]
transform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 50, 0)

[node name="Flat" type="StaticBody2D" parent="."]
position = Vector2(100, 0)

[node name="Shape" type="CollisionShape2D" parent="Flat"]
shape = SubResource("r")

[node name="Region" type="NavigationRegion3D" parent="."]
navigation_mesh = SubResource("n")

[node name="Island" type="NavigationRegion3D" parent="."]
transform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, 50, 0, 0)
navigation_mesh = SubResource("n")

[node name="Ground" type="NavigationRegion2D" parent="."]
navigation_polygon = SubResource("p")

[node name="Player" type="AnimationPlayer" parent="."]
libraries = {
&"": SubResource("l")
}

[node name="Panel" type="Panel" parent="."]
offset_left = 200.0
offset_top = 100.0
offset_right = 400.0
offset_bottom = 200.0

[node name="Press" type="Button" parent="Panel"]
offset_right = 80.0
offset_bottom = 30.0
"#;

/// Asks its own engine in its twentieth tick and writes the answers down; tells of the animation and of the mixer.
const SCRIPT: &str = r#"extends Node3D

var ticks := 0
var volume := 0.0


func _ready() -> void:
	$Player.animation_started.connect(func(what): print("plays ", what, " at ", $Player.get_playing_speed()))


func _physics_process(_delta: float) -> void:
	ticks += 1
	if ticks == 20:
		FileAccess.open("res://seen.json", FileAccess.WRITE).store_string(JSON.stringify(seen()))
	if volume != AudioServer.get_bus_volume_db(0):
		volume = AudioServer.get_bus_volume_db(0)
		print("master at ", volume, " muted ", AudioServer.is_bus_mute(0))


func seen() -> Dictionary:
	var space := get_world_3d().direct_space_state
	var ray := space.intersect_ray(PhysicsRayQueryParameters3D.create(Vector3.ZERO, Vector3(0, 0, -50)))
	var flat := get_viewport().find_world_2d().direct_space_state
	var flat_ray := flat.intersect_ray(PhysicsRayQueryParameters2D.create(Vector2.ZERO, Vector2(200, 0)))
	var sweep := PhysicsShapeQueryParameters3D.new()
	sweep.shape = SphereShape3D.new()
	sweep.shape.radius = 0.5
	sweep.motion = Vector3(0, 0, -20)
	var map := get_world_3d().get_navigation_map()
	var path := NavigationServer3D.map_get_path(map, Vector3(-4, 0, 0), Vector3(4, 0, 3), true)
	var in_view := [$Near, $Behind, $Away, $Mark].filter(func(one): return $Eye.is_position_in_frustum(one.position))
	return {
		"ray": [ray.collider.name, ray.position.z, ray.normal.z],
		"flat_ray": [flat_ray.collider.name, flat_ray.position.x, flat_ray.normal.x],
		"sweep": Array(space.cast_motion(sweep)),
		"path": Array(path).map(func(one): return [one.x, one.y, one.z]),
		"in_view": in_view.map(func(one): return one.name),
		"rect": str($Panel/Press.get_global_rect()),
	}
"#;

fn arena() -> Project {
    let project = Project::sample();
    project.write("arena.gd", SCRIPT);
    project.write("arena.tscn", ARENA);
    project.set_main_scene("res://arena.tscn");
    project
}

/// A running game, and what its script has seen.
fn played() -> Option<(Project, Engine, Caller, Value)> {
    let project = arena();
    let engine = Engine::game(&project)?;
    let mut caller = Caller::of(&project);
    // Attached while it plays, whatever it has written down by then.
    caller.done("runtime_get_tree", json!({"max_depth": 0}));
    let seen = until("word of the game's script", || {
        serde_json::from_str(&project.text("seen.json")?).ok()
    });
    Some((project, engine, caller, seen))
}

fn close(a: &Value, b: &Value) -> bool {
    (a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-3
}

#[test]
fn rays_and_sweeps_meet_what_the_games_own_script_meets() {
    let Some((_project, _engine, mut caller, seen)) = played() else { return };
    let ahead = json!({"from": {"x": 0, "y": 0, "z": 0}, "to": {"x": 0, "y": 0, "z": -50}});
    let hit = caller.done("physics_raycast_query", ahead.clone());
    assert_eq!(hit["collider_path"], format!("/root/Arena/{}", seen["ray"][0].as_str().unwrap()));
    assert!(close(&hit["position"]["z"], &seen["ray"][1]), "{hit} {seen}");
    assert!(close(&hit["normal"]["z"], &seen["ray"][2]), "{hit} {seen}");
    let flat = json!({"from": {"x": 0, "y": 0}, "to": {"x": 200, "y": 0}});
    let hit = caller.done("physics_raycast_query", flat.clone());
    assert!(close(&hit["position"]["x"], &seen["flat_ray"][1]), "{hit} {seen}");
    assert_eq!(hit["collider_class"], "StaticBody2D");
    // Every second ray goes up, where nothing is.
    let up = json!({"from": {"x": 0, "y": 0, "z": 0}, "to": {"x": 0, "y": 50, "z": 0}});
    let rays: Value =
        (0..256).map(|at| if at % 2 == 0 { ahead.clone() } else { up.clone() }).collect();
    let batch = caller.done("spatial_query_raycast_batch", json!({"rays": rays}));
    assert_eq!((&batch["requested_rays"], &batch["hit_count"]), (&json!(256), &json!(128)));
    assert!(close(&batch["results"][254]["position"]["z"], &seen["ray"][1]));
    let ball = |to: Value| json!({"shape": {"kind": "sphere", "radius": 0.5}, "from": {"x": 0, "y": 0, "z": 0}, "to": to});
    let swept = caller.done("spatial_query_clearance", ball(json!({"x": 0, "y": 0, "z": -20})));
    assert!(close(&swept["safe_fraction"], &seen["sweep"][0]), "{swept} {seen}");
    assert!(close(&swept["unsafe_fraction"], &seen["sweep"][1]), "{swept} {seen}");
    assert_eq!(swept["clear"], false);
    let free = caller.done("spatial_query_clearance", ball(json!({"x": 0, "y": 9, "z": 0})));
    assert_eq!((&free["clear"], &free["safe_position"]["y"]), (&json!(true), &json!(9.0)));
    let fits = |size: Value, at: Value| json!({"shape": {"kind": "box", "size": size}, "from": at, "to": at});
    let room = caller
        .done("spatial_query_clearance", fits(json!({"x": 5, "y": 5}), json!({"x": 0, "y": 0})));
    assert_eq!(room["clear"], true, "{room}");
    let stuck = caller
        .done("spatial_query_clearance", fits(json!({"x": 5, "y": 5}), json!({"x": 95, "y": 0})));
    assert_eq!((&stuck["clear"], &stuck["safe_fraction"]), (&json!(false), &json!(0.0)), "{stuck}");
    for (tool, arguments) in [
        ("physics_raycast_query", json!({"from": {"x": 1, "y": 1}, "to": {"x": 1, "y": 1}})),
        (
            "physics_raycast_query",
            json!({"from": {"x": 1, "y": 1}, "to": {"x": 1, "y": 1, "z": 2}}),
        ),
        (
            "physics_raycast_query",
            json!({"from": {"x": 2_000_000, "y": 1}, "to": {"x": 1, "y": 1}}),
        ),
        (
            "spatial_query_clearance",
            json!({"shape": {"kind": "box", "radius": 1}, "from": {"x": 1, "y": 1}, "to": {"x": 1, "y": 1}}),
        ),
        ("spatial_query_clearance", fits(json!({"x": 5, "y": 5, "z": 5}), json!({"x": 0, "y": 0}))),
    ] {
        assert_eq!(caller.refused(tool, arguments), "invalid_arguments", "{tool}");
    }
    let mixed = caller.refusal("spatial_query_raycast_batch", json!({"rays": [ahead, flat]}));
    assert_eq!((&mixed["data"]["index"], &mixed["data"]["field"]), (&json!(1), &json!("rays")));
}

#[test]
fn a_view_holds_what_the_games_own_camera_holds() {
    let Some((_project, _engine, mut caller, seen)) = played() else { return };
    let mut view = json!({"camera_node": "/root/Arena/Eye", "sightline": true});
    let in_view = caller.done("spatial_query_frustum", view.clone());
    let nodes = in_view["nodes"].as_array().unwrap();
    let found = |name: &str| nodes.iter().find(|one| one["path"] == format!("/root/Arena/{name}"));
    for name in ["Near", "Behind", "Away", "Mark"] {
        let holds = seen["in_view"].as_array().unwrap().contains(&json!(name));
        assert_eq!(found(name).is_some(), holds, "{name}: {in_view}");
    }
    assert_eq!(found("Near").unwrap()["sightline"]["status"], "clear");
    assert_eq!(found("Behind").unwrap()["sightline"]["status"], "blocked");
    assert_eq!(found("Near").unwrap()["containment"], "inside");
    assert_eq!(nodes[0]["path"], "/root/Arena/Near", "the nearest comes first: {in_view}");
    view["max_results"] = 1.into();
    assert_eq!(caller.done("spatial_query_frustum", view)["truncated"], true);
    let free = json!({"camera": {"position": {"x": 0, "y": 0, "z": 0}, "look_at": {"x": 0, "y": 0, "z": 1}, "fov_degrees": 60, "near": 0.1, "far": 100, "aspect": 1.5}});
    let behind = caller.done("spatial_query_frustum", free);
    let paths = behind["nodes"].to_string();
    assert!(paths.contains("/Away") && !paths.contains("/Near"), "{behind}");
    let none = json!({"camera_node": "/root/Arena/Near"});
    assert_eq!(
        caller.refused("spatial_query_frustum", none),
        "camera_path_does_not_resolve_to_camera3d"
    );
    assert_eq!(
        caller.refused("spatial_query_frustum", json!({"camera_node": "/root/None"})),
        "not_found"
    );
    assert_eq!(caller.refused("spatial_query_frustum", json!({})), "invalid_arguments");
}

#[test]
fn a_path_is_the_one_that_the_games_own_map_gives() {
    let Some((_project, _engine, mut caller, seen)) = played() else { return };
    let ask = |start: Value, end: Value| json!({"start_point": start, "end_point": end});
    let deep = |x: i32, z: i32| json!({"x": x, "y": 0, "z": z});
    let path = caller.done("nav_query_path", ask(deep(-4, 0), deep(4, 3)));
    assert_eq!((&path["reachable"], &path["truncated"]), (&json!(true), &json!(false)), "{path}");
    let points = path["points"].as_array().unwrap();
    let own = seen["path"].as_array().unwrap();
    assert_eq!(points.len(), own.len(), "{path} {seen}");
    for (point, own) in points.iter().zip(own) {
        assert!(close(&point["x"], &own[0]) && close(&point["z"], &own[2]), "{point} {own}");
    }
    let away = caller.done("nav_query_path", ask(deep(-4, 0), deep(50, 0)));
    assert_eq!(away["reachable"], false, "no way leads to the island: {away}");
    let flat = |x: i32, y: i32| json!({"x": x, "y": y});
    let flat_path = caller.done("nav_query_path", ask(flat(10, 10), flat(90, 90)));
    assert_eq!((&flat_path["reachable"], &flat_path["dimension"]), (&json!(true), &json!(2)));
    let other =
        json!({"start_point": flat(10, 10), "end_point": flat(90, 90), "navigation_layers": 2});
    assert_eq!(caller.done("nav_query_path", other)["reachable"], false, "another layer");
    assert_eq!(caller.refused("nav_query_path", ask(flat(1, 1), deep(1, 1))), "invalid_arguments");
}

#[test]
fn a_world_without_regions_has_no_map() {
    let project = Project::sample();
    let Some(_engine) = Engine::game(&project) else { return };
    let mut caller = Caller::of(&project);
    let ask = json!({"start_point": {"x": 1, "y": 1}, "end_point": {"x": 2, "y": 2}});
    let refusal = caller.refusal("nav_query_path", ask);
    assert_eq!(refusal["data"]["code"], "no_navigation_map", "{refusal}");
    assert_eq!(refusal["data"]["next_call"]["tool"], "runtime_list_sessions");
}

#[test]
fn a_point_an_animation_and_a_bus_of_a_game() {
    let Some((_project, engine, mut caller, seen)) = played() else { return };
    assert_eq!(seen["rect"], "[P: (200.0, 100.0), S: (80.0, 30.0)]");
    let hit = caller.done("ui_hit_test", json!({"point": {"x": 210, "y": 110}}));
    assert_eq!(hit["topmost"]["node_path"], "/root/Arena/Panel/Press", "{hit}");
    assert_eq!((&hit["hit_count_total"], &hit["truncated"]), (&json!(2), &json!(false)));
    let one = json!({"point": {"x": 210, "y": 110}, "max_results": 1, "space": "screen"});
    let one = caller.done("ui_hit_test", one);
    assert_eq!((&one["returned_count"], &one["truncated"]), (&json!(1), &json!(true)), "{one}");
    let miss = caller.done("ui_hit_test", json!({"point": {"x": 10, "y": 10}}));
    assert_eq!(miss["hit_count_total"], 0);
    let printed = |words: &str| {
        until_ok(PATIENCE, || {
            let log = engine.log();
            if log.contains(words) { Ok(()) } else { Err(format!("`{words}` is not in:\n{log}")) }
        });
    };
    let play = |name: &str, speed: f64, from_end: bool| json!({"animation_player_path": "/root/Arena/Player", "animation_name": name, "custom_speed": speed, "from_end": from_end});
    let mut preview = play("walk", 2.0, false);
    preview["dry_run"] = true.into();
    let preview = caller.done("anim_play_track", preview);
    assert_eq!(preview["mutation_preview"]["changes"][0]["before"]["length"], 30.0, "{preview}");
    let played = caller.done("anim_play_track", play("walk", 2.0, false));
    assert_eq!((&played["playing"], &played["rollback"]), (&json!(true), &json!("not_available")));
    printed("plays walk at 2.0");
    assert_eq!(engine.log().matches("plays walk").count(), 1, "a preview plays nothing");
    assert_eq!(caller.refused("anim_play_track", play("fly", 1.0, false)), "not_found");
    assert_eq!(caller.refused("anim_play_track", play("walk", 0.0, false)), "invalid_arguments");
    let backwards = caller.refusal("anim_play_track", play("walk", -1.0, false));
    assert_eq!(backwards["data"]["retry_with"], json!({"from_end": true}));
    let quiet = json!({"bus": "Master", "volume_db": -6, "mute": true});
    let mut preview = quiet.clone();
    preview["dry_run"] = true.into();
    let preview = caller.done("audio_configure_bus", preview);
    assert_eq!(preview["mutation_preview"]["changes"][0]["before"]["mute"], false, "{preview}");
    let set = caller.done("audio_configure_bus", quiet);
    printed("master at -6.0 muted true");
    caller.done("audio_configure_bus", set["revert_with"].clone());
    printed("master at 0.0 muted false");
    assert_eq!(caller.refused("audio_configure_bus", json!({"bus": 9, "mute": true})), "not_found");
    assert_eq!(caller.refused("audio_configure_bus", json!({"bus": 0})), "invalid_arguments");
}

#[test]
fn an_edited_scene_has_a_space_a_map_and_controls_too() {
    let project = arena();
    let Some(_engine) = Engine::editor(&project) else { return };
    let mut caller = Caller::of(&project);
    let ray = json!({"from": {"x": 0, "y": 0, "z": 0}, "to": {"x": 0, "y": 0, "z": -50}});
    // An editor opens the scene that it had open before, or the main one.
    caller.done("scene_open", json!({"scene_path": "res://arena.tscn"}));
    caller.done("scene_close", json!({"discard_unsaved": true}));
    assert_eq!(caller.refused("physics_raycast_query", ray.clone()), "no_edited_scene");
    caller.done("scene_open", json!({"scene_path": "res://arena.tscn"}));
    let hit = caller.done("physics_raycast_query", ray);
    assert_eq!(hit["collider_path"], "/root/Arena/Wall", "{hit}");
    assert!(close(&hit["position"]["z"], &json!(-9)), "{hit}");
    let hit = caller.done("ui_hit_test", json!({"point": {"x": 210, "y": 110}}));
    assert_eq!(hit["topmost"]["node_path"], "/root/Arena/Panel/Press", "{hit}");
    let screen = json!({"point": {"x": 210, "y": 110}, "space": "screen"});
    let refusal = caller.refusal("ui_hit_test", screen);
    assert_eq!(refusal["data"]["retry_with"], json!({"space": "viewport"}), "{refusal}");
    let view = caller.done("spatial_query_frustum", json!({"camera_node": "/root/Arena/Eye"}));
    assert_eq!(view["nodes"][0]["path"], "/root/Arena/Near", "{view}");
    let play = json!({"animation_player_path": "Player", "animation_name": "walk"});
    assert_eq!(caller.refused("anim_play_track", play), "session_kind_rejected");
    let path =
        json!({"start_point": {"x": -4, "y": 0, "z": 0}, "end_point": {"x": 4, "y": 0, "z": 3}});
    // The map knows of the regions a few frames after the scene was opened.
    until_ok(PATIENCE, || {
        let result = caller.result("nav_query_path", &path);
        let leads = result["structuredContent"]["reachable"] == true;
        if leads { Ok(()) } else { Err(result.to_string()) }
    });
}
