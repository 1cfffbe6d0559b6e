#![allow(clippy::disallowed_methods, reason = "lays plain files out for the test")]
use std::fs;

use didi_plugin_api::{prelude::*, testkit::Kit};

use crate::ScriptPack;

const TOOL: &str = "script_check_syntax";

fn project(files: &[(&str, &[u8])]) -> (tempfile::TempDir, Kit) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("project.godot"), "config_version=5\n").unwrap();
    for (path, bytes) in files {
        fs::write(folder.path().join(path), bytes).unwrap();
    }
    let kit = Kit::open::<ScriptPack>(folder.path());
    (folder, kit)
}

#[test]
fn without_an_engine_the_grammar_answers_and_says_so() {
    let (_folder, kit) = project(&[("bad.gd", b"extends Node\nfunc broken(\n")]);
    for args in [
        json!({ "file_path": "res://bad.gd" }),
        json!({ "source_text": "extends Node\nfunc broken(\n" }),
    ] {
        let got = kit.call(TOOL, &args).unwrap();
        assert_eq!(got["has_errors"], true, "{got}");
        assert_eq!(got["engine_checked"], false);
        assert_eq!(got["engine_available"], false);
        assert_eq!(got["diagnostics"][0]["rule"], "syntax");
        assert_eq!(got["diagnostics"][0]["line"], 2);
        assert!(got["limitation"].as_str().unwrap().starts_with("only the syntax"));
    }
    let got = kit.call(TOOL, &json!({ "source_text": "var a = missing\n" })).unwrap();
    assert_eq!((&got["has_errors"], got.get("file_path")), (&json!(false), None));
}

#[test]
fn what_is_no_script_is_refused() {
    let (_folder, kit) = project(&[]);
    for (args, code) in [
        (json!({}), "invalid_arguments"),
        (json!({ "file_path": "res://a.txt" }), "invalid_arguments"),
        (json!({ "file_path": "--headless" }), "invalid_arguments"),
        (json!({ "file_path": "res://gone.gd" }), "not_found"),
    ] {
        assert_eq!(kit.call(TOOL, &args).unwrap_err().code.name, code, "{args}");
    }
}

#[test]
fn bytes_that_are_no_text_are_given_to_no_engine() {
    let (_folder, kit) = project(&[("latin.gd", b"extends Node\n# \xE4\n")]);
    let kit = kit.children("4.6.3.stable", |_| panic!("an engine was started"));
    let got = kit.call(TOOL, &json!({ "file_path": "res://latin.gd" })).unwrap();
    assert_eq!(got["diagnostics"][0]["rule"], "invalid_encoding");
    assert_eq!(got["diagnostics"][0]["line"], 2);
    assert_eq!((&got["has_errors"], &got["engine_checked"]), (&json!(true), &json!(false)));
    let got = kit.call(TOOL, &json!({ "source_text": "var a\u{0}" })).unwrap();
    assert_eq!(got["diagnostics"][0]["rule"], "text");
}

#[test]
fn an_engine_that_hangs_is_stopped_and_the_answer_is_cut() {
    let (_folder, kit) = project(&[("a.gd", b"func f(\n")]);
    let kit = kit.children("4.6", |spec| {
        assert_eq!(spec.timeout_ms, 5000);
        Ok(ChildReport {
            pid: 7,
            exit_code: None,
            signal: Some(9),
            timed_out: true,
            tree_exited: true,
            ran_ms: 5000,
            lines: vec![],
            output_truncated: false,
        })
    });
    let answer = kit.answer(TOOL, &json!({ "file_path": "res://a.gd" })).unwrap();
    assert_eq!(answer.truncated, Some(true));
    let got: Value = serde_json::from_str(answer.data.get()).unwrap();
    assert_eq!((&got["engine_checked"], &got["engine_timed_out"]), (&json!(false), &json!(true)));
    assert_eq!(got["diagnostics"][0]["rule"], "syntax");
}

#[test]
fn a_real_engine_checks_files_and_unsaved_texts() {
    let lab = "class_name LabAnnot\nstatic func mk() -> LabAnnot:\n\treturn LabAnnot.new()\n";
    let (folder, kit) =
        project(&[("lab.gd", lab.as_bytes()), ("typed.gd", b"var a: int = \"x\"\n")]);
    let Some(kit) = kit.real_children() else { return };
    let check = |args: Value| kit.call(TOOL, &args).unwrap();
    // BL-37: before an import the class is not known, and that is no fault of the script.
    let got = check(json!({ "file_path": "res://lab.gd" }));
    assert_eq!(
        (&got["engine_checked"], &got["has_errors"]),
        (&json!(true), &json!(false)),
        "{got}"
    );
    assert_eq!(got["diagnostics"][0]["rule"], "class_cache_missing");
    let got = check(json!({ "file_path": "res://typed.gd" }));
    assert_eq!(got["has_errors"], true);
    assert_eq!(got["diagnostics"][0]["file"], "res://typed.gd");
    // Texts in no file: types are checked, and nothing of the project is touched.
    let got = check(json!({ "source_text": "extends Node\nvar a: int = \"x\"\n" }));
    assert_eq!((&got["engine_checked"], &got["has_errors"]), (&json!(true), &json!(true)), "{got}");
    assert_eq!(got["diagnostics"][0]["line"], 2);
    assert_eq!(got["diagnostics"][0].get("file"), None);
    let got = check(json!({ "source_text": "extends Node\nfunc f() -> int:\n\treturn 1\n" }));
    assert_eq!(got["has_errors"], false, "{got}");
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        3 + usize::from(folder.path().join(".godot").exists())
    );
    // A text that is to replace the file of its own class.
    fs::create_dir_all(folder.path().join(".godot")).unwrap();
    let cache = "list=[{\n\"base\": &\"RefCounted\",\n\"class\": &\"LabAnnot\",\n\"icon\": \"\",\n\
                 \"is_abstract\": false,\n\"is_tool\": false,\n\"language\": &\"GDScript\",\n\
                 \"path\": \"res://lab.gd\"\n}]\n";
    fs::write(folder.path().join(".godot/global_script_class_cache.cfg"), cache).unwrap();
    let text = format!("{lab}var other = preload(\"typed.gd\")\n");
    let got = check(json!({ "file_path": "res://lab.gd", "source_text": text }));
    assert_eq!(got["has_errors"], false, "{got}");
    assert_eq!(got["file_path"], "res://lab.gd");
    assert_eq!(got["diagnostics"][0]["rule"], "relative_path_unsaved", "{got}");
    assert!(!got.to_string().contains("unsaved_text.gd"), "{got}");
    // The same text as another file would be a second class of that name.
    let got = check(json!({ "file_path": "res://copy.gd", "source_text": lab }));
    assert_eq!(got["has_errors"], true, "{got}");
}

/// A script of the cases, as it stands among the fixtures.
fn case(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/cases");
    fs::read_to_string(std::path::Path::new(folder).join(name)).unwrap()
}

/// BL-41, BL-43, BL-44, BL-45, BL-46: what the engine compiles is compiled, and has no fault to the grammar.
/// BL-47: mixed indentation is refused by both.
#[test]
fn the_engine_and_the_grammar_agree_on_the_scripts_of_the_cases() {
    let sound = ["bl41_strings", "bl43_one_line", "bl44_continued", "bl45_annotations"];
    let mut texts: Vec<(String, bool)> =
        sound.iter().map(|name| (case(&format!("{name}.gd")), true)).collect();
    let lab = texts[3].0.clone();
    texts.push((lab.replace('\n', "\r\n"), true));
    texts.push((format!("\u{FEFF}{lab}"), true));
    texts.push((lab.trim_end().to_owned(), true));
    texts.push((case("bl47_mixed.gd"), false));
    for (text, compiles) in texts {
        let (_folder, kit) = project(&[("a.gd", text.as_bytes())]);
        let args = json!({ "file_path": "res://a.gd" });
        let read = kit.call(TOOL, &args).unwrap();
        assert_eq!(read["has_errors"], !compiles, "{read}\n{text}");
        let Some(kit) = kit.real_children() else { return };
        let compiled = kit.call(TOOL, &args).unwrap();
        assert_eq!(
            (&compiled["engine_checked"], &compiled["has_errors"]),
            (&json!(true), &json!(!compiles)),
            "{compiled}\n{text}"
        );
    }
}
