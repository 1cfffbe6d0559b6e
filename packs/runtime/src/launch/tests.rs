#![allow(clippy::disallowed_methods, reason = "lays plain files out for the test")]
use std::{fs, path::Path};

use didi_plugin_api::{prelude::*, testkit::Kit};

use crate::RuntimePack;

const TOOL: &str = "runtime_launch";
const MAIN_SCENE: &str = "[gd_scene format=3]\n\n[ext_resource type=\"Script\" path=\"res://main.gd\" \
    id=\"1\"]\n\n[node name=\"Main\" type=\"Node\"]\nscript = ExtResource(\"1\")\n";

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let settings = "config_version=5\n[application]\nrun/main_scene=\"res://main.tscn\"\n\
                    [physics]\ncommon/physics_ticks_per_second=30\n";
    fs::write(folder.path().join("project.godot"), settings).unwrap();
    fs::write(folder.path().join("main.tscn"), MAIN_SCENE).unwrap();
    fs::write(folder.path().join("main.gd"), "extends Node\n").unwrap();
    folder
}

fn report(lines: &[(bool, &str)]) -> ChildReport {
    ChildReport {
        pid: 7,
        exit_code: Some(0),
        signal: None,
        timed_out: false,
        tree_exited: true,
        ran_ms: 300,
        lines: lines
            .iter()
            .map(|(stderr, text)| ChildLine { stderr: *stderr, text: (*text).into() })
            .collect(),
        output_truncated: false,
    }
}

fn timed_out(lines: &[(bool, &str)]) -> ChildReport {
    ChildReport { exit_code: None, signal: Some(9), timed_out: true, ..report(lines) }
}

/// A kit whose engine answers `ran`.
fn kit(project: &Path, ran: ChildReport) -> Kit {
    Kit::open::<RuntimePack>(project).children("4.6.3.stable", move |_| Ok(ran.clone()))
}

/// The command line that a call leads to, less the project.
fn command_line(args: &Value) -> Vec<String> {
    let folder = project();
    let root = folder.path().canonicalize().unwrap().to_string_lossy().into_owned();
    let (tx, rx) = std::sync::mpsc::channel();
    let kit = Kit::open::<RuntimePack>(folder.path()).children("4.6", move |spec| {
        tx.send(spec.args.clone()).unwrap();
        Ok(report(&[]))
    });
    kit.call(TOOL, args).unwrap();
    rx.recv().unwrap().into_iter().map(|arg| arg.replace(&root, "P")).collect()
}

#[test]
fn the_command_line_is_what_was_asked_for() {
    assert_eq!(command_line(&json!({})), ["--headless", "--path", "P"]);
    let args = json!({ "scene_path": "res://main.tscn", "headless": false, "fixed_fps": 50,
                       "extra_args": ["--quit-after", "20", "--", "--path", "x y"] });
    assert_eq!(
        command_line(&args),
        [
            "--path",
            "P",
            "res://main.tscn",
            "--fixed-fps",
            "50",
            "--quit-after",
            "20",
            "--",
            "--path",
            "x y"
        ]
    );
    let args = json!({ "fixed_fps": true, "extra_args": ["--script", "res://tool.gd"] });
    assert_eq!(
        command_line(&args),
        ["--headless", "--path", "P", "--fixed-fps", "30", "--script", "res://tool.gd"]
    );
    assert_eq!(command_line(&json!({ "fixed_fps": false })).len(), 3);
}

const CHATTER: &[(bool, &str)] = &[
    (false, "Godot Engine v4.6.3.stable"),
    (false, "hello"),
    (true, "ERROR: my err"),
    (true, "   at: push_error (core/variant/variant_utility.cpp:1024)"),
    (false, "between"),
    (true, "   GDScript backtrace (most recent call first):"),
    (true, "       [0] _ready (res://main.gd:4)"),
    (true, "       [1] other (res://main.gd:9)"),
    (true, "\u{1b}[1;33mWARNING: my warn\u{1b}[0m"),
    (true, "     at: push_warning (core/variant/variant_utility.cpp:1034)"),
    (true, "to stderr"),
    (true, "SCRIPT ERROR: Invalid call. Nonexistent function 'foo' in base 'Nil'."),
    (true, "          at: _ready (res://main.gd:8)"),
    (true, "SCRIPT ERROR: Parse Error: Expected parameter name."),
    (true, "          at: GDScript::reload (res://bad.gd:2)"),
    (false, "ERROR: printed by the game itself"),
];

#[test]
fn output_becomes_log_lines_and_diagnostics() {
    let folder = project();
    let got = kit(folder.path(), report(CHATTER)).call(TOOL, &json!({})).unwrap();
    assert_eq!(got["success"], false);
    assert_eq!(got["exit_code"], 0);
    let found = &got["diagnostics"];
    assert_eq!(found.as_array().unwrap().len(), 4);
    assert_eq!(
        found[0],
        json!({ "severity": "error", "message": "my err", "file": "res://main.gd", "line": 4,
                "function": "_ready", "rule": "user_error", "count": 1, "frames": [
                    { "function": "_ready", "file": "res://main.gd", "line": 4 },
                    { "function": "other", "file": "res://main.gd", "line": 9 } ] })
    );
    assert_eq!(found[1]["rule"], "user_warning");
    assert_eq!(found[2]["line"], 8);
    assert_eq!(found[3]["rule"], "parse_error");
    assert_eq!(got["errors"].as_array().unwrap().len(), 3);
    let logs = got["logs"].as_array().unwrap();
    let level = |at: usize| (logs[at]["level"].as_str().unwrap(), logs[at]["continuation"] == true);
    assert_eq!(level(1), ("info", false));
    assert_eq!(level(3), ("error", true));
    assert_eq!(level(4), ("info", false));
    assert_eq!(level(6), ("error", true));
    assert_eq!(level(8), ("warning", false));
    assert_eq!(logs[8]["text"], "WARNING: my warn");
    assert_eq!(level(10), ("stderr", false));
    assert_eq!(level(15), ("info", false));
    assert_eq!(
        got["summary"],
        "The game ended with exit code 0 after 0.3 s; 3 errors, 1 warning; first: my err \
         (res://main.gd:4)"
    );
    assert_eq!(got["kill_wait"], Value::Null);
}

#[test]
fn errors_are_forgiven_when_asked() {
    let folder = project();
    let args = json!({ "break_on_error": false });
    let got = kit(folder.path(), report(CHATTER)).call(TOOL, &args).unwrap();
    assert_eq!(got["success"], true);
    let failed = ChildReport { exit_code: Some(1), ..report(&[]) };
    let got = kit(folder.path(), failed).call(TOOL, &args).unwrap();
    assert_eq!((&got["success"], &got["exit_code"]), (&json!(false), &json!(1)));
    let killed = ChildReport { exit_code: None, signal: Some(11), ..report(&[]) };
    let got = kit(folder.path(), killed).call(TOOL, &args).unwrap();
    assert_eq!((&got["exit_code"], &got["signal"]), (&json!(139), &json!(11)));
    assert!(got["summary"].as_str().unwrap().contains("by signal 11"));
}

#[test]
fn a_game_without_an_end_is_stopped_and_is_no_failure() {
    let folder = project();
    let got = kit(folder.path(), timed_out(&[(false, "hello")])).call(TOOL, &json!({})).unwrap();
    assert_eq!(got["success"], true);
    assert_eq!(got["exit_code"], 124);
    assert_eq!(got["timed_out"], true);
    assert_eq!(got["kill_wait"], "tree_exited");
    assert_eq!(got.get("signal"), None);
    assert!(got["summary"].as_str().unwrap().starts_with("The game did not quit within 10 s"));
}

/// BL-38.
#[test]
fn a_script_that_fails_before_it_quits_says_both() {
    let folder = project();
    let ran = timed_out(&[
        (true, "SCRIPT ERROR: Invalid call. Nonexistent function 'foo' in base 'Nil'."),
        (true, "          at: _init (res://bl38.gd:4)"),
    ]);
    let got = kit(folder.path(), ran).call(TOOL, &json!({ "timeout_seconds": 2 })).unwrap();
    assert_eq!(got["success"], false);
    assert_eq!(got["exit_code"], 124);
    assert_eq!(
        got["summary"],
        "The game did not quit within 2 s and was stopped; 1 error; first: Invalid \
         call. Nonexistent function 'foo' in base 'Nil' (res://bl38.gd:4)"
    );
}

/// BL-62.
#[test]
fn long_output_is_bounded() {
    let folder = project();
    let mut ran = report(&[]);
    for index in 0..5000 {
        for text in [format!("ERROR: {}", index % 300), "   at: f (res://a.gd:1)".into()] {
            ran.lines.push(ChildLine { stderr: true, text });
        }
    }
    ran.lines.push(ChildLine { stderr: false, text: "x".repeat(5000) });
    ran.output_truncated = true;
    let got = kit(folder.path(), ran).call(TOOL, &json!({})).unwrap();
    assert_eq!(got["logs"].as_array().unwrap().len(), 500);
    assert_eq!(got["logs_omitted"], 9501);
    assert_eq!(got["diagnostics"].as_array().unwrap().len(), 100);
    assert_eq!(got["diagnostics"][0]["count"], 17);
    assert_eq!(got["output_truncated"], true);
    assert!(got["summary"].as_str().unwrap().contains("5000 errors"));
    assert!(got.to_string().len() < 100_000);
}

#[track_caller]
fn check_refused(args: &Value, code: &str, field: Option<&str>) {
    let folder = project();
    let kit = Kit::open::<RuntimePack>(folder.path()).children("4.6", |_| unreachable!());
    let refusal = kit.call(TOOL, args).unwrap_err();
    assert_eq!(refusal.code.name, code, "{args}: {}", refusal.message);
    if let Some(field) = field {
        assert_eq!(refusal.data["field"], field, "{args}");
    }
    assert_eq!(kit.preview(TOOL, args).unwrap_err(), refusal);
}

#[test]
fn scenes_are_held_in_the_project() {
    let invalid = "invalid_arguments";
    for path in [
        "--script",
        "-s",
        "main.tscn",
        "/etc/x.tscn",
        "res://../x.tscn",
        "res://main.gd",
        "uid://abc",
        "a\"; touch pwned; \".tscn",
    ] {
        check_refused(&json!({ "scene_path": path }), invalid, Some("scene_path"));
    }
    check_refused(&json!({ "scene_path": "res://no.tscn" }), "not_found", Some("scene_path"));
}

/// BL-52.
#[test]
fn extra_arguments_stay_arguments() {
    let invalid = "invalid_arguments";
    for extra in [
        json!(["a; rm"]),
        json!(["$(id)"]),
        json!(["`id`"]),
        json!(["a\nb"]),
        json!(["--path", "res://x"]),
        json!(["--main-pack", "x.pck"]),
        json!(["--editor"]),
        json!(["--script", "/elsewhere/x.gd"]),
        json!(["-s", "res://../x.gd"]),
        json!(["../other.tscn"]),
        json!(["/x/project.godot"]),
        json!(["--dump-extension-api-with-docs"]),
    ] {
        check_refused(&json!({ "extra_args": extra }), invalid, Some("extra_args"));
    }
    let both = json!({ "fixed_fps": 30, "extra_args": ["--fixed-fps", "60"] });
    check_refused(&both, invalid, Some("fixed_fps"));
    check_refused(&json!({ "fixed_fps": 0 }), invalid, Some("fixed_fps"));
    check_refused(&json!({ "fixed_fps": 1001 }), invalid, Some("fixed_fps"));
}

#[test]
fn names_that_only_an_import_makes_known_are_told() {
    let folder = project();
    let ran = report(&[
        (true, "SCRIPT ERROR: Parse Error: Identifier \"Lab\" not declared in the current scope."),
        (true, "          at: GDScript::reload (res://main.gd:3)"),
    ]);
    let got = kit(folder.path(), ran.clone()).call(TOOL, &json!({})).unwrap();
    assert_eq!(got["diagnostics"][0]["rule"], "class_cache_missing");
    assert!(got["summary"].as_str().unwrap().contains("class cache missing, run an import"));
    fs::create_dir(folder.path().join(".godot")).unwrap();
    fs::write(folder.path().join(".godot/global_script_class_cache.cfg"), "list=[]").unwrap();
    let got = kit(folder.path(), ran).call(TOOL, &json!({})).unwrap();
    assert_eq!(got["diagnostics"][0]["rule"], "parse_error");
}

#[test]
fn an_engine_that_does_not_start_is_quoted() {
    let folder = project();
    let words = "Error: Can't run project: no main scene defined in the project.";
    let ran = ChildReport { exit_code: Some(1), ..report(&[(false, words)]) };
    let got = kit(folder.path(), ran).call(TOOL, &json!({})).unwrap();
    assert!(got["summary"].as_str().unwrap().ends_with(words), "{got}");
    fs::remove_file(folder.path().join("project.godot")).unwrap();
    let refusal = kit(folder.path(), report(&[])).call(TOOL, &json!({})).unwrap_err();
    assert_eq!(refusal.code, codes::NOT_FOUND);
}

#[test]
fn what_this_build_lacks_is_said() {
    let folder = project();
    let kit = Kit::open::<RuntimePack>(folder.path());
    assert_eq!(kit.call(TOOL, &json!({})).unwrap_err().code, codes::ENGINE_UNAVAILABLE);
    fs::write(folder.path().join("project.godot"), "a=\"").unwrap();
    let kit = kit.children("4.6", |_| unreachable!());
    let refusal = kit.call(TOOL, &json!({ "fixed_fps": true })).unwrap_err();
    assert_eq!(refusal.code, codes::UNPROCESSABLE);
}

#[test]
fn a_preview_names_the_scene_and_runs_nothing() {
    let folder = project();
    let kit = Kit::open::<RuntimePack>(folder.path()).children("4.6", |_| unreachable!());
    let target = kit.preview(TOOL, &json!({ "scene_path": "res://main.tscn" })).unwrap();
    assert_eq!(target.subject, "res://main.tscn");
    assert_eq!(target.before["size_bytes"], MAIN_SCENE.len());
    assert_eq!((target.exists, target.resolved_only), (false, true));
    assert_eq!(kit.preview(TOOL, &json!({})).unwrap().subject, "the main scene");
}

#[test]
fn a_real_game_runs() {
    let folder = project();
    let Some(kit) = Kit::open::<RuntimePack>(folder.path()).real_children() else { return };
    let script = "extends Node\nfunc _ready():\n\tprint(\"hello\")\n\tpush_warning(\"careful\")\n\
                  \tget_tree().quit(3)\n";
    fs::write(folder.path().join("main.gd"), script).unwrap();
    let got = kit.call(TOOL, &json!({})).unwrap();
    assert_eq!((&got["exit_code"], &got["success"]), (&json!(3), &json!(false)), "{got}");
    assert_eq!(got["diagnostics"][0]["file"], "res://main.gd", "{got}");
    let said = got["logs"].as_array().unwrap().iter().any(|line| line["text"] == "hello");
    assert!(said);
    fs::write(folder.path().join("main.gd"), "extends Node\n").unwrap();
    let args = json!({ "scene_path": "res://main.tscn", "extra_args": ["--quit-after", "5"],
                       "fixed_fps": true });
    let got = kit.call(TOOL, &args).unwrap();
    assert_eq!((&got["exit_code"], &got["success"]), (&json!(0), &json!(true)), "{got}");
}

/// BL-38.
#[test]
fn a_real_script_that_never_quits_ends_at_the_limit() {
    let folder = project();
    let Some(kit) = Kit::open::<RuntimePack>(folder.path()).real_children() else { return };
    let script = "extends SceneTree\nfunc _init():\n\tvar x = null\n\tx.foo()\n\tquit()\n";
    fs::write(folder.path().join("bl38.gd"), script).unwrap();
    let args = json!({ "extra_args": ["--script", "res://bl38.gd"], "timeout_seconds": 2 });
    let got = kit.call(TOOL, &args).unwrap();
    assert_eq!((&got["exit_code"], &got["success"]), (&json!(124), &json!(false)), "{got}");
    assert_eq!(got["diagnostics"][0]["file"], "res://bl38.gd");
    assert_eq!(got["diagnostics"][0]["line"], 4);
    assert!(got["summary"].as_str().unwrap().contains("did not quit"));
}

#[test]
fn every_argument_can_be_left_out() {
    let folder = project();
    let kit = Kit::open::<RuntimePack>(folder.path());
    let tool = kit.tools().find(|tool| tool.name == TOOL).unwrap();
    assert_eq!(tool.input_schema.get("required"), None, "{}", tool.input_schema);
}
