#![allow(clippy::disallowed_methods, reason = "lays plain files out for the test")]
use std::fs;

use didi_plugin_api::{prelude::*, testkit::Kit};

use crate::ScriptPack;

fn kit() -> (tempfile::TempDir, Kit) {
    let folder = tempfile::tempdir().unwrap();
    let kit = Kit::open::<ScriptPack>(folder.path());
    (folder, kit)
}

fn symbols(text: &str) -> Value {
    let (_folder, kit) = kit();
    kit.call("script_get_symbols", &json!({ "source_text": text })).unwrap()
}

fn names(answer: &Value, kind: &str) -> Vec<String> {
    let entries = answer[kind].as_array().unwrap();
    entries.iter().map(|entry| entry["name"].as_str().unwrap_or("").to_owned()).collect()
}

/// BL-41.
#[test]
fn code_in_strings_is_no_code() {
    let got = symbols(
        "extends Node\nconst DOC = \"\"\"\nfunc fake():\n\tpass\nclass_name NotMe\n\"\"\"\n\
         var raw = r\"C:\\no\\tescape\"\nvar s2 = \"has # no comment\"\n\
         func real(): # func comment(): pass\n\treturn { lua = 1, \"q r\" = 2 }\n",
    );
    assert_eq!(names(&got, "functions"), ["real"]);
    assert_eq!(names(&got, "constants"), ["DOC"]);
    assert_eq!(names(&got, "variables"), ["raw", "s2"]);
    assert_eq!(got.get("class_name"), None);
    assert_eq!(got["extends"], "Node");
    assert_eq!(got["functions"][0]["line"], 9);
    assert_eq!(got["functions"][0]["end_line"], 10);
    assert_eq!(got.get("syntax_errors"), None);
}

/// BL-43.
#[test]
fn everything_on_one_line_is_read() {
    let got = symbols(
        "@tool class_name LabOne extends Node\nclass C: func test(x): return x\n\
         func f(): return 1;\nfunc g(): if true: return 2\nenum { A, B = 5 }\n",
    );
    assert_eq!(got["class_name"], "LabOne");
    assert_eq!(got["extends"], "Node");
    assert_eq!(names(&got, "classes"), ["C"]);
    assert_eq!(names(&got, "functions"), ["test", "f", "g"]);
    assert_eq!(got["functions"][0]["class"], "C");
    assert_eq!(got["functions"][1].get("class"), None);
    assert_eq!(got["enums"], json!([{ "line": 5, "members": ["A", "B = 5"] }]));
    assert_eq!(got["symbol_count_total"], 5);
}

/// BL-44.
#[test]
fn statements_over_several_lines_are_one() {
    let got = symbols(
        "extends Node\nvar s = \"first\nsecond\"\nvar t = 'a\\\nb'\nfunc h(x, y):\n\tif x \\\n\
         \tand y:\n\t\tprint(\n1,\n  2,\n3,\n4\n)\n\treturn 1\n\nfunc after(): pass\n",
    );
    assert_eq!(names(&got, "variables"), ["s", "t"]);
    assert_eq!(names(&got, "functions"), ["h", "after"]);
    assert_eq!(got["functions"][0]["end_line"], 15);
    assert_eq!(got["functions"][1]["line"], 17);
}

/// BL-45.
#[test]
fn annotations_and_modern_forms_are_read() {
    let got = symbols(
        "extends Node\n## How much is left.\n@export_range(0, 100, 0.1,\n\t\"or_greater\")\n\
         var hp: float = 5.0\n@export var d: Dictionary[StringName, Array] = {}\n\
         @export_group(\"G\")\nvar plain = 1\nstatic var counter := 0\n#region Net\n\
         @rpc(\"any_peer\", \"call_local\")\nfunc net(a: int, ...rest: Array) -> void:\n\tpass\n\
         #endregion\n@abstract class Shape:\n\t@abstract func area() -> float\n\
         signal hit(by: Node, power)\nsignal died\nconst MAX: int = 3\nfunc _init(): pass\n",
    );
    assert_eq!(
        got["variables"],
        json!([
            { "name": "hp", "line": 5, "type": "float", "exported": true },
            { "name": "d", "line": 6, "type": "Dictionary[StringName, Array]", "exported": true },
            { "name": "plain", "line": 8, "exported": false },
            { "name": "counter", "line": 9, "exported": false, "static": true },
        ])
    );
    let functions = &got["functions"];
    assert_eq!(functions[0]["parameters"], json!(["a: int", "...rest: Array"]));
    assert_eq!(functions[0]["return_type"], "void");
    assert_eq!(
        functions[1],
        json!({ "name": "area", "line": 16, "class": "Shape", "parameters": [],
                "return_type": "float" })
    );
    assert_eq!(functions[2]["name"], "_init");
    assert_eq!(got["signals"][0]["arguments"], json!(["by: Node", "power"]));
    assert_eq!(got["signals"][1]["arguments"], json!([]));
    assert_eq!(
        got["constants"],
        json!([{ "name": "MAX", "line": 19, "type": "int", "value": "3" }])
    );
}

#[test]
fn line_ends_and_a_byte_order_mark_change_nothing() {
    let unix = "extends Node\n\nfunc a():\n\tpass\nvar x = 1\n@export\nvar y: int = 2\n";
    let (folder, kit) = kit();
    let mut windows = b"\xEF\xBB\xBF".to_vec();
    windows.extend(unix.replace('\n', "\r\n").bytes());
    fs::write(folder.path().join("w.gd"), windows).unwrap();
    let got = kit.call("script_get_symbols", &json!({ "file_path": "res://w.gd" })).unwrap();
    assert_eq!(got["file_path"], "res://w.gd");
    let want = symbols(unix);
    for kind in ["functions", "variables", "extends", "symbol_count_total"] {
        assert_eq!(got[kind], want[kind]);
    }
    assert_eq!(want["variables"][1]["exported"], true);
}

#[test]
fn a_text_that_does_not_compile_has_symbols() {
    let got = symbols("extends Node\nfunc good(): pass\nfunc broken(\n");
    assert_eq!(names(&got, "functions")[0], "good");
    assert!(got["syntax_errors"].as_u64().unwrap() > 0);
}

#[test]
fn the_bound_keeps_the_first_and_says_so() {
    let (_folder, kit) = kit();
    let args = json!({ "source_text": "var a\nfunc b(): pass\nvar c\n", "max_symbols": 2 });
    let got = kit.answer("script_get_symbols", &args).unwrap();
    assert_eq!(got.truncated, Some(true));
    let got: Value = serde_json::from_str(got.data.get()).unwrap();
    assert_eq!(
        (names(&got, "variables"), names(&got, "functions")),
        (vec!["a".to_owned()], vec!["b".to_owned()])
    );
    assert_eq!(got["symbol_count_total"], 3);
    assert_eq!(got["returned_count"], 2);
}

#[test]
fn deep_and_wide_scripts_are_read() {
    let deep = format!("{}pass\n", "class A: ".repeat(20_000));
    let (_folder, kit) = kit();
    let args = json!({ "source_text": deep, "max_symbols": 5 });
    let got = kit.call("script_get_symbols", &args).unwrap();
    assert_eq!(got["classes"][2], json!({ "name": "A", "line": 1, "class": "A.A" }));
    let wide = "@export\nvar a: int = 1\n".repeat(20_000);
    assert_eq!(symbols(&wide)["symbol_count_total"], 20_000);
}

#[track_caller]
fn check_refused(kit: &Kit, args: &Value, code: &str, field: Option<&str>) {
    let refusal = kit.call("script_get_symbols", args).unwrap_err();
    assert_eq!(refusal.code.name, code, "{}", refusal.message);
    if let Some(field) = field {
        assert_eq!(refusal.data["field"], field);
    }
}

#[test]
fn wrong_sources_are_refused() {
    let (folder, kit) = kit();
    fs::write(folder.path().join("bin.gd"), b"\xFF\xFEx\0").unwrap();
    fs::write(folder.path().join("a.txt"), b"").unwrap();
    let big = fs::File::create(folder.path().join("big.gd")).unwrap();
    big.set_len(crate::source::MAX_SCRIPT_BYTES + 1).unwrap();
    fs::create_dir(folder.path().join("folder.gd")).unwrap();
    let invalid = "invalid_arguments";
    check_refused(&kit, &json!({}), invalid, Some("file_path"));
    let both = json!({ "file_path": "res://a.gd", "source_text": "" });
    check_refused(&kit, &both, invalid, Some("source_text"));
    check_refused(&kit, &json!({ "file_path": "res://a.txt" }), invalid, Some("file_path"));
    check_refused(&kit, &json!({ "file_path": "res://../a.gd" }), invalid, Some("file_path"));
    check_refused(&kit, &json!({ "file_path": "res://none.gd" }), "not_found", None);
    check_refused(&kit, &json!({ "file_path": "res://folder.gd" }), "not_found", None);
    check_refused(&kit, &json!({ "file_path": "res://big.gd" }), "file_too_large", None);
    let bin = json!({ "file_path": "res://bin.gd" });
    check_refused(&kit, &bin, "binary_or_invalid_utf8", Some("file_path"));
    let nul = json!({ "source_text": "a\0b" });
    check_refused(&kit, &nul, "binary_or_invalid_utf8", Some("source_text"));
}

#[cfg(unix)]
#[test]
fn an_unreadable_script_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, kit) = kit();
    let path = folder.path().join("a.gd");
    fs::write(&path, b"").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o0)).unwrap();
    // The superuser reads everything.
    if fs::read(&path).is_err() {
        check_refused(&kit, &json!({ "file_path": "res://a.gd" }), "forbidden", None);
    }
}
