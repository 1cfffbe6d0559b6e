//! `didi setup` and `didi doctor` as processes: a fresh project is made ready and found well, a second run changes no
//! byte, and what is broken is named by its cause.
//!
//! Spec: P-57, set-up and diagnosis.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use didi_tests::{
    Project, built_folder, didi, executable::write_executable, godot, project::copy_tree,
    repository, server::program_alone, stub_engine,
};
use serde_json::{Value, json};

/// Where the addon lies.
const LIBRARY: &str = "addons/didi/libdidi_godot.so";
const DESCRIPTION: &str = "addons/didi/didi.gdextension";
const LIST: &str = ".godot/extension_list.cfg";

/// A project with folders of its own around it, and an engine that only says its version.
struct Place {
    project: Project,
    engine: PathBuf,
}

impl Place {
    fn of(project: Project) -> Self {
        let engine = stub_engine(project.outside(), "exit 1");
        Place { project, engine }
    }

    fn sessions(&self) -> PathBuf {
        self.project.outside().join("runtime/didi-sessions")
    }

    /// Runs a command, and gives its exit code and its document.
    fn run(&self, word: &str, more: &[&str]) -> (i32, Value) {
        self.run_with(&self.engine, word, more)
    }

    fn run_with(&self, engine: &Path, word: &str, more: &[&str]) -> (i32, Value) {
        let runtime = self.project.outside().join("runtime");
        let _ = fs::create_dir(&runtime);
        let mut command = program_alone(&didi());
        for name in ["DIDI_SESSION_DIR", "DIDI_PROJECT_ROOT", "GODOT_PATH"] {
            command.env_remove(name);
        }
        command
            .args([word, "--json", "--project"])
            .arg(self.project.root())
            .args(more)
            .env("GODOT_BIN", engine)
            .env("XDG_RUNTIME_DIR", runtime)
            .env("XDG_CONFIG_HOME", self.project.outside().join("config"))
            .env("XDG_CACHE_HOME", self.project.outside().join("cache"))
            .stdin(Stdio::null());
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        let document = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{word} {more:?}: {error}\n{text}\n{errors}"));
        (output.status.code().unwrap(), document)
    }

    /// Sets up, which has to go well.
    fn set_up(&self, more: &[&str]) -> Value {
        let (code, document) = self.run("setup", more);
        assert_eq!((code, &document["ok"]), (0, &json!(true)), "{document:#}");
        document
    }

    /// Every file of the project, and the engine's list.
    fn bytes(&self) -> (didi_tests::Tree, Option<String>) {
        (self.project.tree(), self.project.text(LIST))
    }
}

/// The steps of a document that have a code, as `state code`.
fn findings(document: &Value) -> Vec<String> {
    let steps = document["steps"].as_array().unwrap();
    let told = steps.iter().filter_map(|step| {
        assert!(step["remedy"].is_string() || step.get("code").is_none(), "{step}");
        Some(format!("{} {}", step["state"].as_str()?, step["code"].as_str()?))
    });
    told.collect()
}

fn states(document: &Value) -> Vec<&str> {
    let steps = document["steps"].as_array().unwrap();
    steps.iter().map(|step| step["state"].as_str().unwrap()).collect()
}

fn fixtures() -> Vec<Project> {
    vec![Project::sample(), Project::studio(), Project::harbor(), Project::empty()]
}

#[test]
fn every_fixture_is_set_up_found_well_and_left_alone_the_second_time() {
    for project in fixtures() {
        let settings = fs::read(project.file("project.godot")).unwrap();
        let place = Place::of(project);
        let first = place.set_up(&[]);
        assert!(states(&first).contains(&"done"), "{first:#}");
        let before = place.bytes();
        let second = place.set_up(&[]);
        assert!(
            states(&second).iter().all(|state| ["unchanged", "skipped"].contains(state)),
            "{second:#}"
        );
        assert_eq!(place.bytes(), before, "a second run changes no byte");
        for _ in 0..2 {
            let (code, document) = place.run("doctor", &[]);
            assert_eq!(code, 0, "{document:#}");
            assert_eq!(findings(&document), ["skipped editor_absent"], "{document:#}");
        }
        assert_eq!(place.bytes(), before, "a diagnosis changes nothing");
        assert_eq!(fs::read(place.project.file("project.godot")).unwrap(), settings);
    }
}

#[test]
fn clients_start_this_program_on_this_project() {
    let place = Place::of(Project::sample());
    place.set_up(&[]);
    let json =
        |file: &str| -> Value { serde_json::from_str(&place.project.text(file).unwrap()).unwrap() };
    let root = place.project.root().canonicalize().unwrap();
    let entry = json!({"type": "stdio", "command": didi().canonicalize().unwrap(), "args": ["--project", root]});
    assert_eq!(json(".mcp.json")["mcpServers"]["didi"], entry);
    assert_eq!(json(".cursor/mcp.json")["mcpServers"]["didi"], entry);
    assert_eq!(json(".vscode/mcp.json")["servers"]["didi"], entry);
    let toml = place.project.text(".codex/config.toml").unwrap();
    assert!(toml.starts_with("[mcp_servers.didi]\ncommand = "), "{toml}");
    let command = entry["command"].as_str().unwrap();
    let output = Command::new(command)
        .args(["--project", root.to_str().unwrap()])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "what the clients start runs");
}

#[test]
fn only_the_clients_that_were_asked_for_are_set_up() {
    let place = Place::of(Project::sample());
    place.set_up(&["--client", "cursor,codex", "--client", "cursor", "--no-agent-guide"]);
    let is_there = |file: &str| place.project.text(file).is_some();
    assert!(is_there(".cursor/mcp.json") && is_there(".codex/config.toml"));
    for other in [".mcp.json", ".vscode/mcp.json", "AGENTS.md", "CLAUDE.md"] {
        assert!(!is_there(other), "{other}");
    }
    place.set_up(&["--client", "claude-code"]);
    assert!(
        is_there("CLAUDE.md") && !is_there("AGENTS.md"),
        "the guide lies where its client reads"
    );
}

#[test]
fn the_guide_is_one_block_where_one_file_leads_to_the_other() {
    let place = Place::of(Project::sample());
    place.project.write("CLAUDE.md", "@AGENTS.md\n");
    place.set_up(&[]);
    assert_eq!(place.project.text("CLAUDE.md").unwrap(), "@AGENTS.md\n");
    assert!(place.project.text("AGENTS.md").unwrap().contains("BEGIN DIDI"));
}

#[test]
fn every_tool_of_the_guide_exists() {
    let place = Place::of(Project::sample());
    place.set_up(&["--client", "codex"]);
    let guide = place.project.text("AGENTS.md").unwrap();
    let manifest = program_alone(&didi()).arg("--dump-tool-manifest").output().unwrap();
    let manifest: Value = serde_json::from_slice(&manifest.stdout).unwrap();
    let core = manifest["names"]["core"].as_array().unwrap();
    let words = guide.split('`').skip(1).step_by(2);
    let tools: Vec<&str> = words
        .filter(|word| {
            ["didi_", "scene_", "editor_", "runtime_", "viewport_"]
                .iter()
                .any(|begin| word.starts_with(begin))
        })
        .collect();
    assert!(tools.len() >= 8, "{tools:?}");
    for tool in tools {
        assert!(core.iter().any(|name| name == tool), "{tool}");
    }
}

#[test]
fn what_others_wrote_stays() {
    let place = Place::of(Project::sample());
    let texts = [
        (
            ".mcp.json",
            "{\n    \"mcpServers\": {\n        \"other\": {\"command\": \"x\"}\n    },\n    \"z\": [1, 2]\n}\n",
        ),
        (
            ".vscode/mcp.json",
            "// ours\n{\n\t\"inputs\": [], // none\n\t\"servers\": {\n\t\t\"other\": { \"type\": \"http\", \"url\": \"x\" },\n\t},\n}\n",
        ),
        (
            ".codex/config.toml",
            "# ours\nmodel = \"x\" # kept\n\n[mcp_servers.other]\ncommand = \"y\"\n",
        ),
        ("AGENTS.md", "# Ours\n\nBe kind.\n"),
        (LIST, "res://other.gdextension\n"),
    ];
    for (file, text) in texts {
        place.project.write(file, text);
    }
    place.set_up(&[]);
    for (file, text) in texts {
        let after = place.project.text(file).unwrap();
        let mut lines = after.lines();
        for wanted in text.lines() {
            let bare = |line: &str| line.trim_end_matches(',').to_owned();
            assert!(
                lines.any(|line| bare(line) == bare(wanted)),
                "{file}: `{wanted}` in order:\n{after}"
            );
        }
    }
    assert!(
        place.project.text(".codex/config.toml").unwrap().starts_with(texts[2].1),
        "only added to"
    );
}

#[test]
fn a_file_that_does_not_read_is_left_with_its_place_told() {
    for (file, text, line) in [
        (".mcp.json", "{\n  \"mcpServers\": {\n    \"a\": 1,\n  }\n}\n", "line 4"),
        (".cursor/mcp.json", "{ a ]", "line 1"),
        (".vscode/mcp.json", "{\n  \"servers\": {\n", "line 2"),
        (".codex/config.toml", "a = 1\nb = [1,\n", "line "),
    ] {
        let place = Place::of(Project::sample());
        place.project.write(file, text);
        let (code, document) = place.run("setup", &[]);
        assert_eq!(code, 1, "{file}: {document:#}");
        assert_eq!(findings(&document), ["fail client_config_unreadable"]);
        let steps = document["steps"].as_array().unwrap();
        let step = steps.iter().find(|step| step["state"] == "fail").unwrap();
        let seen = step["seen"].as_str().unwrap();
        assert!(seen.contains(line) && seen.contains("column"), "{seen}");
        assert_eq!(place.project.text(file).unwrap(), text);
        let (code, document) = place.run("doctor", &[]);
        assert_eq!(code, 1);
        assert_eq!(findings(&document), ["skipped editor_absent", "fail client_config_unreadable"]);
    }
}

/// Puts a library with another version's stamp into the project: the built one with the stamp written over.
fn stamp_version(place: &Place, version: &str) {
    let mut bytes = fs::read(place.project.file(LIBRARY)).unwrap();
    let magic = b"DIDIADDON-STAMP{";
    let at = bytes.windows(magic.len()).position(|window| window == magic).unwrap() - 1;
    let stamp = didi_wire::addon::Stamp::of(version).0;
    bytes[at..at + stamp.len()].copy_from_slice(&stamp);
    replace(&place.project.file(LIBRARY), &bytes);
}

/// Writes a new file in a file's place: the old one may be mapped somewhere.
fn replace(file: &Path, bytes: &[u8]) {
    let _ = fs::remove_file(file);
    fs::write(file, bytes).unwrap();
}

#[test]
fn a_newer_addon_is_left_alone_unless_it_may_be_replaced() {
    let place = Place::of(Project::sample());
    place.set_up(&[]);
    stamp_version(&place, "999.0.0");
    let before = place.bytes();
    let (code, document) = place.run("setup", &[]);
    assert_eq!((code, findings(&document)), (0, vec!["warn addon_newer".to_owned()]));
    assert_eq!(place.bytes(), before);
    place.set_up(&["--replace-addon"]);
    assert_eq!(findings(&place.run("doctor", &[]).1), ["skipped editor_absent"]);
}

#[test]
fn a_project_with_carriage_returns_keeps_them() {
    let place = Place::of(Project::sample());
    let settings = place.project.text("project.godot").unwrap().replace('\n', "\r\n");
    place.project.write("project.godot", &settings);
    place.project.write("AGENTS.md", "# Ours\r\n");
    place.set_up(&[]);
    assert_eq!(place.project.text("project.godot").unwrap(), settings);
    let guide = place.project.text("AGENTS.md").unwrap();
    assert_eq!(guide.matches('\n').count(), guide.matches("\r\n").count());
    assert_eq!(findings(&place.run("doctor", &[]).1), ["skipped editor_absent"]);
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_project_is_not_followed() {
    for (name, inner) in
        [(".vscode", "mcp.json"), ("addons", "didi"), (".godot", "extension_list.cfg")]
    {
        let place = Place::of(Project::sample());
        let outside = place.project.outside().join("elsewhere");
        fs::create_dir(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, place.project.file(name)).unwrap();
        let (code, document) = place.run("setup", &[]);
        assert_eq!(code, 1, "{name}: {document:#}");
        assert_eq!(findings(&document), ["fail file_refused"], "{name}: {document:#}");
        assert!(!outside.join(inner).exists(), "{name}");
    }
    let place = Place::of(Project::sample());
    let target = place.project.outside().join("target.json");
    fs::write(&target, "{}").unwrap();
    std::os::unix::fs::symlink(&target, place.project.file(".mcp.json")).unwrap();
    let (code, _) = place.run("setup", &[]);
    assert_eq!((code, fs::read_to_string(&target).unwrap()), (1, "{}".into()));
}

/// A fault and the codes by which a diagnosis names it.
type Fault = (&'static str, fn(&Place), &'static [&'static str]);

fn edit(place: &Place, file: &str, old: &str, new: &str) {
    let text = place.project.text(file).unwrap();
    assert!(text.contains(old), "{file} has no `{old}`:\n{text}");
    place.project.write(file, text.replace(old, new));
}

fn root(place: &Place) -> String {
    place.project.root().canonicalize().unwrap().display().to_string()
}

const FAULTS: [Fault; 23] = [
    (
        "no addon",
        |place| fs::remove_dir_all(place.project.file("addons/didi")).unwrap(),
        &["fail addon_missing"],
    ),
    (
        "no description",
        |place| fs::remove_file(place.project.file(DESCRIPTION)).unwrap(),
        &["fail addon_broken"],
    ),
    (
        "a description that does not read",
        |place| place.project.write(DESCRIPTION, "[configuration\n"),
        &["fail addon_broken"],
    ),
    (
        "a description for other systems",
        |place| edit(place, DESCRIPTION, "linux.", "amiga."),
        &["fail addon_broken"],
    ),
    (
        "another extension's description",
        |place| edit(place, DESCRIPTION, "gdext_rust_init", "other_init"),
        &["fail addon_foreign"],
    ),
    (
        "no library",
        |place| fs::remove_file(place.project.file(LIBRARY)).unwrap(),
        &["fail library_missing"],
    ),
    (
        "a library that was cut short",
        |place| {
            let bytes = fs::read(place.project.file(LIBRARY)).unwrap();
            replace(&place.project.file(LIBRARY), &bytes[..bytes.len() / 2]);
        },
        &["fail library_broken"],
    ),
    (
        "a text in the library's place",
        |place| replace(&place.project.file(LIBRARY), b"git lfs"),
        &["fail library_broken"],
    ),
    (
        "a library for another processor",
        |place| {
            let mut bytes = fs::read(place.project.file(LIBRARY)).unwrap();
            bytes[18] = if bytes[18] == 0x3e { 0xb7 } else { 0x3e };
            replace(&place.project.file(LIBRARY), &bytes);
        },
        &["fail library_other_system"],
    ),
    (
        "a library of somebody else",
        |place| {
            let other = fs::read(built_folder().join("libdidi_pack_vision.so")).unwrap();
            replace(&place.project.file(LIBRARY), &other);
        },
        &["fail addon_foreign"],
    ),
    ("an older addon", |place| stamp_version(place, "0.0.1"), &["warn addon_older"]),
    ("a newer addon", |place| stamp_version(place, "999.0.0"), &["warn addon_newer"]),
    (
        "another build of the same version",
        |place| {
            let mut bytes = fs::read(place.project.file(LIBRARY)).unwrap();
            bytes.push(0);
            replace(&place.project.file(LIBRARY), &bytes);
        },
        &["warn addon_other_build"],
    ),
    (
        "a folder that the engine is kept from",
        |place| place.project.write("addons/.gdignore", ""),
        &["fail addon_hidden"],
    ),
    (
        "no list of extensions",
        |place| fs::remove_file(place.project.file(LIST)).unwrap(),
        &["warn extension_not_listed"],
    ),
    (
        "a plugin that is not there",
        |place| {
            let more = "\n[editor_plugins]\n\nenabled=PackedStringArray(\"res://addons/didi/plugin.cfg\")\n";
            let text = place.project.text("project.godot").unwrap();
            place.project.write("project.godot", text + more);
        },
        &["warn plugin_missing"],
    ),
    (
        "settings that do not read",
        |place| place.project.write("project.godot", "config_version=5\n[application]\na=\"\n"),
        &["fail project_unreadable"],
    ),
    (
        "a client with another project",
        |place| edit(place, ".mcp.json", &root(place), "/"),
        &["fail client_other_project"],
    ),
    (
        "a client without a project",
        |place| edit(place, ".vscode/mcp.json", "--project", "--tools"),
        &["fail client_no_project"],
    ),
    (
        "a client with a program that is gone",
        |place| edit(place, ".codex/config.toml", "target/", "target/gone/"),
        &["fail client_program_missing"],
    ),
    (
        "a client with another program",
        |place| {
            let other = place.project.outside().join("didi");
            write_executable(&other, b"#!/bin/sh\n");
            let own = didi().canonicalize().unwrap().display().to_string();
            edit(place, ".cursor/mcp.json", &own, &other.display().to_string());
        },
        &["warn client_other_program"],
    ),
    (
        "a client that is not set up",
        |place| fs::remove_file(place.project.file(".mcp.json")).unwrap(),
        &["skipped client_config_missing"],
    ),
    (
        "a client that does not know how to speak",
        |place| edit(place, ".vscode/mcp.json", "\"type\": \"stdio\",", ""),
        &["fail client_config_incomplete"],
    ),
];

#[cfg(target_os = "linux")]
#[test]
fn a_diagnosis_names_the_cause() {
    for (what, spoil, wanted) in FAULTS {
        let place = Place::of(Project::sample());
        place.set_up(&[]);
        spoil(&place);
        let before = place.bytes();
        let (code, document) = place.run("doctor", &[]);
        let found = findings(&document);
        let found: Vec<&str> = found
            .iter()
            .map(String::as_str)
            .filter(|one| *one != "skipped editor_absent")
            .collect();
        assert_eq!(found, wanted, "{what}: {document:#}");
        assert_eq!(code == 1, wanted[0].starts_with("fail"), "{what}: {document:#}");
        assert_eq!(place.bytes(), before, "{what}: a diagnosis changes nothing");
        // What set-up can mend, it does.
        if !["plugin_missing", "addon_newer", "addon_foreign", "addon_hidden", "project_unreadable"]
            .iter()
            .any(|code| wanted[0].ends_with(code))
        {
            place.set_up(&[]);
            assert_eq!(
                findings(&place.run("doctor", &[]).1),
                ["skipped editor_absent"],
                "{what} is mended"
            );
        }
    }
}

#[cfg(unix)]
#[test]
fn a_diagnosis_names_what_is_wrong_with_sessions_and_engines() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::of(Project::sample());
    place.set_up(&[]);
    let told = |wanted: &str| {
        let (_, document) = place.run("doctor", &[]);
        let found = findings(&document);
        assert!(found.iter().any(|one| one == wanted), "{wanted}: {document:#}");
        document.to_string()
    };
    fs::create_dir_all(place.sessions()).unwrap();
    fs::set_permissions(place.sessions(), fs::Permissions::from_mode(0o755)).unwrap();
    let seen = told("fail session_folder_not_private");
    assert!(seen.contains("mode 755"), "{seen}");
    fs::set_permissions(place.sessions(), fs::Permissions::from_mode(0o700)).unwrap();
    let stale = descriptor(&place);
    told("warn session_stale");
    place.set_up(&[]);
    assert!(!stale.exists(), "set-up takes away what an ended engine left");
    fs::write(place.sessions().join("x.json"), "{}").unwrap();
    told("warn session_not_private");
    fs::set_permissions(place.sessions().join("x.json"), fs::Permissions::from_mode(0o600))
        .unwrap();
    told("warn session_unreadable");
    fs::remove_dir_all(place.sessions()).unwrap();
    fs::write(place.sessions(), "").unwrap();
    told("fail session_folder_not_private");
    let old = place.project.outside().join("old-godot");
    write_executable(&old, b"#!/bin/sh\necho 4.3.1.stable.test\n");
    for engine in [old, place.project.outside().join("no-godot")] {
        let (code, document) = place.run_with(&engine, "doctor", &[]);
        assert_eq!(code, 1);
        assert!(findings(&document).contains(&"fail engine_unusable".to_owned()), "{document:#}");
        let named = ["--godot", engine.to_str().unwrap()];
        let (code, document) = place.run_with(&place.engine, "setup", &named);
        assert_eq!(code, 1);
        assert!(
            findings(&document).contains(&"fail engine_unavailable".to_owned()),
            "{document:#}"
        );
    }
}

/// Leaves the descriptor of an engine that has ended.
fn descriptor(place: &Place) -> PathBuf {
    use didi_wire::{
        Descriptor, Identity, PROTOCOL_VERSION, SessionId, SessionKind, SessionToken,
        descriptor::SCHEMA_VERSION, discovery, endpoint, session_dir::SessionDir,
    };
    let session_id = SessionId::random();
    let project_path = root(place);
    // A number that no process has: it is over every limit.
    let pid = 0x7fff_fff0;
    let identity = Identity {
        schema_version: SCHEMA_VERSION,
        session_id,
        pid,
        kind: SessionKind::Editor,
        endpoint: endpoint::name(&std::env::temp_dir(), &project_path, pid, session_id),
        project_path,
        started_at_ms: 1,
        protocol_version: PROTOCOL_VERSION.into(),
        build_id: None,
        engine_version: None,
    };
    let folder = SessionDir { path: place.sessions(), checked: true };
    let descriptor = Descriptor { identity, token: SessionToken::random() };
    discovery::publish(&folder, descriptor).unwrap().path().clone()
}

#[test]
fn a_project_is_named_on_the_command_line_alone() {
    let project = Project::sample();
    for word in ["setup", "doctor"] {
        let output = program_alone(&didi())
            .arg(word)
            .env("DIDI_PROJECT_ROOT", project.root())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{word}");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            errors.contains("error: no project is named") && errors.contains("hint: "),
            "{errors}"
        );
    }
    let place = Place::of(project);
    for bad in [
        &["--client", "emacs"][..],
        &["--timeout", "0"],
        &["--timeout", "3601"],
        &["--godot", "--headless"],
        &["--no-such"],
        &["stray"],
    ] {
        let mut command = program_alone(&didi());
        command.arg("setup").arg("--project").arg(place.project.root()).args(bad);
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{bad:?}");
        assert!(output.stdout.is_empty(), "{bad:?}");
    }
    assert!(!place.project.file("addons").exists(), "bad options change nothing");
}

#[test]
fn the_addon_is_found_beside_the_program_in_its_share_folder_or_where_it_is_named() {
    let place = Place::of(Project::sample());
    let home = place.project.outside().join("opt");
    fs::create_dir_all(home.join("bin")).unwrap();
    fs::create_dir_all(home.join("share/didi/addon")).unwrap();
    let program = home.join("bin/didi");
    write_executable(&program, &fs::read(didi()).unwrap());
    let run = |more: &[&str]| {
        let mut command = Command::new(&program);
        command.args(["setup", "--json", "--project"]).arg(place.project.root()).args(more);
        command.env("XDG_RUNTIME_DIR", place.project.outside()).env_remove("DIDI_SESSION_DIR");
        let output = command.stdin(Stdio::null()).output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    assert_eq!(findings(&run(&[])), ["fail addon_source_missing"]);
    let library = built_folder().join("libdidi_godot.so");
    let named = run(&["--addon", library.to_str().unwrap()]);
    assert_eq!(named["steps"][0]["state"], "done", "{named:#}");
    fs::copy(&library, home.join("share/didi/addon/libdidi_godot.so")).unwrap();
    let shared = run(&[]);
    assert_eq!(shared["steps"][0]["state"], "unchanged", "{shared:#}");
    let foreign = run(&["--addon", built_folder().join("libdidi_pack_scene.so").to_str().unwrap()]);
    assert_eq!(findings(&foreign), ["warn addon_source_missing"], "what is installed is well");
}

#[test]
fn people_get_lines() {
    let place = Place::of(Project::sample());
    let run = |word: &str| {
        let mut command = program_alone(&didi());
        command.args([word, "--project"]).arg(place.project.root());
        command.env("XDG_RUNTIME_DIR", place.project.outside()).env_remove("DIDI_SESSION_DIR");
        command.env("GODOT_BIN", &place.engine);
        let output = command.stdin(Stdio::null()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let text = run("setup");
    assert!(text.lines().any(|line| line.starts_with("done      addon: Didi ")), "{text}");
    let text = run("doctor");
    assert!(text.lines().any(|line| line.starts_with("ok        client codex: ")), "{text}");
    assert!(!text.contains('\u{1b}'), "a pipe gets no colours");
}

/// Ends a process and waits until it is gone.
#[cfg(unix)]
fn end_process(pid: &str) {
    let pid = pid.parse().unwrap();
    didi_tests::signal(pid, didi_tests::Signal::KILL);
    didi_tests::until_gone(pid);
}

#[cfg(unix)]
#[test]
fn a_real_engine_imports_without_a_crash_and_its_editor_answers() {
    let Some(engine) = godot() else { return };
    for project in fixtures() {
        let place = Place::of(project);
        let (code, document) = place.run_with(&engine, "setup", &[]);
        assert_eq!(code, 0, "{document:#}");
        // An engine that meets the extension in its first import aborts at the end; on the list it is known before.
        let mut import = Command::new(&engine);
        import.args(["--headless", "--import", "--path"]).arg(place.project.root());
        import.env("XDG_RUNTIME_DIR", place.project.outside().join("runtime"));
        import.env("XDG_CONFIG_HOME", place.project.outside().join("config"));
        import.env("XDG_CACHE_HOME", place.project.outside().join("cache"));
        let output = import.stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        let before = place.bytes();
        let (code, document) =
            place.run_with(&engine, "setup", &["--headless", "--wait", "--timeout", "240"]);
        assert_eq!(code, 0, "{document:#}");
        let steps = document["steps"].as_array().unwrap();
        let editor = steps.last().unwrap();
        assert_eq!((&editor["step"], &editor["state"]), (&json!("editor"), &json!("done")));
        let seen = editor["seen"].as_str().unwrap();
        let pid = seen.split("process ").nth(1).unwrap().split(' ').next().unwrap();
        let again = place.run_with(&engine, "setup", &["--headless", "--wait"]);
        let doctor = place.run_with(&engine, "doctor", &[]);
        end_process(pid);
        assert_eq!(
            again.1["steps"].as_array().unwrap().last().unwrap()["state"],
            "unchanged",
            "{again:?}"
        );
        assert_eq!((doctor.0, findings(&doctor.1)), (0, vec![]), "{doctor:?}");
        assert_eq!(place.bytes().0.get(".mcp.json"), before.0.get(".mcp.json"));
        let (_, document) = place.run_with(&engine, "doctor", &[]);
        assert!(findings(&document).contains(&"warn session_stale".to_owned()), "{document:#}");
    }
}

#[cfg(unix)]
#[test]
fn an_editor_that_ends_or_does_not_come_is_told() {
    let project = Project::sample();
    let place = Place::of(project);
    let (code, document) = place.run("setup", &["--headless", "--wait", "--timeout", "60"]);
    assert_eq!((code, findings(&document)), (1, vec!["fail editor_ended".to_owned()]));
    let (code, document) = place.run("setup", &["--wait", "--timeout", "1"]);
    assert_eq!((code, findings(&document)), (1, vec!["fail editor_not_seen".to_owned()]));
}

#[test]
fn the_templates_of_the_repository_are_what_is_installed() {
    let place = Place::of(Project::sample());
    place.set_up(&[]);
    let template = repository().join("core/godot/addon/didi.gdextension");
    assert_eq!(place.project.text(DESCRIPTION).unwrap(), fs::read_to_string(template).unwrap());
    let copy = place.project.outside().join("copy");
    copy_tree(&place.project.root(), &copy).unwrap();
    assert!(copy.join(LIBRARY).is_file());
}

#[cfg(target_os = "linux")]
#[test]
fn a_library_that_the_system_does_not_load_is_told() {
    let place = Place::of(Project::sample());
    // Headers and a stamp, and nothing that could be mapped.
    let mut library = fs::read(built_folder().join("libdidi_godot.so")).unwrap()[..64].to_vec();
    library[32..64].fill(0);
    library[40] = 64;
    library.extend(didi_wire::addon::Stamp::of(env!("CARGO_PKG_VERSION")).0);
    let file = place.project.outside().join("libdidi_godot.so");
    fs::write(&file, library).unwrap();
    let named = ["--addon", file.to_str().unwrap()];
    place.set_up(&named);
    let (code, document) = place.run("doctor", &named);
    assert_eq!(code, 1);
    assert_eq!(findings(&document), ["fail library_not_loadable", "skipped editor_absent"]);
}

#[cfg(unix)]
#[test]
fn an_editor_is_told_as_it_is() {
    use didi_tests::{Launch, Signal, live, signal};
    let project = Project::sample();
    let Some(editor) = live::Engine::editor(&project) else { return };
    let sessions = live::sessions(&project).path;
    let place = Place::of(project);
    place.set_up(&[]);
    let doctor = || {
        let mut command = program_alone(&didi());
        command.args(["doctor", "--json", "--project"]).arg(place.project.root());
        command.env("DIDI_SESSION_DIR", &sessions).env("GODOT_BIN", &place.engine);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        let steps = document["steps"].as_array().unwrap().iter();
        let told = steps.filter(|step| step["step"] == "editor").map(Value::to_string);
        told.collect::<String>()
    };
    let pid = editor.pid().to_string();
    let seen = doctor();
    assert!(seen.contains("answers") && seen.contains(&pid), "{seen}");
    let mut server = Launch::over(place.project.root()).env("DIDI_SESSION_DIR", &sessions).start();
    server.initialize("2025-06-18", json!({}));
    let state = server.request("resources/read", json!({"uri": "godot://editor/state"}));
    assert!(state.get("result").is_some(), "{state}");
    let seen = doctor();
    assert!(seen.contains("is held by a client"), "{seen}");
    server.close();
    signal(editor.pid(), Signal::STOP);
    let seen = doctor();
    signal(editor.pid(), Signal::CONT);
    assert!(seen.contains("editor_unresponsive"), "{seen}");
    let seen = doctor();
    assert!(seen.contains("answers"), "it is not harmed: {seen}");
}
