//! Every type of value that a property holds: written, read back, saved, and read by a separate engine.

use std::fmt::Write as _;

use didi_tests::{
    Project,
    live::{Client, Engine, ask_engine},
};
use serde_json::{Value, json};

/// A script with a property of every type, and what is written to each.
fn cases() -> Vec<(&'static str, &'static str, Value)> {
    let v3 = |x: i32, y: i32, z: i32| json!({"x": x, "y": y, "z": z});
    vec![
        ("a_bool", "bool", json!(true)),
        ("an_int", "int", json!(-9_007_199_254_740_993_i64)),
        ("a_float", "float", json!(0.1)),
        ("a_string", "String", json!("two\nlines, Ä ö \"q\" \\")),
        ("a_name", "StringName", json!("name")),
        ("a_path", "NodePath", json!("../Other:position")),
        ("a_vector2", "Vector2", json!({"x": 1.5, "y": -2.25})),
        ("a_vector2i", "Vector2i", json!({"x": 2_147_483_647, "y": -7})),
        ("a_vector3", "Vector3", json!({"x": 0.1, "y": 2.0, "z": -3.5})),
        ("a_vector3i", "Vector3i", v3(1, 2, 16_777_217)),
        ("a_vector4", "Vector4", json!({"x": 1.0, "y": 2.0, "z": 3.0, "w": 4.5})),
        ("a_vector4i", "Vector4i", json!({"x": 1, "y": 2, "z": 3, "w": 4})),
        (
            "a_rect",
            "Rect2",
            json!({"position": {"x": 1.0, "y": 2.0}, "size": {"x": 3.0, "y": 4.0}}),
        ),
        ("a_recti", "Rect2i", json!({"position": {"x": 1, "y": 2}, "size": {"x": 3, "y": 4}})),
        ("a_color", "Color", json!({"r": 0.25, "g": 0.5, "b": 0.75, "a": 1.0})),
        ("a_plane", "Plane", json!({"normal": {"x": 0.0, "y": 1.0, "z": 0.0}, "d": 2.5})),
        ("a_quaternion", "Quaternion", json!({"x": 0.0, "y": 0.0, "z": 0.0, "w": 1.0})),
        (
            "an_aabb",
            "AABB",
            json!({"position": {"x": 1.0, "y": 2.0, "z": 3.0}, "size": {"x": 4.0, "y": 5.0, "z": 6.0}}),
        ),
        (
            "a_basis",
            "Basis",
            json!({"x": {"x": 2.0, "y": 0.0, "z": 0.0}, "y": {"x": 0.0, "y": 3.0, "z": 0.0},
                "z": {"x": 0.5, "y": 0.0, "z": 4.0}}),
        ),
        (
            "a_transform2d",
            "Transform2D",
            json!({"x": {"x": 1.0, "y": 0.5}, "y": {"x": -0.5, "y": 1.0}, "origin": {"x": 7.0, "y": 8.0}}),
        ),
        (
            "a_transform3d",
            "Transform3D",
            json!({"basis": {"x": {"x": 2.0, "y": 0.0, "z": 0.0}, "y": {"x": 0.0, "y": 3.0, "z": 0.0},
                "z": {"x": 0.5, "y": 0.0, "z": 4.0}}, "origin": {"x": 1.0, "y": 2.0, "z": 3.0}}),
        ),
        (
            "a_projection",
            "Projection",
            json!({"x": {"x": 1.0, "y": 2.0, "z": 3.0, "w": 4.0}, "y": {"x": 5.0, "y": 6.0, "z": 7.0, "w": 8.0},
                "z": {"x": 9.0, "y": 10.0, "z": 11.0, "w": 12.0},
                "w": {"x": 13.0, "y": 14.0, "z": 15.0, "w": 16.0}}),
        ),
        ("bytes", "PackedByteArray", json!([0, 1, 255])),
        ("ints32", "PackedInt32Array", json!([-2_147_483_648_i64, 7])),
        ("ints64", "PackedInt64Array", json!([9_007_199_254_740_993_i64])),
        ("floats32", "PackedFloat32Array", json!([0.5, -1.25])),
        ("floats64", "PackedFloat64Array", json!([0.1])),
        ("strings", "PackedStringArray", json!(["a", "b"])),
        ("vectors2", "PackedVector2Array", json!([{"x": 1.0, "y": 2.0}])),
        ("vectors3", "PackedVector3Array", json!([{"x": 1.0, "y": 2.0, "z": 3.0}])),
        ("vectors4", "PackedVector4Array", json!([{"x": 1.0, "y": 2.0, "z": 3.0, "w": 4.0}])),
        ("colors", "PackedColorArray", json!([{"r": 0.25, "g": 0.5, "b": 1.0, "a": 0.5}])),
        ("an_array", "Array", json!([1, "two", [true, null], {"k": 2.5}])),
        ("typed_ints", "Array[int]", json!([3, 4])),
        ("typed_vectors", "Array[Vector2]", json!([{"x": 1.0, "y": 2.0}])),
        ("a_dictionary", "Dictionary", json!({"type": "Vector9", "n": 1})),
        ("typed_dictionary", "Dictionary[String, int]", json!({"a": 1})),
        ("numbered", "Dictionary[int, String]", json!({"7": "seven"})),
        ("a_texture", "Texture2D", json!("res://icon.svg")),
    ]
}

fn project() -> Project {
    let project = Project::sample();
    let mut script = String::from("@tool\nextends Node\n\n");
    for (name, kind, _) in cases() {
        writeln!(script, "@export_storage var {name}: {kind}").unwrap();
    }
    project.write_scripted("Every", "Node", script);
    project
}

fn get(client: &mut Client, name: &str) -> Value {
    let params = json!({"target_node": "/root/Every", "property_name": name});
    client.done("scene.getProperty", params)["value"].clone()
}

fn set(client: &mut Client, name: &str, value: Value) -> Value {
    let params = json!({"target_node": "/root/Every", "property_name": name, "value": value});
    client.done("scene.setProperty", params)
}

#[test]
fn every_type_is_written_read_back_undone_and_saved() {
    let project = project();
    let Some(engine) = Engine::editor(&project) else { return };
    let mut client = engine.connect();
    client.done("scene.open", json!({"scene_path": "res://every.tscn"}));
    for (name, kind, value) in cases() {
        let before = get(&mut client, name);
        let written = set(&mut client, name, value.clone());
        assert_eq!(written["applied"], true, "{name}: {written}");
        assert_eq!(written["value"], value, "{name}");
        assert_eq!(get(&mut client, name), value, "{name}");
        client.done("editor.undo", json!({}));
        assert_eq!(get(&mut client, name), before, "{name}: {kind}");
        client.done("editor.redo", json!({}));
        assert_eq!(get(&mut client, name), value, "{name}");
    }
    client.done("editor.saveScene", json!({}));
    drop(engine);
    // A separate engine loads the saved file and says what each property is, in the engine's own words.
    let names: Vec<&str> = cases().iter().map(|case| case.0).collect();
    let body = format!(
        "var node = load(\"res://every.tscn\").instantiate()\nvar told = {{}}\nfor name in {}:\n\ttold[name] = [type_string(typeof(node.get(name))), var_to_str(node.get(name))]\nnode.free()\nreturn told",
        json!(names)
    );
    let told = ask_engine(&project, &body);
    let text = |name: &str| told[name][1].as_str().unwrap().replace('\n', "");
    assert_eq!(text("a_vector3i"), "Vector3i(1, 2, 16777217)");
    assert_eq!(text("an_int"), "-9007199254740993");
    assert_eq!(text("a_name"), "&\"name\"");
    assert_eq!(text("typed_ints"), "Array[int]([3, 4])");
    assert_eq!(text("numbered"), "Dictionary[int, String]({7: \"seven\"})");
    assert_eq!(text("colors"), "PackedColorArray(0.25, 0.5, 1, 0.5)");
    assert_eq!(text("a_transform3d"), "Transform3D(2, 0, 0.5, 0, 3, 0, 0, 0, 4, 1, 2, 3)");
    for (name, kind, _) in cases() {
        let expected = match kind {
            kind if kind.starts_with("Array") => "Array",
            kind if kind.starts_with("Dictionary") => "Dictionary",
            "Texture2D" => "Object",
            kind => kind,
        };
        assert_eq!(told[name][0], expected, "{name}: {told}");
    }
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let project = project();
    let Some(engine) = Engine::editor(&project) else { return };
    let mut client = engine.connect();
    client.done("scene.open", json!({"scene_path": "res://every.tscn"}));
    let bad = [
        ("a_bool", json!(1)),
        ("an_int", json!(1.5)),
        ("an_int", json!("1")),
        ("a_float", json!("x")),
        ("a_vector2", json!({"x": 1})),
        ("a_vector2", json!({"x": 1, "y": 2, "z": 3})),
        ("a_vector2", json!({"x": 1e39, "y": 0})),
        ("a_vector2i", json!({"x": 2_147_483_648_i64, "y": 0})),
        ("a_vector2i", json!({"x": 0.5, "y": 0})),
        ("a_color", json!("#12345")),
        ("a_color", json!("red")),
        ("bytes", json!([256])),
        ("ints32", json!([2_147_483_648_i64])),
        ("typed_ints", json!(["x"])),
        ("typed_dictionary", json!({"a": "x"})),
        ("numbered", json!({"seven": "x"})),
        ("a_texture", json!("res://every.gd")),
        ("a_texture", json!("res://missing.png")),
        ("a_texture", json!("/etc/passwd")),
        ("a_string", json!(null)),
    ];
    for (name, value) in bad {
        let before = get(&mut client, name);
        let params = json!({"target_node": "/root/Every", "property_name": name, "value": value});
        let (status, code) = client.refused("scene.setProperty", params);
        assert_eq!((status, code.as_str()), (400, "invalid_arguments"), "{name}: {value}");
        assert_eq!(get(&mut client, name), before, "{name}: {value}");
    }
    assert_eq!(client.refused("editor.undo", json!({})).1, "nothing_to_undo");
}
