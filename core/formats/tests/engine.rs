//! Edited files before the real engine: it loads them and reads the asked values.
//!
//! Runs with the engine at `DIDI_TEST_GODOT`, else at a usual place; without one it says so and passes.
//!
//! Spec: P-42, Godot's text formats.
#![allow(clippy::disallowed_methods, reason = "starts the engine that the tests are about")]
#![allow(clippy::unwrap_used, reason = "a test")]

use std::{fs, io::Write, path::Path, process::Command};

use didi_formats::{
    config::ConfigFile,
    scene::{AttributeChange, NewExternal, Place, Scene},
    variant::{self, Value, json},
};
use serde_json::json;

/// Runs a script's `_init` in a folder and gives what it printed after each `> `.
fn run(folder: &Path, body: &str) -> Option<Vec<String>> {
    let named = std::env::var("DIDI_TEST_GODOT").ok();
    let engine = named.unwrap_or_else(|| "/usr/local/bin/godot".into());
    if !Path::new(&engine).exists() {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "CI has to have a Godot");
        let thread = std::thread::current();
        let test = thread.name().unwrap_or("a test");
        // The print macros are captured; a line written to the stream itself is seen.
        let _ = writeln!(
            std::io::stderr(),
            "left out: {test} needs Godot; name one in DIDI_TEST_GODOT"
        );
        return None;
    }
    let script = format!("extends SceneTree\nfunc _init():\n{body}\tquit()\n");
    fs::write(folder.join("probe.gd"), script).unwrap();
    let ran = Command::new("timeout")
        .args(["60", &engine, "--headless", "--path"])
        .arg(folder)
        .args(["--script", "res://probe.gd"])
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&ran.stdout).into_owned();
    let errors = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(!errors.contains("ERROR") && !errors.contains("WARNING"), "{errors}");
    Some(out.lines().filter_map(|line| line.strip_prefix("> ")).map(str::to_owned).collect())
}

fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        fs::write(dir.path().join(name), bytes).unwrap();
    }
    dir
}

const SETTINGS: &str = "; mine\r\nconfig_version=5\r\n\r\n[application]\r\n\r\nconfig/name=\"Ä\" ; tail\r\n\r\n\
    [input]\r\n\r\njump={\r\n\"deadzone\": 0.5,\r\n\"events\": []\r\n}\r\n";

#[test]
fn the_engine_reads_edited_settings() {
    let mut bytes = SETTINGS.as_bytes().to_vec();
    for (path, value) in [
        ("application/config/description", "\"two\nlines; [x] = é\""),
        ("display/window/size/viewport_width", "777"),
        ("application/config/name", "\"Ö \\\"q\\\"\""),
        ("my/odd key", "Vector2(1, 0.5)"),
        ("my/é", "{\n\"a\": [1, &\"n\"]\n}"),
        ("top", "2.0"),
    ] {
        let edit = ConfigFile::parse(&bytes).unwrap().set_setting(path, value).unwrap();
        bytes = edit.apply(&bytes);
    }
    let edit = ConfigFile::parse(&bytes).unwrap().remove_setting("input/jump").unwrap();
    bytes = edit.apply(&bytes);
    let dir = folder(&[("project.godot", &bytes)]);
    let names = [
        "application/config/description",
        "display/window/size/viewport_width",
        "application/config/name",
        "my/odd key",
        "my/é",
        "top",
        "input/jump",
    ];
    let probe = |name: &&str| {
        format!("\tprint(\"> \", var_to_str(ProjectSettings.get_setting(\"{name}\")).c_escape())\n")
    };
    let body = names.iter().map(probe).collect::<Vec<_>>().concat();
    let Some(read) = run(dir.path(), &body) else { return };
    let expected = [
        r#"\"two\nlines; [x] = é\""#,
        "777",
        r#"\"Ö \\\"q\\\"\""#,
        "Vector2(1, 0.5)",
        r#"{\n\"a\": [1, &\"n\"]\n}"#,
        "2.0",
        "null",
    ];
    assert_eq!(read, expected);
}

#[test]
fn the_engine_reads_an_edited_scene() {
    let source = "\r\n[gd_scene format=3]\r\n\r\n[node name=\"Root\" type=\"Label\"]\r\ntext = \"one\r\n[node]\"\r\n\r\n\
        [node name=\"Kid\" type=\"Label\" parent=\".\"]\r\ntext = \"1\"\r\ntext = \"2\"";
    let mut bytes = source.as_bytes().to_vec();
    let mut edit = |make: &dyn Fn(&Scene<'_>) -> didi_formats::edit::Edit| {
        let edit = make(&Scene::parse(&bytes).unwrap());
        bytes = edit.apply(&bytes);
    };
    edit(&|scene| {
        let new = NewExternal { type_name: "Script", path: "res://é.gd", uid: None };
        scene.add_ext_resource(new).unwrap().edit
    });
    edit(&|scene| {
        let id = scene.ext_resources().next().unwrap().id.clone();
        let value = format!("ExtResource(\"{id}\")");
        scene.set_property(Place::Node(1), "script", &value).unwrap()
    });
    edit(&|scene| scene.set_property(Place::Node(1), "hp", "77").unwrap());
    edit(&|scene| scene.set_property(Place::Node(1), "text", "\"three\"").unwrap());
    edit(&|scene| scene.set_property(Place::Node(0), "metadata/odd_name", "[1, 2.5]").unwrap());
    edit(&|scene| {
        let name = variant::escaped("Имя 'x' & [y]");
        scene.change_attribute(Place::Node(1), "name", AttributeChange::Set(&name)).unwrap()
    });
    edit(&|scene| scene.set_uid("uid://c0000000000b1").unwrap());
    let script = b"extends Label\n@export var hp = 1\n";
    let files =
        [("a.tscn", &bytes[..]), ("é.gd", script), ("project.godot", b"config_version=5\n")];
    let dir = folder(&files);
    let body = "\tvar root = load(\"res://a.tscn\").instantiate()\n\tvar kid = root.get_child(0)\n\
        \tprint(\"> \", root.text.c_escape())\n\tprint(\"> \", root.get_meta(\"odd_name\"))\n\
        \tprint(\"> \", kid.name)\n\tprint(\"> \", kid.text)\n\tprint(\"> \", kid.hp)\n\troot.free()\n";
    let Some(read) = run(dir.path(), body) else { return };
    assert_eq!(read, [r"one\r\n[node]", "[1, 2.5]", "Имя 'x' & [y]", "three", "77"]);
}

/// Floats, given by their bits, are written as the engine writes them, or so that it reads just that number.
#[test]
fn the_engine_writes_floats_alike() {
    let mut floats: Vec<(String, String)> = vec![];
    let mut add = |float: f64| {
        // Where a number has 32 bit, the engine writes fewer digits than it has. Not followed here.
        #[allow(clippy::cast_possible_truncation, reason = "asks whether it is")]
        let single = f64::from(float as f32).to_bits() == float.to_bits();
        if float.is_finite() && (!single || float.fract() == 0.0) {
            let hex = float.to_le_bytes().map(|byte| format!("{byte:02x}")).concat();
            floats.push((hex, variant::float_text(float)));
        }
    };
    let mut rng: u64 = 42;
    for _ in 0..3000 {
        rng = rng.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        add(f64::from_bits(rng));
        let exponent = i32::try_from(rng % 40).unwrap() - 20;
        add(format!("{}e{exponent}", (rng >> 20) % 100_000).parse().unwrap());
    }
    let dir = folder(&[("project.godot", b"config_version=5\n")]);
    fs::write(dir.path().join("floats.json"), serde_json::to_vec(&floats).unwrap()).unwrap();
    let body = "\tfor pair in JSON.parse_string(FileAccess.get_file_as_string(\"res://floats.json\")):\n\
        \t\tvar bytes := PackedByteArray()\n\t\tbytes.resize(8)\n\
        \t\tbytes.encode_double(0, str_to_var(pair[1]))\n\
        \t\tprint(\"> \", var_to_str(pair[0].hex_decode().decode_double(0)), \" \", bytes.hex_encode())\n";
    let Some(read) = run(dir.path(), body) else { return };
    assert_eq!(read.len(), floats.len());
    let (mut exact, mut inexact) = (0, 0);
    for (line, (hex, ours)) in read.iter().zip(&floats) {
        let (theirs, back) = line.split_once(' ').unwrap();
        // The engine does not read all that it writes; there other digits are written that it reads.
        let right = back == hex;
        exact += u32::from(right);
        inexact += u32::from(!right);
        let same: (f64, f64) = (theirs.parse().unwrap(), ours.parse().unwrap());
        let longer = theirs.len() > ours.len() && same.0.to_bits() == same.1.to_bits();
        assert!(theirs == ours || right || longer, "{theirs} {ours}");
    }
    eprintln!("{exact} floats are read as they were meant, {inexact} can't be");
    assert!(exact > inexact * 20);
}

/// What is written from JSON is what the engine writes of the same value.
#[test]
fn the_engine_writes_values_alike() {
    let mut texts: Vec<String> = vec![];
    for json in [
        json!([1, -2.5, "a'b\n\"\\é\t", true, null, [], {}]),
        json!({"k": {"l": [1.0]}, "m": {"type": "Vector2", "x": 0.1, "y": -1e10}}),
        json!({"type": "Color", "value": "#4080ff"}),
        json!({"type": "Vector3i", "values": [1, 2, 3]}),
        json!({"type": "Rect2", "values": [1, 2.25, 3, 4]}),
        json!({"type": "Transform3D", "values": [1, 0, 0, 0, 1, 0, 0, 0, 1, 0.5, 1e-7, 3]}),
        json!({"type": "StringName", "value": "n'm \"é\""}),
        json!({"type": "NodePath", "value": "A/B:c'd"}),
        json!({"type": "PackedStringArray", "values": ["a'b", "two\nlines"]}),
        json!({"type": "PackedFloat32Array", "values": [0.1, 1, "inf"]}),
        json!({"type": "PackedFloat64Array", "values": [0.1, 1e20]}),
        json!({"type": "PackedColorArray", "values": [[1, 0, 0, 1]]}),
        json!({"type": "PackedByteArray", "values": [0, 255]}),
        json!({"type": "Array", "element_type": "int", "values": [1, 2]}),
    ] {
        texts.push(json::plain_text(&json, None, "\n").unwrap());
    }
    let typed = json::plain_text(&json!({"a": 1}), Some("Dictionary[String, float]"), "\n");
    texts.push(typed.unwrap());
    texts.push(variant::write(&Value::Int(i64::MIN), "\n"));
    let dir = folder(&[("project.godot", b"config_version=5\n")]);
    fs::write(dir.path().join("texts.json"), serde_json::to_vec(&texts).unwrap()).unwrap();
    let body = "\tfor text in JSON.parse_string(FileAccess.get_file_as_string(\"res://texts.json\")):\n\
        \t\tvar again = var_to_str(str_to_var(text))\n\
        \t\tif again != text:\n\t\t\tprint(\"> \", text.c_escape(), \" became \", again.c_escape())\n\
        \tprint(\"> done\")\n";
    let Some(read) = run(dir.path(), body) else { return };
    assert_eq!(read, ["done"]);
}
