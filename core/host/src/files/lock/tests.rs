#![allow(clippy::disallowed_methods, reason = "lays plain files out for the test")]

use std::fs;

use super::super::ProjectFiles;
use crate::cancel::Cancel;

const DEAD: &str = ".didi-00112233445566ff.tmp";

fn project() -> (tempfile::TempDir, ProjectFiles) {
    let dir = tempfile::tempdir().unwrap();
    let files = ProjectFiles::new(dir.path().canonicalize().unwrap());
    fs::create_dir_all(dir.path().join(".didi/locks")).unwrap();
    fs::create_dir(dir.path().join("a")).unwrap();
    (dir, files)
}

fn lock_file(dir: &tempfile::TempDir) -> std::path::PathBuf {
    let entry = fs::read_dir(dir.path().join(".didi/locks")).unwrap().next().unwrap();
    entry.unwrap().path()
}

#[test]
fn what_a_dead_holder_staged_goes_with_the_next_lock_or_start() {
    let (dir, files) = project();
    let staged = dir.path().join("a").join(DEAD);
    drop(files.lock("res://a/x.gd", &Cancel::default()).unwrap());
    for by_start in [false, true] {
        fs::write(&staged, "half").unwrap();
        fs::write(lock_file(&dir), format!("a/{DEAD}\na/.didi-0")).unwrap();
        if by_start {
            files.sweep();
        } else {
            drop(files.lock("res://a/x.gd", &Cancel::default()).unwrap());
        }
        assert!(!staged.exists(), "start: {by_start}");
        assert_eq!(fs::metadata(lock_file(&dir)).unwrap().len(), 0);
    }
}

#[test]
fn what_a_living_holder_staged_stays() {
    let (dir, files) = project();
    let lock = files.lock("res://a/x.gd", &Cancel::default()).unwrap();
    let staged = lock.stage(&dir.path().canonicalize().unwrap().join("a/x.gd")).unwrap();
    fs::write(&staged, "half").unwrap();
    files.sweep();
    assert!(staged.exists());
    drop(lock);
    assert_eq!(fs::metadata(lock_file(&dir)).unwrap().len(), 0);
}

#[test]
fn a_record_takes_away_nothing_but_finished_files_of_the_project() {
    let (dir, files) = project();
    let outside = tempfile::tempdir().unwrap();
    let kept = [
        dir.path().join("a/x.gd"),
        dir.path().join("a/.didi-short.tmp"),
        outside.path().join(DEAD),
    ];
    for file in &kept {
        fs::write(file, "mine").unwrap();
    }
    drop(files.lock("res://a/x.gd", &Cancel::default()).unwrap());
    let record = format!(
        "a/x.gd\na/.didi-short.tmp\n{}\n../{}/{DEAD}\n",
        kept[2].display(),
        outside.path().file_name().unwrap().to_string_lossy()
    );
    fs::write(lock_file(&dir), record).unwrap();
    files.sweep();
    for file in &kept {
        assert!(file.exists(), "{}", file.display());
    }
}
