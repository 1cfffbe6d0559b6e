use didi_plugin_api::prelude::*;

use crate::tests::{call, code, project};

const TOOL: &str = "project_search_symbols";

fn found(answer: &Value) -> Vec<String> {
    let matches = answer["matches"].as_array().unwrap();
    let line = |one: &Value| {
        let text = |key: &str| one[key].as_str().unwrap().to_owned();
        format!(
            "{}:{}:{} {} {}",
            text("path"),
            one["line"],
            one["column"],
            text("kind"),
            text("name")
        )
    };
    matches.iter().map(line).collect()
}

const FOE: &str = "class_name Foe extends Node\n# func hit(): pass\nconst HIT_MAX = 1\nsignal hit(by)\n\
                   var hits := \"func hit\"\nenum Hits { ONE }\nfunc hit_back() -> void:\n\tvar hit = 1\n\
                   class Inner:\n\tstatic func hit_in(): pass\n";

const PLAYER: &str = "using Godot;\n#region hit\nnamespace Game {\n[GlobalClass] public partial class Player : Node<int> {\n\
                      \t[Signal] public delegate void HitEventHandler(int by);\n\t[Export] private int hit = 3, b;\n\
                      \tpublic const string Hits = \"hit\";\n\tpublic Dictionary<string, int> HitMap { get; set; } = new() { [\"a\"] = 1 };\n\
                      \tpublic override void _Ready() { var hit = 1; Hit(hit); }\n\tpublic T HitOf<T>(int hit) where T : class => default;\n\
                      \tpublic Player(int hit) : base() { }\n\tenum HitKind { hit, b }\n\trecord struct HitRecord(int hit);\n\
                      \tpublic int Hit2 => hit;\n}\n}\n";

#[test]
fn declarations_of_both_languages_are_found_in_order() {
    let (_dir, kit) = project(&[("b/foe.gd", FOE), ("a/Player.cs", PLAYER), ("notes.txt", "hit")]);
    let got = call(&kit, TOOL, &json!({ "query": "hit", "case_sensitive": false }));
    assert_eq!(
        found(&got),
        [
            "res://a/Player.cs:5:32 signal HitEventHandler",
            "res://a/Player.cs:6:23 variable hit",
            "res://a/Player.cs:7:22 constant Hits",
            "res://a/Player.cs:8:33 variable HitMap",
            "res://a/Player.cs:10:11 function HitOf",
            "res://a/Player.cs:12:7 enum HitKind",
            "res://a/Player.cs:13:16 class HitRecord",
            "res://a/Player.cs:14:13 variable Hit2",
            "res://b/foe.gd:3:7 constant HIT_MAX",
            "res://b/foe.gd:4:8 signal hit",
            "res://b/foe.gd:5:5 variable hits",
            "res://b/foe.gd:6:6 enum Hits",
            "res://b/foe.gd:7:6 function hit_back",
            "res://b/foe.gd:10:14 function hit_in",
        ]
    );
    assert_eq!(got["matches"][0]["language"], "csharp");
    assert_eq!(got["matches"][8]["language"], "gdscript");
    assert_eq!(got["matches"][8]["preview"], "const HIT_MAX = 1");
    assert_eq!((&got["search_kind"], &got["lexical"]), (&json!("symbols"), &json!(true)));
    assert_eq!(got["scanned_files"], 2);
    assert_eq!(got["unsearchable_extensions"], json!([".txt"]));
}

#[test]
fn matches_are_narrowed_by_case_kind_ending_and_way() {
    let (_dir, kit) = project(&[("foe.gd", FOE), ("Player.cs", PLAYER)]);
    let names = |args: Value| {
        let got = call(&kit, TOOL, &args);
        let matches = got["matches"].as_array().unwrap();
        matches.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(json!({ "query": "hit", "match": "exact" })), ["hit", "hit"]);
    assert_eq!(
        names(json!({ "query": "it_", "match": "contains", "case_sensitive": false })),
        ["HIT_MAX", "hit_back", "hit_in"]
    );
    assert_eq!(
        names(json!({ "query": "P", "kinds": ["class", "function"] })),
        ["Player", "Player"]
    );
    assert_eq!(names(json!({ "query": "hit", "extensions": [".cs"] })), ["hit"]);
    assert_eq!(names(json!({ "query": "Foe" })), ["Foe"]);
    assert_eq!(names(json!({ "query": "Inner", "kinds": ["class"] })), ["Inner"]);
    assert!(names(json!({ "query": "ONE" })).is_empty());
}

#[test]
fn scripts_inside_scenes_have_the_lines_of_the_file() {
    let scene = "[gd_scene format=3]\n\n[sub_resource type=\"GDScript\" id=\"1\"]\nscript/source = \"extends Node\n\
                 var s = \\\"\\\"\\\"\nfunc fake(): pass\n\\\"\\\"\\\"\nvar t = \\\"a\\\\\\\"b\\\"\nvar u = 1 + \\\\\n\t2\n\
                 func jump(): print(&\\\"x\\\")\n\"\n\n[node name=\"Jumper\" type=\"Node\"]\nscript = SubResource(\"1\")\n";
    let (_dir, kit) = project(&[("a.tscn", scene)]);
    let got = call(&kit, TOOL, &json!({ "query": "jump" }));
    assert_eq!(found(&got), ["res://a.tscn:11:6 function jump"]);
    assert!(found(&call(&kit, TOOL, &json!({ "query": "fake" }))).is_empty());
    assert_eq!(found(&call(&kit, TOOL, &json!({ "query": "u", "match": "exact" }))).len(), 1);
}

#[test]
fn bounds_and_unreadable_files_are_said() {
    let many = "var item_a = 1\n".repeat(20);
    let (dir, kit) = project(&[("a.gd", &many)]);
    crate::tests::lay_bytes(dir.path(), "latin.gd", b"var item_x = '\xE4'\n");
    let answer = kit.answer(TOOL, &json!({ "query": "item_", "max_results": 5 })).unwrap();
    assert_eq!(answer.truncated, Some(true));
    let got = call(&kit, TOOL, &json!({ "query": "item_" }));
    assert_eq!((found(&got).len(), &got["skipped_files"]), (20, &json!(1)));
    assert_eq!(got["diagnostics"][0]["path"], "res://latin.gd");
    for args in [json!({ "query": "two words" }), json!({ "query": "a", "search_path": "a/b/c/d" })]
    {
        assert_eq!(code(kit.call(TOOL, &args)).0, "invalid_arguments", "{args}");
    }
    let refused = kit.call(TOOL, &json!({ "query": "a", "search_path": "res://gone" }));
    assert_eq!(code(refused).0, "not_found");
}

#[test]
fn broken_and_odd_csharp_ends() {
    for text in [
        "class",
        "class A {",
        "}}}}",
        "class A { int x = ",
        "[",
        "#",
        "class A { void F(",
        "<<<>>> (",
    ] {
        let (_dir, kit) = project(&[("a.cs", text)]);
        call(&kit, TOOL, &json!({ "query": "A" }));
    }
}
