#![allow(clippy::disallowed_methods, reason = "files that a test prepares")]

use std::{fs, path::Path};

use super::*;
use crate::descriptor::tests::identity;
use crate::{Identity, SessionToken, endpoint};

fn folder(temp: &tempfile::TempDir) -> SessionDir {
    SessionDir { path: temp.path().join("sessions"), checked: true }
}

/// A descriptor of this process.
fn living() -> Descriptor {
    let session_id = SessionId::random();
    let pid = std::process::id();
    let own = Identity {
        session_id,
        pid,
        endpoint: endpoint::name(Path::new("/run/temp"), &identity().project_path, pid, session_id),
        started_at_ms: process::own_start_ms().unwrap(),
        ..identity()
    };
    Descriptor { identity: own, token: SessionToken::random() }
}

/// One of a process that cannot be.
fn dead() -> Descriptor {
    let mut descriptor = living();
    descriptor.identity.started_at_ms -= 60_000;
    descriptor
}

fn codes(scan: &Scan) -> Vec<DiagnosticCode> {
    scan.diagnostics.iter().map(|one| one.code).collect()
}

fn names(dir: &SessionDir) -> Vec<String> {
    let entries = fs::read_dir(&dir.path).unwrap().flatten();
    entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

#[test]
fn a_published_session_is_found_and_a_retired_one_is_not() {
    let temp = tempfile::tempdir().unwrap();
    let dir = folder(&temp);
    assert!(scan(&dir).unwrap().sessions.is_empty());
    let descriptor = living();
    let published = publish(&dir, descriptor.clone()).unwrap();
    assert_eq!(names(&dir), [format!("{}.json", descriptor.identity.session_id)]);
    let found = scan(&dir).unwrap();
    assert_eq!(found.sessions, std::slice::from_ref(&descriptor));
    assert_eq!(codes(&found), []);
    assert!(matches!(publish(&dir, descriptor), Err(PublishFault::Io(_))));
    let retired = published.retire().unwrap();
    assert!(scan(&dir).unwrap().sessions.is_empty());
    if let Retired::Kept(tombstone) = retired {
        let name = tombstone.file_name().unwrap().to_str().unwrap();
        let session = published.descriptor().identity.session_id;
        assert_eq!(retire::session_of_tombstone(name), Some(session));
    }
    assert_eq!(published.retire().unwrap(), Retired::WasGone);
}

#[test]
fn an_unsound_descriptor_is_not_published() {
    let temp = tempfile::tempdir().unwrap();
    let dir = folder(&temp);
    let mut unsound = living();
    unsound.identity.endpoint = "/run/temp/other.sock".into();
    assert!(matches!(publish(&dir, unsound), Err(PublishFault::Unsound(_))));
    assert!(!dir.path.exists());
}

#[test]
fn another_file_under_the_name_is_not_retired() {
    let temp = tempfile::tempdir().unwrap();
    let dir = folder(&temp);
    let published = publish(&dir, living()).unwrap();
    let mut other = published.descriptor().clone();
    other.token = SessionToken::random();
    fs::write(published.path(), other.to_private_json()).unwrap();
    assert!(matches!(published.retire(), Err(RetireFault::NotThisOne(_))));
    assert!(published.path().exists());
}

#[test]
fn a_gone_process_is_stale_and_swept() {
    let temp = tempfile::tempdir().unwrap();
    let dir = folder(&temp);
    let (gone, lives) = (dead(), living());
    publish(&dir, gone.clone()).unwrap();
    publish(&dir, lives.clone()).unwrap();
    let found = scan(&dir).unwrap();
    assert_eq!(found.sessions, std::slice::from_ref(&lives));
    assert_eq!(found.stale, [gone]);
    assert_eq!(codes(&found), [DiagnosticCode::ProcessGone]);
    assert_eq!(sweep(&dir, &found).unwrap(), Swept { descriptors: 1, ..Swept::default() });
    let found = scan(&dir).unwrap();
    assert_eq!((found.sessions, found.diagnostics), (vec![lives], vec![]));
}

#[cfg(unix)]
#[test]
fn the_socket_of_a_gone_process_goes_with_it_and_no_other_file() {
    let temp = tempfile::tempdir().unwrap();
    let dir = folder(&temp);
    let at = |descriptor: &mut Descriptor| {
        let identity = &mut descriptor.identity;
        let (project, session) = (identity.project_path.clone(), identity.session_id);
        identity.endpoint = endpoint::name(temp.path(), &project, identity.pid, session);
        identity.endpoint.clone()
    };
    let (mut with_socket, mut with_file) = (dead(), dead());
    let socket = at(&mut with_socket);
    let file = at(&mut with_file);
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    fs::write(&file, "kept").unwrap();
    publish(&dir, with_socket).unwrap();
    publish(&dir, with_file).unwrap();
    let swept = sweep(&dir, &scan(&dir).unwrap()).unwrap();
    assert_eq!((swept.descriptors, swept.sockets), (2, 1));
    assert!(!Path::new(&socket).exists());
    assert!(Path::new(&file).exists());
}

#[test]
fn what_is_no_sound_descriptor_is_told_and_left() {
    let temp = tempfile::tempdir().unwrap();
    let dir = folder(&temp);
    let good = publish(&dir, living()).unwrap();
    let put = |name: &str, text: &[u8]| {
        let path = dir.path.join(name);
        fs::write(&path, text).unwrap();
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    };
    put("a.json", b"{");
    put("b.json", &vec![b' '; MAX_DESCRIPTOR_BYTES + 1]);
    put("c.json", &living().to_private_json());
    fs::create_dir(dir.path.join("d.json")).unwrap();
    put("ignored.txt", b"{");
    let found = scan(&dir).unwrap();
    assert_eq!(found.sessions, [good.descriptor().clone()]);
    assert_eq!(
        codes(&found)[found.diagnostics.len() - 4..],
        [
            DiagnosticCode::Malformed,
            DiagnosticCode::TooLong,
            DiagnosticCode::NameDisagrees,
            DiagnosticCode::NotRegular,
        ]
    );
    let before = names(&dir).len();
    assert_eq!(sweep(&dir, &found).unwrap(), Swept::default());
    assert_eq!(names(&dir).len(), before);
}

#[cfg(unix)]
#[test]
fn links_pipes_and_files_open_to_others_are_told_and_left() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let temp = tempfile::tempdir().unwrap();
    let dir = folder(&temp);
    let wide = publish(&dir, living()).unwrap();
    fs::set_permissions(wide.path(), fs::Permissions::from_mode(0o640)).unwrap();
    let linked = living();
    let target = temp.path().join("target");
    fs::write(&target, linked.to_private_json()).unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
    symlink(&target, dir.path.join(file_name(linked.identity.session_id))).unwrap();
    let pipe = dir.path.join(file_name(SessionId::random()));
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let found = scan(&dir).unwrap();
    assert!(found.sessions.is_empty());
    let mut codes = codes(&found);
    codes.sort_unstable_by_key(|code| code.as_str());
    let expected =
        [DiagnosticCode::NotPrivate, DiagnosticCode::NotRegular, DiagnosticCode::NotRegular];
    assert_eq!(codes, expected);
}

#[test]
fn no_diagnostic_quotes_the_token() {
    let temp = tempfile::tempdir().unwrap();
    let dir = folder(&temp);
    let descriptor = dead();
    publish(&dir, descriptor.clone()).unwrap();
    let text = String::from_utf8(descriptor.to_private_json()).unwrap();
    fs::write(dir.path.join("half.json"), &text[..text.len() - 2]).unwrap();
    let found = scan(&dir).unwrap();
    assert_eq!(found.diagnostics.len(), 2);
    assert!(!format!("{found:?}").contains(descriptor.token.reveal()));
}

#[test]
fn a_lock_without_a_session_is_swept_unless_it_is_held() {
    let temp = tempfile::tempdir().unwrap();
    let dir = folder(&temp);
    let holder = crate::lock::Holder { pid: 1, name: "test".into(), since_ms: 1 };
    let take = |session| crate::lock::acquire(&dir, session, &holder).unwrap();
    let held = take(SessionId::random());
    drop(take(SessionId::random()));
    let published = publish(&dir, living()).unwrap();
    drop(take(published.descriptor().identity.session_id));
    let swept = sweep(&dir, &scan(&dir).unwrap()).unwrap();
    assert_eq!(swept, Swept { locks: 1, ..Swept::default() });
    drop(held);
    let swept = sweep(&dir, &scan(&dir).unwrap()).unwrap();
    assert_eq!(swept, Swept { locks: 1, ..Swept::default() });
}
