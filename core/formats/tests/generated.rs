//! A corpus that the real engine makes: every class of node and resource that needs no screen, every kind of value.
//!
//! Each file is read and written back as it is, and the tree and the values that are read are those that the
//! engine reports of the same file, to the last bit.
//!
//! Spec: P-42, Godot's text formats.
#![allow(clippy::disallowed_methods, reason = "starts the engine that the tests are about")]
#![allow(clippy::unwrap_used, reason = "a test")]

mod report;

use std::{
    collections::BTreeSet,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use didi_formats::{document::Document, scene::Scene};
use report::{Compared, engine, import, run};
use serde_json::Value as Json;

/// Fewest files that the corpus has, and kinds of nodes and resources.
const MIN_FILES: usize = 1_000;
const MIN_CLASSES: usize = 500;

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_name() == ".godot" || source.is_symlink() {
            continue;
        }
        if source.is_dir() {
            copy(&source, &target);
        } else {
            fs::copy(source, target).unwrap();
        }
    }
}

/// The scenes and resources of the fixture projects, with their scripts, instances and imports.
#[test]
fn the_fixture_projects_mean_what_the_engine_says() {
    let Some(engine) = engine() else { return };
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/projects");
    let (mut files, mut values) = (0, 0);
    for name in ["sample", "harbor", "studio"] {
        let project = tempfile::tempdir().unwrap();
        copy(&fixtures.join(name), project.path());
        import(&engine, project.path());
        run(&engine, project.path(), &["report", "res://"]);
        let report = fs::read(project.path().join("report.json")).unwrap();
        let report: Json = serde_json::from_slice(&report).unwrap();
        for (file, report) in report.as_object().unwrap() {
            assert!(report.is_object(), "the engine does not load {name}/{file}");
            let source = fs::read(project.path().join(file)).unwrap();
            let scene = Scene::parse(&source).unwrap_or_else(|error| panic!("{file}: {error}"));
            let mut compared = Compared::new(file, report);
            compared.whole(&scene);
            assert!(compared.faults.is_empty(), "{name}: {}", compared.faults.join("\n"));
            values += compared.values;
            files += 1;
        }
    }
    eprintln!("{files} files, {values} values compared");
    assert!(files >= 15, "{files} files");
}

/// The corpus of real projects, which is kept beside the repository and is not part of it.
fn corpus() -> Option<PathBuf> {
    let named = std::env::var_os("DIDI_TEST_CORPUS").map(PathBuf::from);
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let folder = named.unwrap_or_else(beside);
    if folder.is_dir() {
        return Some(folder);
    }
    let line = format!("left out: no corpus at {}; name one in DIDI_TEST_CORPUS", folder.display());
    // The print macros are captured; a line written to the stream itself is seen.
    let _ = writeln!(std::io::stderr(), "{line}");
    None
}

/// Of real files those that the engine loads as they are: the others need pictures or code that are not there.
#[test]
fn real_files_mean_what_the_engine_says() {
    let (Some(corpus), Some(engine)) = (corpus(), engine()) else { return };
    let project = tempfile::tempdir().unwrap();
    copy(&corpus, project.path());
    fs::write(project.path().join("project.godot"), "config_version=5\n").unwrap();
    run(&engine, project.path(), &["report", "res://"]);
    let report = fs::read(project.path().join("report.json")).unwrap();
    let report: Json = serde_json::from_slice(&report).unwrap();
    let (mut files, mut values, mut faults) = (0, 0, vec![]);
    for (file, report) in report.as_object().unwrap().iter().filter(|(_, one)| one.is_object()) {
        let source = fs::read(project.path().join(file)).unwrap();
        let scene = Scene::parse(&source).unwrap_or_else(|error| panic!("{file}: {error}"));
        if scene.ext_resources().len() > 0 {
            continue;
        }
        let mut compared = Compared::new(file, report);
        compared.whole(&scene);
        faults.append(&mut compared.faults);
        values += compared.values;
        files += 1;
    }
    eprintln!("{files} of {} files, {values} values compared", report.as_object().unwrap().len());
    let shown = faults.iter().take(30).cloned().collect::<Vec<_>>().join("\n");
    assert!(faults.is_empty(), "{} values differ:\n{shown}", faults.len());
    assert!(files > 0);
}

#[test]
fn what_the_engine_writes_reads_back_as_it_is_and_means_the_same() {
    let Some(engine) = engine() else { return };
    let project = tempfile::tempdir().unwrap();
    fs::write(project.path().join("project.godot"), "config_version=5\n").unwrap();
    for part in ["values", "resources", "nodes"] {
        run(&engine, project.path(), &["make", part]);
    }
    run(&engine, project.path(), &["report", "res://gen/"]);
    let report = fs::read(project.path().join("report.json")).unwrap();
    let report: Json = serde_json::from_slice(&report).unwrap();
    let report = report.as_object().unwrap();
    let (mut values, mut classes, mut faults) = (0, BTreeSet::new(), vec![]);
    for (file, report) in report {
        let source = fs::read(project.path().join("gen").join(file)).unwrap();
        let document = Document::parse(&source).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(document.to_bytes() == source, "{file} is not written back as it was");
        let scene = Scene::parse(&source).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(scene.problems(), [], "{file}");
        assert!(report.is_object(), "the engine does not load {file}");
        let mut compared = Compared::new(file, report);
        compared.whole(&scene);
        values += compared.values;
        classes.append(&mut compared.classes);
        faults.append(&mut compared.faults);
    }
    eprintln!("{} files, {} classes, {values} values compared", report.len(), classes.len());
    let shown = faults.iter().take(40).cloned().collect::<Vec<_>>().join("\n");
    assert!(faults.is_empty(), "{} values differ:\n{shown}", faults.len());
    assert!(report.len() >= MIN_FILES, "{} files", report.len());
    assert!(classes.len() >= MIN_CLASSES, "{} classes", classes.len());
}
