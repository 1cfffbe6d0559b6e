#![allow(clippy::disallowed_methods, reason = "looks at the files that the tool left")]

use std::fs;

use didi_plugin_api::{prelude::*, testkit::Kit};

use crate::{
    ProjectPack, engine_tests as engine,
    tests::{code, lay_bytes, project},
};

const TOOL: &str = "project_move_files";

const FILES: [(&str, &str); 12] = [
    (
        "project.godot",
        "[application]\r\nrun/main_scene=\"res://a/main.tscn\"\r\n; \"res://a/main.tscn\"\r\n\
         config/icon=\"res://icon.png\"\r\n[autoload]\r\nScore=\"*res://a/score.gd\"\r\n\
         [editor_plugins]\r\nenabled=PackedStringArray(\"res://addons/p/plugin.cfg\")\r\n",
    ),
    ("a/score.gd", "extends Node\n"),
    ("a/score.gd.uid", "uid://bscore\n"),
    (
        "a/main.tscn",
        "[gd_scene format=3 uid=\"uid://bmain\"]\n\
         [ext_resource type=\"Script\" uid=\"uid://bscore\" path=\"res://a/score.gd\" id=\"1\"]\n\
         [ext_resource type=\"Texture2D\" path=\"res://icon.png\" id=\"2\"]\n\
         [node name=\"Main\" type=\"Node\"]\nscript = ExtResource(\"1\")\n\
         metadata/look = \"res://a/score.gdx\"\n\
         [node name=\"Lazy\" parent=\".\" instance_placeholder=\"res://a/base.tscn\"]\n",
    ),
    ("a/base.tscn", "[gd_scene format=3]\n[node name=\"Base\" type=\"Node\"]\n"),
    (
        "a/use.gd",
        "extends \"score.gd\"\n# res://a/score.gd\nvar s = preload(\"score.gd\")\nvar d = \"res://a/\"\n\
         var t = 'res://a/score.gd'\nvar u = \"res://a/level_%d.tscn\"\nvar v = \"res://ab/x\"\n",
    ),
    (
        "icon.png.import",
        "[remap]\nuid=\"uid://bicon\"\npath=\"res://.godot/imported/icon.png-1.ctex\"\n[deps]\nsource_file=\"res://icon.png\"\n",
    ),
    ("addons/p/plugin.cfg", "[plugin]\nscript=\"p.gd\"\n"),
    ("addons/p/p.gd", "extends EditorPlugin\n"),
    (
        "export_presets.cfg",
        "[preset.0]\nexport_files=PackedStringArray(\"res://a/main.tscn\")\ninclude_filter=\"a/*.txt, a/notes.md\"\n",
    ),
    ("a/notes.md", "res://a/score.gd\n"),
    ("s.gdshader", "#include \"res://a/light.gdshaderinc\"\n"),
];

fn laid() -> (tempfile::TempDir, Kit) {
    let (dir, kit) = project(&FILES);
    lay_bytes(dir.path(), "icon.png", b"\x89PNG\0\xff");
    lay_bytes(dir.path(), "a/light.gdshaderinc", b"");
    (dir, kit)
}

fn text(dir: &tempfile::TempDir, path: &str) -> String {
    fs::read_to_string(dir.path().join(path)).unwrap()
}

fn moves(pairs: &[(&str, &str)]) -> Value {
    let moves: Vec<Value> =
        pairs.iter().map(|(from, to)| json!({"from": from, "to": to})).collect();
    json!({ "moves": moves })
}

#[test]
fn a_file_moves_with_its_sidecar_and_all_that_names_it() {
    let (dir, kit) = laid();
    let args = moves(&[("res://a/score.gd", "res://core/points.gd")]);
    let preview = kit.preview(TOOL, &args).unwrap();
    let plan = preview.after.unwrap();
    let answer = kit.call(TOOL, &args).unwrap();
    assert_eq!(answer["moved"], plan["moved"]);
    assert_eq!(answer["moved_count"], 2);
    assert_eq!(text(&dir, "core/points.gd.uid"), "uid://bscore\n");
    assert!(!dir.path().join("a/score.gd").exists() && !dir.path().join("a/score.gd.uid").exists());
    let settings = FILES[0].1.replace("*res://a/score.gd", "*res://core/points.gd");
    assert_eq!(text(&dir, "project.godot"), settings);
    let scene = FILES[3].1.replace("path=\"res://a/score.gd\"", "path=\"res://core/points.gd\"");
    assert_eq!(text(&dir, "a/main.tscn"), scene);
    let code = FILES[5]
        .1
        .replace("\"score.gd\"", "\"../core/points.gd\"")
        .replace("'res://a/score.gd'", "'res://core/points.gd'");
    assert_eq!(text(&dir, "a/use.gd"), code);
    assert_eq!(text(&dir, "a/notes.md"), FILES[10].1);
    assert_eq!(answer["updated_references"], 5);
    assert_eq!(plan["references"].as_array().unwrap().len(), 5);
    let lines: Vec<_> = answer["updated_files"].as_array().unwrap().iter().collect();
    assert_eq!(lines[1], &json!({"path": "res://a/use.gd", "changed_lines": [1, 3, 5]}));
    let (found, refusal) = code_of(&kit, &args);
    assert_eq!(found, "not_found");
    assert!(refusal.message.contains("moved already"));
}

fn code_of(kit: &Kit, args: &Value) -> (String, Refusal) {
    code(kit.call(TOOL, args))
}

/// BL-32.
#[test]
fn a_folder_moves_whole_and_look_alikes_stay() {
    let (dir, kit) = laid();
    let args = moves(&[("res://a", "res://game/levels"), ("res://addons/p", "res://addons/q")]);
    let answer = kit.call(TOOL, &args).unwrap();
    let settings = FILES[0]
        .1
        .replace("=\"res://a/main.tscn\"", "=\"res://game/levels/main.tscn\"")
        .replace("*res://a/", "*res://game/levels/")
        .replace("addons/p/", "addons/q/");
    assert_eq!(text(&dir, "project.godot"), settings);
    let code = FILES[5]
        .1
        .replace("\"res://a/\"", "\"res://game/levels/\"")
        .replace("'res://a/", "'res://game/levels/");
    assert_eq!(text(&dir, "game/levels/use.gd"), code);
    assert_eq!(text(&dir, "addons/q/plugin.cfg"), FILES[7].1);
    assert_eq!(text(&dir, "s.gdshader"), "#include \"res://game/levels/light.gdshaderinc\"\n");
    let scene = text(&dir, "game/levels/main.tscn");
    assert!(scene.contains("instance_placeholder=\"res://game/levels/base.tscn\""));
    assert!(scene.contains("metadata/look = \"res://a/score.gdx\""));
    let presets = text(&dir, "export_presets.cfg");
    assert!(presets.contains("(\"res://game/levels/main.tscn\")"), "{presets}");
    assert!(presets.contains("\"game/levels/*.txt, game/levels/notes.md\""), "{presets}");
    let left: Vec<&str> = answer["not_followed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["text"].as_str().unwrap())
        .collect();
    assert_eq!(left, ["res://a/score.gdx", "res://a/level_%d.tscn"]);
    assert_eq!(answer["empty_folders"], json!(["res://a", "res://addons/p"]));
    let (found, refusal) = code_of(&kit, &args);
    assert_eq!(found, "not_found");
    assert!(refusal.message.contains("moved already"), "{}", refusal.message);
    // The way back leads into the folders that were left.
    let back = moves(&[("res://game/levels", "res://a"), ("res://addons/q", "res://addons/p")]);
    kit.call(TOOL, &back).unwrap();
    for (path, content) in FILES {
        assert_eq!(text(&dir, path), content, "{path}");
    }
}

#[test]
fn an_imported_binary_file_moves_with_its_import() {
    let (dir, kit) = laid();
    kit.call(TOOL, &moves(&[("res://icon.png", "res://art/logo.png")])).unwrap();
    assert_eq!(fs::read(dir.path().join("art/logo.png")).unwrap(), b"\x89PNG\0\xff");
    let import = text(&dir, "art/logo.png.import");
    assert_eq!(import, FILES[6].1.replace("\"res://icon.png\"", "\"res://art/logo.png\""));
    assert!(text(&dir, "project.godot").contains("config/icon=\"res://art/logo.png\""));
    assert!(text(&dir, "a/main.tscn").contains("path=\"res://art/logo.png\""));
}

#[test]
fn what_an_import_made_beside_its_source_moves_along() {
    let (dir, kit) = project(&[
        ("lang/texts.csv", "keys,en\n"),
        (
            "lang/texts.csv.import",
            "[deps]\nfiles=[\"res://lang/texts.en.translation\"]\nsource_file=\"res://lang/texts.csv\"\ndest_files=[\"res://lang/texts.en.translation\"]\n",
        ),
        ("lang/texts.en.translation", "x"),
        (
            "project.godot",
            "[internationalization]\nlocale/translations=PackedStringArray(\"res://lang/texts.en.translation\")\n",
        ),
    ]);
    kit.call(TOOL, &moves(&[("res://lang/texts.csv", "res://words.csv")])).unwrap();
    assert!(dir.path().join("words.en.translation").exists());
    assert!(text(&dir, "project.godot").contains("(\"res://words.en.translation\")"));
    let import = text(&dir, "words.csv.import");
    assert!(
        !import.contains("texts") && import.contains("dest_files=[\"res://words.en.translation\"]")
    );
}

#[test]
fn letters_alone_can_change() {
    let (dir, kit) = laid();
    kit.call(TOOL, &moves(&[("res://a", "res://A"), ("res://icon.png", "res://Icon.png")]))
        .unwrap();
    assert!(dir.path().join("A/main.tscn").exists() && dir.path().join("Icon.png.import").exists());
    assert!(text(&dir, "A/main.tscn").contains("path=\"res://A/score.gd\""));
}

/// BL-50.
#[test]
fn what_can_not_be_moved_is_refused_and_nothing_changes() {
    let (dir, kit) = laid();
    lay_bytes(dir.path(), "hidden/.gdignore", b"");
    let cases = [
        (vec![("res://none.gd", "res://b.gd")], "not_found"),
        (vec![("res://a/use.gd", "res://a/score.gd")], "already_exists"),
        (vec![("res://a", "res://addons")], "already_exists"),
        (vec![("res://a/use.gd", "res://a/use.gd")], "invalid_arguments"),
        (vec![("res://a", "res://a/b")], "invalid_arguments"),
        (vec![("res://a", "res://b"), ("res://a/use.gd", "res://c.gd")], "invalid_arguments"),
        (vec![("res://a", "res://b"), ("res://icon.png", "res://b/i.png")], "invalid_arguments"),
        (vec![("res://a", "res://b"), ("res://icon.png", "res://a")], "already_exists"),
        (vec![("res://project.godot", "res://b.godot")], "invalid_arguments"),
        (vec![("res://a/score.gd.uid", "res://b.uid")], "invalid_arguments"),
        (vec![("res://a", "res://.godot/a")], "invalid_arguments"),
        (vec![("res://a", "res://.GIT/a")], "invalid_arguments"),
        (vec![("res://a", "res://hidden/a")], "invalid_arguments"),
        (vec![("res://a", "res://../a")], "invalid_arguments"),
        (vec![("res://a", "../outside")], "invalid_arguments"),
        (vec![("res:///", "res://x")], "invalid_arguments"),
        (vec![("res://a", "res://b/../../outside")], "invalid_arguments"),
        (vec![("res://a", "res://%2e%2e/outside")], "invalid_arguments"),
        (vec![("res://a", "..\\outside")], "invalid_arguments"),
        (vec![("res://a", "C:outside")], "invalid_arguments"),
        (vec![("res://a/use.gd", "res://con.gd")], "invalid_arguments"),
        (vec![("user://a", "res://b")], "invalid_arguments"),
    ];
    for (pairs, expected) in cases {
        let args = moves(&pairs);
        let (found, refusal) = code_of(&kit, &args);
        assert_eq!(found, expected, "{pairs:?}: {}", refusal.message);
        assert!(refusal.has_remedy(), "{pairs:?}");
        let preview = kit.preview(TOOL, &args).unwrap_err();
        assert_eq!(preview.code.name, expected, "{pairs:?}");
    }
    assert!(kit.record().written.is_empty());
}

#[cfg(unix)]
#[test]
fn links_are_not_moved() {
    let (dir, kit) = laid();
    std::os::unix::fs::symlink(dir.path().join("a"), dir.path().join("link")).unwrap();
    let (found, refusal) = code_of(&kit, &moves(&[("res://link", "res://b")]));
    assert_eq!((found.as_str(), &refusal.data["field"]), ("invalid_arguments", &json!("from")));
    std::os::unix::fs::symlink(dir.path().join("icon.png"), dir.path().join("a/link.png")).unwrap();
    let (found, _) = code_of(&kit, &moves(&[("res://a", "res://b")]));
    assert_eq!(found, "invalid_arguments");
}

#[test]
fn the_engine_opens_everything_after_the_moves() {
    let Some(godot) = engine::godot() else { return };
    let dir = engine::fixture("sample");
    let kit = Kit::open::<ProjectPack>(dir.path());
    engine::run(&godot, dir.path(), &["--import"]);
    let before = ["res://levels/meadow.tscn", "res://lamps/lamp.tscn", "res://hud/hud.tscn"];
    assert_eq!(engine::complaints(&godot, dir.path(), &before), Vec::<String>::new());
    let args = moves(&[
        ("res://levels", "res://game/places"),
        ("res://lamps", "res://game/lights"),
        ("res://data", "res://Data"),
        ("res://icon.svg", "res://art/Icon.svg"),
        ("res://shaders/glow.gdshader", "res://art/glimmer.gdshader"),
        ("res://hud/hud.gd", "res://hud/panel.gd"),
    ]);
    kit.call(TOOL, &args).unwrap();
    engine::run(&godot, dir.path(), &["--import"]);
    let after = [
        "res://game/places/meadow.tscn",
        "res://game/lights/lamp.tscn",
        "res://game/lights/paper_lantern.tscn",
        "res://hud/hud.tscn",
        "res://player/player.tscn",
    ];
    assert_eq!(engine::complaints(&godot, dir.path(), &after), Vec::<String>::new());
    let import = text(&dir, "art/Icon.svg.import");
    assert!(import.contains("uid=\"uid://cbfdf46w22e3a\""), "the uid stays: {import}");
    let game = engine::run(&godot, dir.path(), &["--quit-after", "3"]);
    assert!(!game.contains("ERROR") && !game.contains("WARNING"), "{game}");
}

#[test]
fn the_engine_opens_a_project_with_names_beyond_ascii_after_the_moves() {
    let Some(godot) = engine::godot() else { return };
    let dir = engine::fixture("studio");
    let kit = Kit::open::<ProjectPack>(dir.path());
    engine::run(&godot, dir.path(), &["--import"]);
    let args = moves(&[
        ("res://сцены", "res://Сцены/все"),
        ("res://scripts/crlf.gd", "res://код/дверь.gd"),
        ("res://scripts/zeta.gd", "res://код/zeta.gd"),
        ("res://assets/ünïcode", "res://assets/plain"),
        ("res://addons/night_tools", "res://addons/day_tools"),
    ]);
    let preview = kit.preview(TOOL, &args).unwrap();
    kit.call(TOOL, &args).unwrap();
    assert!(!preview.after.unwrap()["references"].as_array().unwrap().is_empty());
    engine::run(&godot, dir.path(), &["--import"]);
    let after = ["res://Сцены/все/главная.tscn", "res://Сцены/все/дом.tscn"];
    assert_eq!(engine::complaints(&godot, dir.path(), &after), Vec::<String>::new());
    let game = engine::run(&godot, dir.path(), &["--quit-after", "3"]);
    assert!(!game.contains("res://scripts/zeta.gd") && !game.contains("autoload"), "{game}");
}
