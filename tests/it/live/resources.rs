//! Properties inside resources that nodes hold.

use didi_tests::{
    Project,
    live::{Client, Engine, ask_engine},
};
use serde_json::{Value, json};

const SHARED: &str = r#"[gd_scene load_steps=3 format=3]

[sub_resource type="Gradient" id="g"]
colors = PackedColorArray(0, 0, 0, 1, 1, 1, 1, 1)

[sub_resource type="GradientTexture2D" id="t"]
gradient = SubResource("g")

[node name="Two" type="Node2D"]

[node name="A" type="Sprite2D" parent="."]
texture = SubResource("t")

[node name="B" type="Sprite2D" parent="."]
texture = SubResource("t")

[node name="Bare" type="Sprite2D" parent="."]
"#;

fn opened() -> Option<(Project, Engine, Client)> {
    let project = Project::sample();
    project.write("two.tscn", SHARED);
    let engine = Engine::editor(&project)?;
    let mut client = engine.connect();
    client.done("scene.open", json!({"scene_path": "res://two.tscn"}));
    Some((project, engine, client))
}

fn write(node: &str, path: &str, value: Value) -> Value {
    json!({"target_node": node, "property_name": path, "value": value})
}

fn get(client: &mut Client, node: &str, path: &str) -> Value {
    let params = json!({"target_node": node, "property_name": path});
    client.done("scene.getProperty", params)["value"].clone()
}

#[test]
fn a_path_writes_inside_what_is_held_and_says_who_shares_it() {
    let Some((project, _engine, mut client)) = opened() else { return };
    let set = client.done("scene.setProperty", write("A", "texture:width", json!(99)));
    assert_eq!((&set["old_value"], &set["value"]), (&json!(64), &json!(99)), "{set}");
    assert_eq!(set["shared_with"], json!(["/root/Two/B"]));
    assert_eq!(set["resource_file"], "res://two.tscn");
    assert_eq!(get(&mut client, "B", "texture:width"), 99);
    let deep = write("A", "texture:gradient:interpolation_mode", json!(1));
    assert_eq!(client.done("scene.setProperty", deep)["applied"], true);
    client.done("editor.undo", json!({}));
    client.done("editor.undo", json!({}));
    assert_eq!(get(&mut client, "A", "texture:width"), 64);
    assert_eq!(get(&mut client, "A", "texture:gradient:interpolation_mode"), 0);
    client.done("editor.redo", json!({}));
    client.done("editor.saveScene", json!({}));
    let body = "var two = load(\"res://two.tscn\").instantiate()\nvar width = two.get_node(\"B\").texture.width\ntwo.free()\nreturn width";
    assert_eq!(ask_engine(&project, body), json!(99));
}

#[test]
fn a_copy_is_made_where_it_is_asked_for() {
    let Some((project, _engine, mut client)) = opened() else { return };
    let mut unique = write("A", "texture:width", json!(99));
    unique["make_unique"] = json!(true);
    let set = client.done("scene.setProperty", unique);
    assert_eq!(set["made_unique"], json!(["texture"]), "{set}");
    assert_eq!(
        (get(&mut client, "A", "texture:width"), get(&mut client, "B", "texture:width")),
        (json!(99), json!(64))
    );
    client.done("editor.undo", json!({}));
    assert_eq!(get(&mut client, "A", "texture:width"), 64);
    client.done("editor.redo", json!({}));
    client.done("editor.saveScene", json!({}));
    let body = "var two = load(\"res://two.tscn\").instantiate()\nvar told = [two.get_node(\"A\").texture.width, two.get_node(\"B\").texture.width]\ntwo.free()\nreturn told";
    assert_eq!(ask_engine(&project, body), json!([99, 64]));
}

#[test]
fn a_path_that_leads_nowhere_says_where_it_ends() {
    let Some((_project, _engine, mut client)) = opened() else { return };
    let mut code =
        |node: &str, path: &str| client.refused("scene.setProperty", write(node, path, json!(1))).1;
    assert_eq!(code("Bare", "texture:width"), "property_slot_empty");
    assert_eq!(code("A", "texture:widht"), "property_not_found");
    assert_eq!(code("A", "position:x"), "property_path_not_resource");
    assert_eq!(code("A", "texture::width"), "property_path_invalid");
    assert_eq!(code("A", "a:b:c:d:e:f:g:h:i"), "property_path_invalid");
    assert_eq!(code("A", "widht"), "not_found");
    assert_eq!(code("A", "scene_file_path"), "property_write_excluded");
    let both = json!({"writes": [
        {"target_node": "A", "property_name": "texture", "value": null},
        {"target_node": "A", "property_name": "texture:width", "value": 7},
    ]});
    assert_eq!(client.refused("scene.setProperty", both).1, "batch_writes_overlap");
    let error = client.ask("scene.setProperty", write("A", "texture:widht", json!(1))).unwrap_err();
    assert_eq!(error.data["candidates"][0], "width", "{}", json!(error.data));
    assert_eq!(get(&mut client, "A", "texture:width"), 64);
}
