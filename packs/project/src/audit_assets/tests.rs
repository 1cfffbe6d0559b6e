#![allow(clippy::disallowed_methods, reason = "lays files out")]

use didi_plugin_api::{prelude::*, testkit::Kit};

use crate::{
    ProjectPack, engine_tests as engine,
    tests::{code, lay_bytes, project},
};

const TOOL: &str = "project_audit_assets";

fn scene(externals: &str) -> String {
    format!("[gd_scene format=3]\n{externals}\n[node name=\"A\" type=\"Node\"]\n")
}

fn audit(files: &[(&str, &str)]) -> Value {
    let (dir, kit) = project(files);
    lay_bytes(dir.path(), "used.png", b"x");
    let kit = kit.mode(Mode::OfflineFallback);
    kit.call(TOOL, &json!({})).unwrap()
}

/// BL-20.
#[test]
fn every_mix_of_uid_and_path_is_told_apart() {
    let text = scene(
        "[ext_resource type=\"Script\" uid=\"uid://ba\" id=\"1\"]\n\
         [ext_resource type=\"Script\" uid=\"uid://ba\" path=\"res://old.gd\" id=\"2\"]\n\
         [ext_resource type=\"Script\" uid=\"uid://bwrong\" path=\"res://a.gd\" id=\"3\"]\n\
         [ext_resource type=\"Script\" path=\"uid://ba\" id=\"4\"]\n\
         [ext_resource type=\"Script\" uid=\"uid://bwrong\" path=\"res://none.gd\" id=\"5\"]\n\
         [ext_resource type=\"Script\" uid=\"uid://ba\" path=\"res://b.gd\" id=\"6\"]\n\
         [ext_resource type=\"Script\" uid=\"uid://ba\" path=\"res://a.gd\" id=\"7\"]",
    );
    let answer = audit(&[
        ("s.tscn", &text),
        ("a.gd", ""),
        ("a.gd.uid", "uid://ba\n"),
        ("b.gd", ""),
        ("b.gd.uid", "uid://bb\n"),
    ]);
    let found: Vec<_> = answer["uid_mismatches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["line"].as_u64().unwrap(), one["kind"].as_str().unwrap()))
        .collect();
    let expected = [(2, "no_path"), (3, "stale_path"), (4, "unknown_uid"), (7, "other_file")];
    assert_eq!(found, expected);
    assert_eq!(answer["uid_mismatches"][1]["fix_path"], "res://a.gd");
    assert_eq!(answer["uid_mismatches"][2]["fix_uid"], "uid://ba");
    let broken: Vec<_> = answer["broken_references"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["line"].as_u64().unwrap(), one["target"].as_str().unwrap()))
        .collect();
    assert_eq!(broken, [(2, "uid://ba"), (6, "res://none.gd")]);
    assert_eq!(answer["reference_verification"]["mode"], "unavailable");
}

/// BL-19.
#[test]
fn files_with_one_uid_are_named_with_who_refers_to_them() {
    let one = "[gd_scene format=3 uid=\"uid://c0000000000b1\"]\n[node name=\"A\" type=\"Node\"]\n";
    let text = scene(
        "[ext_resource type=\"PackedScene\" uid=\"uid://c0000000000b1\" path=\"res://b.tscn\" id=\"1\"]",
    );
    let answer = audit(&[("a.tscn", one), ("b.tscn", one), ("use.tscn", &text)]);
    let pair = &answer["duplicate_uids"][0];
    assert_eq!(pair["uid"], "uid://c0000000000b1");
    assert_eq!(pair["files"], json!(["res://a.tscn", "res://b.tscn"]));
    assert_eq!(pair["referred_by"], json!(["res://use.tscn:2"]));
    assert_eq!(answer["uid_mismatches"], json!([]));
    assert_eq!(answer["reference_verification"]["mode"], "not_needed");
}

#[test]
fn orphans_are_assets_that_nothing_names() {
    let (dir, kit) = project(&[
        ("project.godot", "[application]\nconfig/icon=\"res://used.png\"\n"),
        ("lost.png.import", "[remap]\n[deps]\nsource_file=\"res://lost.png\"\n"),
        ("m/car.gltf", "{\"uri\": \"paint.png\"}"),
        ("lost.gd", ""),
    ]);
    for path in ["used.png", "lost.png", "m/paint.png", "addons/x/icon.svg"] {
        lay_bytes(dir.path(), path, b"1234");
    }
    let answer = kit.call(TOOL, &json!({})).unwrap();
    let expected = json!([{"path": "res://lost.png", "type": "Texture2D", "bytes": 4}]);
    assert_eq!(answer["orphans"], expected);
    assert_eq!(
        (&answer["orphan_bytes"], &answer["excluded_addon_orphans"]),
        (&json!(4), &json!(1))
    );
    let with = kit.call(TOOL, &json!({"include_addon_orphans": true})).unwrap();
    assert_eq!(with["orphans"].as_array().unwrap().len(), 2);
}

/// BL-08.
#[test]
fn dead_signals_and_broken_connections_are_found() {
    let text = "[gd_scene format=3]\n[ext_resource type=\"Script\" path=\"res://a.gd\" id=\"1\"]\n\
        [node name=\"A\" type=\"Node\"]\nscript = ExtResource(\"1\")\n[node name=\"B\" type=\"Timer\" parent=\".\"]\n\
        [connection signal=\"timeout\" from=\"B\" to=\".\" method=\"_on_base\"]\n\
        [connection signal=\"used_here\" from=\".\" to=\".\" method=\"_gone\"]\n\
        [connection signal=\"timeout\" from=\"C\" to=\".\" method=\"_on_base\"]\n\
        [connection signal=\"timeout\" from=\"B\" to=\"B\" method=\"_on_x\"]\n\
        [connection signal=\"timeout\" from=\"B\" to=\"B\" method=\"stop\"]\n";
    let answer = audit(&[
        ("s.tscn", text),
        (
            "a.gd",
            "extends Base\nsignal used_here\nsignal emitted\nsignal dead # dead\nfunc f(): emitted.emit()\n",
        ),
        ("base.gd", "class_name Base\nextends Node\nfunc _on_base(): pass\n"),
    ]);
    let expected = json!([{"path": "res://a.gd", "line": 4, "signal": "dead"}]);
    assert_eq!(answer["dead_signals"], expected);
    let lines: Vec<_> = answer["broken_connections"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["line"].as_u64().unwrap())
        .collect();
    assert_eq!(lines, [7, 8, 9]);
    assert_eq!(answer["broken_connections"][0]["script"], "res://a.gd");
}

#[test]
fn imports_and_settings_are_judged() {
    let answer = audit(&[
        ("project.godot", "a=1 b=2\n[x]\nc=Nonsense(1)\n"),
        (".godot/imported/x.txt", ""),
        ("a.png.import", "[remap]\n[deps]\nsource_file=\"res://a.png\"\n"),
        (
            "used.png.import",
            "[remap]\n[deps]\nsource_file=\"res://used.png\"\ndest_files=[\"res://.godot/imported/u.ctex\"]\n",
        ),
        ("c.import", "[remap]\nx=\"open\n"),
        ("d.import", "nothing=1\n"),
    ]);
    let kinds: Vec<_> = answer["import_issues"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["kind"].as_str().unwrap())
        .collect();
    let expected = [
        "missing_import_source",
        "unparseable_import_metadata",
        "invalid_import_metadata",
        "missing_import_output",
    ];
    assert_eq!(kinds, expected);
    assert_eq!(answer["scanned_import_metadata"], 4);
    let kinds: Vec<_> = answer["project_settings_issues"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["unusable_setting_name", "unloadable_setting_value"]);
}

#[test]
fn an_editor_clears_what_it_knows_and_a_bound_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let text = "[application]\nrun/main_scene=\"uid://bknown\"\nconfig/icon=\"res://none.png\"\n";
    lay_bytes(dir.path(), "project.godot", text.as_bytes());
    let kit = Kit::open::<ProjectPack>(dir.path()).mode(Mode::Live).bridge(|method, params| {
        assert_eq!(method, "project.resolveUids");
        assert_eq!(params["queries"], json!(["uid://bknown", "res://none.png"]));
        Ok(json!({"entries": [{"found": true, "path": "res://x.tscn"}, {"found": false}]}))
    });
    let answer = kit.call(TOOL, &json!({})).unwrap();
    assert_eq!(answer["engine_only_references"][0]["target"], "uid://bknown");
    assert_eq!(answer["broken_references"][0]["confirmed_by_engine"], true);
    let kit = kit.mode(Mode::OfflineFallback);
    let cut = kit.answer(TOOL, &json!({"max_findings": 1})).unwrap();
    assert_eq!(cut.truncated, Some(true));
    let none = json!({
        "include_orphans": false, "include_broken_references": false, "include_dead_signals": false,
        "include_broken_connections": false, "include_import_health": false,
    });
    assert_eq!(code(kit.call(TOOL, &none)).0, "invalid_arguments");
}

#[test]
fn the_record_of_the_engine_says_whether_an_import_is_fresh() {
    let Some(godot) = engine::godot() else { return };
    let dir = engine::fixture("sample");
    engine::run(&godot, dir.path(), &["--import"]);
    let kit = Kit::open::<ProjectPack>(dir.path()).mode(Mode::OfflineFallback);
    let kinds = || {
        let answer = kit.call(TOOL, &json!({})).unwrap();
        let issues = answer["import_issues"].as_array().unwrap().clone();
        issues.iter().map(|one| one["kind"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(kinds(), Vec::<String>::new());
    let icon = std::fs::read_to_string(dir.path().join("icon.svg")).unwrap();
    lay_bytes(dir.path(), "icon.svg", icon.as_bytes());
    assert_eq!(kinds(), Vec::<String>::new(), "newer, and the same");
    lay_bytes(dir.path(), "icon.svg", icon.replace("</svg>", "<!-- x --></svg>").as_bytes());
    assert_eq!(kinds(), ["source_changed_since_import"]);
    lay_bytes(dir.path(), "icon.svg", icon.as_bytes());
    let made = ".godot/imported/icon.svg-218a8f2b3041327d8a5756f3a245f83b.ctex";
    lay_bytes(dir.path(), made, b"x");
    assert_eq!(kinds(), ["output_changed_since_import"]);
}

#[test]
fn an_extension_needs_the_library_of_this_system_alone() {
    let own = std::env::consts::OS;
    let text = format!(
        "[configuration]\nentry_symbol = \"e\"\n\n[libraries]\nlinux.debug.x86_64 = \"linux.lib\"\n\
         windows.debug.x86_64 = \"windows.lib\"\nmacos.debug = \"macos.lib\"\n{own}.release = \"gone.lib\"\n"
    );
    let beside = format!("x/{own}.lib");
    let answer = audit(&[("x/x.gdextension", &text), (&beside, "")]);
    let broken = answer["broken_references"].as_array().unwrap();
    assert_eq!(broken.len(), 1, "{broken:?}");
    assert_eq!(broken[0]["target"], "res://x/gone.lib");
}
