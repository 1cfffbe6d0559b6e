#![allow(clippy::disallowed_methods, reason = "lays plain files out for the test")]
use std::{
    fs,
    path::{Path, PathBuf},
};

use didi_plugin_api::{prelude::*, testkit::Kit};

use crate::ExportPack;

const TOOL: &str = "project_export";

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let settings = "config_version=5\n[application]\nrun/main_scene=\"res://main.tscn\"\n";
    fs::write(folder.path().join("project.godot"), settings).unwrap();
    let scene = "[gd_scene format=3]\n\n[node name=\"Main\" type=\"Node\"]\n";
    fs::write(folder.path().join("main.tscn"), scene).unwrap();
    let names = ["Linux", "My Linux é", "--headless", "a%20b", " lead", "tab\\t"];
    let mut presets = String::new();
    for (index, name) in names.iter().enumerate() {
        let one = format!(
            "[preset.{index}]\n\nname=\"{name}\"\nplatform=\"Linux\"\nrunnable=true\n\
             dedicated_server=false\ncustom_features=\"\"\nexport_filter=\"all_resources\"\n\
             include_filter=\"\"\nexclude_filter=\"\"\nexport_path=\"\"\n\n\
             [preset.{index}.options]\n\nbinary_format/embed_pck=false\n\n"
        );
        presets.push_str(&one);
    }
    presets += "[preset.99]\n\nname=\"late\"\nplatform=\"Linux\"\n";
    fs::write(folder.path().join("export_presets.cfg"), presets).unwrap();
    folder
}

fn report(code: i32, lines: &[&str]) -> ChildReport {
    ChildReport {
        pid: 7,
        exit_code: Some(code),
        signal: None,
        timed_out: false,
        tree_exited: true,
        ran_ms: 2300,
        lines: lines.iter().map(|text| ChildLine { stderr: true, text: (*text).into() }).collect(),
        output_truncated: false,
    }
}

/// A kit whose engine writes these files beside the artifact and ends like that.
fn engine(
    project: &Path,
    files: &'static [(&'static str, &'static [u8])],
    ran: ChildReport,
) -> Kit {
    Kit::open::<ExportPack>(project).children("4.6.3.stable", move |spec| {
        let output = PathBuf::from(&spec.args[5]);
        assert!(output.is_absolute());
        for (ending, bytes) in files {
            fs::write(output.with_extension(ending), bytes).unwrap();
        }
        Ok(ran.clone())
    })
}

fn args(preset: &str, output: &str, mode: &str) -> Value {
    json!({ "preset": preset, "output_path": output, "mode": mode, "overwrite": true })
}

/// What is in the project, less what every test starts with.
fn left(project: &Path) -> Vec<String> {
    let mut found = vec![];
    let mut folders = vec![project.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let inner = path.strip_prefix(project).unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                found.push(format!("{inner}/"));
                folders.push(path);
            } else {
                found.push(inner);
            }
        }
    }
    found.retain(|name| !["project.godot", "main.tscn", "export_presets.cfg"].contains(&&**name));
    found.sort();
    found
}

const PCK: &[u8] = b"GDPC....";

#[test]
fn a_pack_is_exported_and_verified() {
    let folder = project();
    let kit =
        engine(folder.path(), &[("pck", PCK)], report(0, &["[  50% ] savepack", "WARNING: odd"]));
    let got = kit.call(TOOL, &args("My Linux é", "res://build/new/game.pck", "pack")).unwrap();
    assert_eq!(got["success"], true);
    assert_eq!(got["size_bytes"], PCK.len());
    assert_eq!(got["output_path"], "res://build/new/game.pck");
    assert_eq!(got["files"], json!(["res://build/new/game.pck"]));
    assert_eq!(got["engine_messages"], json!(["WARNING: odd"]));
    assert_eq!(got["preset"], "My Linux é");
    let notes: Vec<u64> = kit.record().progress.iter().map(|(done, ..)| *done).collect();
    assert_eq!(notes, [0, 1, 2, 3]);
    assert_eq!(left(folder.path()), ["build/", "build/new/", "build/new/game.pck"]);
}

/// BL-52.
#[test]
fn the_command_line_holds_names_as_the_engine_reads_them() {
    let folder = project();
    let kit = Kit::open::<ExportPack>(folder.path()).children("4.6", |spec| {
        assert_eq!(spec.args[3..5], ["--export-debug", "%20lead"]);
        assert_eq!(spec.timeout_ms, 300_000);
        fs::write(&spec.args[5], "x").unwrap();
        Ok(report(0, &[]))
    });
    let got = kit.call(TOOL, &args(" lead", "res://game.x86_64", "debug")).unwrap();
    assert_eq!(got["files"], json!(["res://game.x86_64"]));
}

#[test]
fn a_failed_export_leaves_nothing_new() {
    let folder = project();
    fs::write(folder.path().join("game.gd"), "source").unwrap();
    let failed = report(1, &["ERROR: Project export for preset \"Linux\" failed."]);
    let kit = engine(folder.path(), &[("exe", b"half"), ("pck", b"half")], failed.clone());
    let refusal = kit.call(TOOL, &args("Linux", "res://game.exe", "debug")).unwrap_err();
    assert_eq!(refusal.code, codes::ENGINE_REFUSED);
    assert_eq!(refusal.data["reason"], "export_failed");
    assert_eq!(left(folder.path()), ["game.gd"]);
    let refusal = kit.call(TOOL, &args("Linux", "res://new/er/game.exe", "debug")).unwrap_err();
    assert_eq!(refusal.code, codes::ENGINE_REFUSED);
    assert_eq!(left(folder.path()), ["game.gd"]);
    // What was there before is there again.
    fs::write(folder.path().join("game.exe"), "good").unwrap();
    kit.call(TOOL, &args("Linux", "res://game.exe", "debug")).unwrap_err();
    assert_eq!(left(folder.path()), ["game.exe", "game.gd"]);
    assert_eq!(fs::read(folder.path().join("game.exe")).unwrap(), b"good");
}

#[test]
fn an_artifact_of_before_is_no_success() {
    let folder = project();
    fs::write(folder.path().join("game.pck"), PCK).unwrap();
    let kit = engine(folder.path(), &[], report(0, &[]));
    let refusal = kit.call(TOOL, &args("Linux", "res://game.pck", "pack")).unwrap_err();
    assert_eq!(refusal.data["reason"], "artifact_missing");
    assert_eq!(fs::read(folder.path().join("game.pck")).unwrap(), PCK);
    let kit = engine(folder.path(), &[("pck", b"")], report(0, &[]));
    let refusal = kit.call(TOOL, &args("Linux", "res://game.pck", "pack")).unwrap_err();
    assert_eq!(refusal.data["reason"], "artifact_empty");
    let kit = engine(folder.path(), &[("pck", b"junk")], report(0, &[]));
    let refusal = kit.call(TOOL, &args("Linux", "res://game.pck", "pack")).unwrap_err();
    assert_eq!(refusal.data["reason"], "artifact_malformed");
    let kit = engine(folder.path(), &[("pck", PCK)], report(0, &[]));
    kit.call(TOOL, &args("Linux", "res://game.pck", "pack")).unwrap();
    assert_eq!(left(folder.path()), ["game.pck"]);
}

/// BL-40.
#[test]
fn a_run_without_an_end_is_a_timeout() {
    let folder = project();
    let ran = ChildReport { exit_code: None, timed_out: true, ..report(0, &[]) };
    let kit = engine(folder.path(), &[("pck", b"half")], ran);
    let refusal = kit.call(TOOL, &args("Linux", "res://game.pck", "pack")).unwrap_err();
    assert_eq!(refusal.code, codes::TIMEOUT);
    assert_eq!(refusal.data["retry_with"], json!({ "timeout_seconds": 900 }));
    assert_eq!(left(folder.path()), Vec::<String>::new());
    let mut long = args("Linux", "res://game.pck", "pack");
    long["timeout_seconds"] = json!(900);
    assert!(kit.call(TOOL, &long).unwrap_err().data.contains_key("no_remedy"));
}

const NO_TEMPLATE: &[&str] = &[
    "ERROR: Cannot export project with preset \"Linux\" due to configuration errors:",
    "No export template found at the expected path:",
    "/t/linux_release.x86_64",
    "   at: _fs_changed (editor/editor_node.cpp:1332)",
    "ERROR: Project export for preset \"Linux\" failed.",
];

#[test]
fn missing_templates_lead_to_a_pack() {
    let folder = project();
    let kit = engine(folder.path(), &[], report(1, NO_TEMPLATE));
    let refusal = kit.call(TOOL, &args("Linux", "res://game.x86_64", "release")).unwrap_err();
    assert_eq!(refusal.code, codes::TOOLCHAIN_UNAVAILABLE);
    assert_eq!(refusal.data["reason"], "export_templates_missing");
    assert_eq!(refusal.data["missing_templates"], json!(["/t/linux_release.x86_64"]));
    let retry = json!({ "mode": "pack", "output_path": "res://game.pck" });
    assert_eq!(refusal.data["retry_with"], retry);
    let refusal = kit.call(TOOL, &args("Linux", "res://game.zip", "release")).unwrap_err();
    assert_eq!(refusal.data["retry_with"], json!({ "mode": "pack" }));
}

#[test]
fn other_settings_are_named() {
    let folder = project();
    let kit = engine(
        folder.path(),
        &[],
        report(
            1,
            &[
                "ERROR: Cannot export project with preset \"Linux\" due to configuration errors:",
                "A valid Java SDK path is required in Editor Settings.",
                "   at: _fs_changed (editor/editor_node.cpp:1332)",
            ],
        ),
    );
    let refusal = kit.call(TOOL, &args("Linux", "res://game.apk", "release")).unwrap_err();
    assert_eq!(refusal.code, codes::UNPROCESSABLE);
    assert_eq!(refusal.data["reason"], "export_configuration_errors");
    assert_eq!(
        refusal.data["configuration_errors"],
        json!(["A valid Java SDK path is required in Editor Settings."])
    );
    let kit = engine(
        folder.path(),
        &[],
        report(
            1,
            &[
                "ERROR: Invalid export preset name: Linux.",
                "The following presets were detected in this project's `export_presets.cfg`:",
                "        \"Other\"",
                "   at: _fs_changed (editor/editor_node.cpp:1348)",
            ],
        ),
    );
    let refusal = kit.call(TOOL, &args("Linux", "res://game.apk", "release")).unwrap_err();
    assert_eq!(refusal.data["reason"], "not_detected_by_engine");
    assert_eq!(refusal.data["detected_presets"], json!(["Other"]));
    let kit = engine(
        folder.path(),
        &[],
        report(1, &["ERROR: Export path \"x.foo\" doesn't end with a supported extension."]),
    );
    let refusal = kit.call(TOOL, &args("Linux", "res://x.foo", "release")).unwrap_err();
    assert_eq!(refusal.data["field"], "output_path");
}

#[track_caller]
fn check_refused(args: &Value, code: &str, key: &str, value: &Value) {
    let folder = project();
    fs::write(folder.path().join("there.pck"), PCK).unwrap();
    fs::create_dir(folder.path().join("folder.pck")).unwrap();
    let before = left(folder.path());
    let kit = Kit::open::<ExportPack>(folder.path()).children("4.6", |_| unreachable!());
    let refusal = kit.call(TOOL, args).unwrap_err();
    assert_eq!(refusal.code.name, code, "{args}: {}", refusal.message);
    assert_eq!(refusal.data[key], *value, "{args}: {}", refusal.message);
    assert_eq!(kit.preview(TOOL, args).unwrap_err(), refusal);
    assert_eq!(left(folder.path()), before);
}

#[test]
fn outputs_are_held_in_the_project() {
    for output in [
        "/elsewhere/x.pck",
        "res://../x.pck",
        "--help",
        "res://main.tscn",
        "res://project.godot",
        "res://folder.pck",
        "res://game.exe",
        "res://game",
        "res://a%20b.pck",
        "res://.godot/x.pck",
    ] {
        let args = args("Linux", output, "pack");
        check_refused(&args, "invalid_arguments", "field", &json!("output_path"));
    }
    let args = json!({ "preset": "Linux", "output_path": "res://there.pck", "mode": "pack" });
    check_refused(&args, "already_exists", "retry_with", &json!({ "overwrite": true }));
}

#[test]
fn presets_that_cannot_be_exported_are_refused() {
    let output = "res://x.pck";
    check_refused(&args("nope", output, "pack"), "not_found", "field", &json!("preset"));
    check_refused(&args("late", output, "pack"), "unprocessable", "missing_index", &json!(6));
    for name in ["--headless", "a%20b", "tab\t"] {
        let reason = json!("name_not_passable");
        check_refused(&args(name, output, "pack"), "unprocessable", "reason", &reason);
    }
    let folder = project();
    let kit = Kit::open::<ExportPack>(folder.path());
    let refusal = kit.call(TOOL, &args("Linux", output, "pack")).unwrap_err();
    assert_eq!(refusal.code, codes::ENGINE_UNAVAILABLE);
}

#[test]
fn a_preview_names_the_artifact_of_before() {
    let folder = project();
    fs::write(folder.path().join("there.pck"), PCK).unwrap();
    let kit = Kit::open::<ExportPack>(folder.path()).children("4.6", |_| unreachable!());
    let target = kit.preview(TOOL, &args("Linux", "res://there.pck", "pack")).unwrap();
    assert_eq!((target.exists, &target.before["size_bytes"]), (true, &json!(PCK.len())));
    let target = kit.preview(TOOL, &args("Linux", "res://new.pck", "pack")).unwrap();
    assert_eq!((target.exists, target.before), (false, json!({ "exists": false })));
}

#[test]
fn a_real_engine_exports() {
    let folder = project();
    let Some(kit) = Kit::open::<ExportPack>(folder.path()).real_children() else { return };
    for (preset, output) in [("Linux", "res://out/a.pck"), ("My Linux é", "res://out/b c.zip")] {
        let got = kit.call(TOOL, &args(preset, output, "pack")).unwrap();
        assert_eq!(got["files"], json!([output]));
        assert!(got["size_bytes"].as_u64().unwrap() > 100);
    }
    let got = kit.call(TOOL, &args(" lead", "res://out/d.pck", "pack")).unwrap();
    assert_eq!(got["success"], true);
    let refusal = kit.call(TOOL, &args("Linux", "res://rel/a.x86_64", "release"));
    if let Err(refusal) = refusal {
        assert_eq!(refusal.code, codes::TOOLCHAIN_UNAVAILABLE, "{}", refusal.message);
        assert!(!folder.path().join("rel").exists());
    }
}
