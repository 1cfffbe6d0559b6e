#![allow(clippy::disallowed_methods, reason = "lays plain files out for the test")]

use std::fs;

use proptest::prelude::*;

use super::{ProjectRoot, parts_of};

fn project() -> (tempfile::TempDir, ProjectRoot) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap().join("game");
    fs::create_dir_all(root.join("a")).unwrap();
    fs::write(root.join("a/x.gd"), "extends Node\n").unwrap();
    (dir, ProjectRoot::canonical(root))
}

#[test]
fn paths_that_leave_the_project_are_refused_with_a_reason() {
    let (_keep, root) = project();
    for (path, why) in [
        ("../outside/x.tscn", "is not a `res://` path"),
        ("/etc/passwd", "is not a `res://` path"),
        ("user://../../x", "is not a `res://` path"),
        ("RES://a/x.gd", "is not a `res://` path"),
        ("res://../outside/x.tscn", "climbs"),
        ("res://a/../../outside/x", "climbs"),
        ("res://%2e%2E/outside", "encoded"),
        ("res://..\\outside\\x", "can't have everywhere"),
        ("res://C:x", "can't have everywhere"),
        ("res://\\\\?\\C:\\x", "can't have everywhere"),
        ("res://con.tscn", "device name"),
        ("res://a/NUL", "device name"),
        ("res://a\0b", "control character"),
        ("res://a/b.", "dot or a space"),
    ] {
        let fault = root.resolve(path).expect_err(path).to_string();
        assert!(fault.contains(why), "{path}: {fault}");
    }
}

#[test]
fn a_link_is_judged_by_where_it_points() {
    let (keep, root) = project();
    let outside = keep.path().join("outside");
    fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, root.folder().join("out")).unwrap();
    std::os::unix::fs::symlink(root.folder().join("a"), root.folder().join("in")).unwrap();
    std::os::unix::fs::symlink("nowhere", root.folder().join("dead")).unwrap();
    assert!(root.resolve("res://out/new.gd").is_err());
    assert!(root.resolve("res://dead").is_err());
    let inside = root.resolve("res://in/x.gd").unwrap();
    assert_eq!(inside.res_path(), "res://a/x.gd");
}

#[test]
fn the_project_itself_and_files_to_be_are_places_inside() {
    let (_keep, root) = project();
    assert_eq!(root.resolve("res://").unwrap().res_path(), "res://");
    assert_eq!(
        root.resolve("res://./a//new/деревня.gd").unwrap().res_path(),
        "res://a/new/деревня.gd"
    );
}

#[test]
fn a_read_is_bounded_and_says_what_is_wrong() {
    let (_keep, root) = project();
    let path = root.resolve("res://a/x.gd").unwrap();
    assert_eq!(path.read(100).unwrap(), b"extends Node\n");
    assert_eq!(path.read(5).unwrap_err().code.name, "file_too_large");
    let missing = root.resolve("res://a/none.gd").unwrap().read(100).unwrap_err();
    assert_eq!(missing.code.name, "not_found");
    assert!(missing.has_remedy());
}

#[cfg(unix)]
#[test]
fn a_pipe_is_no_file_and_nobody_waits_for_it() {
    let (_keep, root) = project();
    let made = std::process::Command::new("mkfifo").arg(root.folder().join("pipe")).status();
    assert!(made.unwrap().success());
    let refusal = root.resolve("res://pipe").unwrap().read(100).unwrap_err();
    assert_eq!(refusal.code.name, "not_found");
}

#[test]
fn a_file_holds_its_own_bytes_and_no_others() {
    let (_keep, root) = project();
    let long: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
    for bytes in [&b""[..], b"a", &long] {
        std::fs::write(root.folder().join("held"), bytes).unwrap();
        let path = root.resolve("res://held").unwrap();
        assert!(path.holds(bytes).unwrap());
        assert!(!path.holds(&[bytes, b"x"].concat()).unwrap());
        if let Some((last, rest)) = bytes.split_last() {
            assert!(!path.holds(rest).unwrap());
            assert!(!path.holds(&[rest, &[last ^ 1]].concat()).unwrap());
        }
    }
    assert!(!root.resolve("res://a").unwrap().holds(b"").unwrap());
    let missing = root.resolve("res://a/none.gd").unwrap().holds(b"").unwrap_err();
    assert_eq!(missing.code.name, "not_found");
}

proptest! {
    #[test]
    fn no_text_resolves_to_a_place_outside(text in "(res://)?[a-z./\\\\%:2e ]{0,40}") {
        let (_keep, root) = project();
        if let Ok(path) = root.resolve(&text) {
            prop_assert!(path.real().starts_with(root.folder()));
        }
    }

    #[test]
    fn no_text_panics(text in any::<String>()) {
        let _ = parts_of(&text);
    }
}
