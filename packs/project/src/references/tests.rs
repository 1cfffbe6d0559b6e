use super::{Kind, of_file};

/// Kind, target and the bytes of each reference.
fn found(path: &str, text: &str) -> Vec<(Kind, String, String)> {
    of_file(path, text.as_bytes())
        .unwrap()
        .into_iter()
        .map(|one| (one.kind, one.target.clone(), text[one.span].to_owned()))
        .collect()
}

fn targets(path: &str, text: &str) -> Vec<String> {
    found(path, text).into_iter().map(|(_, target, _)| target).collect()
}

#[test]
fn a_scene_names_files_in_headers_and_values() {
    let text = r#"[gd_scene format=3 uid="uid://own"]
; path="res://comment.tscn"
[ext_resource type="Script" uid="uid://abc" path="res://a.gd" id="1"]
[ext_resource type="Script" path="beside.gd" id="2"]
[sub_resource type="GDScript" id="s"]
script/source = "extends Node
var a = preload(\"res://in.gd\") # \"res://no.gd\"
var b = '''x'''
"
[node name="A" type="Node"]
metadata/list = ["res://b.tres", &"res://c.tres", "see res://b.tres", "res://d.tscn::Sub_1"]
[node name="Lazy" parent="." instance_placeholder="res://base.tscn"]
"#;
    let all = found("res://x/y.tscn", text);
    let expected = [
        (Kind::ExtUid, "uid://abc", "uid://abc"),
        (Kind::ExtPath, "res://a.gd", "res://a.gd"),
        (Kind::ExtPath, "res://x/beside.gd", "beside.gd"),
        (Kind::Load, "res://in.gd", "res://in.gd"),
        (Kind::Value, "res://b.tres", "res://b.tres"),
        (Kind::Value, "res://c.tres", "res://c.tres"),
        (Kind::Value, "res://d.tscn", "res://d.tscn"),
        (Kind::Placeholder, "res://base.tscn", "res://base.tscn"),
    ];
    let all: Vec<_> = all.iter().map(|(kind, to, text)| (*kind, &**to, &**text)).collect();
    assert_eq!(all, expected);
}

#[test]
fn settings_name_files_each_in_its_way() {
    let text = "run/main_scene=\"uid://abc\"\n[autoload]\nA=\"*res://a.gd\"\n[editor_plugins]\n\
        enabled=PackedStringArray(\"res://addons/p/plugin.cfg\")\n[file_customization]\n\
        folder_colors={\n\"res://levels/\": \"red\"\n}\n[internationalization]\n\
        locale/translation_remaps={\n\"res://i.png\": PackedStringArray(\"res://j.png:fr\")\n}\n";
    let all = found("res://project.godot", text);
    let texts: Vec<_> = all.iter().map(|(_, _, text)| text.as_str()).collect();
    let expected = [
        "uid://abc",
        "res://a.gd",
        "res://addons/p/plugin.cfg",
        "res://levels",
        "res://i.png",
        "res://j.png",
    ];
    assert_eq!(texts, expected);
    assert_eq!(all[1].0, Kind::Autoload);
    let plugin = found("res://addons/p/plugin.cfg", "[plugin]\nname=\"a.b\"\nscript=\"p.gd\"\n");
    assert_eq!(plugin, [(Kind::Config, "res://addons/p/p.gd".into(), "p.gd".into())]);
    let extension = "[configuration]\nentry_symbol=\"a.b\"\n[libraries]\nlinux=\"bin/a.so\"\n";
    assert_eq!(targets("res://g/a.gdextension", extension), ["res://g/bin/a.so"]);
    let presets = "[preset.0]\nname=\"res://x\"\nexport_files=PackedStringArray(\"res://a.tscn\")\n\
        include_filter=\"docs/*.md, levels/a/*, b.txt\"\nexport_filter=\"all_resources\"\n";
    let presets = found("res://export_presets.cfg", presets);
    let texts: Vec<_> = presets.iter().skip(1).map(|(_, _, text)| text.as_str()).collect();
    assert_eq!(texts, ["res://a.tscn", "docs", "levels/a", "b.txt"]);
    let import =
        "[remap]\npath=\"res://.godot/imported/i-1.ctex\"\n[deps]\nsource_file=\"res://i.png\"\n";
    assert_eq!(targets("res://i.png.import", import)[1], "res://i.png");
}

#[test]
fn code_names_files_in_whole_strings_only() {
    let text = "# \"res://c.gd\"\nextends \"base.gd\"\nvar a = preload('it\\'s.gd')\n\
        var b = load(\"res://b.gd\")\nvar c = \"res://b.gd.bak\"\nvar d = \"see res://b.gd\"\n";
    let all = found("res://s/x.gd", text);
    let expected = [
        (Kind::Load, "res://s/base.gd".into(), "base.gd".into()),
        (Kind::Load, "res://s/it's.gd".into(), "it\\'s.gd".into()),
        (Kind::Load, "res://b.gd".into(), "res://b.gd".into()),
        (Kind::CodeText, "res://b.gd.bak".into(), "res://b.gd.bak".into()),
    ];
    assert_eq!(all, expected);
    let shader = "#include \"res://i.gdshaderinc\"\n#include \"j.gdshaderinc\" // \"res://k\"\n";
    assert_eq!(
        targets("res://s/a.gdshader", shader),
        ["res://i.gdshaderinc", "res://s/j.gdshaderinc"]
    );
    let sharp = "var a = GD.Load<PackedScene>(\"res://a.tscn\"); // \"res://b.tscn\"\n";
    assert_eq!(found("res://A.cs", sharp)[0].0, Kind::Load);
    assert_eq!(found("res://A.cs", sharp).len(), 1);
    let json = "{\"a\": \"res:\\/\\/a.png\", \"b\": \"res://b.png\"}";
    assert_eq!(targets("res://d.json", json), ["res://a.png", "res://b.png"]);
}

#[test]
fn a_place_is_written_in_its_own_way() {
    let all =
        of_file("res://s/x.gd", b"var a = preload('../t/a.gd')\nvar b = load('res://a.gd')\n");
    let all = all.unwrap();
    assert_eq!(all[0].written("res://s/x.gd", "res://t/u/a.gd"), "../t/u/a.gd");
    assert_eq!(all[0].written("res://t/x.gd", "res://t/a.gd"), "a.gd");
    assert_eq!(all[1].written("res://s/x.gd", "res://it's.gd"), "res://it\\'s.gd");
    assert_eq!((all[0].line, all[1].line), (1, 2));
}
