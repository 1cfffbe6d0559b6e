#![allow(clippy::disallowed_methods, reason = "files that a test prepares")]

use super::*;

fn folder(temp: &tempfile::TempDir) -> SessionDir {
    SessionDir { path: temp.path().join("sessions"), checked: true }
}

fn holder(name: &str) -> Holder {
    Holder { pid: 7, name: name.into(), since_ms: 12 }
}

#[test]
fn one_client_holds_a_session_and_the_next_is_told_who() {
    let temp = tempfile::tempdir().unwrap();
    let (dir, session) = (folder(&temp), SessionId::random());
    let lock = acquire(&dir, session, &holder("first")).unwrap();
    assert_eq!(lock.session(), session);
    let Err(LockFault::Held(held_by)) = acquire(&dir, session, &holder("second")) else {
        panic!("two clients hold one session")
    };
    if cfg!(unix) {
        assert_eq!(held_by, Some(holder("first")));
    }
    acquire(&dir, SessionId::random(), &holder("second")).unwrap();
    drop(lock);
    acquire(&dir, session, &holder("second")).unwrap();
}

#[test]
fn what_an_earlier_client_wrote_means_nothing() {
    let temp = tempfile::tempdir().unwrap();
    let (dir, session) = (folder(&temp), SessionId::random());
    dir.prepare().unwrap();
    fs::write(path_of(&dir, session), "x".repeat(100_000)).unwrap();
    let lock = acquire(&dir, session, &holder("a")).unwrap();
    drop(lock);
    assert!(path_of(&dir, session).exists(), "a released lock leaves its file");
}

#[cfg(unix)]
#[test]
fn a_link_in_place_of_the_file_is_not_followed() {
    let temp = tempfile::tempdir().unwrap();
    let (dir, session) = (folder(&temp), SessionId::random());
    dir.prepare().unwrap();
    let target = temp.path().join("target");
    fs::write(&target, "kept").unwrap();
    std::os::unix::fs::symlink(&target, path_of(&dir, session)).unwrap();
    assert!(matches!(acquire(&dir, session, &holder("a")), Err(LockFault::Io(..))));
    assert_eq!(fs::read_to_string(target).unwrap(), "kept");
}

#[test]
fn a_lock_taken_on_a_removed_file_is_not_the_sessions() {
    let temp = tempfile::tempdir().unwrap();
    let (dir, session) = (folder(&temp), SessionId::random());
    dir.prepare().unwrap();
    let path = path_of(&dir, session);
    let old = open(&path, true).unwrap();
    assert!(remove_unheld(&dir, session, || true));
    assert!(!is_at(&old, &path));
    let _new = acquire(&dir, session, &holder("a")).unwrap();
    assert!(!is_at(&old, &path));
    assert!(!remove_unheld(&dir, session, || true), "a held lock was removed");
}
