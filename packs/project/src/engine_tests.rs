//! The real engine, for tests that ask it.
#![allow(clippy::disallowed_methods, reason = "a test starts an engine")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use didi_plugin_api::ctx::{ChildLine, ChildReport, ChildSpec};

/// The engine, or `None`, said on standard error.
pub(crate) fn godot() -> Option<PathBuf> {
    didi_plugin_api::testkit::real_engine()
}

/// A copy of a fixture project.
pub(crate) fn fixture(name: &str) -> tempfile::TempDir {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/projects");
    let dir = tempfile::tempdir().unwrap();
    copy(&source.join(name), dir.path());
    dir
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            if entry.file_name() != ".godot" {
                copy(&entry.path(), &target);
            }
        } else if kind.is_file() {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Runs the engine over a project and answers its output.
pub(crate) fn run(godot: &Path, project: &Path, args: &[&str]) -> String {
    let output = Command::new(godot)
        .args(["--headless", "--path"])
        .arg(project)
        .args(args)
        .output()
        .unwrap();
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    text
}

/// Loads and instantiates scenes; answers the lines in which the engine complains.
pub(crate) fn complaints(godot: &Path, project: &Path, scenes: &[&str]) -> Vec<String> {
    let list = serde_json::to_string(scenes).unwrap();
    let script = format!(
        "extends SceneTree\nfunc _initialize() -> void:\n\tfor path in {list}:\n\
         \t\tvar scene := load(path) as PackedScene\n\
         \t\tif scene == null:\n\t\t\tprinterr(\"ERROR: nothing at \" + path)\n\t\t\tcontinue\n\
         \t\tscene.instantiate().free()\n\tprint(\"all loaded\")\n\tquit()\n"
    );
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("load.gd");
    fs::write(&file, script).unwrap();
    let output = run(godot, project, &["-s", file.to_str().unwrap()]);
    assert!(output.contains("all loaded"), "{output}");
    output
        .lines()
        .filter(|line| line.contains("WARNING") || line.contains("ERROR"))
        .map(ToOwned::to_owned)
        .collect()
}

/// Runs a child as the host would, without its time limit.
pub(crate) fn child(godot: &Path, spec: &ChildSpec) -> ChildReport {
    let mut command = Command::new(spec.program.as_deref().unwrap_or(godot));
    command.args(&spec.args).envs(spec.env.iter().map(|(key, value)| (key, value)));
    if let Some(folder) = &spec.folder {
        command.current_dir(folder);
    }
    let output = command.output().unwrap();
    let lines = |bytes: &[u8], stderr| -> Vec<ChildLine> {
        let text = String::from_utf8_lossy(bytes).into_owned();
        text.lines().map(|text| ChildLine { stderr, text: text.into() }).collect()
    };
    let mut all = lines(&output.stdout, false);
    all.extend(lines(&output.stderr, true));
    ChildReport {
        pid: 1,
        exit_code: output.status.code(),
        signal: None,
        timed_out: false,
        tree_exited: true,
        ran_ms: 1,
        lines: all,
        output_truncated: false,
    }
}
