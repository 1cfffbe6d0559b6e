use didi_plugin_api::{prelude::*, testkit::Kit};

use crate::{
    ProjectPack,
    tests::{call, code, project},
};

const TOOL: &str = "project_list_autoloads";

#[test]
fn autoloads_are_sorted_and_the_star_means_singleton() {
    let (_dir, kit) = project(&[(
        "project.godot",
        "[autoload]\n\nZeta=\"*res://z.gd\"\nAlpha=\"res://a.tscn\"\nImya=\"*uid://b1\"\nOdd=5\nAlpha=\"res://b.tscn\"\n",
    )]);
    let kit = kit.mode(Mode::OfflineFallback);
    let answer = call(&kit, TOOL, &json!({}));
    assert_eq!(
        answer["autoloads"],
        json!([
            {"name": "Alpha", "path": "res://b.tscn", "singleton": false},
            {"name": "Imya", "path": "uid://b1", "singleton": true},
            {"name": "Zeta", "path": "res://z.gd", "singleton": true}
        ])
    );
    assert_eq!(answer["not_understood"], json!(["Odd"]));
    assert_eq!(answer["read_from"], "res://project.godot");
}

#[test]
fn a_project_without_autoloads_lists_none() {
    let (_dir, kit) = project(&[("project.godot", "config_version=5\n")]);
    let kit = kit.mode(Mode::OfflineFallback);
    assert_eq!(call(&kit, TOOL, &json!({}))["autoloads"], json!([]));
}

#[test]
fn a_settings_file_that_can_not_be_used_is_refused() {
    let (_dir, kit) = project(&[]);
    assert_eq!(code(kit.mode(Mode::OfflineFallback).call(TOOL, &json!({}))).0, "not_found");
    let (_dir, kit) = project(&[("project.godot", "[autoload]\nA=\"")]);
    assert_eq!(code(kit.mode(Mode::OfflineFallback).call(TOOL, &json!({}))).0, "unprocessable");
}

#[test]
fn an_editor_is_asked_when_one_is_attached() {
    let dir = tempfile::tempdir().unwrap();
    let kit = Kit::open::<ProjectPack>(dir.path()).mode(Mode::Live);
    assert_eq!(code(kit.call(TOOL, &json!({}))).0, "not_connected");
    let kit = kit.bridge(|_, _| Ok(json!({"status": "success", "autoloads": []})));
    assert_eq!(call(&kit, TOOL, &json!({}))["status"], "success");
}
