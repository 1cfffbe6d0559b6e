#![allow(clippy::disallowed_methods, reason = "lays plain files out for the test")]
use std::fs;

use didi_plugin_api::{prelude::*, testkit::Kit};

use crate::ExportPack;

const TOOL: &str = "project_list_export_presets";

fn list(text: &[u8]) -> Result<Value, Refusal> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("export_presets.cfg"), text).unwrap();
    Kit::open::<ExportPack>(folder.path()).call(TOOL, &json!({}))
}

/// A preset as the editor writes one, less what does not matter here.
fn preset(section: &str, name: &str, platform: &str) -> String {
    format!(
        "[{section}]\n\nname=\"{name}\"\nplatform=\"{platform}\"\nrunnable=true\n\
         export_filter=\"all_resources\"\nexport_path=\"out/x.zip\"\nscript_encryption_key=\"s3cret\"\n\n\
         [{section}.options]\n\nkeystore/release_password=\"s3cret\"\n\n"
    )
}

#[test]
fn presets_are_listed_without_their_options() {
    let got = list(preset("preset.0", "My \\\"Linux\\\" é", "Linux").as_bytes()).unwrap();
    assert_eq!(
        got,
        json!({ "presets": [{ "index": 0, "name": "My \"Linux\" é", "platform": "Linux",
                "runnable": true, "export_filter": "all_resources", "export_path": "out/x.zip",
                "detected": true }],
                "preset_count": 1, "detected_count": 1, "presets_file_exists": true,
                "sensitive_options_omitted": true })
    );
}

#[test]
fn no_file_and_an_empty_one_have_no_presets() {
    let folder = tempfile::tempdir().unwrap();
    let got = Kit::open::<ExportPack>(folder.path()).call(TOOL, &json!({})).unwrap();
    assert_eq!((&got["presets"], &got["presets_file_exists"]), (&json!([]), &json!(false)));
    assert_eq!(list(b"\n; none yet\n").unwrap()["presets_file_exists"], true);
}

#[test]
fn what_the_engine_passes_over_is_said() {
    let text = [
        preset("preset.0", "a", "Linux/X11"),
        preset("preset.1", "b", "HTML5"),
        preset("preset.2", "c", "UWP"),
        preset("preset.3", "d", "linux"),
        preset("preset.4", "e", "visionOS"),
        preset("preset.05", "f", "Linux"),
        preset("Preset.5", "g", "Linux"),
        preset("preset.7", "h", "Linux"),
    ];
    let got = list(text.concat().as_bytes()).unwrap();
    let why: Vec<(&str, &str)> = got["presets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|preset| {
            let reason = preset["not_detected"]["reason"].as_str().unwrap_or("");
            (preset["name"].as_str().unwrap(), reason)
        })
        .collect();
    assert_eq!(
        why,
        [
            ("a", ""),
            ("b", "misspelled_platform"),
            ("c", "platform_not_shipped"),
            ("d", "misspelled_platform"),
            ("e", ""),
            ("h", "numbering_gap"),
            ("g", "section_not_read"),
            ("f", "section_not_read"),
        ]
    );
    let not_detected = |at: usize| &got["presets"][at]["not_detected"];
    assert_eq!(not_detected(1)["did_you_mean"], "Web");
    assert_eq!(not_detected(3)["did_you_mean"], "Linux");
    assert_eq!(not_detected(5)["missing_index"], 5);
    assert_eq!(not_detected(7)["section"], "preset.05");
    assert_eq!(got["detected_count"], 2);
}

#[test]
fn two_sections_of_one_number_are_one_preset() {
    let text = format!("{}[preset.0]\nname=\"late\"\n", preset("preset.0", "a", "Web"));
    let got = list(text.as_bytes()).unwrap();
    assert_eq!((&got["preset_count"], &got["presets"][0]["name"]), (&json!(1), &json!("late")));
}

#[track_caller]
fn check_refused(text: &str, reason: &str, line: u32) {
    let refusal = list(text.as_bytes()).unwrap_err();
    assert_eq!(refusal.code, codes::UNPROCESSABLE, "{}", refusal.message);
    assert_eq!(refusal.data["reason"], reason, "{}", refusal.message);
    assert_eq!(refusal.data["line"], line, "{}", refusal.message);
    assert!(refusal.data["declared_preset_sections"].is_array());
    assert!(refusal.has_remedy());
    assert!(!refusal.message.contains("s3cret"));
}

#[test]
fn a_file_that_hides_its_presets_is_refused() {
    let good = preset("preset.0", "a", "Linux");
    check_refused(&format!("\u{FEFF}{good}"), "byte_order_mark", 1);
    check_refused(&format!("top=1\n{good}"), "key_before_section", 1);
    check_refused("hello", "no_section_header", 1);
    check_refused(&format!("{good}x=@@\n\n[preset.1]\n"), "unloadable_value", 14);
    check_refused("[preset.0]\nname=\"a\nplatform=\"Linux\"\n", "truncated_value", 3);
    check_refused(&format!("{good}[preset.1]\nname=\"b\"\n"), "incomplete_preset", 14);
    check_refused("[preset.0]\nname=5\nplatform=\"Linux\"\n", "incomplete_preset", 1);
    let twice = format!("{good}{}", preset("preset.1", "a", "Web"));
    check_refused(&twice, "duplicate_preset_name", 14);
}

#[test]
fn a_large_file_is_refused() {
    let refusal = list(" ".repeat((1 << 20) + 1).as_bytes()).unwrap_err();
    assert_eq!(refusal.code, codes::FILE_TOO_LARGE);
}
