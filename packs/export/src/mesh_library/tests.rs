#![allow(clippy::disallowed_methods, reason = "lays plain files out for the test")]
use std::{collections::BTreeSet, fs, path::Path};

use didi_plugin_api::{
    prelude::*,
    testkit::{Kit, real_engine, run_for_real},
};

use crate::ExportPack;

const TOOL: &str = "gridmap_export_mesh_library";
const SCENE: &str = r#"[gd_scene format=3]

[ext_resource type="PackedScene" path="res://part.tscn" id="part"]
[sub_resource type="StandardMaterial3D" id="red"]
albedo_color = Color(1, 0, 0, 1)
[sub_resource type="BoxMesh" id="box"]
[sub_resource type="SphereMesh" id="ball"]
[sub_resource type="BoxShape3D" id="shape"]
[sub_resource type="NavigationMesh" id="nav"]

[node name="Root" type="Node3D"]
[node name="Floor" type="MeshInstance3D" parent="."]
transform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, 9, 0, 0)
mesh = SubResource("box")
surface_material_override/0 = SubResource("red")
[node name="Body" type="StaticBody3D" parent="Floor"]
transform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 2, 0)
[node name="Shape" type="CollisionShape3D" parent="Floor/Body"]
transform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 3)
shape = SubResource("shape")
[node name="Off" type="CollisionShape3D" parent="Floor/Body"]
shape = SubResource("shape")
disabled = true
[node name="Marker" type="Node3D" parent="."]
[node name="Group" type="Node3D" parent="."]
transform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, 9, 0, 0)
[node name="Inner" type="Node3D" parent="Group"]
transform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0)
[node name="First" type="MeshInstance3D" parent="Group/Inner"]
transform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1)
mesh = SubResource("ball")
[node name="Second" type="MeshInstance3D" parent="Group"]
mesh = SubResource("box")
[node name="Nav" type="NavigationRegion3D" parent="Group"]
navigation_mesh = SubResource("nav")
navigation_layers = 5
[node name="Part" parent="." instance=ExtResource("part")]
"#;
const PART: &str = r#"[gd_scene format=3]

[sub_resource type="PrismMesh" id="prism"]

[node name="Part" type="Node3D"]
[node name="Mesh" type="MeshInstance3D" parent="."]
mesh = SubResource("prism")
"#;
const EMPTY: &str = "[gd_scene format=3]\n\n[node name=\"Root\" type=\"Node3D\"]\n\
    [node name=\"Lamp\" type=\"OmniLight3D\" parent=\".\"]\n";
const DUMP: &str = r#"extends SceneTree
func at(t): return "%s" % t.origin
func _initialize():
	var lib: MeshLibrary = load("res://tiles.meshlib")
	var items = []
	for id in lib.get_item_list():
		var shapes = lib.get_item_shapes(id)
		var material = lib.get_item_mesh(id).surface_get_material(0)
		items.append([id, lib.get_item_name(id), lib.get_item_mesh(id).get_class(),
			at(lib.get_item_mesh_transform(id)), shapes.size() / 2,
			shapes[0].get_class() if shapes else "", at(shapes[1]) if shapes else "",
			lib.get_item_navigation_mesh(id) != null, lib.get_item_navigation_layers(id),
			material.albedo_color.to_html() if material else ""])
	print("LIB ", JSON.stringify({"items": items,
		"uid": ResourceUID.id_to_text(ResourceLoader.get_resource_uid("res://tiles.meshlib"))}))
	quit()
"#;

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    put("project.godot", "config_version=5\n");
    put("tiles.tscn", SCENE);
    put("part.tscn", PART);
    put("empty.tscn", EMPTY);
    put("broken.tscn", "[gd_scene format=3]\n\n[node name=\"Root\" type=\"Node3D\"\n");
    folder
}

fn args(scene: &str) -> Value {
    json!({"source_scene": scene, "output_path": "res://tiles.meshlib"})
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Runs a script of the test's own in the project and gives the line that it prints after `LIB`.
fn script(folder: &Path, text: &str) -> Value {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("look.gd");
    fs::write(&file, text).unwrap();
    let report = engine(folder, &["-s", &file.to_string_lossy()]);
    let line = report.lines.iter().find_map(|line| line.text.strip_prefix("LIB "));
    serde_json::from_str(line.unwrap_or_else(|| panic!("{report:?}"))).unwrap()
}

fn engine(folder: &Path, args: &[&str]) -> ChildReport {
    let engine = real_engine().unwrap();
    let path = folder.to_string_lossy();
    let args = [&["--headless", "--path", &*path], args].concat();
    let spec = ChildSpec {
        program: None,
        args: args.into_iter().map(Into::into).collect(),
        env: vec![],
        folder: None,
        timeout_ms: 60_000,
        max_output_bytes: 1 << 20,
    };
    run_for_real(&engine, folder, &spec).unwrap()
}

/// Ids, names, meshes, places, shapes, navigation and colours, as another engine reads them.
fn expected(shapes: [Value; 3]) -> Value {
    let [floor, group, part] = shapes;
    let item =
        |id: u8, name: &str, mesh: &str, at: &str, shape: Value, nav: (bool, u8), color: &str| {
            json!([id, name, mesh, at, shape[0], shape[1], shape[2], nav.0, nav.1, color])
        };
    json!([
        item(0, "Floor", "BoxMesh", "(0.0, 0.0, 0.0)", floor, (false, 1), "ff0000ff"),
        item(1, "Group", "SphereMesh", "(0.0, 1.0, 1.0)", group, (true, 5), ""),
        item(2, "Part", "PrismMesh", "(0.0, 0.0, 0.0)", part, (false, 1), ""),
    ])
}

#[test]
fn an_engine_makes_the_library_and_another_reads_it() {
    let folder = project();
    let Some(kit) = Kit::open::<ExportPack>(folder.path()).real_children() else { return };
    let before = names(folder.path());
    let data = kit.call(TOOL, &args("res://tiles.tscn")).unwrap();
    assert_eq!(data["success"], true);
    assert_eq!(data["item_count"], 3);
    assert_eq!(data["skipped_children"], json!(["Marker"]));
    assert_eq!(data["output_path"], "res://tiles.meshlib");
    let mut after = names(folder.path());
    assert!(after.remove("tiles.meshlib"));
    assert_eq!(after, before, "nothing else is left in the project");

    let shapes = [
        json!([1, "BoxShape3D", "(0.0, 2.0, 3.0)"]),
        json!([1, "ConcavePolygonShape3D", "(0.0, 1.0, 1.0)"]),
        json!([1, "ConcavePolygonShape3D", "(0.0, 0.0, 0.0)"]),
    ];
    assert_eq!(script(folder.path(), DUMP)["items"], expected(shapes));
}

#[test]
fn a_replaced_library_keeps_its_uid_and_may_lose_its_shapes() {
    let folder = project();
    let Some(kit) = Kit::open::<ExportPack>(folder.path()).real_children() else { return };
    kit.call(TOOL, &args("res://tiles.tscn")).unwrap();
    let mark = "extends SceneTree\nfunc _initialize():\n\t\
        ResourceSaver.set_uid(\"res://tiles.meshlib\", 4242)\n\tprint(\"LIB null\")\n\tquit()\n";
    script(folder.path(), mark);
    // As after an editor had it open.
    engine(folder.path(), &["--import"]);
    let uid = script(folder.path(), DUMP)["uid"].clone();
    assert_ne!(uid, "uid://<invalid>");

    let mut again = args("res://tiles.tscn");
    let refusal = kit.call(TOOL, &again).unwrap_err();
    assert_eq!(refusal.code, codes::ALREADY_EXISTS);
    assert_eq!(refusal.data["retry_with"], json!({"overwrite": true}));

    again["overwrite"] = json!(true);
    again["generate_collisions"] = json!(false);
    let target = kit.preview(TOOL, &again).unwrap();
    assert!(target.exists && target.before["sha256"].is_string());
    assert_eq!(target.after.unwrap()["source_scene"], "res://tiles.tscn");
    kit.call(TOOL, &again).unwrap();
    let read = script(folder.path(), DUMP);
    let none = || json!([0, "", ""]);
    assert_eq!(read["items"], expected([none(), none(), none()]));
    assert_eq!(read["uid"], uid);
}

#[test]
fn what_gives_no_library_leaves_the_old_one() {
    let folder = project();
    let Some(kit) = Kit::open::<ExportPack>(folder.path()).real_children() else { return };
    let library = folder.path().join("tiles.meshlib");
    fs::write(&library, "old").unwrap();
    let with = |scene: &str| {
        let mut args = args(scene);
        args["overwrite"] = json!(true);
        kit.call(TOOL, &args).unwrap_err()
    };
    let refusal = with("res://empty.tscn");
    assert_eq!(refusal.code, codes::UNPROCESSABLE);
    assert_eq!(refusal.data["field"], "source_scene");
    assert_eq!(refusal.data["skipped_children"], json!(["Lamp"]));

    let refusal = with("res://broken.tscn");
    assert_eq!(refusal.code, codes::INTERNAL_ERROR);
    let output = refusal.data["engine_output"].to_string();
    assert!(output.contains("broken.tscn"), "{output}");
    assert_eq!(fs::read_to_string(library).unwrap(), "old");
}

fn report(exit_code: Option<i32>, timed_out: bool) -> ChildReport {
    ChildReport {
        pid: 7,
        exit_code,
        signal: None,
        timed_out,
        tree_exited: true,
        ran_ms: 5,
        lines: vec![ChildLine { stderr: true, text: "ERROR: a script of the project".into() }],
        output_truncated: false,
    }
}

#[test]
fn an_engine_that_ends_early_or_never_writes_nothing() {
    let folder = project();
    let ask = |exit_code, timed_out| {
        let kit = Kit::open::<ExportPack>(folder.path())
            .children("4.6.3.stable", move |_| Ok(report(exit_code, timed_out)));
        let refusal = kit.call(TOOL, &args("res://tiles.tscn")).unwrap_err();
        assert!(kit.record().written.is_empty());
        refusal
    };
    // Exit code 0 alone proves nothing.
    let early = ask(Some(0), false);
    assert_eq!(early.code, codes::INTERNAL_ERROR);
    assert_eq!(early.data["engine_output"], json!(["ERROR: a script of the project"]));
    let late = ask(None, true);
    assert_eq!(late.code, codes::TIMEOUT);
    assert_eq!(late.data["retry_with"], json!({"timeout_seconds": 180}));
}

#[test]
fn a_library_that_changes_meanwhile_is_not_replaced() {
    let folder = project();
    let library = folder.path().join("tiles.meshlib");
    fs::write(&library, "old").unwrap();
    let mine = library.clone();
    let kit = Kit::open::<ExportPack>(folder.path()).children("4.6.3.stable", move |spec| {
        let scratch = Path::new(&spec.args[4]).parent().unwrap();
        fs::write(scratch.join("made.meshlib"), "new").unwrap();
        fs::write(scratch.join("result.json"), r#"{"item_count": 1, "skipped": []}"#).unwrap();
        fs::write(&mine, "a person's").unwrap();
        Ok(report(Some(0), false))
    });
    let mut args = args("res://tiles.tscn");
    args["overwrite"] = json!(true);
    assert_eq!(kit.call(TOOL, &args).unwrap_err().code, codes::CONFLICT);
    assert_eq!(fs::read_to_string(library).unwrap(), "a person's");
}

#[test]
fn arguments_are_judged_before_an_engine_is_looked_for() {
    let folder = project();
    let kit = Kit::open::<ExportPack>(folder.path());
    let ask = |scene: &str, output: &str| {
        let args = json!({"source_scene": scene, "output_path": output});
        let refusal = kit.call(TOOL, &args).unwrap_err();
        assert_eq!(kit.preview(TOOL, &args).unwrap_err(), refusal);
        (refusal.code, refusal.data["field"].clone())
    };
    let output = "res://tiles.meshlib";
    assert_eq!(ask("res://no.tscn", output), (codes::NOT_FOUND, json!("source_scene")));
    let field = (codes::INVALID_ARGUMENTS, json!("source_scene"));
    assert_eq!(ask("res://project.godot", output), field);
    let field = (codes::INVALID_ARGUMENTS, json!("output_path"));
    assert_eq!(ask("res://tiles.tscn", "res://tiles.tres"), field);
    assert_eq!(ask("res://tiles.tscn", "res://../tiles.meshlib"), field);
    let refusal = kit.call(TOOL, &args("res://tiles.tscn")).unwrap_err();
    assert_eq!(refusal.code, codes::ENGINE_UNAVAILABLE);
}
