//! Every live read through the server: calls a second, bytes of an answer, and what bounds the largest ones.
//!
//! `cargo build --workspace --release` and `cargo bench -p didi-tests --bench reads`; needs a Godot and Xvfb.
#![allow(clippy::disallowed_methods, reason = "a benchmark starts programs and reads the clock")]

use std::time::{Duration, Instant};

use didi_tests::{
    Caller, Project,
    live::{Display, Engine},
    server::run,
    tests_folder,
};
use serde_json::{Value, json};

/// How long a tool is asked again and again.
const SPAN: Duration = Duration::from_millis(500);
/// The fewest calls of one, however long they take.
const LEAST: usize = 5;

/// The sample project's level with one of each thing that a read is about.
const SCENE: &str = r#"[gd_scene format=3 uid="uid://dq8r3k1xw5n7a"]

[ext_resource type="PackedScene" path="res://levels/meadow.tscn" id="1"]
[ext_resource type="Texture2D" path="res://icon.svg" id="2"]

[sub_resource type="TileSetAtlasSource" id="atlas"]
texture = ExtResource("2")
0:0/0 = 0

[sub_resource type="TileSet" id="tiles"]
sources/0 = SubResource("atlas")

[sub_resource type="Animation" id="walk"]
resource_name = "walk"
length = 0.5
tracks/0/type = "value"
tracks/0/path = NodePath("Tiles:modulate")
tracks/0/interp = 1
tracks/0/keys = {
"times": PackedFloat32Array(0, 0.25),
"transitions": PackedFloat32Array(1, 1),
"update": 0,
"values": [Color(1, 1, 1, 1), Color(1, 0, 0, 1)]
}

[sub_resource type="AnimationLibrary" id="library"]
_data = {
&"walk": SubResource("walk")
}

[sub_resource type="VisualShader" id="graph"]
mode = 1

[sub_resource type="ShaderMaterial" id="material"]
shader = SubResource("graph")

[sub_resource type="BoxMesh" id="mesh"]

[sub_resource type="BoxShape3D" id="shape"]

[sub_resource type="NavigationMesh" id="ways"]
vertices = PackedVector3Array(-5, 0, -5, -5, 0, 5, 5, 0, 5, 5, 0, -5)
polygons = [PackedInt32Array(0, 1, 2, 3)]

[node name="All" type="Node" groups=["things"]]

[node name="Meadow" parent="." instance=ExtResource("1")]

[node name="Tiles" type="TileMapLayer" parent="."]
tile_map_data = PackedByteArray(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
tile_set = SubResource("tiles")

[node name="Player" type="AnimationPlayer" parent="."]
libraries = {
&"": SubResource("library")
}

[node name="Pic" type="Sprite2D" parent="."]
material = SubResource("material")
texture = ExtResource("2")

[node name="Panel" type="Panel" parent="."]
offset_right = 200.0
offset_bottom = 100.0

[node name="Press" type="Button" parent="Panel"]
text = "Press"

[node name="Eye" type="Camera3D" parent="."]
transform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 8)
current = true

[node name="Box" type="StaticBody3D" parent="."]

[node name="Mesh" type="MeshInstance3D" parent="Box"]
mesh = SubResource("mesh")

[node name="Shape" type="CollisionShape3D" parent="Box"]
shape = SubResource("shape")

[node name="Ways" type="NavigationRegion3D" parent="."]
navigation_mesh = SubResource("ways")
"#;

/// What a tool took.
struct Row {
    tool: String,
    kind: &'static str,
    calls_a_second: f64,
    bytes: usize,
}

fn main() {
    let project = Project::sample();
    project.write("all.tscn", SCENE);
    project.set_main_scene("res://all.tscn");
    let reads = live_reads();
    let display = Display::start();
    let mut rows = vec![];
    {
        let Some(_editor) = Engine::windowed_editor(&project, &display) else { return };
        let mut caller = Caller::of(&project);
        caller.done("scene_open", json!({"scene_path": "res://all.tscn"}));
        let shown = json!({"camera_identifier": "editor_3d", "select_main_screen": true});
        caller.done("viewport_capture_frame", shown);
        measure(&mut rows, &mut caller, "editor", &reads);
    }
    {
        let Some(_game) = Engine::windowed_game(&project, &display) else { return };
        let mut caller = Caller::of(&project);
        measure(&mut rows, &mut caller, "game", &reads);
    }
    tell(&mut rows, &reads);
}

/// Every tool that reads from an engine, as the manifest has it.
fn live_reads() -> Vec<Value> {
    let manifest: Value =
        serde_json::from_str(&run(&["--dump-tool-manifest"]).out).unwrap_or_default();
    let tools = manifest["tools"].as_array().cloned().unwrap_or_default();
    let reads = tools.into_iter().filter(|tool| {
        let live = tool["modes"].as_array().is_some_and(|modes| modes.contains(&json!("live")));
        live && tool["effects"]["mutates_project"] == false
    });
    reads.collect()
}

fn measure(rows: &mut Vec<Row>, caller: &mut Caller, kind: &'static str, reads: &[Value]) {
    for tool in reads {
        let serves = tool["sessions"].as_array().is_some_and(|kinds| kinds.contains(&json!(kind)));
        let name = tool["name"].as_str().unwrap_or_default();
        if !serves {
            continue;
        }
        let Some(mut arguments) = arguments(name, kind) else { continue };
        if name == "viewport_diff_capture" {
            let taken = caller.done("viewport_capture_frame", arguments.clone());
            arguments["baseline_capture_id"] = taken["capture_id"].clone();
        }
        // The first may load what later ones have.
        let first = caller.result(name, &arguments);
        assert_eq!(first["isError"], false, "{name} {arguments}: {first}");
        let (start, mut calls) = (Instant::now(), 0);
        let mut bytes = 0;
        while calls < LEAST || start.elapsed() < SPAN {
            bytes = caller.result(name, &arguments).to_string().len();
            calls += 1;
        }
        #[allow(clippy::cast_precision_loss, reason = "a small number")]
        let calls_a_second = calls as f64 / start.elapsed().as_secs_f64();
        rows.push(Row { tool: name.to_owned(), kind, calls_a_second, bytes });
    }
}

/// What a tool is asked; none for one that only reads what another left.
fn arguments(name: &str, kind: &str) -> Option<Value> {
    let point = |x: i32, y: i32, z: i32| json!({"x": x, "y": y, "z": z});
    let ray = json!({"from": point(0, 0, 8), "to": point(0, 0, -8)});
    Some(match name {
        "runtime_get_call_stack" => return None,
        "anim_list_tracks" => json!({"animation_player_path": "/root/All/Player"}),
        "editor_render_ghost_preview" => {
            json!({"previews": [{"position": {"x": 1, "y": 1}, "size": {"x": 9, "y": 9}}]})
        }
        "eval_gdscript" => json!({"expression": "1 + 1"}),
        "nav_query_path" => json!({"start_point": point(-4, 0, -4), "end_point": point(4, 0, 4)}),
        "physics_raycast_query" => ray,
        "spatial_query_raycast_batch" => json!({"rays": vec![ray; 256]}),
        "spatial_query_clearance" => {
            json!({"shape": {"kind": "sphere", "radius": 0.5}, "from": point(0, 0, 8), "to": point(0, 0, -8)})
        }
        "spatial_query_frustum" => json!({"camera_node": "/root/All/Eye", "sightline": true}),
        "project_get_setting" => json!({"setting": "application/config/name"}),
        "runtime_read_profiler" => json!({"duration_ms": 100, "sample_count": 2}),
        "scene_get_group_members" => json!({"group": "things"}),
        "scene_get_property" => json!({"target_node": "/root/All/Eye", "property_name": "fov"}),
        "scene_list_groups" => json!({"target_node": "/root/All"}),
        "signal_list_connections" => json!({"emitter_node": "/root/All/Panel/Press"}),
        "shader_get_visual_graph" | "shader_list_uniforms" => {
            json!({"target_node": "/root/All/Pic", "property_name": "material"})
        }
        "tilemap_get_used_rect" => json!({"tilemap_path": "/root/All/Tiles"}),
        "ui_hit_test" => json!({"point": {"x": 20, "y": 20}}),
        "viewport_capture_passes" => {
            json!({"passes": ["color", "depth", "normal", "segmentation"]})
        }
        "viewport_capture_frame" | "viewport_diff_capture" if kind == "editor" => {
            json!({"camera_identifier": "editor_3d"})
        }
        _ => json!({}),
    })
}

fn tell(rows: &mut [Row], reads: &[Value]) {
    print("| read | session | calls a second | bytes |\n| --- | --- | --- | --- |");
    for Row { tool, kind, calls_a_second, bytes } in rows.iter() {
        print(&format!("| `{tool}` | {kind} | {calls_a_second:.0} | {bytes} |"));
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.bytes));
    print("\n| the largest | session | bytes | bounded by |\n| --- | --- | --- | --- |");
    let ledger = std::fs::read(tests_folder().join("contracts/bounded_reads.json"));
    let ledger: Value = serde_json::from_slice(&ledger.unwrap_or_default()).unwrap_or_default();
    for Row { tool, kind, bytes, .. } in rows.iter().take(10) {
        let desc = reads.iter().find(|one| one["name"] == tool.as_str());
        let bound = desc.and_then(|one| one["bound"].as_str());
        let bound = bound.or_else(|| ledger[tool]["why"].as_str()).unwrap_or_default();
        print(&format!("| `{tool}` | {kind} | {bytes} | {bound} |"));
    }
}

#[allow(clippy::print_stdout, reason = "what a benchmark is for")]
fn print(line: &str) {
    println!("{line}");
}
