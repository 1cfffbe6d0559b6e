//! Ways out of the project (BL-50): every tool that takes a path refuses them, and nothing outside changes.

use std::{fs, path::Path};

use didi_tests::{Launch, Project, Server, stub_engine};
use serde_json::{Value, json};

/// Paths that are no place inside the project.
const WAYS_OUT: [&str; 14] = [
    "../outside/x",
    "res://../outside/x",
    "res://a/../../outside/x",
    "res:///../outside/x",
    "/etc/passwd",
    "//server/share/x",
    "%2e%2e/outside/x",
    "..\\outside\\x",
    "res://..\\outside\\x",
    "C:x",
    "\\\\?\\C:\\x",
    "res://link/x",
    "res://nul\0byte",
    "user://../../x",
];

/// Tools with the argument that names a file, its ending, and what else they need.
fn takers() -> Vec<(&'static str, &'static str, &'static str, Value)> {
    let export = json!({"preset": "Linux", "mode": "pack"});
    vec![
        ("script_create", "script_path", ".gd", json!({"source_text": "extends Node\n"})),
        ("script_get_symbols", "file_path", ".gd", json!({})),
        ("resource_inspect", "resource_path", ".tres", json!({})),
        ("scene_get_hierarchy", "root_path", ".tscn", json!({})),
        ("project_list_resources", "search_path", "", json!({})),
        ("project_search_text", "search_path", "", json!({"query": "secret"})),
        ("project_export", "output_path", ".pck", export),
        ("runtime_launch", "scene_path", ".tscn", json!({"timeout_seconds": 1})),
        ("viewport_create_test_lab", "target_resource_path", ".tscn", json!({})),
    ]
}

/// Everything in a folder, names and sizes, links not followed.
fn census(folder: &Path) -> Vec<(String, u64)> {
    let mut found = vec![];
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let kind = entry.file_type().unwrap();
            found.push((entry.path().display().to_string(), entry.metadata().unwrap().len()));
            if kind.is_dir() {
                open.push(entry.path());
            }
        }
    }
    found.retain(|(path, _)| !path.contains("/.didi"));
    found.sort();
    found
}

#[cfg(unix)]
fn link(to: &Path, at: &Path) {
    std::os::unix::fs::symlink(to, at).unwrap();
}

/// A project with a folder beside it that holds a secret, a link there, and an engine that marks its runs.
fn stage() -> (Project, Server) {
    let project = Project::sample();
    let outside = project.outside().join("outside");
    fs::create_dir(&outside).unwrap();
    for name in ["x", "x.gd", "x.tres", "x.tscn"] {
        fs::write(outside.join(name), "secret\n").unwrap();
    }
    link(&outside, &project.file("link"));
    let engine =
        stub_engine(project.outside(), "echo ran >> \"$(dirname \"$0\")/ran.txt\"; exit 1");
    let server = Launch::over(project.root()).env("GODOT_BIN", engine).start();
    (project, server)
}

/// BL-50.
#[test]
fn every_way_out_is_refused_by_every_tool() {
    let (project, mut server) = stage();
    let before = census(project.outside());
    for (tool, argument, ending, more) in takers() {
        for way in WAYS_OUT {
            let mut arguments = more.clone();
            arguments[argument] = format!("{way}{ending}").into();
            let result = server.call(tool, arguments.clone());
            let text = result["content"][0]["text"].as_str().unwrap();
            assert_eq!(result["isError"], true, "`{tool}` {arguments}: {text}");
            assert!(!text.contains("secret\\n"), "`{tool}` {arguments} reads outside: {text}");
            let refusal: Value = serde_json::from_str(text).unwrap();
            let code = refusal["error"]["data"]["code"].as_str().unwrap();
            // Without `res://`, a scene tree's root is a node's path, which needs an engine.
            let known = ["invalid_arguments", "not_found", "forbidden", "not_connected"];
            assert!(known.contains(&code), "`{tool}` {arguments}: {text}");
            if code == "invalid_arguments" {
                let field = &refusal["error"]["data"]["field"];
                assert_eq!(field, argument, "`{tool}` {arguments}: {text}");
            }
        }
    }
    assert_eq!(census(project.outside()), before, "something was made, changed, or run");
}

#[test]
fn folders_of_the_engine_and_of_version_control_are_not_written() {
    let (project, mut server) = stage();
    for folder in [".godot", ".git", ".Godot", ".didi"] {
        let path = format!("res://{folder}/hook.gd");
        let write = json!({"script_path": path, "source_text": "extends Node\n"});
        let text = server.call("script_create", write).to_string();
        assert!(text.contains("invalid_arguments"), "{text}");
        assert!(text.contains("\\\"field\\\":\\\"script_path\\\""), "{text}");
        assert!(!project.file(&path).exists());
    }
}

#[test]
fn a_search_does_not_follow_a_link_out() {
    let (_project, mut server) = stage();
    let found = server.call("project_search_text", json!({"query": "secret"}));
    assert_eq!(found["structuredContent"]["matches"], json!([]), "{found}");
    let listed = server.call("project_list_resources", json!({})).to_string();
    assert!(!listed.contains("res://link"), "{listed}");
}

/// BL-50.
#[test]
fn a_link_that_stays_inside_is_a_place() {
    let project = Project::sample();
    link(&project.file("lamps"), &project.file("more"));
    let mut server = Server::over_project(&project.root());
    let read = server.call("script_get_symbols", json!({"file_path": "res://more/lamp.gd"}));
    assert_eq!(read["isError"], false, "{read}");
}

/// BL-52.
#[test]
fn names_that_look_like_commands_run_nothing() {
    let (project, mut server) = stage();
    for name in ["a\"; touch pwned; \"", "$(touch pwned)", "`touch pwned`", "--script", "-s"] {
        for (tool, argument) in [("project_export", "preset"), ("runtime_launch", "scene_path")] {
            let mut arguments = json!({});
            if tool == "project_export" {
                arguments = json!({"output_path": "res://build/a.pck", "mode": "pack"});
            }
            arguments[argument] = name.into();
            let result = server.call(tool, arguments);
            assert_eq!(result["isError"], true, "`{tool}` {name}: {result}");
        }
    }
    assert!(!project.file("pwned").exists() && !project.outside().join("pwned").exists());
    assert!(!project.outside().join("ran.txt").exists(), "no engine was run");
}
