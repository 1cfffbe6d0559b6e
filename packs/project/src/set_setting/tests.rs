//! Tests of `project_set_setting`: one line changes, and the rest stays byte for byte.
#![allow(clippy::disallowed_methods, reason = "reads and lays plain files out for the test")]

use std::fs;

use didi_plugin_api::{prelude::*, testkit::Kit};

use crate::{
    engine_tests,
    tests::{code, lay_bytes, project},
};

const FILE: &str = "; mine\nconfig_version=5\n\n[application]\n\nconfig/name=\"Ä\" ; tail\n\n[display]\n\n\
    window/size/viewport_width=1280\nwindow/size/viewport_width.web=640\n\n[mine]\n\nspeed=1.5\npos=Vector2(1, 2)\n\
    names=PackedStringArray(\"a\")\n";

fn offline(text: &str) -> (tempfile::TempDir, Kit) {
    let (dir, kit) = project(&[("project.godot", text)]);
    (dir, kit.mode(Mode::OfflineFallback))
}

fn set(kit: &Kit, setting: &str, value: &Value) -> Value {
    kit.call("project_set_setting", &json!({"setting": setting, "value": value})).unwrap()
}

fn text(dir: &tempfile::TempDir) -> String {
    fs::read_to_string(dir.path().join("project.godot")).unwrap()
}

#[test]
fn a_setting_is_replaced_added_and_read_back() {
    let (dir, kit) = offline(FILE);
    let answer = set(&kit, "display/window/size/viewport_width", &json!(1920));
    assert_eq!(answer["status"], "written");
    assert_eq!(answer["previous_value"], "1280");
    assert_eq!(answer["value_written"], "1920");
    assert_eq!(answer["section"], "display");
    assert_eq!(answer["key"], "window/size/viewport_width");
    assert_eq!(answer["replaced_existing"], true);
    assert_eq!(answer["persisted"], true);
    assert!(answer["defined_by_engine"].is_null());
    assert_eq!(text(&dir), FILE.replace("=1280", "=1920"));
    let answer = set(&kit, "rendering/quality/name", &json!("é \"x\""));
    assert_eq!(answer["section_created"], true);
    assert_eq!(answer["replaced_existing"], false);
    assert!(answer["previous_value"].is_null());
    let added = "\n[rendering]\n\nquality/name=\"é \\\"x\\\"\"\n";
    assert_eq!(text(&dir), format!("{}{added}", FILE.replace("=1280", "=1920")));
}

#[test]
fn the_same_call_again_changes_nothing_and_says_so() {
    let (dir, kit) = offline(FILE);
    let call = json!({"setting": "mine/speed", "value": 2});
    let first = kit.answer("project_set_setting", &call).unwrap();
    assert_eq!(first.facts, [Fact::WrittenTo("res://project.godot".into())]);
    let once = text(&dir);
    let second = kit.answer("project_set_setting", &call).unwrap();
    assert!(second.facts.is_empty());
    let data: Value = serde_json::from_str(second.data.get()).unwrap();
    assert_eq!(data["status"], "unchanged");
    assert_eq!(data["value_written"], "2.0");
    assert_eq!(text(&dir), once);
    assert_eq!(kit.record().written, ["res://project.godot"]);
    let remove = json!({"setting": "mine/speed", "remove": true});
    assert_eq!(kit.call("project_set_setting", &remove).unwrap()["status"], "removed");
    assert_eq!(text(&dir), FILE.replace("speed=1.5\n", ""));
    let answer = kit.call("project_set_setting", &remove).unwrap();
    assert_eq!(answer["status"], "unchanged");
    assert!(answer["value_written"].is_null());
}

#[test]
fn line_ends_mark_and_missing_end_stay() {
    let (dir, kit) = offline("");
    let source = format!("\u{feff}{}", FILE.trim_end().replace('\n', "\r\n"));
    lay_bytes(dir.path(), "project.godot", source.as_bytes());
    set(&kit, "application/config/description", &json!("two\nlines"));
    let line = "\r\nconfig/description=\"two\nlines\"";
    assert_eq!(text(&dir), source.replace(" ; tail", &format!(" ; tail{line}")));
    lay_bytes(dir.path(), "project.godot", source.as_bytes());
    set(&kit, "mine/map", &json!({"a": [1]}));
    assert_eq!(text(&dir), format!("{source}\r\nmap={{\r\n\"a\": [1]\r\n}}"));
}

#[test]
fn the_type_in_the_file_guides_and_binds() {
    let (dir, kit) = offline(FILE);
    set(&kit, "mine/pos", &json!([3, 0.5]));
    set(&kit, "mine/names", &json!(["a", "b"]));
    set(&kit, "mine/free", &json!({"type": "Color", "r": 1, "g": 0, "b": 0}));
    let after = text(&dir);
    assert!(after.contains("pos=Vector2(3, 0.5)\n"), "{after}");
    assert!(after.contains("names=PackedStringArray(\"a\", \"b\")\n"));
    assert!(after.contains("free=Color(1, 0, 0, 1)\n"));
    for (setting, value, expected, given) in [
        ("application/config/name", json!(1), "String", "int"),
        ("display/window/size/viewport_width", json!("wide"), "int", "String"),
        ("display/window/size/viewport_width", json!(1.5), "int", "float"),
        ("mine/pos", json!({"type": "Vector3", "values": [1, 2, 3]}), "Vector2", "Vector3"),
        ("mine/speed", json!(true), "float", "bool"),
    ] {
        let call = json!({"setting": setting, "value": value});
        let (name, refusal) = code(kit.call("project_set_setting", &call));
        assert_eq!(name, "setting_type_mismatch", "{setting}");
        assert_eq!(refusal.data["expected_type"], expected);
        assert_eq!(refusal.data["given_type"], given);
        assert_eq!(refusal.data["field"], "value");
    }
    assert_eq!(text(&dir), after);
    let float = json!({"type": "float", "value": 1.5});
    assert_eq!(set(&kit, "display/window/size/viewport_width", &float)["value_written"], "1.5");
    let answer = set(&kit, "mine/other", &json!("true"));
    assert_eq!(answer["value_text_reads_as"], "bool");
}

#[test]
fn without_a_value_in_the_file_the_engines_type_guides() {
    let (dir, kit) = offline(FILE);
    set(&kit, "physics/2d/default_gravity", &json!(490));
    set(&kit, "editor_plugins/enabled", &json!(["res://addons/x/plugin.cfg"]));
    set(&kit, "rendering/environment/defaults/default_clear_color.web", &json!("#ff0000"));
    set(&kit, "physics/2d/sleep_threshold_linear", &json!({"type": "int", "value": 2}));
    let after = text(&dir);
    assert!(after.contains("2d/default_gravity=490.0\n"), "{after}");
    assert!(after.contains("enabled=PackedStringArray(\"res://addons/x/plugin.cfg\")\n"));
    assert!(after.contains("default_clear_color.web=Color(1, 0, 0, 1)\n"));
    assert!(after.contains("sleep_threshold_linear=2\n"));
    let call = json!({"setting": "display/window/vsync/vsync_mode", "value": "off"});
    let (name, refusal) = code(kit.call("project_set_setting", &call));
    assert_eq!((&*name, &refusal.data["expected_type"]), ("setting_type_mismatch", &json!("int")));
}

#[test]
fn translations_and_the_main_scene_have_to_be_there() {
    let imported = "[remap]\n\nimporter=\"csv_translation\"\n\n[deps]\n\n\
        files=[\"res://t/a.de.translation\", \"res://t/a.en.translation\"]\n";
    let (dir, kit) = project(&[
        ("project.godot", FILE),
        ("t/a.csv", "keys,de,en\n"),
        ("t/a.csv.import", imported),
        ("t/b.csv", "keys,de\n"),
        ("t/a.de.translation", "x"),
        ("t/a.en.translation", "x"),
        ("t/c.po", "x"),
        ("t/d.txt", "x"),
        ("main.tscn", "[gd_scene format=3]\n"),
    ]);
    let kit = kit.mode(Mode::OfflineFallback);
    let refused = |setting: &str, value: Value| {
        let call = json!({"setting": setting, "value": value});
        assert!(kit.preview("project_set_setting", &call).is_err());
        code(kit.call("project_set_setting", &call))
    };
    let translations = "internationalization/locale/translations";
    let (name, refusal) = refused(translations, json!(["res://t/c.po", "res://t/a.csv"]));
    assert_eq!(name, "translation_source_registered");
    let files = json!(["res://t/a.de.translation", "res://t/a.en.translation"]);
    assert_eq!(refusal.data["translation_files"], files);
    let retry =
        json!({"value": ["res://t/c.po", "res://t/a.de.translation", "res://t/a.en.translation"]});
    assert_eq!(refusal.data["retry_with"], retry);
    let (name, refusal) = refused(translations, json!(["res://t/b.csv"]));
    assert_eq!(name, "translation_source_not_imported");
    assert_eq!(refusal.data["next_call"]["tool"], "asset_reimport");
    assert_eq!(refused(translations, json!(["res://t/d.txt"])).0, "not_a_translation");
    let (name, refusal) = refused(translations, json!(["res://t/c.po", "res://t/gone.po"]));
    assert_eq!((&*name, &refusal.data["index"]), ("not_found", &json!(1)));
    assert_eq!(refusal.data["resource_exists"], false);
    assert_eq!(refused("application/run/main_scene", json!("res://gone.tscn")).0, "not_found");
    assert_eq!(text(&dir), FILE);
    set(&kit, "application/run/main_scene", &json!("res://main.tscn"));
    set(&kit, "application/run/main_scene", &json!("uid://b2"));
    set(&kit, translations, &retry["value"]);
    assert!(text(&dir).contains("translations=PackedStringArray(\"res://t/c.po\", "));
}

#[test]
fn what_has_a_tool_of_its_own_is_sent_there() {
    let (_dir, kit) = offline(FILE);
    for (setting, tool) in
        [("autoload/Game", "project_set_autoload"), ("input/jump", "project_set_input_action")]
    {
        let call = json!({"setting": setting, "value": "x"});
        let (name, refusal) = code(kit.call("project_set_setting", &call));
        assert_eq!(name, "invalid_arguments");
        assert_eq!(refusal.data["next_call"]["tool"], tool);
    }
    for call in [
        json!({"setting": "a//b", "value": 1}),
        json!({"setting": "a\nb/c", "value": 1}),
        json!({"setting": "a/b"}),
        json!({"setting": "a/b", "value": null}),
        json!({"setting": "a/b", "value": 1, "remove": true}),
        json!({"setting": "a/b", "value": {"type": "Vecor2"}}),
    ] {
        assert_eq!(code(kit.call("project_set_setting", &call)).0, "invalid_arguments", "{call}");
    }
}

#[test]
fn a_file_that_is_not_safe_to_write_is_left_alone() {
    for (source, line) in
        [("[a]\nx=1 y=2\n", 2), ("[a]\nx=\"open\n", 2), ("[a]\nx=1\nrest", 3), ("[a]\nx=\n", 3)]
    {
        let (dir, kit) = offline(source);
        let call = json!({"setting": "a/z", "value": 1});
        let (name, refusal) = code(kit.call("project_set_setting", &call));
        assert_eq!(name, "conflict", "{source:?}");
        assert_eq!(refusal.data["line"], line, "{source:?} {}", refusal.message);
        assert!(kit.preview("project_set_setting", &call).is_err());
        assert_eq!(text(&dir), source);
    }
    let (dir, kit) = project(&[]);
    let kit = kit.mode(Mode::OfflineFallback);
    let call = json!({"setting": "a/z", "value": 1});
    assert_eq!(code(kit.call("project_set_setting", &call)).0, "not_found");
    assert!(!dir.path().join("project.godot").exists());
}

#[test]
fn a_preview_says_both_values_and_writes_nothing() {
    let (dir, kit) = offline(FILE);
    let call = json!({"setting": "mine/speed", "value": 3});
    let target = kit.preview("project_set_setting", &call).unwrap();
    assert_eq!(target.subject, "res://project.godot#mine/speed");
    assert_eq!((target.exists, &target.before["value_literal"]), (true, &json!("1.5")));
    assert_eq!(target.after.unwrap()["value_literal"], "3.0");
    assert_eq!(text(&dir), FILE);
    assert!(kit.record().written.is_empty());
}

#[test]
fn writers_at_once_lose_nothing() {
    let (dir, _kit) = offline(FILE);
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let path = dir.path().to_owned();
            scope.spawn(move || {
                let kit = Kit::open::<crate::ProjectPack>(path).mode(Mode::OfflineFallback);
                for number in 0..10 {
                    set(&kit, &format!("shared/w{writer}/n{number}"), &json!(number));
                }
            });
        }
    });
    let after = text(&dir);
    assert!(after.starts_with(FILE));
    let kept = after.lines().filter(|line| line.starts_with('w') && line.contains("/n"));
    assert_eq!(kept.count(), 40, "{after}");
}

/// BL-34:
/// The engine reads the asked values of the fixture project, and every other setting as before.
#[test]
fn the_engine_reads_what_was_written() {
    let Some(godot) = engine_tests::godot() else { return };
    let dir = engine_tests::fixture("sample");
    let probe = "extends SceneTree\nfunc _init():\n\tfor p in ProjectSettings.get_property_list():\n\
        \t\tvar text = var_to_str(ProjectSettings.get_setting(p.name)).replace(\"\\n\", \" \")\n\
        \t\tif \"/\" in p.name and not \"Object(\" in text:\n\t\t\tprint(\"> \", p.name, \"=\", text)\n\tquit()\n";
    fs::write(dir.path().join("probe.gd"), probe).unwrap();
    let read = || -> Vec<String> {
        let out = engine_tests::run(&godot, dir.path(), &["--script", "res://probe.gd"]);
        assert!(!out.contains("ERROR"), "{out}");
        out.lines().filter(|line| line.starts_with("> ")).map(str::to_owned).collect()
    };
    let before = read();
    let kit = Kit::open::<crate::ProjectPack>(dir.path()).mode(Mode::OfflineFallback);
    for (setting, value) in [
        ("application/config/name", json!("Lantern \"é\"")),
        ("physics/2d/default_gravity", json!(490)),
        ("game/odd name", json!({"a": [1, {"type": "Vector2", "x": 1, "y": 0.5}]})),
    ] {
        assert_eq!(set(&kit, setting, &value)["status"], "written");
    }
    let after = read();
    let changed: Vec<&str> =
        after.iter().filter(|line| !before.contains(line)).map(String::as_str).collect();
    let expected = [
        "> application/config/name=\"Lantern \\\"é\\\"\"",
        "> physics/2d/default_gravity=490.0",
        "> game/odd name={ \"a\": [1, Vector2(1, 0.5)] }",
    ];
    let sorted = |lines: &[&str]| {
        let mut lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&changed), sorted(&expected));
    let lost = before.iter().filter(|line| !after.contains(line)).count();
    assert_eq!(lost, 2, "only the two that were set before read otherwise");
}

#[test]
fn live_it_asks_the_editor() {
    let (_dir, kit) = offline(FILE);
    let kit = kit.mode(Mode::Live).bridge(|method, params| {
        assert_eq!(method, "project.setSetting");
        assert_eq!(params["setting"], "a/b");
        assert_eq!(params["remove"], false);
        Ok(json!({"persisted": true, "requires_editor_restart": true}))
    });
    let answer = kit.answer("project_set_setting", &json!({"setting": "a/b", "value": 1})).unwrap();
    assert_eq!(answer.facts, [Fact::RequiresEditorRestart(true)]);
}
