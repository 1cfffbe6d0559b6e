#![allow(clippy::disallowed_methods, reason = "lays plain files out for the test")]

use std::{fs, path::Path};

use didi_plugin_api::{
    ctx::{Change, Expect, Splice},
    digest::sha256_hex,
};

use super::super::ProjectFiles;
use crate::cancel::Cancel;

fn project() -> (tempfile::TempDir, ProjectFiles) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.gd"), "a").unwrap();
    fs::write(dir.path().join("b.gd"), "b").unwrap();
    let files = ProjectFiles::new(dir.path().canonicalize().unwrap());
    (dir, files)
}

fn sha(text: &str) -> Expect {
    Expect::Sha256(sha256_hex(text.as_bytes()))
}

fn write(path: &str, text: &str, expect: Expect) -> Change {
    Change::Write { path: path.into(), text: text.into(), expect }
}

fn moved(from: &str, to: &str, expect: Expect) -> Change {
    Change::Move { from: from.into(), to: to.into(), expect }
}

fn edit(path: &str, splices: &[(u64, u64, &str)], expect: Expect) -> Change {
    let splice = |(start, end, text): &(u64, u64, &str)| Splice {
        start: *start,
        end: *end,
        text: (*text).into(),
    };
    Change::Edit { path: path.into(), splices: splices.iter().map(splice).collect(), expect }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name != ".didi")
        .collect();
    names.sort();
    names
}

#[test]
fn several_files_change_in_one_pass() {
    let (dir, files) = project();
    let changes = [
        write("res://a.gd", "a2", sha("a")),
        write("res://new/c.gd", "c", Expect::Absent),
        moved("res://b.gd", "res://new/B.gd", sha("b")),
    ];
    let (written, records) = files.apply(&changes, &Cancel::default()).unwrap();
    assert_eq!(
        written.iter().map(|one| one.path.as_str()).collect::<Vec<_>>(),
        ["res://a.gd", "res://new/c.gd", "res://new/B.gd"]
    );
    assert_eq!(records.len(), 3);
    assert_eq!(names(dir.path()), ["a.gd", "new"]);
    assert_eq!(names(&dir.path().join("new")), ["B.gd", "c.gd"]);
    assert_eq!(fs::read(dir.path().join("a.gd")).unwrap(), b"a2");
    let remove = [Change::Remove { path: "res://new/c.gd".into(), expect: sha("c") }];
    files.apply(&remove, &Cancel::default()).unwrap();
    assert_eq!(names(&dir.path().join("new")), ["B.gd"]);
}

#[test]
fn one_change_that_does_not_fit_stops_all() {
    let (dir, files) = project();
    for (bad, code) in [
        (write("res://b.gd", "x", sha("other")), "conflict"),
        (write("res://b.gd", "x", Expect::Absent), "already_exists"),
        (moved("res://b.gd", "res://a.gd", sha("b")), "already_exists"),
        (moved("res://none.gd", "res://z.gd", Expect::Anything), "not_found"),
        (edit("res://b.gd", &[(0, 1, "x")], sha("other")), "conflict"),
        (edit("res://none.gd", &[(0, 0, "x")], Expect::Anything), "not_found"),
        (edit("res://b.gd", &[(0, 2, "x")], sha("b")), "internal_error"),
        (edit("res://b.gd", &[(1, 0, "x")], sha("b")), "internal_error"),
        (edit("res://b.gd", &[(1, 1, "x"), (0, 1, "y")], sha("b")), "internal_error"),
        (write("res://../x.gd", "x", Expect::Anything), "invalid_arguments"),
        (write("res://.git/x", "x", Expect::Anything), "invalid_arguments"),
    ] {
        let changes = [write("res://a.gd", "a2", sha("a")), bad];
        let refusal = files.apply(&changes, &Cancel::default()).unwrap_err();
        assert_eq!(refusal.code.name, code);
        assert_eq!(names(dir.path()), ["a.gd", "b.gd"], "nothing unfinished stays");
        assert_eq!(fs::read(dir.path().join("a.gd")).unwrap(), b"a");
    }
}

#[cfg(unix)]
#[test]
fn a_step_that_fails_takes_the_ones_before_it_back() {
    let (dir, files) = project();
    // The second target is a folder by the time that it is renamed over: the first write is undone.
    fs::create_dir(dir.path().join("folder")).unwrap();
    fs::write(dir.path().join("folder/keep"), "").unwrap();
    let changes = [
        write("res://a.gd", "a2", sha("a")),
        Change::Remove { path: "res://folder".into(), expect: Expect::Anything },
    ];
    assert!(files.apply(&changes, &Cancel::default()).is_err());
    assert_eq!(fs::read(dir.path().join("a.gd")).unwrap(), b"a");
}

#[test]
fn the_same_content_changes_nothing_and_says_so() {
    let (_dir, files) = project();
    let (written, records) =
        files.apply(&[write("res://a.gd", "a", sha("a"))], &Cancel::default()).unwrap();
    assert!(!written[0].changed && written[0].replaced && records.is_empty());
}

#[test]
fn an_edit_changes_its_bytes_alone() {
    let (dir, files) = project();
    let place = dir.path().join("a.gd");
    let before = "\u{feff}one\r\ntwo\r\nü";
    fs::write(&place, before).unwrap();
    let changes = [edit("res://a.gd", &[(3, 3, "<"), (8, 11, "2"), (13, 13, "!")], sha(before))];
    let (written, _) = files.apply(&changes, &Cancel::default()).unwrap();
    let after = "\u{feff}<one\r\n2\r\n!ü";
    assert_eq!(fs::read_to_string(&place).unwrap(), after);
    assert_eq!(written[0].sha256, sha256_hex(after.as_bytes()));
    let half =
        [edit("res://a.gd", &[(after.len() as u64 - 1, after.len() as u64, "")], sha(after))];
    assert!(files.apply(&half, &Cancel::default()).is_err(), "half a letter is left");
    assert_eq!(fs::read_to_string(&place).unwrap(), after);
}
