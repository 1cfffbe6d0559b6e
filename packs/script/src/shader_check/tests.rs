#![allow(clippy::disallowed_methods, reason = "lays plain files out for the test")]
use std::fs;

use didi_plugin_api::{prelude::*, testkit::Kit};

use crate::ScriptPack;

const TOOL: &str = "shader_check_compile";

fn project(files: &[(&str, &str)]) -> (tempfile::TempDir, Kit) {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let file = folder.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let kit = Kit::open::<ScriptPack>(folder.path());
    (folder, kit)
}

fn ran(lines: &[&str], timed_out: bool) -> ChildReport {
    ChildReport {
        pid: 7,
        exit_code: (!timed_out).then_some(0),
        signal: None,
        timed_out,
        tree_exited: true,
        ran_ms: 200,
        lines: lines.iter().map(|text| ChildLine { stderr: true, text: (*text).into() }).collect(),
        output_truncated: false,
    }
}

const GOOD: &str = "shader_type canvas_item;\nvoid fragment() { COLOR = vec4(1.0); }\n";

#[test]
fn an_engine_that_accepts_everything_is_not_believed() {
    let (_folder, kit) = project(&[("a.gdshader", GOOD)]);
    let kit = kit.children("4.5.stable", |spec| {
        assert_eq!(spec.args[5..], ["--", "res://a.gdshader"]);
        assert_eq!(spec.timeout_ms, 30_000);
        Ok(ran(&["didi: a wrong shader", "didi: the shader", "didi: the end"], false))
    });
    let got = kit.call(TOOL, &json!({ "shader_path": "res://a.gdshader" })).unwrap();
    assert_eq!((&got["success"], &got["engine_checked"]), (&json!(false), &json!(false)));
    assert!(got["engine_unchecked_reason"].as_str().unwrap().contains("compiles no shaders"));
}

#[test]
fn an_engine_that_hangs_is_stopped() {
    let (_folder, kit) = project(&[("a.gdshader", GOOD)]);
    let kit = kit.children("4.6.3.stable", |_| Ok(ran(&["didi: a wrong shader"], true)));
    let args = json!({ "shader_path": "res://a.gdshader", "timeout_seconds": 2 });
    let answer = kit.answer(TOOL, &args).unwrap();
    assert_eq!(answer.truncated, Some(true));
    let got: Value = serde_json::from_str(answer.data.get()).unwrap();
    assert_eq!((&got["timed_out"], &got["success"]), (&json!(true), &json!(false)));
}

#[test]
fn what_is_no_shader_is_refused() {
    let (_folder, kit) = project(&[("a.txt", "")]);
    for (path, code) in [
        ("res://a.txt", "invalid_arguments"),
        ("--headless", "invalid_arguments"),
        ("res://gone.gdshader", "not_found"),
    ] {
        let refusal = kit.call(TOOL, &json!({ "shader_path": path })).unwrap_err();
        assert_eq!(refusal.code.name, code, "{path}");
    }
    let (_folder, kit) = project(&[("a.gdshader", GOOD)]);
    let refusal = kit.call(TOOL, &json!({ "shader_path": "res://a.gdshader" })).unwrap_err();
    assert_eq!(refusal.code.name, "engine_unavailable");
}

#[test]
fn a_real_engine_compiles_every_kind_of_shader() {
    let settings = "config_version=5\n[autoload]\nBad=\"*res://quits.gd\"\n[shader_globals]\n\
                    wind={\n\"type\": \"float\",\n\"value\": 1.0\n}\n";
    let (folder, kit) = project(&[
        ("project.godot", settings),
        ("quits.gd", "extends Node\nfunc _init():\n\tOS.kill(OS.get_process_id())\n"),
        ("good/a.gdshader", GOOD),
        (
            "good/b.gdshader",
            "shader_type spatial;\n// #include \"res://gone.gdshaderinc\"\n#include \"../inc/c.gdshaderinc\"\n\
          global uniform float wind;\nvoid fragment() { ALBEDO = vec3(tone() * wind); }\n",
        ),
        ("inc/c.gdshaderinc", "float tone() {\n\treturn 0.5;\n}\n"),
        ("inc/wrong.gdshaderinc", "float tone() {\n\treturn vec2(1.0);\n}\n"),
        (
            "uses_wrong.gdshader",
            "shader_type spatial;\n#include \"res://inc/wrong.gdshaderinc\"\nvoid fragment() { ALBEDO = vec3(tone()); }\n",
        ),
        (
            "no_include.gdshader",
            "shader_type sky;\n#include \"res://gone.gdshaderinc\"\nvoid sky() { COLOR = vec3(0.0); }\n",
        ),
        (
            "typed.gdshader",
            "shader_type canvas_item;\n\nvoid fragment() {\n\tCOLOR = vec3(1.0);\n}\n",
        ),
        ("particles.gdshader", "shader_type particles;\nvoid start() { VELOCITY = vec3(0.0) }\n"),
        ("fog.gdshader", "shader_type fog;\nvoid fog() { DENSITY = 1.0; }\n"),
        (
            "by_uid.gdshader",
            "shader_type sky;\n#include \"uid://b1x2c3d4e5f6g\"\nvoid sky() { COLOR = vec3(0.0); }\n",
        ),
        ("none.gdshader", "void fragment() { }\n"),
        ("empty.gdshader", ""),
    ]);
    let Some(kit) = kit.real_children() else { return };
    let check = |path: &str| {
        let got =
            kit.call(TOOL, &json!({ "shader_path": format!("res://{path}.gdshader") })).unwrap();
        assert_eq!(got["engine_checked"], true, "{got}");
        got
    };
    for path in ["good/a", "good/b", "fog"] {
        let got = check(path);
        assert_eq!((&got["success"], &got["diagnostics"]), (&json!(true), &json!([])), "{got}");
    }
    assert_eq!(check("good/b")["includes"], json!(["res://inc/c.gdshaderinc"]));
    for (path, at, line) in [
        ("typed", "res://typed.gdshader", json!(4)),
        ("particles", "res://particles.gdshader", json!(2)),
        ("uses_wrong", "res://inc/wrong.gdshaderinc", json!(2)),
        ("no_include", "res://no_include.gdshader", json!(2)),
        ("none", "res://none.gdshader", Value::Null),
        ("empty", "res://empty.gdshader", Value::Null),
    ] {
        let got = check(path);
        assert_eq!(
            (&got["success"], &got["diagnostics_count"]),
            (&json!(false), &json!(1)),
            "{got}"
        );
        let found = &got["diagnostics"][0];
        assert_eq!((&found["path"], &found["line"]), (&json!(at), &line), "{got}");
    }
    let got = kit.call(TOOL, &json!({ "shader_path": "res://by_uid.gdshader" })).unwrap();
    assert_eq!((&got["success"], &got["engine_checked"]), (&json!(false), &json!(false)), "{got}");
    assert_eq!(got["diagnostics"][0]["rule"], "include_not_followed");
    assert!(!folder.path().join(".godot").exists(), "nothing of the project is touched");
}
