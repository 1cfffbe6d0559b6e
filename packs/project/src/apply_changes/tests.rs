#![allow(clippy::disallowed_methods, reason = "looks at the files that the tool left")]

use std::fs;

use didi_plugin_api::prelude::*;

use crate::{
    tests::{code, project},
    verify_changes::tests::bench,
};

const TOOL: &str = "project_apply_changes";

#[test]
fn verified_files_are_written_and_others_are_not() {
    let Some((dir, kit)) = bench() else { return };
    let file = dir.path().join("player/player.gd");
    let old = fs::read_to_string(&file).unwrap();
    let new = old.replace("160.0", "200.0");
    let changes = |player: &str| {
        json!({"changes": [
            {"path": "res://player/player.gd", "content": player},
            {"path": "res://extra/new.gd", "content": "extends Player\n"},
        ]})
    };
    let (found, refusal) = code(kit.call(TOOL, &changes(&old.replace("speed :=", "speed = ="))));
    assert_eq!(
        (found.as_str(), &refusal.data["field"]),
        ("verification_failed", &json!("changes"))
    );
    assert_eq!(refusal.data["report"]["scripts"][0]["ok"], false);
    assert_eq!(fs::read_to_string(&file).unwrap(), old);
    assert!(!dir.path().join("extra").exists());
    let answer = kit.call(TOOL, &changes(&new)).unwrap();
    assert_eq!((&answer["applied"], &answer["all_ok"]), (&json!(true), &json!(true)));
    assert_eq!(answer["applied_files"], json!(["res://player/player.gd", "res://extra/new.gd"]));
    assert_eq!(fs::read_to_string(&file).unwrap(), new);
}

#[test]
fn the_preview_shows_each_file_and_runs_nothing() {
    let (_dir, kit) = project(&[("a.gd", "one\ntwo\nthree\n")]);
    let args = json!({"changes": [
        {"path": "res://a.gd", "content": "one\n2\nthree\n"},
        {"path": "res://b.gd", "content": "x"},
    ]});
    let target = kit.preview(TOOL, &args).unwrap();
    let files = &target.after.unwrap()["files"];
    assert_eq!(files[0]["removed_lines"], json!(["two"]));
    assert_eq!((&files[0]["added_lines"], &files[0]["from_line"]), (&json!(["2"]), &json!(2)));
    assert_eq!(files[1]["new"], true);
    assert_eq!(target.before["files"]["res://b.gd"], Value::Null);
    let (found, _) = code(kit.call(TOOL, &args));
    assert_eq!(found, "engine_unavailable");
}
