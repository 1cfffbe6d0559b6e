//! Tests of `project_set_setting`: one line changes, and the rest stays byte for byte.
#![allow(clippy::disallowed_methods, reason = "reads and lays plain files out for the test")]

use std::fs;

use didi_plugin_api::{prelude::*, testkit::Kit};

use crate::tests::{code, lay_bytes, project};

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
