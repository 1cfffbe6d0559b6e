#![allow(clippy::disallowed_methods, reason = "lays plain files out for the test")]
use std::fs;

use didi_plugin_api::{prelude::*, testkit::Kit};

use crate::ScenePack;

const TOOL: &str = "scene_get_hierarchy";

fn project(files: &[(&str, &str)]) -> (tempfile::TempDir, Kit) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let kit = Kit::open::<ScenePack>(folder.path()).mode(Mode::OfflineFallback);
    (folder, kit)
}

/// The answer about one scene, and whether it was cut short.
#[track_caller]
fn ask(text: &str, mut args: Value) -> (Value, bool) {
    let (_folder, kit) = project(&[("a.tscn", text)]);
    args["root_path"] = json!("res://a.tscn");
    let answer = kit.answer(TOOL, &args).unwrap();
    (serde_json::from_str(answer.data.get()).unwrap(), answer.truncated.unwrap())
}

/// Names of a node and all below it, indented by depth.
fn outline(node: &Value) -> String {
    fn add(node: &Value, depth: usize, out: &mut String) {
        let line = format!("{}{}\n", " ".repeat(depth), node["name"].as_str().unwrap());
        out.push_str(&line);
        for child in node["children"].as_array().into_iter().flatten() {
            add(child, depth + 1, out);
        }
    }
    let mut out = String::new();
    add(node, 0, &mut out);
    out
}

/// BL-01.
#[test]
fn a_string_that_looks_like_a_scene_is_a_string() {
    let text = "[gd_scene format=3]\n\n[node name=\"Root\" type=\"Label\" unique_id=11]\ntext = \"one\n\n\
                [node name=\\\"Ghost\\\" type=\\\"Node\\\" parent=\\\".\\\"]\n; not a comment\n\
                two = 2\"\n\n[node name=\"Kid\" type=\"Label\" parent=\".\" unique_id=12]\ntext = \"x\"\n";
    let (got, truncated) = ask(text, json!({}));
    assert_eq!(outline(&got["scene_tree"]), "Root\n Kid\n");
    assert_eq!(got["node_count"], 2);
    assert!(!truncated);
    assert_eq!(
        got["scene_tree"]["children"][0],
        json!({ "name": "Kid", "type": "Label", "path": "/root/Root/Kid", "owned_by_scene": true,
                "properties": { "text": "\"x\"" }, "children": [] })
    );
    let value = got["scene_tree"]["properties"]["text"].as_str().unwrap();
    assert_eq!(value.lines().count(), 5);
    assert_eq!(got["source"], "parsed_tscn_file");
    assert_eq!(got["file_path"], "res://a.tscn");
    assert_eq!(got["substituted_main_scene"], false);
    assert_eq!(got.get("offline_reason"), None);
    let (windows, _) = ask(&text.replace('\n', "\r\n"), json!({}));
    assert_eq!(outline(&windows["scene_tree"]), "Root\n Kid\n");
    let (bare, _) = ask(text, json!({ "include_properties": false }));
    assert_eq!(bare["scene_tree"].get("properties"), None);
}

/// BL-04.
#[test]
fn awkward_names_are_read_with_their_escapes_undone() {
    let text = "[gd_scene format=3]\n\n[node name=\"Ro\\\\ot\" type=\"Control\"]\n\n\
                [node name=\"O\\'Neil\" type=\"Button\" parent=\".\"]\n\n\
                [node name=\"Sp [x] = 1 #&\" type=\"Button\" parent=\".\"]\n\n\
                [node name=\"Имя 名前 🎮\" type=\"Button\" parent=\".\"]\n\n\
                [node name=\"In\" type=\"Button\" parent=\"Имя 名前 🎮\"]\n\n\
                [connection signal=\"pressed\" from=\"Имя 名前 🎮/In\" to=\"Sp [x] = 1 #&\" method=\"hide\"]\n";
    let (got, _) = ask(text, json!({}));
    assert_eq!(
        outline(&got["scene_tree"]),
        "Ro\\ot\n O'Neil\n Sp [x] = 1 #&\n Имя 名前 🎮\n  In\n"
    );
    let inner = &got["scene_tree"]["children"][2]["children"][0];
    assert_eq!(inner["path"], "/root/Ro\\ot/Имя 名前 🎮/In");
    assert_eq!(got.get("message"), None);
}

const BASE: &str = "[gd_scene format=3]\n[node name=\"Base\" type=\"Button\"]\n\
                    [node name=\"Old\" type=\"Label\" parent=\".\"]\n";
const USES: &str = "[gd_scene format=3]\n[ext_resource type=\"PackedScene\" path=\"res://base.tscn\" \
    id=\"1\"]\n[node name=\"Root\" type=\"Node\"]\n[node name=\"Inst\" parent=\".\" \
    instance=ExtResource(\"1\")]\n[node name=\"Old\" parent=\"Inst\" index=\"0\"]\ntext = \"x\"\n\
    [node name=\"Extra\" type=\"Timer\" parent=\"Inst/Old\"]\n\
    [node name=\"Lazy\" parent=\".\" instance_placeholder=\"res://base.tscn\"]\n[editable path=\"Inst\"]\n";
const DERIVED: &str = "[gd_scene format=3]\n[ext_resource type=\"PackedScene\" path=\"res://base.tscn\" \
    id=\"1\"]\n[node name=\"Derived\" instance=ExtResource(\"1\")]\n\
    [node name=\"Old\" parent=\".\" index=\"0\"]\n";

#[test]
fn instances_and_what_is_changed_inside_them_are_told_apart() {
    let (_folder, kit) = project(&[("base.tscn", BASE), ("uses.tscn", USES), ("d.tscn", DERIVED)]);
    let got = kit.call(TOOL, &json!({ "root_path": "res://uses.tscn" })).unwrap();
    let tree = &got["scene_tree"];
    assert_eq!(outline(tree), "Root\n Inst\n  Old\n   Extra\n Lazy\n");
    let inst = &tree["children"][0];
    assert_eq!(inst["instance_of"], "res://base.tscn");
    assert_eq!(inst["type"], "Button");
    assert_eq!(inst["editable_instance"], true);
    let old = &inst["children"][0];
    assert_eq!((&old["inherited"], &old["owned_by_scene"]), (&json!(true), &json!(false)));
    assert_eq!(old.get("type"), None);
    assert_eq!(old["properties"], json!({ "text": "\"x\"" }));
    assert_eq!(old["children"][0]["path"], "/root/Root/Inst/Old/Extra");
    let lazy = &tree["children"][1];
    assert_eq!(
        (&lazy["type"], &lazy["instance_of"]),
        (&json!("InstancePlaceholder"), &json!("res://base.tscn"))
    );
    let got = kit.call(TOOL, &json!({ "root_path": "res://d.tscn" })).unwrap();
    assert_eq!(got["inherits"], "res://base.tscn");
    assert_eq!(got["scene_tree"]["type"], "Button");
    assert_eq!(got["scene_tree"]["children"][0]["inherited"], true);
}

#[test]
fn scenes_that_instance_one_another_end() {
    let round = |other: &str| {
        format!(
            "[gd_scene format=3]\n[ext_resource type=\"PackedScene\" path=\"res://{other}.tscn\" \
             id=\"1\"]\n[node name=\"R\" instance=ExtResource(\"1\")]\n"
        )
    };
    let (_folder, kit) = project(&[("a.tscn", &round("b")), ("b.tscn", &round("a"))]);
    let got = kit.call(TOOL, &json!({ "root_path": "res://a.tscn" })).unwrap();
    assert_eq!(got["scene_tree"].get("type"), None);
}

fn wide(count: usize) -> String {
    let mut text = "[gd_scene format=3]\n[node name=\"Root\" type=\"Node\"]\n".to_owned();
    for index in 0..count {
        let kind = if index % 2 == 0 { "Node2D" } else { "Label" };
        text.extend([format!("[node name=\"N{index}\" type=\"{kind}\" parent=\".\"]\na = 1\n")]);
    }
    text
}

fn chain(count: usize) -> String {
    let mut text = "[gd_scene format=3]\n[node name=\"Root\" type=\"Node\"]\n".to_owned();
    let mut parent = ".".to_owned();
    for index in 0..count {
        text.extend([format!("[node name=\"n\" type=\"Node\" parent=\"{parent}\"]\n")]);
        parent = if index == 0 { "n".into() } else { format!("{parent}/n") };
    }
    text
}

/// BL-22, BL-62.
#[test]
fn bounds_cut_the_tree_and_say_so() {
    let text = wide(10);
    let (got, truncated) = ask(&text, json!({ "max_nodes": 4 }));
    assert!(truncated);
    assert_eq!(outline(&got["scene_tree"]), "Root\n N0\n N1\n N2\n");
    assert_eq!((&got["node_count"], &got["max_nodes"]), (&json!(4), &json!(4)));
    assert_eq!(got["scene_tree"]["children_omitted"], 7);
    let (got, truncated) = ask(&text, json!({ "max_nodes": 11 }));
    assert_eq!((truncated, &got["node_count"]), (false, &json!(11)));
    let (got, truncated) = ask(&text, json!({ "max_depth": 0 }));
    assert!(truncated);
    assert_eq!(got["scene_tree"]["children_summary"], json!({ "node_count": 10 }));
    let long = format!("{text}metadata/a = PackedInt32Array({}0)\n", "0, ".repeat(100_000));
    let (got, truncated) = ask(&long, json!({}));
    assert!(truncated);
    let value = got["scene_tree"]["children"][9]["properties"]["metadata/a"].as_str().unwrap();
    assert!(
        value.starts_with("PackedInt32Array(0, 0") && value.ends_with("(300019 bytes)"),
        "{value}"
    );
}

/// BL-23.
#[test]
fn a_deep_chain_neither_overflows_nor_takes_long() {
    let text = chain(3000);
    let (got, truncated) = ask(&text, json!({ "max_depth": 64 }));
    assert!(truncated);
    assert_eq!(outline(&got["scene_tree"]).lines().count(), super::MAX_ANSWER_DEPTH + 1);
    let (got, _) = ask(&text, json!({ "summary": true }));
    assert_eq!(got["node_count"], 3001);
    assert_eq!(got["branches"][0]["node_count"], 3000);
}

/// BL-23.
#[test]
fn a_wide_scene_is_answered_whole_or_in_counts() {
    let text = wide(20_000);
    let (got, truncated) = ask(&text, json!({ "include_properties": false }));
    assert_eq!((truncated, &got["node_count"]), (false, &json!(20_001)));
    let (got, truncated) = ask(&text, json!({ "summary": true }));
    assert!(truncated, "only the first branches are listed");
    assert_eq!(got["counts_by_type"], json!({ "Label": 10_000, "Node": 1, "Node2D": 10_000 }));
    assert_eq!(got["scene_tree"]["children_omitted"], 20_000);
    assert_eq!(
        got["branches"][0],
        json!({ "name": "N0", "type": "Node2D", "path": "/root/Root/N0", "owned_by_scene": true,
                "node_count": 1, "counts_by_type": { "Node2D": 1 } })
    );
}

#[test]
fn a_filter_keeps_matches_and_their_ancestors() {
    let text = "[gd_scene format=3]\n[node name=\"R\" type=\"Node\"]\n\
                [node name=\"A\" type=\"Node2D\" parent=\".\"]\n\
                [node name=\"B\" type=\"Label\" parent=\"A\"]\n\
                [node name=\"C\" type=\"Node2D\" parent=\".\"]\n\
                [node name=\"D\" type=\"Label\" parent=\".\"]\n\
                [node name=\"E\" type=\"Node\" parent=\"D\"]\n";
    let (got, truncated) = ask(text, json!({ "class_filter": ["Label", "Nothing"] }));
    assert_eq!(outline(&got["scene_tree"]), "R\n A\n  B\n D\n");
    assert_eq!((truncated, &got["matched_nodes"]), (false, &json!(2)));
    let tree = &got["scene_tree"];
    assert_eq!(tree["children"][0].get("matched"), None);
    assert_eq!(tree["children"][0]["children"][0]["matched"], true);
    let (got, _) = ask(text, json!({ "class_filter": ["Nothing"] }));
    assert_eq!((outline(&got["scene_tree"]).as_str(), &got["matched_nodes"]), ("R\n", &json!(0)));
}

#[test]
fn odd_scenes_are_shown_as_far_as_they_go() {
    let text = "[gd_scene format=3]\n[node name=\"R\" type=\"Node\"]\n\
                [node name=\"B\" type=\"Node\" parent=\"A\"]\n[node name=\"A\" type=\"Node\" parent=\".\"]\n\
                [node name=\"X\" type=\"Node\" parent=\".\"]\n[node name=\"X\" type=\"Label\" parent=\".\"]\n\
                [node name=\"K\" type=\"Node\" parent=\"Gone/Deep\"]\n[node name=\"Second\" type=\"Node\"]\n";
    let (got, _) = ask(text, json!({}));
    let outline = outline(&got["scene_tree"]);
    assert_eq!(outline.matches(" X\n").count(), 2, "{outline}");
    assert!(!outline.contains('K'), "{outline}");
    assert!(got["message"].as_str().unwrap().contains("left out"), "{got}");
    let (got, _) = ask(
        "; by hand\n[gd_scene   format = 3 ][node name=\"Root\" type=\"Label\"]text=\"ab\"\n\
         metadata/a   = { \"k\" : [ 1, 2, ], }   ; tail\nmetadata/b=1 metadata/c=2\n\
         [node name=\"K\" type=\"Label\" parent=\".\"]text=\"k\"\n",
        json!({}),
    );
    assert_eq!(got["node_count"], 2);
    assert_eq!(got["scene_tree"]["properties"].as_object().unwrap().len(), 4);
}

fn settings(main: &str) -> String {
    format!("config_version=5\n[application]\nrun/main_scene=\"{main}\"\n")
}

#[test]
fn the_main_scene_stands_in_for_an_edited_one() {
    for main in ["res://sub/a.tscn", "uid://c0000000000b1"] {
        let settings = settings(main);
        let scene =
            "[gd_scene format=3 uid=\"uid://c0000000000b1\"]\n[node name=\"M\" type=\"Node\"]\n";
        let (_folder, kit) = project(&[
            ("project.godot", &settings),
            ("sub/a.tscn", scene),
            (".godot/b.tscn", scene),
            ("0.tscn", BASE),
        ]);
        for root_path in ["", "/root", ".", "/root/"] {
            let got = kit.call(TOOL, &json!({ "root_path": root_path })).unwrap();
            assert_eq!(got["file_path"], "res://sub/a.tscn", "{main}");
            assert_eq!(got["substituted_main_scene"], true);
            assert_eq!(got["requested_root_path"], root_path);
            assert!(got["offline_reason"].as_str().unwrap().contains("no editor"));
        }
        assert_eq!(kit.call(TOOL, &json!({})).unwrap()["scene_tree"]["name"], "M");
    }
}

#[track_caller]
fn check_refused(files: &[(&str, &str)], args: &Value, code: &str, field: &str) -> Refusal {
    let (_folder, kit) = project(files);
    let refusal = kit.call(TOOL, args).unwrap_err();
    assert_eq!(refusal.code.name, code, "{args}: {}", refusal.message);
    if !field.is_empty() {
        assert_eq!(refusal.data["field"], field, "{args}");
    }
    refusal
}

#[test]
fn what_cannot_be_answered_is_refused() {
    let invalid = "invalid_arguments";
    let at = |path: &str| json!({ "root_path": path });
    for path in ["/root/Main/Player", "Player", "/root/Main", "--help"] {
        let refusal = check_refused(&[], &at(path), "not_connected", "root_path");
        assert_eq!(refusal.data["blocked_on"], "no_live_session");
    }
    for path in ["res://../a.tscn", "res://a.scn", "res://a.gd", "user://a.tscn", "file:///a.tscn"]
    {
        check_refused(&[], &at(path), invalid, "root_path");
    }
    check_refused(&[], &at("res://none.tscn"), "not_found", "");
    check_refused(&[], &at("uid://c0000000000b1"), "not_found", "root_path");
    check_refused(&[], &json!({}), "not_found", "root_path");
    let unset = [("project.godot", "config_version=5\n")];
    check_refused(&unset, &json!({}), "not_found", "root_path");
    let broken = [("project.godot", "a=\"")];
    check_refused(&broken, &json!({}), "unprocessable", "root_path");
    let scene = [("a.tscn", "[gd_scene format=3]\n[node name=\"R\" type=\"Node\"]\na = \"\n")];
    let refusal = check_refused(&scene, &at("res://a.tscn"), "unprocessable", "root_path");
    assert!(refusal.data["line"].as_u64().unwrap() >= 3);
    check_refused(&[("a.tscn", "[gd_scene]\n")], &at("res://a.tscn"), "unprocessable", "root_path");
    let both = json!({ "summary": true, "max_nodes": 5 });
    check_refused(&[], &both, invalid, "max_nodes");
    let both = json!({ "summary": true, "class_filter": ["Node"] });
    check_refused(&[], &both, invalid, "class_filter");
}

#[test]
fn an_attached_editor_answers_for_its_scene() {
    let (_folder, kit) = project(&[("a.tscn", BASE)]);
    let kit = kit.mode(Mode::Live).bridge(|method, params| {
        assert_eq!(method, "scene.getHierarchy");
        assert_eq!(params["root_path"], "/root/Main");
        assert_eq!(params["max_depth"], 3);
        assert_eq!(params.get("max_nodes"), None);
        Ok(json!({ "scene_tree": { "name": "Main" }, "scene_file_path": null, "truncated": true }))
    });
    let args = json!({ "root_path": "/root/Main", "max_depth": 3 });
    let answer = kit.answer(TOOL, &args).unwrap();
    assert_eq!(answer.truncated, Some(true));
    let data: Value = serde_json::from_str(answer.data.get()).unwrap();
    assert_eq!(data, json!({ "scene_tree": { "name": "Main" }, "source": "live_scene_tree" }));
    let got = kit.call(TOOL, &json!({ "root_path": "res://a.tscn" })).unwrap();
    assert_eq!(got["file_path"], "res://a.tscn", "a file is read from disk all the same");
}
