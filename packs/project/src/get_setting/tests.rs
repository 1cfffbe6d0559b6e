use didi_plugin_api::{prelude::*, testkit::Kit};

use crate::{
    ProjectPack,
    tests::{call, code, lay, lay_bytes, project},
};

const TOOL: &str = "project_get_setting";

const SETTINGS: &str = "config_version=5\r\n\r\n[application]\r\n\r\n\
    config/name=\"My \\\"Game\\\"; with [brackets]\"\r\nconfig/description=\"line one\r\n\r\n[input]\r\nnot a section\"\r\n\r\n\
    [display]\r\n\r\nwindow/size/viewport_width=1280\r\nwindow/size/viewport_width.web=640\r\n";

#[test]
fn a_setting_is_read_as_it_stands_in_the_file() {
    let (_dir, kit) = project(&[("project.godot", SETTINGS)]);
    let kit = kit.mode(Mode::OfflineFallback);
    let name = call(&kit, TOOL, &json!({"setting": "application/config/name"}));
    assert_eq!(name["value_literal"], "\"My \\\"Game\\\"; with [brackets]\"");
    assert_eq!(name["read_from"], "res://project.godot");
    let width = call(&kit, TOOL, &json!({"setting": "display/window/size/viewport_width"}));
    assert_eq!(width["value_literal"], "1280");
    let version = call(&kit, TOOL, &json!({"setting": "config_version"}));
    assert_eq!(version["value_literal"], "5");
}

#[test]
fn a_setting_that_the_file_does_not_set_is_not_found() {
    let (_dir, kit) = project(&[("project.godot", SETTINGS)]);
    let kit = kit.mode(Mode::OfflineFallback);
    let (found, refusal) = code(kit.call(TOOL, &json!({"setting": "physics/2d/gravity"})));
    assert_eq!(found, "not_found");
    assert_eq!(refusal.data["next_call"]["tool"], "runtime_list_sessions");
}

#[test]
fn a_settings_file_that_can_not_be_used_is_refused() {
    let (dir, kit) = project(&[]);
    let kit = kit.mode(Mode::OfflineFallback);
    let args = json!({"setting": "a/b"});
    assert_eq!(code(kit.call(TOOL, &args)).0, "not_found");
    lay(dir.path(), &[("project.godot", "[application]\nname=\"open\n")]);
    let (found, refusal) = code(kit.call(TOOL, &args));
    assert_eq!(found, "unprocessable");
    assert!(refusal.data["line"].is_u64());
    lay_bytes(dir.path(), "project.godot", &vec![b';'; 4 * 1024 * 1024 + 1]);
    assert_eq!(code(kit.call(TOOL, &args)).0, "file_too_large");
}

#[test]
fn an_editor_is_asked_when_one_is_attached() {
    let dir = tempfile::tempdir().unwrap();
    let kit = Kit::open::<ProjectPack>(dir.path()).mode(Mode::Live).bridge(|method, params| {
        assert_eq!(method, "project.getSetting");
        Ok(json!({"status": "success", "setting": params["setting"], "value": 5}))
    });
    let answer = call(&kit, TOOL, &json!({"setting": "a/b"}));
    assert_eq!(answer, json!({"status": "success", "setting": "a/b", "value": 5}));
}
