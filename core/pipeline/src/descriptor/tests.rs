//! Tests of `descriptor`: both forms, files that are half there, and what ours look like on the disk.

use std::fs;

use proptest::prelude::*;
use serde_json::json;

use super::{Descriptor, EDITOR_FILE, EXEC_ARGV, EXEC_COMMAND_LINE, Instance, ReadFault, Secret};

const EDITOR: &str = r#"{
  "pid": 12345,
  "port": 7800,
  "projectPath": "/projects/Project",
  "projectName": "Project",
  "unityVersion": "6000.1.2f1",
  "mode": "editor",
  "startedAt": "2026-06-25T10:00:00Z",
  "lastHeartbeat": "2026-06-25T10:05:00Z",
  "evalToken": "c2VjcmV0+/=",
  "capabilities": ["exec.argv", "exec.commandLine"],
  "info": "Human intervention may be required."
}"#;

fn ours() -> Descriptor {
    Descriptor::from_slice(EDITOR.as_bytes()).expect("it reads")
}

#[test]
fn an_editors_form_is_read() {
    let read = ours();
    assert_eq!((read.pid, read.port), (12345, 7800));
    assert_eq!(read.name(), "Project");
    assert_eq!(read.token.reveal(), "c2VjcmV0+/=");
    assert!(read.can(EXEC_ARGV) && read.can(EXEC_COMMAND_LINE));
    assert_eq!(read.info.as_deref(), Some("Human intervention may be required."));
}

#[test]
fn a_players_form_is_read() {
    let text = json!({
        "pid": 7, "port": 7901, "platform": "WindowsPlayer", "buildGuid": "abc", "unityVersion": "6000.1",
        "workingDirectory": r"C:\Builds\MyGame", "startedAt": "2026-06-25T10:00:00Z",
        "lastHeartbeat": "2026-06-25T10:05:00Z", "evalToken": "t",
    });
    let read = Descriptor::from_slice(text.to_string().as_bytes()).expect("it reads");
    assert_eq!(read.name(), "MyGame");
    assert!(
        matches!(&read.instance, Instance::Player { platform, .. } if platform == "WindowsPlayer")
    );
    // Absent is older than the field: none of them.
    assert_eq!(read.capabilities, None);
    assert!(!read.can(EXEC_ARGV));
}

#[test]
fn little_is_needed_and_more_is_passed_over() {
    let text = "\u{feff}{\"pid\":1,\"port\":2,\"projectPath\":\"/p/q/\",\"evalToken\":\"t\",\"hue\":{\"a\":[]}}";
    let read = Descriptor::from_slice(text.as_bytes()).expect("it reads");
    assert_eq!(read.name(), "q");
    assert!(matches!(&read.instance, Instance::Editor { mode, .. } if mode == "editor"));
}

#[test]
fn every_cut_of_a_file_is_half_written_and_never_another_instance() {
    let whole = EDITOR.trim_end();
    for end in 0..whole.len() {
        let read = Descriptor::from_slice(&whole.as_bytes()[..end]);
        assert!(matches!(read, Err(ReadFault::Unfinished)), "{end}: {read:?}");
    }
    assert!(matches!(Descriptor::from_slice(&[0; 300]), Err(ReadFault::Unfinished)));
}

#[test]
fn what_is_none_is_told_apart_from_what_is_not_there() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(matches!(Descriptor::read(&folder.path().join("none")), Err(ReadFault::Missing)));
    assert!(matches!(
        Descriptor::read(folder.path()),
        Err(ReadFault::Malformed(_) | ReadFault::Denied(_))
    ));
    for text in [
        "[]",
        "{}",
        "nonsense",
        r#"{"pid":1,"port":70000,"projectPath":"/p","evalToken":"t"}"#,
        r#"{"pid":1,"port":0,"projectPath":"/p","evalToken":"t"}"#,
        r#"{"pid":1,"port":5,"projectPath":"/p"}"#,
        r#"{"pid":1,"port":5,"projectPath":"/p","evalToken":"a\nb"}"#,
        r#"{"pid":1,"port":5,"evalToken":"t"}"#,
    ] {
        let read = Descriptor::from_slice(text.as_bytes());
        assert!(matches!(read, Err(ReadFault::Malformed(_))), "{text}: {read:?}");
    }
    let long = vec![b' '; 70_000];
    assert!(matches!(Descriptor::from_slice(&long), Err(ReadFault::Malformed(_))));
}

#[test]
fn no_error_and_no_debug_shows_the_token() {
    let broken = EDITOR.replace("7800", "\"c2VjcmV0+/=\"");
    let why = Descriptor::from_slice(broken.as_bytes()).expect_err("no port").to_string();
    assert!(!why.contains("c2VjcmV0"), "{why}");
    assert!(!format!("{:?}", ours()).contains("c2VjcmV0"));
    assert!(!ours().public().to_string().contains("c2VjcmV0"));
    assert_eq!(ours().public()["projectName"], "Project");
}

#[test]
fn ours_is_replaced_in_one_step_and_is_its_owners_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(EDITOR_FILE);
    ours().write(&file).expect("written");
    let newer = Descriptor { port: 7801, token: Secret::new("new"), ..ours() };
    newer.write(&file).expect("replaced");
    assert_eq!(Descriptor::read(&file).expect("it reads"), newer);
    let left: Vec<_> = fs::read_dir(folder.path()).expect("a folder").collect();
    assert_eq!(left.len(), 1, "no draft stays behind");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(&file).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read_is_not_told_as_missing() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(EDITOR_FILE);
    ours().write(&file).expect("written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).expect("set");
    // The superuser reads everything.
    match Descriptor::read(&file) {
        Err(ReadFault::Denied(_)) => {}
        other => assert!(fs::File::open(&file).is_ok(), "{other:?}"),
    }
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Descriptor::from_slice(&bytes);
    }
}
