#![allow(clippy::disallowed_methods, reason = "lays plain files out for the test")]
use std::{fs, process::Command};

use didi_plugin_api::{
    prelude::*,
    testkit::{Kit, real_engine},
};

use super::{make, near, reference};
use crate::ScriptPack;

const TOOL: &str = "script_reflect_class";

fn project(files: &[(&str, &str)]) -> (tempfile::TempDir, Kit) {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let file = folder.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let kit = Kit::open::<ScriptPack>(folder.path());
    (folder, kit)
}

fn reflect(kit: &Kit, name: &str) -> Value {
    kit.call(TOOL, &json!({ "class_name": name })).unwrap()
}

#[test]
fn an_engine_class_is_listed_with_its_signatures() {
    let (_folder, kit) = project(&[]);
    let got = reflect(&kit, "Timer");
    assert_eq!((&got["class_name"], &got["inherits"]), (&json!("Timer"), &json!("Node")));
    assert_eq!(got["inheritance"], json!(["Node", "Object"]));
    assert_eq!((&got["is_known_class"], &got["is_instantiable"]), (&json!(true), &json!(true)));
    assert_eq!(
        got["methods"]["start"],
        json!({ "args": ["time_sec: float = -1"], "returns": "void" })
    );
    assert_eq!(got["properties"]["wait_time"], json!({ "type": "float" }));
    assert_eq!(got["properties"]["time_left"], json!({ "type": "float", "read_only": true }));
    assert_eq!(got["signals"]["timeout"], json!({ "args": [] }));
    assert_eq!(got["enums"]["TimerProcessCallback"]["values"]["TIMER_PROCESS_IDLE"], 1);
    assert!(got["description"].as_str().unwrap().len() > 100);
    assert!(got["reference_version"].as_str().unwrap().starts_with("4.6"));
    assert!(got["credit"].as_str().unwrap().contains("CC BY 3.0"));
    assert!(reflect(&kit, "Node").to_string().len() < 24_000);
}

#[test]
fn values_and_the_global_scope_are_classes_too() {
    let (_folder, kit) = project(&[]);
    let got = reflect(&kit, "Vector2");
    assert_eq!(got["properties"]["x"], json!({ "type": "float" }));
    assert_eq!(got["methods"]["Vector2"]["overloads"][3], json!(["x: float", "y: float"]));
    assert_eq!(got["enums"]["constants"]["values"]["ZERO"], "Vector2(0, 0)");
    let got = reflect(&kit, "@GlobalScope");
    assert_eq!(got["methods"]["sin"]["returns"], "float");
    assert_eq!(got["properties"]["Input"]["type"], "Input");
    assert!(got["enums"]["Side"].is_object());
}

#[test]
fn one_member_is_shown_with_its_documentation() {
    let (_folder, kit) = project(&[]);
    let got = reflect(&kit, "Timer.start");
    assert!(got["methods"]["start"]["doc"].as_str().unwrap().starts_with("Starts the timer"));
    assert_eq!((got.get("properties"), &got["declared_in"]), (None, &json!("Timer")));
    let got = reflect(&kit, "Timer.add_child");
    assert_eq!(got["declared_in"], "Node");
    assert!(got["methods"]["add_child"]["doc"].is_string());
    let got = reflect(&kit, "Timer.TIMER_PROCESS_IDLE");
    assert!(got["enums"]["TimerProcessCallback"]["docs"]["TIMER_PROCESS_IDLE"].is_string());
    let refusal = kit.call(TOOL, &json!({ "class_name": "Timer.strat" })).unwrap_err();
    assert_eq!(refusal.code.name, "not_found");
    assert_eq!(refusal.data["candidates"][0], "start");
}

#[test]
fn every_class_can_be_unpacked() {
    let reference = reference::get();
    assert!(reference.names().count() > 1000);
    for name in reference.names() {
        let class = reference.class(name).unwrap_or_else(|| panic!("`{name}` can't be unpacked"));
        for kind in super::MEMBERS {
            assert!(class[kind].is_object(), "{name}.{kind}");
        }
        assert!(reference.base(name).is_none_or(|base| reference.has(base)), "{name}");
    }
}

#[test]
fn a_class_of_the_project_is_read_from_its_script() {
    let (_folder, kit) = project(&[
        (
            "project.godot",
            "[application]\nconfig/features=PackedStringArray(\"4.6\", \"Forward Plus\")\n",
        ),
        (
            "a/base.gd",
            "class_name Base extends CharacterBody2D\nfunc hurt(by: int) -> bool: return true\n",
        ),
        (
            "b/foe.gd",
            "@tool\nclass_name Foe\nextends Base\n## Bites.\n##\n## Often.\n\nsignal bitten(by: Node)\n\
             enum Mood { CALM, ANGRY = 5 }\nconst MAX := 3\n@export var hp: int = 1\nstatic var all := []\n\
             func bite(whom: Node, hard := false) -> void:\n\tpass\nclass In:\n\tfunc no(): pass\n",
        ),
        ("c/by_path.gd", "class_name ByPath\nextends \"res://b/foe.gd\"\n"),
    ]);
    let got = reflect(&kit, "Foe");
    assert_eq!(
        (&got["source"], &got["script_path"]),
        (&json!("project_script"), &json!("res://b/foe.gd"))
    );
    let inheritance = got["inheritance"].as_array().unwrap();
    assert_eq!(inheritance[..3], [json!("Base"), json!("CharacterBody2D"), json!("PhysicsBody2D")]);
    assert_eq!(inheritance.last(), Some(&json!("Object")));
    assert_eq!(got["description"], "Bites.\n\nOften.");
    assert_eq!(
        got["methods"],
        json!({ "bite": { "line": 13, "args": ["whom: Node", "hard := false"], "returns": "void" } })
    );
    assert_eq!(got["properties"]["hp"], json!({ "line": 11, "type": "int", "exported": true }));
    assert_eq!(got["properties"]["all"], json!({ "line": 12, "static": true }));
    assert_eq!(got["signals"]["bitten"]["args"], json!(["by: Node"]));
    assert_eq!(got["enums"]["Mood"]["members"], json!(["CALM", "ANGRY = 5"]));
    assert_eq!(got["enums"]["constants"]["values"]["MAX"], "3");
    assert_eq!(got["project_features_version"], "4.6");
    assert_eq!(got["api_version_matches_project_features"], true);
    assert_eq!(got.get("credit"), None);
    let got = reflect(&kit, "ByPath");
    let inheritance = got["inheritance"].as_array().unwrap();
    assert_eq!(inheritance[..2], [json!("\"res://b/foe.gd\""), json!("Base")]);
    assert_eq!(reflect(&kit, "Foe.move_and_slide")["declared_in"], "CharacterBody2D");
}

#[test]
fn classes_that_extend_one_another_end() {
    let (_folder, kit) =
        project(&[("a.gd", "class_name A extends B\n"), ("b.gd", "class_name B extends A\n")]);
    assert_eq!(reflect(&kit, "A")["inheritance"], json!(["B", "A", "B"]));
}

#[test]
fn an_unknown_class_is_refused_with_names_that_are_close() {
    let (_folder, kit) = project(&[("a.gd", "class_name Fiend\n")]);
    for (name, want) in
        [("timer", "Timer"), ("Sprite2d", "Sprite2D"), ("Feind", "Fiend"), ("Nod", "Node")]
    {
        let refusal = kit.call(TOOL, &json!({ "class_name": name })).unwrap_err();
        assert_eq!(refusal.code.name, "not_found");
        assert_eq!(refusal.data["did_you_mean"], want);
        assert_eq!(refusal.data["retry_with"], json!({ "class_name": want }));
    }
    let refusal = kit.call(TOOL, &json!({ "class_name": "--headless" })).unwrap_err();
    assert_eq!(refusal.data["field"], "class_name");
    assert_eq!(near::to("zzzzzzzz", ["Node"].into_iter()), Vec::<String>::new());
}

#[test]
fn the_reference_is_what_the_engine_says() {
    let Some(engine) = real_engine() else { return };
    let folder = tempfile::tempdir().unwrap();
    let dumped = Command::new(engine)
        .args(["--headless", "--dump-extension-api-with-docs"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(dumped.status.success());
    let dump = fs::read(folder.path().join("extension_api.json")).unwrap();
    let dump: Value = serde_json::from_slice(&dump).unwrap();
    let reference = reference::get();
    if !reference.version.starts_with(&format!(
        "{}.{}.{}.",
        dump["header"]["version_major"],
        dump["header"]["version_minor"],
        dump["header"]["version_patch"]
    )) {
        eprintln!("left out: the engine is another version than the reference");
        return;
    }
    for (name, class) in make::classes(&dump).into_iter().step_by(9) {
        assert_eq!(reference.class(&name).map(Value::Object), Some(class), "{name}");
    }
}
