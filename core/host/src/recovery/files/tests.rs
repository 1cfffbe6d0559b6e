use super::*;

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "project.godot", b"config_version=5\n");
    write(folder.path(), "a/b.gd", b"extends Node\n");
    write(folder.path(), ".godot/cache", b"x");
    write(folder.path(), "a/.git/x", b"x");
    folder
}

#[allow(clippy::disallowed_methods, reason = "a test's own folder")]
fn write(root: &Path, path: &str, bytes: &[u8]) {
    let file = root.join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, bytes).unwrap();
}

fn paths(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.path.as_str()).collect()
}

#[test]
fn files_are_listed_without_what_is_excluded_and_copied_whole() {
    let project = project();
    let entries = list(project.path()).unwrap();
    assert_eq!(paths(&entries), ["a/b.gd", "project.godot"]);
    let copies = tempfile::tempdir().unwrap();
    copy(project.path(), copies.path(), &entries, None).unwrap();
    assert_eq!(list(copies.path()).unwrap(), entries);
}

#[test]
fn a_file_that_changed_since_it_was_listed_is_told() {
    let project = project();
    let entries = list(project.path()).unwrap();
    write(project.path(), "a/b.gd", b"extends Node2D\n");
    let copies = tempfile::tempdir().unwrap();
    let why = copy(project.path(), copies.path(), &entries, None).unwrap_err();
    assert!(why.contains("a/b.gd"), "{why}");
}

#[cfg(unix)]
#[test]
fn what_can_not_be_put_back_is_refused_by_name() {
    type Make = (&'static str, fn(&Path));
    let makes: [Make; 3] = [
        ("link", |root| std::os::unix::fs::symlink("/etc/passwd", root.join("odd")).unwrap()),
        ("several names", |root| {
            fs::hard_link(root.join("project.godot"), root.join("odd")).unwrap();
        }),
        ("no regular file", |root| {
            rustix::fs::mknodat(
                rustix::fs::CWD,
                root.join("odd"),
                rustix::fs::FileType::Fifo,
                rustix::fs::Mode::from_raw_mode(0o600),
                0,
            )
            .unwrap();
        }),
    ];
    for (what, make) in makes {
        let project = project();
        make(project.path());
        let why = list(project.path()).unwrap_err();
        assert!(why.contains(what), "{what}: {why}");
    }
}

#[test]
fn the_number_of_files_and_their_bytes_are_bounded() {
    let project = project();
    let large = File::create(project.path().join("large.bin")).unwrap();
    large.set_len(MAX_BYTES).unwrap();
    assert!(list(project.path()).unwrap_err().contains("bytes"));
    fs::remove_file(project.path().join("large.bin")).unwrap();
    for number in 0..MAX_FILES {
        File::create(project.path().join(format!("f{number}"))).unwrap();
    }
    assert!(list(project.path()).unwrap_err().contains("files"));
}
