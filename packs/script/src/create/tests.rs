#![allow(clippy::disallowed_methods, reason = "lays plain files out for the test")]
use std::{fs, path::Path};

use didi_plugin_api::{digest::sha256_hex, prelude::*, testkit::Kit};

use crate::ScriptPack;

const TOOL: &str = "script_create";

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("project.godot"), "config_version=5\n").unwrap();
    folder
}

fn create(kit: &Kit, path: &str, text: &str) -> Value {
    let args = json!({ "script_path": path, "source_text": text, "overwrite": true });
    kit.call(TOOL, &args).unwrap()
}

/// A kit whose compiler exits with `code` and prints these lines.
fn compiler(project: &Path, code: i32, lines: &'static [&'static str]) -> Kit {
    Kit::open::<ScriptPack>(project).children("4.6.3.stable", move |spec| {
        assert_eq!(spec.args[0], "--headless");
        assert_eq!(spec.args[3..5], ["--check-only", "--script"]);
        assert!(spec.args[5].starts_with("res://"));
        Ok(ChildReport {
            pid: 7,
            exit_code: Some(code),
            signal: None,
            timed_out: false,
            tree_exited: true,
            ran_ms: 160,
            lines: lines
                .iter()
                .map(|text| ChildLine { stderr: true, text: (*text).into() })
                .collect(),
            output_truncated: false,
        })
    })
}

#[test]
fn the_text_is_written_as_it_was_sent() {
    let folder = project();
    let kit = Kit::open::<ScriptPack>(folder.path());
    for text in ["", "extends Node", "\u{FEFF}var ä = \"名\"\r\n\tpass", "a\rb\n"] {
        let got = create(&kit, "res://deep/er/a.gd", text);
        assert_eq!(fs::read(folder.path().join("deep/er/a.gd")).unwrap(), text.as_bytes());
        assert_eq!(got["sha256"], sha256_hex(text.as_bytes()));
        assert_eq!(got["script_path"], "res://deep/er/a.gd");
    }
}

#[test]
fn without_an_engine_the_syntax_is_read() {
    let folder = project();
    let kit = Kit::open::<ScriptPack>(folder.path());
    let got = create(&kit, "res://a.gd", "extends Node\nfunc broken(\n");
    assert_eq!(got["status"], "created_offline");
    assert_eq!(got["has_errors"], true);
    assert_eq!(got["diagnostics"][0]["line"], 2);
    assert_eq!(got["diagnostics"][0]["rule"], "syntax");
    assert_eq!(got["engine_checked"], false);
    assert_eq!(got["engine_available"], false);
    assert_eq!(got["engine_unavailable_reason"], "no engine was scripted");
    let got = create(&kit, "res://a.gd", "extends Node\nvar a = missing\n");
    assert_eq!(got["status"], "replaced_offline");
    assert_eq!(got["has_errors"], false);
    assert!(got["limitation"].as_str().unwrap().contains("only the syntax"));
}

#[test]
fn the_compilers_words_become_diagnostics() {
    let folder = project();
    let kit = compiler(
        folder.path(),
        1,
        &[
            "SCRIPT ERROR: Parse Error: Expected parameter name.",
            "          at: GDScript::reload (res://bad.gd:2)",
            "ERROR: Failed to load script \"res://bad.gd\" with error \"Parse error\".",
            "   at: load (modules/gdscript/gdscript.cpp:2907)",
        ],
    );
    let got = create(&kit, "res://bad.gd", "func f(:\n");
    assert_eq!(
        got["diagnostics"],
        json!([{ "severity": "error", "message": "Expected parameter name.", "line": 2,
                 "rule": "parse_error", "file": "res://bad.gd" }])
    );
    assert_eq!(got["diagnostics_count"], 1);
    assert_eq!(got["has_errors"], true);
    assert_eq!(got["engine_backend"], "check_only");
    assert_eq!(got["engine_version"], "4.6.3.stable");
    assert_eq!(got["engine_exit_code"], 1);
    assert_eq!(got["engine_duration_seconds"], 0.16);
    assert_eq!(got["engine_timed_out"], false);
}

#[test]
fn a_failure_without_words_is_still_an_error() {
    let folder = project();
    let got = create(&compiler(folder.path(), 1, &[]), "res://a.gd", "");
    assert_eq!(got["has_errors"], true);
    let got = create(&compiler(folder.path(), 1, &["ERROR: Odd."]), "res://a.gd", "");
    assert_eq!(got["diagnostics"][0]["message"], "Odd.");
    // An engine that grumbles about something else and is content with the script.
    let got = create(&compiler(folder.path(), 0, &["ERROR: Odd."]), "res://a.gd", "");
    assert_eq!((got["has_errors"].clone(), got["diagnostics"].clone()), (json!(false), json!([])));
}

#[test]
fn a_compiler_that_hangs_leaves_the_syntax_check() {
    let folder = project();
    let kit = Kit::open::<ScriptPack>(folder.path()).children("4.6", |spec| {
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
    let got = create(&kit, "res://a.gd", "func f(\n");
    assert_eq!(got["engine_timed_out"], true);
    assert_eq!(got["engine_available"], false);
    assert_eq!(got["diagnostics"][0]["rule"], "syntax");
}

const UNKNOWN: &[&str] = &[
    "SCRIPT ERROR: Compile Error: Identifier not found: LabAnnot",
    "          at: GDScript::reload (res://lab.gd:3)",
    "SCRIPT ERROR: Parse Error: Cannot infer the type of \"x\" variable because the value has none.",
    "          at: GDScript::reload (res://lab.gd:4)",
];
const LAB: &str = "class_name LabAnnot\nstatic func mk() -> LabAnnot:\n\treturn LabAnnot.new()\n";

/// BL-37.
#[test]
fn a_missing_class_cache_is_no_fault_of_the_script() {
    let folder = project();
    let got = create(&compiler(folder.path(), 1, UNKNOWN), "res://lab.gd", LAB);
    assert_eq!(got["has_errors"], false, "{got}");
    let first = &got["diagnostics"][0];
    assert_eq!(first["severity"], "warning");
    assert_eq!(first["rule"], "class_cache_missing");
    assert!(first["message"].as_str().unwrap().starts_with("class cache missing, run an import"));
    assert_eq!(got["diagnostics"][1]["severity"], "warning");
}

#[test]
fn a_class_that_the_cache_lacks_is_told_from_one_that_is_nowhere() {
    let folder = project();
    fs::create_dir(folder.path().join(".godot")).unwrap();
    let cache = folder.path().join(".godot/global_script_class_cache.cfg");
    fs::write(&cache, "list=[]").unwrap();
    let kit = compiler(folder.path(), 1, UNKNOWN);
    let got = create(&kit, "res://user.gd", "func f(): LabAnnot.mk()\n");
    assert_eq!(got["has_errors"], true, "declared nowhere");
    assert_eq!(got["diagnostics"][0]["message"], "Identifier not found: LabAnnot");
    fs::create_dir(folder.path().join("lib")).unwrap();
    fs::write(folder.path().join("lib/lab.gd"), format!("@tool\n{LAB}")).unwrap();
    let got = create(&kit, "res://user.gd", "func f(): LabAnnot.mk()\n");
    assert_eq!(got["has_errors"], false);
    assert_eq!(got["diagnostics"][0]["rule"], "class_cache_stale");
    fs::write(&cache, "list=[{\n\"class\": &\"LabAnnot\",\n}]").unwrap();
    let got = create(&kit, "res://user.gd", "func f(): LabAnnot.mk()\n");
    assert_eq!(got["has_errors"], true, "the cache has it, so the engine is right");
}

#[test]
fn an_autoload_is_no_unknown_name() {
    let folder = project();
    let settings = "config_version=5\n[autoload]\nLabAnnot=\"*res://glob.gd\"\n";
    fs::write(folder.path().join("project.godot"), settings).unwrap();
    let got = create(&compiler(folder.path(), 1, UNKNOWN), "res://a.gd", "");
    assert_eq!(got["diagnostics"][0]["rule"], "autoload_not_loaded");
    assert_eq!(got["has_errors"], false);
}

#[track_caller]
fn check_refused(kit: &Kit, args: &Value, code: &str) -> Refusal {
    let refusal = kit.call(TOOL, args).unwrap_err();
    assert_eq!(refusal.code.name, code, "{}", refusal.message);
    let previewed = kit.preview(TOOL, args).unwrap_err();
    assert_eq!(previewed, refusal, "a preview does the same checks");
    refusal
}

#[test]
fn what_is_no_new_script_is_refused_and_nothing_is_written() {
    let folder = project();
    fs::write(folder.path().join("there.gd"), "old").unwrap();
    fs::create_dir(folder.path().join("folder.gd")).unwrap();
    let kit = Kit::open::<ScriptPack>(folder.path());
    for path in [
        "res://a.txt",
        "res://.gd",
        "res://folder.gd",
        "res://../a.gd",
        "a.gd",
        "user://a.gd",
        "--headless.gd",
        "res://con.gd",
    ] {
        let args = json!({ "script_path": path, "source_text": "", "overwrite": true });
        let refusal = check_refused(&kit, &args, "invalid_arguments");
        assert_eq!(refusal.data["field"], "script_path", "{path}");
    }
    let args = json!({ "script_path": "res://there.gd", "source_text": "new" });
    let refusal = check_refused(&kit, &args, "already_exists");
    assert_eq!(refusal.data["retry_with"], json!({ "overwrite": true }));
    assert_eq!(kit.record().written, Vec::<String>::new());
    assert_eq!(fs::read(folder.path().join("there.gd")).unwrap(), b"old");
}

#[test]
fn a_preview_names_what_is_there() {
    let folder = project();
    fs::write(folder.path().join("there.gd"), "old").unwrap();
    let kit = Kit::open::<ScriptPack>(folder.path());
    let args = json!({ "script_path": "res://there.gd", "source_text": "new!", "overwrite": true });
    let target = kit.preview(TOOL, &args).unwrap();
    assert!(target.exists);
    assert_eq!(target.subject, "res://there.gd");
    assert_eq!(
        target.before,
        json!({ "exists": true, "size_bytes": 3, "sha256": sha256_hex(b"old") })
    );
    assert_eq!(target.after.unwrap()["size_bytes"], 4);
    let args = json!({ "script_path": "res://new.gd", "source_text": "" });
    let target = kit.preview(TOOL, &args).unwrap();
    assert!(!target.exists);
    assert_eq!(target.before, json!({ "exists": false }));
    assert!(!folder.path().join("new.gd").exists());
}

#[test]
fn a_real_engine_is_asked() {
    let folder = project();
    let Some(kit) = Kit::open::<ScriptPack>(folder.path()).real_children() else { return };
    let got = create(&kit, "res://good.gd", "extends Node\nfunc f() -> int:\n\treturn 1\n");
    assert_eq!(
        (&got["engine_checked"], &got["has_errors"]),
        (&json!(true), &json!(false)),
        "{got}"
    );
    let got = create(&kit, "res://bad.gd", "extends Node\nvar a: int = \"x\"\nfunc f(: pass\n");
    assert_eq!(got["has_errors"], true);
    assert_eq!(got["diagnostics"][0]["file"], "res://bad.gd");
    let got = create(&kit, "res://lab.gd", LAB);
    assert_eq!(got["has_errors"], false, "{got}");
    assert_eq!(got["diagnostics"][0]["rule"], "class_cache_missing");
    let got = create(&kit, "res://typo.gd", "func f():\n\treturn nowhere_to_be_found\n");
    assert_eq!(got["has_errors"], true, "{got}");
    let settings = "config_version=5\n[autoload]\nGlobal=\"*res://good.gd\"\n";
    fs::write(folder.path().join("project.godot"), settings).unwrap();
    let got = create(&kit, "res://uses.gd", "extends Node\nfunc g():\n\treturn Global.f()\n");
    assert_eq!(got["has_errors"], false, "{got}");
    assert_eq!(got["diagnostics"][0]["rule"], "autoload_not_loaded");
}
