//! Tests of `project_add_export_preset`: the file grows by one preset, and the engine exports it.
#![allow(clippy::disallowed_methods, reason = "reads and lays plain files out for the test")]

use std::fs;

use didi_plugin_api::{prelude::*, testkit::Kit};

use crate::ExportPack;

const TOOL: &str = "project_add_export_preset";
const FILE: &str = "; kept\n[preset.0]\n\nname=\"Web é\"\nplatform=\"Web\"\nrunnable=true\n\
    export_path=\"\"\n\n[preset.0.options]\n\nvram_texture_compression/for_desktop=true\n";

fn project(presets: Option<&str>) -> (tempfile::TempDir, Kit) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("project.godot"), "config_version=5\n").unwrap();
    if let Some(text) = presets {
        fs::write(dir.path().join("export_presets.cfg"), text).unwrap();
    }
    let kit = Kit::open::<ExportPack>(dir.path()).mode(Mode::OfflineFallback);
    (dir, kit)
}

fn text(dir: &tempfile::TempDir) -> String {
    fs::read_to_string(dir.path().join("export_presets.cfg")).unwrap()
}

fn refused(kit: &Kit, args: &Value) -> (String, Refusal) {
    let refusal = kit.call(TOOL, args).unwrap_err();
    assert!(kit.preview(TOOL, args).is_err(), "the preview makes the same checks");
    (refusal.code.name.to_string(), refusal)
}

#[test]
fn a_first_preset_makes_the_file() {
    let (dir, kit) = project(None);
    let args = json!({"name": "Desk", "platform": "Linux", "export_path": "build/desk.x86_64"});
    let answer = kit.answer(TOOL, &args).unwrap();
    assert_eq!(answer.facts, [Fact::EditorReloaded(false)]);
    let data: Value = serde_json::from_str(answer.data.get()).unwrap();
    assert_eq!(data["file_created"], true);
    assert_eq!(data["preset"]["index"], 0);
    assert_eq!(data["preset"]["detected"], true);
    assert_eq!(data["preset"]["runnable"], true);
    assert_eq!(data["preset"]["export_path"], "build/desk.x86_64");
    assert_eq!(data["export_path_folder_exists"], false);
    assert!(data["export_path_note"].as_str().unwrap().contains("res://build"));
    assert_eq!(data["section_written"], text(&dir));
    let expected = "[preset.0]\n\nname=\"Desk\"\nplatform=\"Linux\"\nrunnable=true\n\
        export_filter=\"all_resources\"\ninclude_filter=\"\"\nexclude_filter=\"\"\n\
        export_path=\"build/desk.x86_64\"\n\n[preset.0.options]\n\ncustom_template/debug=\"\"\n\
        custom_template/release=\"\"\n";
    assert_eq!(text(&dir), expected);
}

#[test]
fn a_second_preset_leaves_the_first_alone() {
    let (dir, kit) = project(Some(FILE));
    let args = json!({"name": "Web \"2\"", "platform": "Web"});
    let target = kit.preview(TOOL, &args).unwrap();
    assert_eq!(text(&dir), FILE);
    let answer = kit.call(TOOL, &args).unwrap();
    assert_eq!(answer["preset"]["index"], 1);
    // Another preset of the platform is runnable already.
    assert_eq!(answer["preset"]["runnable"], false);
    assert_eq!(answer["preset_count"], 2);
    assert_eq!(target.after.unwrap()["section_written"], answer["section_written"]);
    let after = text(&dir);
    let added = after.strip_prefix(FILE).unwrap();
    assert_eq!(added.trim_start(), answer["section_written"]);
    assert!(added.starts_with("\n[preset.1]\n\nname=\"Web \\\"2\\\"\"\n"), "{added}");
    let (code, refusal) = refused(&kit, &args);
    assert_eq!((&*code, &refusal.data["field"]), ("already_exists", &json!("name")));
    assert_eq!(refusal.data["existing"]["index"], 1);
    assert_eq!(text(&dir), after);
}

#[test]
fn line_ends_and_a_missing_end_stay() {
    let source = FILE.trim_end().replace('\n', "\r\n");
    let (dir, kit) = project(Some(&source));
    kit.call(TOOL, &json!({"name": "Ä", "platform": "macOS"})).unwrap();
    let after = text(&dir);
    assert!(after.starts_with(&source));
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
    assert!(!after.ends_with('\n'));
}

#[test]
fn what_would_change_another_preset_is_refused() {
    let args = json!({"name": "New", "platform": "Web"});
    let gap = FILE.replace("preset.0", "preset.2");
    let (dir, kit) = project(Some(&gap));
    let (code, refusal) = refused(&kit, &args);
    assert_eq!((&*code, &refusal.data["reason"]), ("conflict", &json!("numbering_gap")));
    assert_eq!(refusal.data["missing_index"], 0);
    assert_eq!(refusal.data["stranded_presets"], json!(["Web é"]));
    assert_eq!(text(&dir), gap);
    let stray = format!("{FILE}\n[preset.1.options]\n\nx=1\n");
    let (dir, kit) = project(Some(&stray));
    let (code, refusal) = refused(&kit, &args);
    assert_eq!((&*code, &refusal.data["reason"]), ("conflict", &json!("orphan_options_section")));
    assert_eq!(refusal.data["next_call"]["tool"], "project_list_export_presets");
    assert_eq!(text(&dir), stray);
    for broken in [
        "[preset.0]\nname=\"x",
        "\u{feff}[preset.0]\n",
        "[preset.0]\nname=\"a\" platform=\"Web\"\n",
    ] {
        let (dir, kit) = project(Some(broken));
        assert_eq!(refused(&kit, &args).0, "unprocessable", "{broken:?}");
        assert_eq!(text(&dir), broken);
    }
}

#[test]
fn names_and_paths_are_judged() {
    let (dir, kit) = project(None);
    fs::create_dir(dir.path().join("build")).unwrap();
    for args in [
        json!({"name": "-x", "platform": "Web"}),
        json!({"name": "a%20b", "platform": "Web"}),
        json!({"name": "a\nb", "platform": "Web"}),
        json!({"name": " a", "platform": "Web"}),
        json!({"name": "a", "platform": "Web", "export_path": "../a.html"}),
        json!({"name": "a", "platform": "Web", "export_path": "/tmp/a.html"}),
        json!({"name": "a", "platform": "Web", "export_path": "user://a.html"}),
        json!({"name": "a", "platform": "Web", "export_path": "build"}),
        json!({"name": "a", "platform": "Web", "export_path": "new/"}),
        json!({"name": "a", "platform": "Wbe"}),
    ] {
        assert_eq!(refused(&kit, &args).0, "invalid_arguments", "{args}");
    }
    assert!(kit.record().written.is_empty());
    let args = json!({"name": "a", "platform": "Web", "export_path": "res://build/a.html"});
    let answer = kit.call(TOOL, &args).unwrap();
    assert_eq!(answer["export_path_folder_exists"], true);
    assert!(answer.get("export_path_note").is_none());
    assert_eq!(answer["preset"]["export_path"], "build/a.html");
}

#[test]
fn live_it_tells_the_editor() {
    let (_dir, kit) = project(None);
    let kit = kit.mode(Mode::Live).bridge(|method, _| {
        assert_eq!(method, "export.reloadPresets");
        Ok(json!({}))
    });
    let answer = kit.answer(TOOL, &json!({"name": "a", "platform": "Web"})).unwrap();
    assert_eq!(answer.facts, [Fact::EditorReloaded(true)]);
}

#[test]
fn the_engine_takes_the_preset() {
    let (dir, kit) = project(Some(FILE));
    kit.call(TOOL, &json!({"name": "Neu é", "platform": "Linux"})).unwrap();
    let settings = "config_version=5\n\n[application]\n\nconfig/name=\"x\"\n\
        run/main_scene=\"res://a.tscn\"\n";
    fs::write(dir.path().join("project.godot"), settings).unwrap();
    let scene = "[gd_scene format=3]\n\n[node name=\"A\" type=\"Node\"]\n";
    fs::write(dir.path().join("a.tscn"), scene).unwrap();
    let Some(kit) = Kit::open::<ExportPack>(dir.path()).real_children() else { return };
    let args = json!({"preset": "Neu é", "output_path": "res://o.pck", "mode": "pack"});
    let answer = kit.call("project_export", &args).unwrap();
    assert_eq!(answer["success"], true);
    assert_eq!(answer["platform"], "Linux");
    let messages = answer["engine_messages"].to_string();
    assert!(!messages.contains("nonexistent section"), "{messages}");
}
