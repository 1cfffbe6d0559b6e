use didi_plugin_api::prelude::*;

use crate::tests::{call, code, lay_bytes, project};

const TOOL: &str = "resource_inspect";

#[test]
fn a_resource_and_an_imported_asset_are_read() {
    let (_dir, kit) = project(&[
        (
            "theme.tres",
            "[gd_resource type=\"Theme\" format=3 uid=\"uid://a2\"]\n\
             [ext_resource type=\"FontFile\" path=\"res://f.ttf\" id=\"1\"]\n",
        ),
        ("steps.ogg", "OggS"),
        (
            "steps.ogg.import",
            "[remap]\r\n\r\nimporter=\"oggvorbisstr\"\r\ntype=\"AudioStreamOggVorbis\"\r\nuid=\"uid://b2\"\r\n\
             path=\"res://.godot/imported/x\"\r\n\r\n[params]\r\n\r\nloop=false\r\nloop_offset=0.5\r\n\
             bpm=0\r\nname=\"лес\"\r\nrect=Rect2(0, 0, 1, 1)\r\n",
        ),
    ]);
    let theme = call(&kit, TOOL, &json!({"resource_path": "res://theme.tres"}));
    assert_eq!(theme["resource_type"], "Theme");
    assert_eq!(theme["uid"], "uid://a2");
    assert_eq!(theme["dependencies"], json!(["res://f.ttf"]));
    assert!(theme.get("import").is_none());

    let sound = call(&kit, TOOL, &json!({"resource_path": "res://steps.ogg"}));
    assert_eq!(sound["type"], "AudioStreamOggVorbis");
    assert_eq!(sound["resource_type"], Value::Null);
    let import = &sound["import"];
    assert_eq!(import["importer"], "oggvorbisstr");
    assert_eq!(import["uid"], "uid://b2");
    assert_eq!(import["valid"], true);
    assert_eq!(
        import["options"],
        json!({"loop": false, "loop_offset": 0.5, "bpm": 0, "name": "лес", "rect": "Rect2(0, 0, 1, 1)"})
    );
    assert_eq!(import["configurable"], json!(["loop", "loop_offset"]));
}

#[test]
fn a_sidecar_that_can_not_be_used_is_said() {
    let (dir, kit) = project(&[
        ("a.png", ""),
        ("a.png.import", "[remap]\n\nimporter=\"texture\nvalid=false\n"),
        ("b.png", ""),
        ("c.png", ""),
        ("c.png.import", "[remap]\nimporter=\"texture\"\nvalid=false\n"),
    ]);
    lay_bytes(dir.path(), "b.png.import", &vec![b';'; 1024 * 1024 + 1]);
    let broken = call(&kit, TOOL, &json!({"resource_path": "res://a.png"}));
    assert!(broken["import"]["line"].is_u64(), "{broken}");
    assert!(broken["import"]["parse_error"].is_string());
    let huge = call(&kit, TOOL, &json!({"resource_path": "res://b.png"}));
    assert!(huge["import_error"].as_str().unwrap().contains("1048576"), "{huge}");
    let failed = call(&kit, TOOL, &json!({"resource_path": "res://c.png"}));
    assert_eq!(failed["import"]["valid"], false);
}

#[test]
fn a_path_that_is_no_file_is_refused_with_a_way_on() {
    let (dir, kit) = project(&[("a/b.gd", "")]);
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), dir.path().join("out")).unwrap();
    for (path, wanted, way) in [
        ("res://a/c.gd", "not_found", "next_call"),
        ("res://a", "not_found", "next_call"),
        ("res://out/x.gd", "invalid_arguments", "field"),
        ("a/b.gd", "invalid_arguments", "field"),
    ] {
        let (found, refusal) = code(kit.call(TOOL, &json!({"resource_path": path})));
        assert_eq!(found, wanted, "{path}");
        assert!(refusal.data.contains_key(way), "{path}");
    }
}
