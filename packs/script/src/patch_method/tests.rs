#![allow(clippy::disallowed_methods, reason = "lays plain files out for the test")]
use std::fs;

use didi_plugin_api::{digest::sha256_hex, prelude::*, testkit::Kit};

use crate::ScriptPack;

const TOOL: &str = "script_patch_method";

struct Case {
    folder: tempfile::TempDir,
    kit: Kit,
}

fn case(text: &str) -> Case {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("project.godot"), "config_version=5\n").unwrap();
    fs::write(folder.path().join("a.gd"), text).unwrap();
    let kit = Kit::open::<ScriptPack>(folder.path());
    Case { folder, kit }
}

fn args(kind: &str, name: &str, new: &str) -> Value {
    json!({ "file_path": "res://a.gd", "method_name": name, "new_definition": new,
            "symbol_type": kind, "create_if_missing": false })
}

impl Case {
    fn text(&self) -> String {
        fs::read_to_string(self.folder.path().join("a.gd")).unwrap()
    }

    fn refused(&self, args: &Value) -> Refusal {
        let before = self.text();
        let refusal = self.kit.call(TOOL, args).unwrap_err();
        assert_eq!(self.kit.preview(TOOL, args).unwrap_err(), refusal, "a preview checks the same");
        assert_eq!(self.text(), before);
        refusal
    }
}

/// Patches, holds the file against `want`, and patches again, which must change nothing.
#[track_caller]
fn check_args(text: &str, args: &Value, want: &str) -> Value {
    let case = case(text);
    let target = case.kit.preview(TOOL, args).unwrap();
    assert_eq!(case.text(), text, "a preview writes nothing");
    let got = case.kit.call(TOOL, args).unwrap();
    assert_eq!(case.text(), want);
    assert_eq!(got["previous_sha256"], sha256_hex(text.as_bytes()));
    assert_eq!(got["sha256"], sha256_hex(want.as_bytes()));
    assert_eq!(target.after.unwrap()["sha256"], got["sha256"], "the preview says what comes");
    assert_eq!(got["has_errors"], false, "{got}");
    let again = case.kit.call(TOOL, args).unwrap();
    assert_eq!(case.text(), want, "a second identical call changes nothing");
    assert_eq!((&again["status"], &again["changed"]), (&json!("unchanged"), &json!(false)));
    got
}

#[track_caller]
fn check(text: &str, kind: &str, name: &str, new: &str, want: &str) {
    let got = check_args(text, &args(kind, name, new), want);
    assert_eq!(got["status"], "replaced_offline");
}

#[track_caller]
fn check_added(text: &str, kind: &str, name: &str, new: &str, want: &str) {
    let mut args = args(kind, name, new);
    args["create_if_missing"] = json!(true);
    let got = check_args(text, &args, want);
    assert_eq!((&got["status"], &got["created"]), (&json!("created_offline"), &json!(true)));
}

/// BL-41.
#[test]
fn fake_code_in_strings_stays() {
    let head = "extends Node\nconst DOC = \"\"\"\nfunc fake():\n\tpass\nclass_name NotMe\n\"\"\"\n\
                var raw = r\"C:\\no\\tescape\"\nvar s2 = \"has # no comment\"\n";
    let old = "func real(): # func comment(): pass\n\treturn { lua = 1, \"q r\" = 2 }\n";
    let new = "func real() -> int:\n\treturn 3";
    check(&format!("{head}{old}"), "function", "real", new, &format!("{head}{new}\n"));
    let refusal =
        case(&format!("{head}{old}")).refused(&args("function", "fake", "func fake(): pass"));
    assert_eq!(refusal.code.name, "not_found");
    assert_eq!(refusal.data["declared"], json!(["real"]));
}

const ONE_LINE: &str = "@tool class_name LabOne extends Node\nclass C: func test(x): return x\n\
                        func f(): return 1;\nfunc g(): if true: return 2\nenum { A, B = 5 }\n";

/// BL-43.
#[test]
fn scripts_of_one_line_things_are_patched() {
    let with = |from: &str, to: &str| ONE_LINE.replace(from, to);
    check(
        ONE_LINE,
        "function",
        "f",
        "func f():\n\treturn 3\n",
        &with("func f(): return 1;", "func f():\n\treturn 3"),
    );
    check(
        ONE_LINE,
        "function",
        "C.test",
        "func test(x): return -x",
        &with("return x", "return -x"),
    );
    check_added(
        ONE_LINE,
        "function",
        "h",
        "func h(): pass",
        &format!("{ONE_LINE}\nfunc h(): pass\n"),
    );
    let refusal = case(ONE_LINE).refused(&args("function", "test", "func test(x):\n\treturn 1"));
    assert!(refusal.message.contains("shares its line"), "{}", refusal.message);
    let mut into = args("function", "C.more", "func more(): pass");
    into["create_if_missing"] = json!(true);
    let refusal = case(ONE_LINE).refused(&into);
    assert_eq!(refusal.data["retry_with"], json!({ "symbol_type": "class", "method_name": "C" }));
    check("var a = 1; var b = 2\n", "variable", "a", "var a = 3", "var a = 3; var b = 2\n");
}

const LAB: &str = "extends Node\n## How much is left.\n@export_range(0, 100, 0.1,\n\t\"or_greater\")\n\
                   var hp: float = 5.0 # keep\n@export var d: Dictionary[StringName, Array] = {}\n\
                   static var counter := 0\n#region Net\n@rpc(\"any_peer\", \"call_local\")\n\
                   func net(a: int, ...rest: Array) -> void:\n\tpass\n#endregion\n\
                   @abstract class Shape:\n\t@abstract func area() -> float\n";

/// BL-45.
#[test]
fn annotations_comments_and_regions_stay_unless_given() {
    let with = |from: &str, to: &str| LAB.replace(from, to);
    let net = "func net(a: int, ...rest: Array) -> void:\n\tpass";
    let rpc = "@rpc(\"any_peer\", \"call_local\")";
    check(
        LAB,
        "function",
        "net",
        "func net() -> void:\n    print(1)",
        &with(net, "func net() -> void:\n\tprint(1)"),
    );
    check(
        LAB,
        "function",
        "net",
        "## Sends.\n@rpc(\"authority\")\nfunc net(): pass",
        &with(&format!("{rpc}\n{net}"), "## Sends.\n@rpc(\"authority\")\nfunc net(): pass"),
    );
    check(
        LAB,
        "function",
        "net",
        "## Sends.\nfunc net(): pass",
        &with(&format!("{rpc}\n{net}"), &format!("## Sends.\n{rpc}\nfunc net(): pass")),
    );
    check(LAB, "variable", "hp", "var hp := 6.0", &with("var hp: float = 5.0", "var hp := 6.0"));
    check(
        LAB,
        "variable",
        "hp",
        "@export var hp := 6.0",
        &with(
            "@export_range(0, 100, 0.1,\n\t\"or_greater\")\nvar hp: float = 5.0",
            "@export var hp := 6.0",
        ),
    );
    check(
        LAB,
        "variable",
        "hp",
        "## Left.\nvar hp := 6.0",
        &with("How much is left.", "Left.").replace("var hp: float = 5.0", "var hp := 6.0"),
    );
    check(
        LAB,
        "variable",
        "d",
        "var d := {}",
        &with("var d: Dictionary[StringName, Array] = {}", "var d := {}"),
    );
    check(
        LAB,
        "variable",
        "counter",
        "static var counter := 9",
        &with("counter := 0", "counter := 9"),
    );
}

#[test]
fn an_abstract_method_is_one_line_and_may_get_a_body() {
    let with = |from: &str, to: &str| LAB.replace(from, to);
    check(
        LAB,
        "function",
        "area",
        "@abstract func area(scale: float) -> float",
        &with("area()", "area(scale: float)"),
    );
    check(
        LAB,
        "function",
        "Shape.area",
        "func area() -> float:\n  return 1.0",
        &with("\t@abstract func area() -> float", "\tfunc area() -> float:\n\t\treturn 1.0"),
    );
    check_added(
        LAB,
        "function",
        "Shape.name",
        "func name() -> String:\n\treturn \"\"",
        &format!("{LAB}\n\tfunc name() -> String:\n\t\treturn \"\"\n"),
    );
}

/// BL-46.
#[test]
fn line_ends_marks_and_missing_ends_stay() {
    let new = "func add():\n\tpass\n";
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let added = "\nfunc add():\n\tpass\n";
    check_added(&crlf(LAB), "function", "add", new, &crlf(&format!("{LAB}{added}")));
    let marked = format!("\u{FEFF}{LAB}");
    check_added(&marked, "function", "add", new, &format!("{marked}{added}"));
    let open = LAB.trim_end();
    check_added(open, "function", "add", new, &format!("{open}\nfunc add():\n\tpass"));
    check_added("", "function", "add", new, new);
    let both = crlf(&marked);
    let want = both
        .replace("...rest: Array) -> void:\r\n\tpass", ") -> void:\r\n\treturn")
        .replace("a: int, )", "a: int)");
    check(&both, "function", "net", "func net(a: int) -> void:\r\n\treturn\r\n", &want);
    check("var a = 1\nvar b = 2", "variable", "b", "var b = 3\n", "var a = 1\nvar b = 3");
}

/// BL-47.
#[test]
fn the_body_takes_on_the_files_indentation() {
    let spaces = "func a():\n    if true:\n        pass\n\nfunc b():\n    pass\n";
    let new = "func b():\n\tif f(1,\n\t\t\t2):\n\t\t# why\n\t\tprint(\"\"\"\n\tas it is\n\"\"\")\n\n\treturn";
    let want = "func a():\n    if true:\n        pass\n\nfunc b():\n    if f(1,\n            2):\n        # why\n\
                \x20       print(\"\"\"\n\tas it is\n\"\"\")\n\n    return\n";
    check(spaces, "function", "b", new, want);
    let tabs = "func a():\n\tif true:\n\t\tpass\n\nfunc b():\n\tpass\n";
    let new = "    func b():\n      for i in 3:\n        print(i)\n";
    let want = "func a():\n\tif true:\n\t\tpass\n\nfunc b():\n\tfor i in 3:\n\t\tprint(i)\n";
    check(tabs, "function", "b", new, want);
    let inner = "class In:\n  func a():\n    pass\n  func z(): pass\n";
    check(
        inner,
        "function",
        "a",
        "func a():\n\treturn 1",
        &inner.replace("pass\n  func z", "return 1\n  func z"),
    );
    // As it is copied from inside a class: the first line without its white space.
    let new = "func a():\n\t\tif true:\n\t\t\tpass\n\t\treturn 1";
    let want = "if true:\n      pass\n    return 1\n  func z";
    check(inner, "function", "a", new, &inner.replace("pass\n  func z", want));
    let mixed = args("function", "b", "func b():\n\tif true:\n        pass");
    assert_eq!(case(tabs).refused(&mixed).data["field"], "new_definition");
}

#[test]
fn bodies_end_where_the_engine_ends_them() {
    let text = "func a():\n\tvar s = \"\nfunc not():\n\"\n\n# at the margin\n\tpass\n\t# inside\n\n# of b\nfunc b():\n\tpass\n";
    check(text, "function", "a", "func a(): pass", "func a(): pass\n\n# of b\nfunc b():\n\tpass\n");
    let text = "var x: int:\n\tset(v):\n\t\tx = v\n\tget:\n\t\treturn x\nvar y\n";
    check(text, "variable", "x", "var x: int", "var x: int\nvar y\n");
    check(
        "var y\n",
        "variable",
        "y",
        text.strip_suffix("var y\n").unwrap().replace('x', "y").as_str(),
        &text.strip_suffix("var y\n").unwrap().replace('x', "y"),
    );
}

#[test]
fn names_in_two_places_have_to_be_told_apart() {
    let text =
        "class A:\n\tfunc f(): return 1\nclass B:\n\tfunc f(): return 2\nfunc f(): return 3\n";
    let refusal = case(text).refused(&args("function", "f", "func f(): return 9"));
    assert_eq!(refusal.code.name, "invalid_arguments");
    assert_eq!(
        refusal.data["candidates"],
        json!([
            { "scope": "A", "line": 2, "method_name": "A.f" },
            { "scope": "B", "line": 4, "method_name": "B.f" },
            { "scope": "the script", "line": 5, "method_name": ".f" },
        ])
    );
    check(text, "function", "B.f", "func f(): return 9", &text.replace("return 2", "return 9"));
    check(text, "function", ".f", "func f(): return 9", &text.replace("return 3", "return 9"));
}

#[test]
fn what_is_no_definition_of_it_is_refused() {
    let text = "var a = 1\nfunc f(): pass\n";
    for (kind, name, new, want) in [
        ("function", "f", "pass", "invalid_arguments"),
        ("function", "f", "# func f(): pass", "invalid_arguments"),
        ("function", "f", "func g(): pass", "invalid_arguments"),
        ("function", "f", "var f = 1", "invalid_arguments"),
        ("function", "f", "func f(): pass\nfunc g(): pass", "invalid_arguments"),
        ("function", "f", "func f(): pass\u{0}", "invalid_arguments"),
        ("function", "--script", "func f(): pass", "invalid_arguments"),
        ("function", "a", "func a(): pass", "invalid_arguments"),
        ("function", "g", "func g(): pass", "not_found"),
        ("function", "In.g", "func g(): pass", "not_found"),
    ] {
        let refusal = case(text).refused(&args(kind, name, new));
        assert_eq!(refusal.code.name, want, "{name} {new}: {}", refusal.message);
    }
    let refusal = case(text).refused(&args("function", "a", "func a(): pass"));
    assert_eq!(refusal.data["retry_with"], json!({ "symbol_type": "variable" }));
    let refusal = case(text).refused(&args("signal", "s", "signal s"));
    assert_eq!(refusal.data["retry_with"], json!({ "create_if_missing": true }));
}

/// BL-49.
#[test]
fn a_patch_that_breaks_the_script_says_so_and_how_to_go_back() {
    let text = "extends Node\n# of f\nfunc f():\n\tpass\n";
    let case = case(text);
    let got = case.kit.call(TOOL, &args("function", "f", "func f()\n\tpass")).unwrap();
    assert_eq!((&got["compiles"], &got["has_errors"]), (&json!(false), &json!(true)), "{got}");
    assert_eq!(got["diagnostics"][0]["line"], 3);
    assert_eq!(got["previous_sha256"], sha256_hex(text.as_bytes()));
    assert_eq!(got["previous_definition"], "# of f\nfunc f():\n\tpass");
    let back = got["previous_definition"].as_str().unwrap();
    let got = case.kit.call(TOOL, &args("function", "f", back)).unwrap();
    assert_eq!(got["has_errors"], false);
}

#[test]
fn a_preview_shows_both_sides() {
    let case = case("func f():\n\tpass\n");
    let target = case.kit.preview(TOOL, &args("function", "f", "func f(): return 1")).unwrap();
    assert_eq!(target.before["symbol_exists"], true);
    assert_eq!(target.before["definition"], "func f():\n\tpass");
    assert_eq!(target.after.unwrap()["definition"], "func f(): return 1");
    let mut new = args("function", "g", "func g(): pass");
    new["create_if_missing"] = json!(true);
    assert_eq!(case.kit.preview(TOOL, &new).unwrap().before["symbol_exists"], false);
}

/// BL-45, BL-46, BL-49.
#[test]
fn a_real_engine_compiles_what_was_patched() {
    for text in [
        LAB.to_owned(),
        LAB.replace('\n', "\r\n"),
        format!("\u{FEFF}{LAB}"),
        LAB.trim_end().to_owned(),
        ONE_LINE.to_owned(),
    ] {
        let Case { folder: _folder, kit } = case(&text);
        let Some(kit) = kit.real_children() else { return };
        let mut add = args("function", "added", "    func added() -> int:\n        return 1");
        add["create_if_missing"] = json!(true);
        let got = kit.call(TOOL, &add).unwrap();
        assert_eq!(
            (&got["engine_checked"], &got["compiles"]),
            (&json!(true), &json!(true)),
            "{got}"
        );
        let broken = args("function", "added", "func added() -> int\n\treturn 1");
        let got = kit.call(TOOL, &broken).unwrap();
        assert_eq!(got["compiles"], false, "{got}");
        assert!(got["diagnostics"][0]["line"].is_u64());
    }
}

/// Scripts that nobody wrote for these tests: the fixtures, and those below `DIDI_TEST_SCRIPTS` where it is set.
fn real_scripts() -> Vec<String> {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/projects");
    let mut folders = vec![std::path::PathBuf::from(fixtures)];
    folders.extend(std::env::var_os("DIDI_TEST_SCRIPTS").map(Into::into));
    let mut found = vec![];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "gd") {
                found.extend(fs::read_to_string(path).ok());
            }
        }
    }
    found
}

/// A text less the white space of its blank lines, which a definition loses.
fn tidy(text: &str) -> String {
    text.lines()
        .map(|line| if line.trim().is_empty() { "\n".into() } else { format!("{line}\n") })
        .collect()
}

#[test]
fn a_definition_put_in_its_own_place_changes_nothing() {
    let mut tried = 0;
    for text in real_scripts().into_iter().chain([LAB.into(), ONE_LINE.into()]) {
        let case = case(&text);
        let file = json!({ "file_path": "res://a.gd" });
        let symbols = case.kit.call("script_get_symbols", &file).unwrap();
        let kinds = [
            ("function", "functions"),
            ("variable", "variables"),
            ("constant", "constants"),
            ("signal", "signals"),
            ("enum", "enums"),
            ("class", "classes"),
        ];
        for (kind, list) in kinds {
            for symbol in symbols[list].as_array().unwrap() {
                let Some(name) = symbol["name"].as_str() else { continue };
                let name = format!("{}.{name}", symbol["class"].as_str().unwrap_or_default());
                // What is there is asked for with a definition of another text.
                let probe = match kind {
                    "function" => "func NAME(): pass",
                    "variable" => "var NAME",
                    "constant" => "const NAME = 1",
                    "signal" => "signal NAME",
                    "enum" => "enum NAME { A }",
                    _ => "class NAME: pass",
                };
                let own = name.rsplit('.').next().unwrap();
                let probe = args(kind, &name, &probe.replace("NAME", own));
                let Ok(target) = case.kit.preview(TOOL, &probe) else { continue };
                let present = target.before["definition"].as_str().unwrap();
                let target = case.kit.preview(TOOL, &args(kind, &name, present)).unwrap();
                let after = target.after.unwrap();
                let after = after["definition"].as_str().unwrap();
                assert_eq!(tidy(after), tidy(present.trim_start()), "{name}");
                tried += 1;
            }
        }
    }
    assert!(tried > 10, "{tried}");
}

#[test]
fn a_text_cut_anywhere_is_patched_or_refused() {
    let one_line = format!("{ONE_LINE}{LAB}");
    let crlf = LAB.replace('\n', "\r\n");
    for text in [LAB, &one_line, &crlf] {
        let case = case("");
        for end in (0..text.len()).step_by(3) {
            fs::write(case.folder.path().join("a.gd"), &text[..end]).unwrap();
            for (kind, name, new) in [
                ("function", "net", "func net(): pass"),
                ("variable", "hp", "@export\nvar hp = 1"),
                ("function", "Shape.area", "# a\nfunc area():\n\tpass"),
                ("class", "Shape", "class Shape: pass"),
                ("function", "test", "func test(): pass"),
            ] {
                let mut args = args(kind, name, new);
                args["create_if_missing"] = json!(end % 2 == 0);
                if let Err(refusal) = case.kit.preview(TOOL, &args) {
                    assert!(refusal.code.status < 500, "{end}: {}", refusal.message);
                }
            }
        }
    }
    // And the other way round: a definition cut anywhere.
    let case = case(LAB);
    for end in 1..LAB.len() {
        let args = args("variable", "hp", &LAB[..end]);
        if let Err(refusal) = case.kit.preview(TOOL, &args) {
            assert!(refusal.code.status < 500, "{end}: {}", refusal.message);
        }
    }
}
