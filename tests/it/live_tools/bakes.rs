//! Navigation meshes baked in a real editor: a way that was not there before is there after, for the editor and for an
//! engine that loads the saved scene.

use std::thread;

use didi_tests::{
    Caller, Project,
    caller::refusal_of,
    live::{Engine, ask_engine},
    server::PATIENCE,
    until, until_ok,
};
use didi_wire::UNDO_GROUP_PARAM;
use serde_json::{Value, json};

/// A floor of 20 by 20, a field of 400 by 400, and regions that can't be baked.
const YARD: &str = r#"[gd_scene load_steps=7 format=3 uid="uid://c8xk2v0yard01"]

[sub_resource type="NavigationMesh" id="n"]
geometry_parsed_geometry_type = 1

[sub_resource type="NavigationMesh" id="e"]
geometry_parsed_geometry_type = 1

[sub_resource type="BoxShape3D" id="f"]
size = Vector3(20, 1, 20)

[sub_resource type="NavigationPolygon" id="p"]
outlines = Array[PackedVector2Array]([PackedVector2Array(0, 0, 400, 0, 400, 400, 0, 400)])
agent_radius = 5.0

[node name="Yard" type="Node3D"]

[node name="Region" type="NavigationRegion3D" parent="."]
navigation_mesh = SubResource("n")

[node name="Floor" type="StaticBody3D" parent="Region"]

[node name="Shape" type="CollisionShape3D" parent="Region/Floor"]
shape = SubResource("f")

[node name="Empty" type="NavigationRegion3D" parent="."]
navigation_mesh = SubResource("e")

[node name="Bare" type="NavigationRegion3D" parent="."]

[node name="Flat" type="NavigationRegion2D" parent="."]
navigation_polygon = SubResource("p")
"#;

/// Whether a path leads over the floor, and what was said; a map that knows of no region yet has none.
fn way(caller: &mut Caller) -> (bool, Value) {
    let ask =
        json!({"start_point": {"x": -8, "y": 1, "z": -8}, "end_point": {"x": 8, "y": 1, "z": 8}});
    let result = caller.result("nav_query_path", &ask);
    if result["isError"] == true {
        let refusal = refusal_of(&result);
        assert_eq!(refusal["data"]["code"], "no_navigation_map", "{refusal}");
        return (false, refusal);
    }
    let data = result["structuredContent"].clone();
    (data["reachable"].as_bool().unwrap(), data)
}

/// Asks until the map has taken the regions in, which it does in a later frame.
fn until_way(caller: &mut Caller, wanted: bool) {
    until_ok(PATIENCE, || match way(caller) {
        (leads, _) if leads == wanted => Ok(()),
        (_, said) => Err(said.to_string()),
    });
}

#[test]
fn a_baked_region_makes_a_way_and_undo_takes_it_away() {
    let project = Project::sample();
    project.write("yard.tscn", YARD);
    let Some(_engine) = Engine::editor(&project) else { return };
    let mut caller = Caller::of(&project);
    caller.done("scene_open", json!({"scene_path": "res://yard.tscn"}));
    let before = caller.saved(&project, "yard.tscn");
    assert!(!way(&mut caller).0, "nothing was baked yet");

    let bake = json!({"nav_node_path": "Region"});
    let mut dry = bake.clone();
    dry["dry_run"] = true.into();
    let preview = caller.done("nav_bake_mesh", dry);
    assert_eq!(preview["mutation_preview"]["changes"][0]["before"]["polygons"], 0, "{preview}");
    let baked = caller.done("nav_bake_mesh", bake.clone());
    assert_eq!(baked["previous"]["polygons"], 0, "{baked}");
    assert!(baked["polygons"].as_i64().unwrap() > 0, "{baked}");
    assert_eq!(baked["region_updated"], true, "{baked}");
    until_way(&mut caller, true);
    let after = caller.saved(&project, "yard.tscn");
    let count = "var yard = load(\"res://yard.tscn\").instantiate()\n\
        var told = [yard.get_node(\"Region\").navigation_mesh.get_polygon_count(), yard.get_node(\"Region\").navigation_mesh.get_vertices().size()]\n\
        yard.free()\nreturn told";
    assert_eq!(ask_engine(&project, count), json!([baked["polygons"], baked["vertices"]]));

    caller.edits("editor_undo", json!({}));
    assert_eq!(caller.saved(&project, "yard.tscn"), before, "undo takes the mesh away");
    until_way(&mut caller, false);
    caller.edits("editor_redo", json!({}));
    assert_eq!(caller.saved(&project, "yard.tscn"), after, "redo brings it back");
    let again = caller.done("nav_bake_mesh", bake);
    assert_eq!(again["polygons"], baked["polygons"], "the same geometry, the same mesh");

    let flat = caller.done("nav_bake_mesh", json!({"nav_node_path": "Flat"}));
    assert_eq!(flat["type"], "NavigationRegion2D");
    assert!(flat["polygons"].as_i64().unwrap() > 0, "{flat}");
    // As a job it is read under its own name.
    let job = json!({"nav_node_path": "Flat", "request_id": "bake-the-yard"});
    let done = caller.finished("nav_bake_mesh", &job);
    assert!(done["polygons"].as_i64().unwrap() > 0, "{done}");
}

/// Tells the region of its mesh in every tick for as long as it is empty, so that the engine is always at work on it.
const RESTLESS: &str = "@tool\nextends NavigationRegion3D\n\n\nfunc _physics_process(_delta: float) -> void:\n\
    \tif navigation_mesh.get_polygon_count() == 0:\n\t\tnavigation_mesh.emit_changed()\n";

#[test]
fn a_region_that_the_engine_works_on_takes_the_baked_mesh_in() {
    let project = Project::sample();
    project.write("restless.gd", RESTLESS);
    let plain = "[node name=\"Region\" type=\"NavigationRegion3D\" parent=\".\"]\n";
    let script = "[ext_resource type=\"Script\" path=\"res://restless.gd\" id=\"1\"]\n";
    let yard = YARD.replace(plain, &format!("{plain}script = ExtResource(\"1\")\n")).replacen(
        "\n[sub_resource",
        &format!("\n{script}\n[sub_resource"),
        1,
    );
    project.write("yard.tscn", yard);
    let Some(_engine) = Engine::editor(&project) else { return };
    let mut caller = Caller::of(&project);
    caller.done("scene_open", json!({"scene_path": "res://yard.tscn"}));
    // Which tick a bake ends in is the engine's to say; every other one is lost in.
    for _ in 0..6 {
        caller.edits("nav_bake_mesh", json!({"nav_node_path": "Region"}));
        until_way(&mut caller, true);
        caller.edits("editor_undo", json!({}));
        until_way(&mut caller, false);
    }
}

#[test]
fn what_cannot_be_baked_is_refused_and_stays_as_it_was() {
    let project = Project::sample();
    project.write("yard.tscn", YARD);
    project.write("kept.tres", "[gd_resource type=\"NavigationMesh\" format=3 uid=\"uid://dkept0mesh001\"]\n\n[resource]\n");
    let Some(_engine) = Engine::editor(&project) else { return };
    let mut caller = Caller::of(&project);
    caller.done("scene_open", json!({"scene_path": "res://yard.tscn"}));
    let before = caller.saved(&project, "yard.tscn");
    for (node, code) in [
        ("Nobody", "not_found"),
        ("/root/Yard", "navigation_target_wrong_type"),
        ("Bare", "navigation_mesh_missing"),
        ("Empty", "navigation_bake_empty"),
    ] {
        assert_eq!(caller.refused("nav_bake_mesh", json!({"nav_node_path": node})), code, "{node}");
    }
    assert_eq!(caller.saved(&project, "yard.tscn"), before);
    let give = json!({"target_node": "Bare", "property_name": "navigation_mesh", "value": "res://kept.tres"});
    caller.edits("scene_set_property", give);
    let kept = json!({"nav_node_path": "Bare"});
    assert_eq!(caller.refused("nav_bake_mesh", kept), "subresource_not_saved");
    // A scene that inherits the yard holds its mesh, and saves none of it.
    let heir = "[gd_scene load_steps=2 format=3 uid=\"uid://c8xk2v0heir01\"]\n\n\
        [ext_resource type=\"PackedScene\" path=\"res://yard.tscn\" id=\"1\"]\n\n\
        [node name=\"Heir\" instance=ExtResource(\"1\")]\n";
    project.write("heir.tscn", heir);
    caller.done("scene_open", json!({"scene_path": "res://heir.tscn"}));
    let refusal = caller.refusal_either_way("nav_bake_mesh", json!({"nav_node_path": "Region"}));
    assert_eq!(refusal["data"]["code"], "subresource_not_saved", "{refusal}");
    assert_eq!(refusal["data"]["resource_file"], "res://yard.tscn", "{refusal}");
    assert_eq!(refusal["data"]["next_call"]["tool"], "scene_open", "{refusal}");
}

#[test]
fn a_bake_of_a_group_is_a_step_of_the_group() {
    let project = Project::sample();
    project.write("yard.tscn", YARD);
    let Some(engine) = Engine::editor(&project) else { return };
    let mut client = engine.connect();
    client.done("scene.open", json!({"scene_path": "res://yard.tscn"}));
    let baked =
        client.done("nav.bakeMesh", json!({"nav_node_path": "Region", UNDO_GROUP_PARAM: "Yard"}));
    assert_eq!(baked["undo_steps"][0]["action"], "Yard", "{baked}");
    assert_eq!(baked["undo_steps"].as_array().unwrap().len(), 1, "{baked}");
    // The group ended with the call, and a bake of no group is one of its own.
    let alone = client.done("nav.bakeMesh", json!({"nav_node_path": "Flat"}));
    assert_eq!(alone["undo_steps"][0]["action"], "Bake Flat", "{alone}");
}

#[test]
fn a_scene_that_is_closed_while_it_is_baked_keeps_its_mesh() {
    let project = Project::sample();
    // Four million cells take longer than the frames in which the scene is closed.
    let large = YARD.replace("size = Vector3(20, 1, 20)", "size = Vector3(100, 1, 100)").replace(
        "geometry_parsed_geometry_type = 1",
        "geometry_parsed_geometry_type = 1\ncell_size = 0.05",
    );
    project.write("yard.tscn", large);
    let Some(engine) = Engine::editor(&project) else { return };
    let mut client = engine.connect();
    client.done("scene.open", json!({"scene_path": "res://levels/meadow.tscn"}));
    // Which of the two comes first is not ours to say, so they are sent until the bake does.
    until("a scene that is closed behind a bake", || {
        client.done("scene.open", json!({"scene_path": "res://yard.tscn"}));
        let mut other = engine.connect();
        let baking = thread::spawn(move || {
            let ended = other.ask("nav.bakeMesh", json!({"nav_node_path": "Region"}));
            ended.map_err(|error| error.code_name().map(str::to_owned))
        });
        thread::yield_now();
        client.done("scene.close", json!({"discard_unsaved": true}));
        let ended = baking.join().unwrap();
        (ended == Err(Some("edited_scene_changed".into()))).then_some(())
    });
    // A mesh that was put in all the same would be in the file now.
    client.done("scene.open", json!({"scene_path": "res://yard.tscn"}));
    client.done("editor.saveScene", json!({}));
    let text = project.text("yard.tscn").unwrap();
    assert!(!text.contains("polygons"), "{text}");
}
