#![allow(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "lays plain files out for the test, and says what it leaves out"
)]
use std::fs;

use didi_plugin_api::{prelude::*, testkit::Kit};

use crate::ScriptPack;

const TOOL: &str = "csharp_check_build";

fn project(files: &[&str]) -> (tempfile::TempDir, Kit) {
    let folder = tempfile::tempdir().unwrap();
    for path in files {
        fs::write(folder.path().join(path), "").unwrap();
    }
    let kit = Kit::open::<ScriptPack>(folder.path());
    (folder, kit)
}

fn ran(code: Option<i32>, lines: &[String]) -> ChildReport {
    ChildReport {
        pid: 7,
        exit_code: code,
        signal: None,
        timed_out: code.is_none(),
        tree_exited: true,
        ran_ms: 900,
        lines: lines.iter().map(|text| ChildLine { stderr: false, text: text.clone() }).collect(),
        output_truncated: false,
    }
}

/// A kit whose `dotnet` builds with this code and output; `ROOT` in a line is the project's folder.
fn dotnet(kit: Kit, root: &std::path::Path, code: Option<i32>, lines: &[&str]) -> Kit {
    let root = root.canonicalize().unwrap().to_string_lossy().into_owned();
    let lines: Vec<String> = lines.iter().map(|line| line.replace("ROOT", &root)).collect();
    kit.children("4.6.3.stable", move |spec| {
        assert_eq!(spec.program.as_deref(), Some(std::path::Path::new("dotnet")));
        if spec.args == ["--version"] {
            return Ok(ran(Some(0), &["9.0.100".to_owned()]));
        }
        assert_eq!(spec.args[0], "build");
        assert!(spec.args[1].starts_with(&root), "{:?}", spec.args);
        Ok(ran(code, &lines))
    })
}

#[test]
fn what_the_compiler_says_is_listed_once() {
    let (folder, kit) = project(&["Game.sln", "Game.csproj"]);
    let lines = [
        "  Determining projects to restore...",
        "ROOT/src/Player.cs(12,9): error CS1002: ; expected [ROOT/Game.csproj]",
        "ROOT/src/Player.cs(12,9): error CS1002: ; expected [ROOT/Game.csproj]",
        "ROOT/A (1).cs(3,1): warning CS0168: 'e: error x' is unused [1] [ROOT/Game.csproj]",
        "/usr/share/x.targets(5): error NETSDK1045: The SDK is old",
        "MSBUILD : error MSB1003: Specify a project.",
        "Time Elapsed 00:00:01: nothing",
    ];
    let kit = dotnet(kit, folder.path(), Some(1), &lines);
    let got = kit.call(TOOL, &json!({ "configuration": "Release" })).unwrap();
    assert_eq!((&got["success"], &got["exit_code"]), (&json!(false), &json!(1)));
    assert_eq!(got["project_file"], "res://Game.sln");
    assert_eq!(got["dotnet_version"], "9.0.100");
    assert_eq!(
        got["diagnostics"],
        json!([
            { "severity": "error", "code": "CS1002", "message": "; expected",
              "path": "res://src/Player.cs", "line": 12, "column": 9 },
            { "severity": "warning", "code": "CS0168", "message": "'e: error x' is unused [1]",
              "path": "res://A (1).cs", "line": 3, "column": 1 },
            { "severity": "error", "code": "NETSDK1045", "message": "The SDK is old",
              "path": "/usr/share/x.targets", "line": 5 },
            { "severity": "error", "code": "MSB1003", "message": "Specify a project." },
        ])
    );
}

#[test]
fn a_build_has_built_something() {
    let (folder, kit) = project(&["Game.csproj"]);
    let kit = dotnet(
        kit,
        folder.path(),
        Some(0),
        &["  Game -> ROOT/.godot/mono/temp/bin/Debug/Game.dll"],
    );
    let got = kit.call(TOOL, &json!({})).unwrap();
    assert_eq!((&got["success"], &got["projects_built"]), (&json!(true), &json!(["Game"])));
    let (folder, kit) = project(&["Game.csproj"]);
    let kit = dotnet(kit, folder.path(), Some(0), &[]);
    assert_eq!(kit.call(TOOL, &json!({})).unwrap()["success"], false, "nothing was built");
}

#[test]
fn the_file_is_found_or_asked_for() {
    for (files, args, code) in [
        (&[][..], json!({}), "not_found"),
        (&["A.csproj", "B.csproj"][..], json!({}), "invalid_arguments"),
        (&["A.csproj"][..], json!({ "project_file": "res://B.csproj" }), "not_found"),
        (&["a.txt"][..], json!({ "project_file": "res://a.txt" }), "invalid_arguments"),
        (&["A.csproj"][..], json!({ "project_file": "../A.csproj" }), "invalid_arguments"),
    ] {
        let (_folder, kit) = project(files);
        let refusal = kit.call(TOOL, &args).unwrap_err();
        assert_eq!(refusal.code.name, code, "{args}");
        assert_eq!(refusal.data["field"], "project_file");
    }
}

#[test]
fn without_an_sdk_nothing_can_be_done() {
    let (_folder, kit) = project(&["A.csproj"]);
    let kit = kit.children("4.6", |_| {
        let message = "`dotnet` can't be started: no such file";
        Err(Refusal::new(codes::TOOLCHAIN_UNAVAILABLE, message).no_remedy("it is missing"))
    });
    let refusal = kit.call(TOOL, &json!({})).unwrap_err();
    assert_eq!(refusal.code.name, "toolchain_unavailable");
    assert!(refusal.data.contains_key("no_remedy"));
    // A runtime without an SDK.
    let (_folder, kit) = project(&["A.csproj"]);
    let kit = kit.children("4.6", |_| Ok(ran(Some(145), &["No .NET SDKs were found.".to_owned()])));
    let refusal = kit.call(TOOL, &json!({})).unwrap_err();
    assert_eq!(refusal.code.name, "toolchain_unavailable");
    let path = std::env::var_os("PATH").unwrap();
    if std::env::split_paths(&path).any(|folder| folder.join("dotnet").exists()) {
        eprintln!("left out: this machine has a `dotnet`");
        return;
    }
    let (_folder, kit) = project(&["A.csproj"]);
    let Some(kit) = kit.real_children() else { return };
    let refusal = kit.call(TOOL, &json!({})).unwrap_err();
    assert_eq!(refusal.code.name, "toolchain_unavailable");
}

#[test]
fn a_build_that_hangs_is_stopped() {
    let (folder, kit) = project(&["A.csproj"]);
    let kit = dotnet(kit, folder.path(), None, &[]);
    let refusal = kit.call(TOOL, &json!({ "timeout_seconds": 2 })).unwrap_err();
    assert_eq!(refusal.code.name, "timeout");
    assert_eq!(refusal.data["retry_with"], json!({ "timeout_seconds": 300 }));
    let refusal = kit.call(TOOL, &json!({ "timeout_seconds": 300 })).unwrap_err();
    assert!(refusal.data.contains_key("no_remedy"));
}
