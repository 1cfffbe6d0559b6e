//! Awkward files that people really hit (the `BL-` cases), before the real engine: it reads of each the tree and
//! the values that are read here, also after an edit.
//!
//! Spec: P-42, Godot's text formats.
#![allow(clippy::disallowed_methods, reason = "starts the engine that the tests are about")]
#![allow(clippy::unwrap_used, reason = "a test")]

mod report;

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use didi_formats::{
    config::ConfigFile,
    edit::Edit,
    scene::{Place, Problem, Scene},
    variant,
};
use report::{Compared, engine, import, run};
use serde_json::Value as Json;

/// Files that the engine does not load.
const NOT_LOADED: [&str; 2] = ["bl08_no_from.tscn", "bl20_a.tscn"];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/cases")
}

/// The cases by name, with their bytes.
fn cases() -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(fixtures()).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = entries
        .map(|path| {
            (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(path).unwrap())
        })
        .collect();
    found.sort();
    found
}

fn is_scene(name: &str) -> bool {
    let ending = Path::new(name).extension();
    ending.is_some_and(|ending| ending == "tscn" || ending == "tres")
}

/// A project with the files in `cases/`, and what the engine reports of them.
fn reported(files: &[(String, Vec<u8>)]) -> Option<Json> {
    let engine = engine()?;
    let project = tempfile::tempdir().unwrap();
    fs::write(project.path().join("project.godot"), "config_version=5\n").unwrap();
    fs::create_dir(project.path().join("cases")).unwrap();
    for (name, bytes) in files {
        fs::write(project.path().join("cases").join(name), bytes).unwrap();
    }
    import(&engine, project.path());
    run(&engine, project.path(), &["report", "res://cases/"]);
    let report = fs::read(project.path().join("report.json")).unwrap();
    Some(serde_json::from_slice(&report).unwrap())
}

/// Whether the engine looks for a file under another path than the one that is stored.
fn by_uid(name: &str) -> bool {
    ["bl20_b.tscn", "bl20_d.tscn", "bl20_e.tscn"].contains(&name)
}

fn compare(files: &[(String, Vec<u8>)], report: &Json) {
    let mut faults = vec![];
    for (name, bytes) in files.iter().filter(|(name, _)| is_scene(name)) {
        let report = &report[name];
        assert_eq!(report.is_null(), NOT_LOADED.contains(&&**name), "{name}: {report}");
        if report.is_object() && !by_uid(name) {
            let scene = Scene::parse(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
            let mut compared = Compared::new(name, report);
            compared.whole(&scene);
            faults.append(&mut compared.faults);
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// BL-01, BL-02, BL-04, BL-05, BL-07, BL-08, BL-10, BL-14, BL-16, BL-17, BL-22, BL-25, BL-28, BL-29, BL-31, BL-32:
/// tree and values. BL-20: which mix of uid and path leads where. BL-26: nothing comes of a second root.
#[test]
fn the_engine_reads_every_case_as_it_is_read_here() {
    let files = cases();
    let Some(report) = reported(&files) else { return };
    compare(&files, &report);
    let link = |name: &str| {
        let link = report[format!("bl20_{name}.tscn")]["nodes"][0]["values"].as_object().unwrap();
        link.values().next().unwrap().as_str().unwrap().to_owned()
    };
    let found = "Eres://cases/bl20_target.tres";
    assert_eq!(["b", "c", "d", "e"].map(link), [found, found, found, "null"]);
    assert_eq!(report["bl26_second_root.tscn"]["instantiates"], false);
    let tree = &report["bl01_string.tscn"]["nodes"];
    assert_eq!(tree.as_array().unwrap().len(), 2, "{tree}");
}

/// What is found wrong with a case, by lines.
fn problems(name: &str) -> Vec<u32> {
    let bytes = fs::read(fixtures().join(name)).unwrap();
    Scene::parse(&bytes).unwrap().problems().iter().map(Problem::line).collect()
}

/// BL-05, BL-08, BL-14, BL-25, BL-26: what the engine does not say, or says without a line.
#[test]
fn every_broken_case_is_found_with_its_line() {
    assert_eq!(problems("bl05_escapes.tscn"), [5, 5, 5]);
    assert_eq!(problems("bl08_no_from.tscn"), [5]);
    assert_eq!(problems("bl08_dangling.tscn"), [5]);
    assert_eq!(problems("bl14_override.tscn"), [9]);
    assert_eq!(problems("bl25_broken_tree.tscn"), [7, 9, 11]);
    assert_eq!(problems("bl26_second_root.tscn"), [5]);
    for sound in ["bl01_string.tscn", "bl10_attributes.tscn", "bl29_layout.tscn"] {
        assert!(problems(sound).is_empty(), "{sound}");
    }
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

/// The lines that came, in a file of which nothing went.
fn added<'a>(before: &[u8], after: &'a [u8]) -> Vec<&'a [u8]> {
    let (old, new) = (lines(before), lines(after));
    let mut rest = old.iter().peekable();
    let mut came = vec![];
    for line in new {
        if rest.peek().is_some_and(|next| **next == line) {
            rest.next();
        } else {
            came.push(line);
        }
    }
    assert!(rest.next().is_none(), "a line is gone");
    came
}

/// BL-02, BL-10, BL-16, BL-17, BL-31:
/// Every case again: an edit of its root adds one line, in the file's own line ends, and the engine reads it.
#[test]
fn an_edit_of_any_case_adds_the_asked_line_alone() {
    let wanted = variant::escaped("é \"q\" [x]\n");
    let mut files = cases();
    for (name, bytes) in files.iter_mut().filter(|(name, _)| is_scene(name)) {
        let scene = Scene::parse(bytes).unwrap();
        let place = if scene.nodes().is_empty() { Place::Main } else { Place::Node(0) };
        let edit = scene.set_property(place, "metadata/added", &wanted).unwrap();
        let after = edit.apply(bytes);
        if *name == "bl29_lone_cr.tscn" {
            assert_eq!(edit.splices().len(), 1);
        } else {
            let came = added(bytes, &after);
            let [line] = came[..] else { panic!("{name}: {came:?}") };
            let crlf = bytes.windows(2).any(|pair| pair == b"\r\n");
            assert_eq!(line.ends_with(b"\r\n"), crlf, "{name}");
        }
        *bytes = after;
    }
    let Some(report) = reported(&files) else { return };
    compare(&files, &report);
}

fn edited(name: &str, make: impl Fn(&Scene<'_>) -> Edit) -> (String, Vec<u8>, usize) {
    let bytes = fs::read(fixtures().join(name)).unwrap();
    let after = make(&Scene::parse(&bytes).unwrap()).apply(&bytes);
    let same = |(one, other): (&&[u8], &&[u8])| one == other;
    let (old, new) = (lines(&bytes), lines(&after));
    let kept = old.iter().zip(&new).take_while(|pair| same(*pair)).count()
        + old.iter().rev().zip(new.iter().rev()).take_while(|pair| same(*pair)).count();
    (name.to_owned(), after, old.len().saturating_sub(kept))
}

/// BL-01, BL-02, BL-04, BL-05, BL-28: a value in place of another changes its own lines.
#[test]
fn a_value_of_a_case_is_replaced_where_it_stands() {
    let text = variant::escaped("Ünïcödé 名前 🎮");
    let set = |name: &str, node: usize, key: &'static str| {
        let (name, after, changed) =
            edited(name, |scene| scene.set_property(Place::Node(node), key, &text).unwrap());
        assert!(!String::from_utf8_lossy(&after).contains("\\u00dc"), "written as it is");
        ((name, after), changed)
    };
    let asked = [
        (set("bl01_string.tscn", 1, "text"), 1),
        (set("bl02_crlf.tscn", 0, "text"), 5),
        (set("bl04_names.tscn", 3, "text"), 0),
        (set("bl05_escapes.tscn", 0, "tooltip_text"), 1),
        (set("bl28_twice.tscn", 0, "text"), 1),
    ];
    let mut files = vec![];
    for ((file, changed), expected) in asked {
        assert_eq!(changed, expected, "{}", file.0);
        files.push(file);
    }
    let Some(report) = reported(&files) else { return };
    compare(&files, &report);
}

/// BL-22, BL-23, BL-59: sizes and depths that the engine reads.
#[test]
fn large_and_deep_files_are_read_as_the_engine_reads_them() {
    let head = "[gd_scene format=3]\n\n[node name=\"Root\" type=\"Node\"]\n";
    let numbers: Vec<String> = (0..400_000).map(|number| number.to_string()).collect();
    let long = format!("{head}metadata/a = PackedInt32Array({})\n", numbers.join(", "));
    let mut wide = head.to_owned();
    for number in 0..20_000 {
        let _ = writeln!(wide, "\n[node name=\"N{number}\" type=\"Node\" parent=\".\"]");
    }
    let mut deep = head.to_owned();
    let mut parent = String::from(".");
    for _ in 0..600 {
        let _ = writeln!(deep, "\n[node name=\"n\" type=\"Node\" parent=\"{parent}\"]");
        parent = if parent == "." { "n".into() } else { parent + "/n" };
    }
    let nested = format!("{head}metadata/a = {}1{}\n", "[".repeat(150), "]".repeat(150));
    let mut files: Vec<(String, Vec<u8>)> = [long, wide, deep, nested]
        .into_iter()
        .enumerate()
        .map(|(at, text)| (format!("large_{at}.tscn"), text.into_bytes()))
        .collect();
    for (_, bytes) in &mut files {
        let edit = Scene::parse(bytes).unwrap();
        let edit = edit.set_property(Place::Node(0), "metadata/b", "1").unwrap();
        assert_eq!(edit.splices().len(), 1);
        *bytes = edit.apply(bytes);
    }
    let Some(report) = reported(&files) else { return };
    compare(&files, &report);
}

/// BL-34, BL-35: the asked lines of `project.godot`, and what the engine then reads.
#[test]
fn settings_change_by_the_asked_lines_and_the_engine_reads_them() {
    let before = fs::read(fixtures().join("bl34_project.godot")).unwrap();
    let parse = |bytes: &[u8], make: &dyn Fn(&ConfigFile<'_>) -> Edit| {
        make(&ConfigFile::parse(bytes).unwrap()).apply(bytes)
    };
    let after = parse(&before, &|config| {
        config.set_setting("application/config/version", "\"1.2 é\"").unwrap()
    });
    assert_eq!(added(&before, &after), ["config/version=\"1.2 é\"\n".as_bytes()]);
    let with_key = "{\n\"deadzone\": 0.2,\n\"events\": [Object(InputEventKey,\"device\":-1,\"keycode\":65,\"script\":null)\n]\n}";
    let after = parse(&after, &|config| config.set_setting("input/move left", with_key).unwrap());
    assert!(String::from_utf8_lossy(&after).contains("\"move left\"={\n"), "the quotes stay");
    let gone = parse(&after, &|config| config.remove_setting("input/jump").unwrap());
    assert_eq!(lines(&after).len() - lines(&gone).len(), 6, "its lines go, with the value's");
    let Some(engine) = engine() else { return };
    let project = tempfile::tempdir().unwrap();
    fs::write(project.path().join("project.godot"), &gone).unwrap();
    let script = "extends SceneTree\nfunc _init():\n\
        \tfor name in [\"application/config/version\", \"application/config/name\", \
        \"display/window/size/viewport_width\", \"custom_top\", \"mystuff/oddkey\"]:\n\
        \t\tprint(\"> \", var_to_str(ProjectSettings.get_setting(name)))\n\
        \tprint(\"> \", ProjectSettings.has_setting(\"input/jump\"))\n\
        \tprint(\"> \", ProjectSettings.get_setting(\"input/move left\").events[0].keycode)\n\tquit()\n";
    fs::write(project.path().join("probe.gd"), script).unwrap();
    let said = said(&engine, project.path());
    let expected =
        ["\"1.2 é\"", "\"My \\\"Game\\\"; with [brackets]\"", "1280", "\"x\"", "2", "false", "65"];
    assert_eq!(said, expected);
}

/// What a project's `probe.gd` prints.
fn said(engine: &Path, project: &Path) -> Vec<String> {
    let ran = std::process::Command::new("timeout")
        .arg("60")
        .arg(engine)
        .args(["--headless", "--path"])
        .arg(project)
        .args(["--script", "res://probe.gd"])
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&ran.stdout).into_owned();
    out.lines().filter_map(|line| line.strip_prefix("> ")).map(str::to_owned).collect()
}
