#![allow(clippy::disallowed_methods, reason = "lays plain files out for the test")]

use std::{fs, thread};

use didi_plugin_api::{
    ctx::{Expect, RunRecord, WriteOptions},
    digest::sha256_hex,
};

use super::ProjectFiles;
use crate::cancel::Cancel;

fn project() -> (tempfile::TempDir, ProjectFiles) {
    let dir = tempfile::tempdir().unwrap();
    let files = ProjectFiles::new(dir.path().canonicalize().unwrap());
    (dir, files)
}

fn expect(expect: Expect) -> WriteOptions {
    WriteOptions { expect }
}

#[test]
fn a_write_answers_what_the_disk_holds() {
    let (dir, files) = project();
    let cancel = Cancel::default();
    let (written, record) =
        files.write("res://a/b.gd", b"one\r\n", &expect(Expect::Absent), &cancel).unwrap();
    assert_eq!(
        (written.path.as_str(), written.replaced, written.changed),
        ("res://a/b.gd", false, true)
    );
    assert_eq!(written.sha256, sha256_hex(b"one\r\n"));
    assert!(record.before.is_none());
    assert_eq!(fs::read(dir.path().join("a/b.gd")).unwrap(), b"one\r\n");
    let again =
        files.write("res://a/b.gd", b"one\r\n", &expect(Expect::Anything), &cancel).unwrap().0;
    assert!(again.replaced && !again.changed);
    let left = fs::read_dir(dir.path().join("a")).unwrap().count();
    assert_eq!(left, 1, "no unfinished file stays behind");
}

#[test]
fn what_has_to_be_there_is_checked() {
    let (dir, files) = project();
    let cancel = Cancel::default();
    fs::write(dir.path().join("x.gd"), "old").unwrap();
    let refuse = |wanted| {
        files
            .write("res://x.gd", b"new", &expect(wanted), &cancel)
            .unwrap_err()
            .code
            .name
            .into_owned()
    };
    assert_eq!(refuse(Expect::Absent), "already_exists");
    assert_eq!(refuse(Expect::Sha256(sha256_hex(b"other"))), "conflict");
    assert_eq!(fs::read(dir.path().join("x.gd")).unwrap(), b"old");
    files
        .write("res://x.gd", b"new", &expect(Expect::Sha256(sha256_hex(b"old"))), &cancel)
        .unwrap();
}

#[test]
fn the_projects_own_folders_are_kept_from_tools() {
    let (_dir, files) = project();
    for path in ["res://.git/hooks/x", "res://.GODOT/x", "res://.didi/journal.json"] {
        let refusal =
            files.write(path, b"x", &expect(Expect::Anything), &Cancel::default()).unwrap_err();
        assert_eq!(refusal.data["field"], "path");
    }
    let board = "res://.didi/blackboard/b.json";
    files.write(board, b"{}", &expect(Expect::Anything), &Cancel::default()).unwrap();
}

#[cfg(unix)]
#[test]
fn permissions_of_the_old_file_are_kept() {
    use std::os::unix::fs::PermissionsExt;
    let (dir, files) = project();
    let path = dir.path().join("run.sh");
    fs::write(&path, "a").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
    files.write("res://run.sh", b"b", &expect(Expect::Anything), &Cancel::default()).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o750);
}

#[test]
fn of_many_swaps_from_one_state_one_wins() {
    let (dir, files) = project();
    fs::write(dir.path().join("n"), "0").unwrap();
    let wins: Vec<bool> = thread::scope(|scope| {
        let tries: Vec<_> = (1..=8)
            .map(|n: u8| {
                let files = &files;
                scope.spawn(move || {
                    let from = expect(Expect::Sha256(sha256_hex(b"0")));
                    files.write("res://n", &[n], &from, &Cancel::default()).is_ok()
                })
            })
            .collect();
        tries.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(wins.iter().filter(|won| **won).count(), 1);
}

#[test]
fn records_of_runs_are_kept_by_name() {
    let (dir, files) = project();
    let record = |name: &str, n: u64| RunRecord {
        name: name.into(),
        document: serde_json::json!({ "n": n }),
    };
    let path = files.write_record(&record("smoke", 1), &Cancel::default()).unwrap();
    assert_eq!(path, "res://.didi/scenarios/smoke.json");
    files.write_record(&record("smoke", 2), &Cancel::default()).unwrap();
    assert_eq!(fs::read(dir.path().join(".didi/scenarios/smoke.json")).unwrap(), br#"{"n":2}"#);
    for name in ["", "-x", "a/b", "..", "a.b"] {
        let refusal = files.write_record(&record(name, 1), &Cancel::default()).unwrap_err();
        assert_eq!(refusal.data["field"], "name", "{name}");
    }
}
