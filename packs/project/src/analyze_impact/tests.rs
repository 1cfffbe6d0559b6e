use didi_plugin_api::prelude::*;

use crate::tests::{code, project};

const TOOL: &str = "project_analyze_impact";

const FILES: [(&str, &str); 8] = [
    (
        "project.godot",
        "[application]\nrun/main_scene=\"uid://bmain\"\n[autoload]\nScore=\"*res://score.gd\"\n[input]\njump={}\n",
    ),
    (
        "score.gd",
        "class_name ScoreKeeper\nextends Node\nsignal changed\nfunc add(): changed.emit()\n",
    ),
    ("score.gd.uid", "uid://bscore\n"),
    (
        "main.tscn",
        "[gd_scene format=3 uid=\"uid://bmain\"]\n\
         [ext_resource type=\"Script\" uid=\"uid://bscore\" path=\"res://score.gd\" id=\"1\"]\n\
         [node name=\"Main\" type=\"Node\"]\nscript = ExtResource(\"1\")\n\
         [node name=\"Lazy\" parent=\".\" instance_placeholder=\"res://base.tscn\"]\n\
         [connection signal=\"changed\" from=\".\" to=\".\" method=\"add\"]\n",
    ),
    ("base.tscn", "[gd_scene format=3]\n[node name=\"Base\" type=\"Node\"]\n"),
    (
        "use.gd",
        "var k: ScoreKeeper # score.gd\nfunc f():\n\tScore.add()\n\tload(\"res://score.gd\")\n\tprint(\"res://score.gd2\")\n",
    ),
    ("lookalike.txt", "res://score.gd"),
    ("broken.tscn", "[gd_scene format=3]\n[node name=\"score.gd\n"),
];

fn kinds(answer: &Value) -> Vec<(String, u64, String)> {
    answer["impacts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let text = |key: &str| one[key].as_str().unwrap().to_owned();
            (text("path"), one["line"].as_u64().unwrap(), text("kind"))
        })
        .collect()
}

#[test]
fn a_file_is_traced_by_path_uid_class_and_autoload() {
    let (_dir, kit) = project(&FILES);
    let answer = kit.call(TOOL, &json!({"target": "res://score.gd"})).unwrap();
    let expected = [
        ("res://main.tscn", 2, "ext_resource"),
        ("res://main.tscn", 2, "ext_resource"),
        ("res://main.tscn", 4, "script_attachment"),
        ("res://project.godot", 4, "autoload"),
        ("res://use.gd", 1, "code_reference"),
        ("res://use.gd", 3, "code_reference"),
        ("res://use.gd", 4, "script_load"),
    ];
    let expected: Vec<_> =
        expected.iter().map(|(path, line, kind)| ((*path).into(), *line, (*kind).into())).collect();
    assert_eq!(kinds(&answer), expected);
    assert_eq!(
        (&answer["resolved_kind"], &answer["target_exists"]),
        (&json!("file"), &json!(true))
    );
    assert_eq!(answer["counts_by_kind"]["ext_resource"], 2);
    assert!(answer["unread_files"][0].as_str().unwrap().starts_with("res://broken.tscn"));
    let by_uid = kit.call(TOOL, &json!({"target": "uid://bscore"})).unwrap();
    assert_eq!(by_uid["impacts"], answer["impacts"]);
    assert_eq!(by_uid["resolved_path"], "res://score.gd");
    assert_eq!(by_uid["target_exists"], Value::Null);
    let main = kit.call(TOOL, &json!({"target": "res://main.tscn"})).unwrap();
    assert_eq!(kinds(&main), [("res://project.godot".into(), 2, "project_setting".into())]);
}

/// BL-32.
#[test]
fn a_placeholder_counts_and_a_missing_file_is_said() {
    let (_dir, kit) = project(&FILES);
    let base = kit.call(TOOL, &json!({"target": "res://base.tscn"})).unwrap();
    assert_eq!(kinds(&base), [("res://main.tscn".into(), 5, "resource_reference".into())]);
    let gone = kit.call(TOOL, &json!({"target": "res://score.gd2"})).unwrap();
    assert_eq!(gone["target_exists"], false);
    assert_eq!(kinds(&gone), [("res://use.gd".into(), 5, "code_reference".into())]);
}

#[test]
fn a_folder_is_traced_with_all_below_it() {
    let (_dir, kit) = project(&[
        ("a/x.gd", "var y = load(\"res://a/y.gd\")"),
        ("a/y.gd", ""),
        ("b.gd", "var d = \"res://a/\"\nvar y = load(\"res://a/y.gd\")\nvar z = \"res://ab\""),
    ]);
    let answer = kit.call(TOOL, &json!({"target": "res://a/"})).unwrap();
    assert_eq!(answer["resolved_kind"], "folder");
    let lines: Vec<_> = kinds(&answer).into_iter().map(|(path, line, _)| (path, line)).collect();
    assert_eq!(lines, [("res://b.gd".into(), 1), ("res://b.gd".into(), 2)]);
}

#[test]
fn names_and_nodes_are_traced() {
    let (_dir, kit) = project(&FILES);
    let signal = kit.call(TOOL, &json!({"target": "changed"})).unwrap();
    assert_eq!(signal["resolved_kind"], "signal");
    assert_eq!(signal["declared_in"][0]["path"], "res://score.gd");
    assert_eq!(signal["counts_by_kind"], json!({"scene_connection": 1, "code_reference": 1}));
    let action = kit.call(TOOL, &json!({"target": "jump"})).unwrap();
    assert_eq!(action["resolved_kind"], "input_action");
    let node = kit.call(TOOL, &json!({"target": "$Lazy"})).unwrap();
    assert_eq!(node["resolved_kind"], "node_path");
    assert_eq!(node["declared_in"][0]["line"], 5);
    let none = kit.call(TOOL, &json!({"target": "nowhere_named"})).unwrap();
    assert_eq!((&none["target_exists"], &none["impact_count"]), (&json!(false), &json!(0)));
}

#[test]
fn a_target_of_no_kind_is_refused_and_a_bound_is_said() {
    let (_dir, kit) = project(&FILES);
    for target in ["http://x", "a b", "user://x", "/root/x", "res://../x"] {
        let (found, refusal) = code(kit.call(TOOL, &json!({"target": target})));
        assert_eq!(
            (found.as_str(), &refusal.data["field"]),
            ("invalid_arguments", &json!("target"))
        );
    }
    let answer = kit.answer(TOOL, &json!({"target": "res://score.gd", "max_impacts": 2})).unwrap();
    assert_eq!(answer.truncated, Some(true));
}
