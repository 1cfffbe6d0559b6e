#![allow(clippy::disallowed_methods, reason = "lays plain files out for the test")]
use std::{collections::BTreeSet, fs, path::Path};

use didi_plugin_api::{
    prelude::*,
    testkit::{Kit, real_engine, run_for_real},
};

use crate::ProjectPack;

const TOOL: &str = "project_run_tests";
const GUT: &str = "addons/gut/gut_cmdln.gd";
const GDUNIT4: &str = "addons/gdUnit4/bin/GdUnitCmdTool.gd";
const GOOD: &str = "extends RefCounted\n\nconst Lamp = preload(\"res://lamp.gd\")\n\n\n\
    func test_lit():\n\treturn \"\" if Lamp.new().lit else \"dark\"\n\n\n\
    func test_later():\n\treturn \"skip\"\n";
const BAD: &str = "extends RefCounted\n\n\nfunc test_bad():\n\treturn \"one is not two\"\n";
const BROKEN: &str = "extends RefCounted\n\n\nfunc test_broken(:\n\treturn \"\"\n";

type Files<'a> = &'a [(&'a str, &'a str)];

fn project(framework: &str, files: Files<'_>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("project.godot", "config_version=5\n\n[autoload]\n\nNight=\"*res://night.gd\"\n");
    put("night.gd", "extends Node\n\nconst SKY = \"res://sky.tres\"\n");
    put("sky.tres", "[gd_resource type=\"Resource\" format=3]\n\n[resource]\n");
    put("lamp.gd", "extends RefCounted\n\nvar lit = true\n");
    put("other.gd", "extends RefCounted\n");
    put("addons/suite.gd", include_str!("runner/suite.gd"));
    let runner = match framework {
        GUT => include_str!("runner/gut_cmdln.gd"),
        _ => include_str!("runner/GdUnitCmdTool.gd"),
    };
    put(framework, runner);
    for (name, text) in files {
        put(name, text);
    }
    folder
}

fn real(folder: &Path) -> Option<Kit> {
    Kit::open::<ProjectPack>(folder).real_children()
}

fn names(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            found.insert(path.to_string_lossy().into_owned());
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    found
}

#[test]
fn both_frameworks_pass_and_leave_their_record_alone() {
    for (runner, name) in [(GUT, "gut"), (GDUNIT4, "gdunit4")] {
        let folder = project(runner, &[("test/deep/test_lamp.gd", GOOD)]);
        let Some(kit) = real(folder.path()) else { return };
        let before = names(folder.path());
        let answer = kit.answer(TOOL, &json!({})).unwrap();
        assert_eq!(answer.truncated, Some(false));
        let data: Value = serde_json::from_str(answer.data.get()).unwrap();
        assert_eq!(data["verdict"], "pass", "{data}");
        assert_eq!(data["framework"], name);
        assert_eq!(data["paths"], json!(["res://test"]));
        let counts = json!({"total": 2, "passed": 1, "failed": 0, "errors": 0, "skipped": 1, "no_assertions": 0});
        assert_eq!(data["counts"], counts);
        assert_eq!(data["tests"][0]["name"], "test_lit");
        assert_eq!(data["tests"][0]["file"], "res://test/deep/test_lamp.gd");
        assert_eq!(data["record"], "res://.didi/scenarios/tests.json");
        let recorded = kit.read("godot://project/scenarios", "").unwrap()["scenarios"][0].take();
        assert_eq!(
            (&recorded["verdict"], &recorded["stale"]),
            (&json!("pass"), &json!(false)),
            "{recorded}"
        );
        fs::remove_dir_all(folder.path().join(".didi")).unwrap();
        assert!(data.get("output_tail").is_none());
        let mut hashed: BTreeSet<&str> =
            data["files"].as_object().unwrap().keys().map(String::as_str).collect();
        hashed.remove("res://.gutconfig.json");
        let reached =
            ["lamp.gd", "night.gd", "project.godot", "sky.tres", "test/deep/test_lamp.gd"];
        let reached = reached.map(|name| format!("res://{name}"));
        assert_eq!(hashed, reached.iter().map(String::as_str).collect());
        assert_eq!(names(folder.path()), before, "{name}");
    }
}

#[test]
fn a_failure_is_a_refusal_with_the_report() {
    for (runner, line) in [(GUT, 7), (GDUNIT4, 12)] {
        let folder = project(runner, &[("test/test_lamp.gd", GOOD), ("test/test_bad.gd", BAD)]);
        let Some(kit) = real(folder.path()) else { return };
        let refusal = kit.call(TOOL, &json!({})).unwrap_err();
        assert_eq!(refusal.code.name, "tests_failed");
        let report = &refusal.data["report"];
        assert_eq!(report["verdict"], "fail");
        assert_eq!(report["counts"]["failed"], 1);
        let failed =
            report["tests"].as_array().unwrap().iter().find(|test| test["name"] == "test_bad");
        let failed = failed.unwrap();
        assert_eq!(failed["file"], "res://test/test_bad.gd");
        assert_eq!(failed["line"], line);
        assert!(failed["message"].as_str().unwrap().contains("one is not two"));
        assert!(report["failed_tests"][0].as_str().unwrap().ends_with("::test_bad"));
        assert!(report["output_tail"].is_array());
    }
}

#[test]
fn a_script_that_does_not_load_stops_a_pass() {
    for runner in [GUT, GDUNIT4] {
        let folder =
            project(runner, &[("test/test_lamp.gd", GOOD), ("test/test_broken.gd", BROKEN)]);
        let Some(kit) = real(folder.path()) else { return };
        let refusal = kit.call(TOOL, &json!({})).unwrap_err();
        assert_eq!(refusal.code.name, "scripts_did_not_load");
        let report = &refusal.data["report"];
        assert_eq!(report["verdict"], "error");
        let broken = &report["scripts_did_not_load"][0];
        assert_eq!(
            (&broken["file"], &broken["line"]),
            (&json!("res://test/test_broken.gd"), &json!(4))
        );

        let paths = json!({"paths": ["res://test/test_lamp.gd"]});
        assert_eq!(kit.call(TOOL, &paths).unwrap()["counts"]["total"], 2);
    }
}

#[test]
fn gut_runs_what_its_settings_name_unless_told_otherwise() {
    let config = r#"{"dirs": ["res://checks"], "include_subdirs": true}"#;
    let files =
        [(".gutconfig.json", config), ("checks/test_lamp.gd", GOOD), ("test/test_bad.gd", BAD)];
    let folder = project(GUT, &files);
    let Some(kit) = real(folder.path()) else { return };
    let data = kit.call(TOOL, &json!({})).unwrap();
    assert_eq!(data["paths"], json!(["res://checks"]));
    assert!(data["files"]["res://.gutconfig.json"].is_string());
    // A script alone is run without the folders of the settings.
    let refusal = kit.call(TOOL, &json!({"paths": ["res://test/test_bad.gd"]})).unwrap_err();
    assert_eq!(refusal.data["report"]["counts"]["total"], 1);
}

#[test]
fn a_class_that_a_test_names_is_a_file_of_the_run() {
    let test =
        "extends RefCounted\n\n\nfunc test_class():\n\treturn \"\" if Lantern.new() else \"no\"\n";
    let files = [
        ("test/test_class.gd", test),
        ("lantern.gd", "class_name Lantern\nextends RefCounted\n\nvar wick = Wick.new()\n"),
        ("wick.gd", "extends RefCounted\nclass_name Wick\n"),
        ("unused.gd", "extends RefCounted\nclass_name Unused\n# Lantern\n"),
    ];
    let folder = project(GUT, &files);
    let Some(engine) = real_engine() else { return };
    let Some(kit) = real(folder.path()) else { return };
    // The engine knows no class before an import.
    let refusal = kit.call(TOOL, &json!({})).unwrap_err();
    assert_eq!(refusal.code.name, "project_not_imported");
    let report = &refusal.data["report"];
    assert_eq!(report["reason"], "scripts_did_not_load");
    assert_eq!(report["scripts_did_not_load"][0]["file"], "res://test/test_class.gd");
    let path = folder.path().to_string_lossy().into_owned();
    let spec = ChildSpec {
        program: None,
        args: ["--headless", "--path", &path, "--import"].map(Into::into).into(),
        env: vec![],
        folder: None,
        timeout_ms: 60_000,
        max_output_bytes: 1 << 20,
    };
    run_for_real(&engine, folder.path(), &spec).unwrap();
    let files = kit.call(TOOL, &json!({})).unwrap()["files"].clone();
    let files: Vec<_> = files.as_object().unwrap().keys().cloned().collect();
    assert!(files.contains(&"res://wick.gd".into()) && files.contains(&"res://lantern.gd".into()));
    assert!(
        !files.contains(&"res://unused.gd".into()) && !files.contains(&"res://other.gd".into())
    );
}

/// A run of GUT as an engine reports it: the report, the exit code, the output.
fn scripted(report: Option<&str>, change: impl Fn(&mut ChildReport)) -> Result<Value, Refusal> {
    let classes =
        ("list=[]\n; as if it named res://addons/gut/\n", ".godot/global_script_class_cache.cfg");
    scripted_in(&[("test/test_lamp.gd", GOOD), (classes.1, classes.0)], report, change)
}

fn scripted_in(
    files: Files<'_>,
    report: Option<&str>,
    change: impl Fn(&mut ChildReport),
) -> Result<Value, Refusal> {
    let folder = project(GUT, files);
    let mut ran = ChildReport {
        pid: 7,
        exit_code: Some(0),
        signal: None,
        timed_out: false,
        tree_exited: true,
        ran_ms: 5,
        lines: vec![],
        output_truncated: false,
    };
    change(&mut ran);
    let report = report.map(str::to_owned);
    let kit = Kit::open::<ProjectPack>(folder.path()).children("4.6.3.stable", move |spec| {
        let place = spec.args.iter().find_map(|arg| arg.strip_prefix("-gjunit_xml_file="));
        if let Some(report) = &report {
            fs::write(place.unwrap(), report).unwrap();
        }
        Ok(ran.clone())
    });
    kit.call(TOOL, &json!({}))
}

fn suite(cases: &str) -> String {
    format!(
        "<testsuites><testsuite name=\"res://test/test_lamp.gd\">{cases}</testsuite></testsuites>"
    )
}

fn lines(texts: &[&str]) -> Vec<ChildLine> {
    texts.iter().map(|text| ChildLine { stderr: true, text: (*text).into() }).collect()
}

const PASSED: &str = "<testcase name=\"a\" assertions=\"1\" status=\"pass\"/>";

#[test]
fn a_pass_has_to_be_proven() {
    let reason = |result: Result<Value, Refusal>| {
        let refusal = result.unwrap_err();
        (refusal.code.name.into_owned(), refusal.data["report"]["reason"].clone())
    };
    let said = |code: &str, why: &str| (code.to_owned(), json!(why));
    let nothing = |_: &mut ChildReport| {};
    let passed = suite(PASSED);
    assert_eq!(scripted(Some(&passed), nothing).unwrap()["verdict"], "pass");

    let failed = "tests_failed";
    assert_eq!(reason(scripted(None, nothing)), said(failed, "no_report"));
    assert_eq!(reason(scripted(Some("<testsuites>"), nothing)), said(failed, "report_unreadable"));
    assert_eq!(reason(scripted(Some(&suite("")), nothing)), said("no_tests", "no_tests"));
    let skipped =
        suite("<testcase name=\"a\"><skipped/></testcase><testcase name=\"b\" assertions=\"0\"/>");
    assert_eq!(reason(scripted(Some(&skipped), nothing)), said(failed, "nothing_proved"));
    let crashed = |ran: &mut ChildReport| {
        ran.exit_code = None;
        ran.signal = Some(11);
    };
    assert_eq!(reason(scripted(Some(&passed), crashed)), said(failed, "exit_code_disagrees"));
    let cut = |ran: &mut ChildReport| ran.output_truncated = true;
    assert_eq!(reason(scripted(Some(&passed), cut)), said("output_truncated", "output_truncated"));
    let broken = |file: &str| {
        let place = format!("          at: GDScript::reload ({file}:2)");
        lines(&["SCRIPT ERROR: Parse Error: Identifier \"X\" not declared.", &place])
    };
    let own = |ran: &mut ChildReport| ran.lines = broken("res://lamp.gd");
    let code = "scripts_did_not_load";
    assert_eq!(reason(scripted(Some(&passed), own)), said(code, code));
    // One of an addon is listed and stops nothing.
    let addon = |ran: &mut ChildReport| ran.lines = broken("res://addons/x/x.gd");
    let data = scripted(Some(&passed), addon).unwrap();
    assert_eq!(data["addon_scripts_did_not_load"][0]["file"], "res://addons/x/x.gd");

    let late = scripted(None, |ran| {
        ran.timed_out = true;
        ran.exit_code = None;
    });
    let refusal = late.unwrap_err();
    assert_eq!(refusal.code, codes::TIMEOUT);
    assert_eq!(refusal.data["retry_with"], json!({"timeout_seconds": 360}));
    assert_eq!(refusal.data["report"]["reason"], "timeout");

    let gut = |ran: &mut ChildReport| ran.lines = broken("res://addons/gut/gut_cmdln.gd");
    let refusal = scripted(None, gut).unwrap_err();
    assert!(
        refusal.message.contains("`res://addons/gut/gut_cmdln.gd` did not load"),
        "{refusal:?}"
    );
}

#[test]
fn a_framework_whose_classes_are_unknown_needs_an_import() {
    // It says so in words of its own, or its scripts do not compile.
    let refusal = scripted_in(&[("test/test_lamp.gd", GOOD)], None, |_| {}).unwrap_err();
    assert_eq!(refusal.code.name, "project_not_imported");
    assert_eq!(refusal.data["report"]["reason"], "no_report");
    assert_eq!(refusal.data["report"]["not_imported"], true);
}

#[test]
fn long_reports_are_cut_and_keep_what_failed() {
    let cases = PASSED.repeat(1_500) + "<testcase name=\"z\"><failure>no</failure></testcase>";
    let report = scripted(Some(&suite(&cases)), |_| {}).unwrap_err().data["report"].clone();
    assert_eq!(report["counts"]["total"], 1_501);
    assert_eq!(report["tests"].as_array().unwrap().len(), 1_000);
    assert_eq!(report["tests"][0]["name"], "z");
    assert_eq!(report["truncated"], true);
}

#[test]
fn arguments_are_judged_before_an_engine_is_looked_for() {
    let folder = project(GUT, &[("test/readme.md", ""), ("checks,old/test_a.gd", GOOD)]);
    let kit = Kit::open::<ProjectPack>(folder.path());
    let ask = |args: Value| kit.call(TOOL, &args).unwrap_err();
    let refusal = ask(json!({}));
    assert_eq!((&*refusal.code.name, &refusal.data["field"]), ("no_tests", &json!("paths")));
    let refusal = ask(json!({"framework": "gdunit4"}));
    assert_eq!(refusal.code, codes::NOT_FOUND);
    assert_eq!(refusal.data["retry_with"], json!({"framework": "gut"}));
    assert_eq!(ask(json!({"paths": ["res://no"]})).code, codes::NOT_FOUND);
    assert_eq!(ask(json!({"paths": ["res://project.godot"]})).code, codes::NOT_FOUND);
    assert_eq!(ask(json!({"paths": ["res://../x"]})).code, codes::INVALID_ARGUMENTS);
    assert_eq!(ask(json!({"paths": ["res://checks,old"]})).code, codes::INVALID_ARGUMENTS);
    assert_eq!(ask(json!({"paths": ["res://addons/suite.gd"]})).code, codes::ENGINE_UNAVAILABLE);

    let empty = tempfile::tempdir().unwrap();
    let refusal = Kit::open::<ProjectPack>(empty.path()).call(TOOL, &json!({})).unwrap_err();
    assert_eq!(refusal.code, codes::NOT_FOUND);
    assert!(refusal.data["no_remedy"].is_string());
}
