#![allow(clippy::disallowed_methods, reason = "lays plain files out for the test")]

use std::fs;

use didi_plugin_api::prelude::*;

use crate::tests::{call, code, lay_bytes, project};

const TOOL: &str = "project_list_resources";

const SCENE: &str = "[gd_scene load_steps=2 format=3 uid=\"uid://c1\"]\r\n\r\n\
    [ext_resource type=\"Script\" uid=\"uid://b1\" path=\"res://src/игрок.gd\" id=\"1\"]\r\n\
    [ext_resource type=\"Script\" path=\"res://src/игрок.gd\" id=\"2\"]\r\n\
    [ext_resource type=\"Texture2D\" uid=\"uid://d4\" id=\"3\"]\r\n\r\n\
    [node name=\"Root\" type=\"Node\"]\r\n";

fn paths(answer: &Value) -> Vec<&str> {
    answer["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["path"].as_str().unwrap())
        .collect()
}

#[test]
fn a_project_is_listed_by_path_with_types_uids_and_dependencies() {
    let (_dir, kit) = project(&[
        ("project.godot", "config_version=5\n"),
        ("level.tscn", SCENE),
        (
            "data/items.tres",
            "\u{feff}[gd_resource type=\"Resource\" script_class=\"Items\" format=3]\n",
        ),
        ("src/игрок.gd", "extends Node\n"),
        ("src/игрок.gd.uid", "uid://b1\n"),
        ("icon.svg", "<svg/>"),
        ("icon.svg.import", "[remap]\n\nimporter=\"texture\"\nuid=\"uid://d4\"\n"),
        ("LICENSE", "MIT"),
    ]);
    let answer = call(&kit, TOOL, &json!({}));
    assert_eq!(
        paths(&answer),
        [
            "res://LICENSE",
            "res://data/items.tres",
            "res://icon.svg",
            "res://level.tscn",
            "res://project.godot",
            "res://src/игрок.gd"
        ]
    );
    assert_eq!(answer["total_found"], 6);
    let scene = &answer["resources"][3];
    assert_eq!(scene["type"], "PackedScene");
    assert_eq!(scene["filename"], "level.tscn");
    assert_eq!(scene["uid"], "uid://c1");
    assert_eq!(scene["dependencies"], json!(["res://src/игрок.gd", "uid://d4"]));
    assert_eq!(scene["file_size"], SCENE.len());
    assert_eq!(answer["resources"][1]["resource_type"], "Resource");
    assert_eq!(answer["resources"][2]["uid"], "uid://d4");
    assert_eq!(answer["resources"][5]["uid"], "uid://b1");
    assert_eq!(kit.answer(TOOL, &json!({})).unwrap().truncated, Some(false));

    let bare = call(&kit, TOOL, &json!({"include_uid": false}));
    assert!(bare["resources"].as_array().unwrap().iter().all(|one| one.get("uid").is_none()));
}

#[test]
fn filters_narrow_the_list() {
    let (_dir, kit) = project(&[
        ("actors/player_camera.gd", ""),
        ("actors/player.tscn", "[gd_scene format=3]\n"),
        ("theme.tres", "[gd_resource type=\"Theme\" format=3]\n"),
        ("art/sky.png", ""),
    ]);
    let by_type = call(&kit, TOOL, &json!({"type_filter": "texture"}));
    assert_eq!(paths(&by_type), ["res://art/sky.png"]);
    let by_class = call(&kit, TOOL, &json!({"type_filter": "THEME"}));
    assert_eq!(paths(&by_class), ["res://theme.tres"]);
    let fuzzy = call(&kit, TOOL, &json!({"fuzzy_query": "plcam"}));
    assert_eq!(paths(&fuzzy), ["res://actors/player_camera.gd"]);
    let words = call(&kit, TOOL, &json!({"fuzzy_query": "Player TSCN"}));
    assert_eq!(paths(&words), ["res://actors/player.tscn"]);
    let folder = call(&kit, TOOL, &json!({"search_path": "res://art/"}));
    assert_eq!(paths(&folder), ["res://art/sky.png"]);
}

#[test]
fn folders_outside_the_engines_project_are_left_out() {
    let (dir, kit) = project(&[
        ("main.gd", ""),
        (".gitignore", "kept.gd\n"),
        ("kept.gd", ""),
        (".godot/cache.gd", ""),
        (".didi/x.gd", ""),
        ("build-web/x.gd", ""),
        ("sub/bin/x.gd", ""),
        ("docs/.gdignore", ""),
        ("docs/x.gd", ""),
        ("other/project.godot", ""),
        ("other/x.gd", ""),
    ]);
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret.gd"), "").unwrap();
    std::os::unix::fs::symlink(outside.path(), dir.path().join("linked")).unwrap();
    std::os::unix::fs::symlink(dir.path().join("main.gd"), dir.path().join("alias.gd")).unwrap();
    let answer = call(&kit, TOOL, &json!({"fuzzy_query": ".gd"}));
    assert_eq!(paths(&answer), ["res://kept.gd", "res://main.gd"]);
}

#[test]
fn names_that_are_not_utf8_are_said() {
    use std::os::unix::ffi::OsStrExt;
    let (dir, kit) = project(&[("a.gd", "")]);
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.gd");
    fs::write(dir.path().join(name), "").unwrap();
    let answer = call(&kit, TOOL, &json!({}));
    assert_eq!(paths(&answer), ["res://a.gd"]);
    assert_eq!(answer["undecodable_path_count"], 1);
    assert_eq!(answer["undecodable_paths"], json!(["res://caf\u{fffd}.gd"]));
}

#[test]
fn a_broken_scene_is_listed_with_what_is_readable() {
    let (dir, kit) = project(&[(
        "broken.tscn",
        "[gd_scene format=3]\n[ext_resource path=\"res://a.gd\" id=\"1\"]\n[node name=\"x",
    )]);
    lay_bytes(dir.path(), "binary.tscn", b"\xff\xfe\x00");
    lay_bytes(
        dir.path(),
        "old.res",
        b"RSRC\0\0\0\0\0\0\0\0\x04\0\0\0\x02\0\0\0\x05\0\0\0\x06\0\0\0Theme\0rest",
    );
    let answer = call(&kit, TOOL, &json!({}));
    assert_eq!(paths(&answer), ["res://binary.tscn", "res://broken.tscn", "res://old.res"]);
    assert_eq!(answer["resources"][1]["dependencies"], json!(["res://a.gd"]));
    assert_eq!(answer["resources"][2]["resource_type"], "Theme");
}

#[test]
fn a_folder_that_is_none_is_refused() {
    let (_dir, kit) = project(&[("a.gd", ""), ("build/x.gd", "")]);
    for (path, wanted) in [
        ("res://missing", "not_found"),
        ("res://a.gd", "invalid_arguments"),
        ("res://build", "invalid_arguments"),
        ("res://..", "invalid_arguments"),
        ("user://", "invalid_arguments"),
    ] {
        let (found, refusal) = code(kit.call(TOOL, &json!({"search_path": path})));
        assert_eq!(found, wanted, "{path}");
        assert_eq!(refusal.data["field"], "search_path", "{path}");
    }
}
