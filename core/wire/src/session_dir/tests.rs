use super::*;

fn surroundings(session: Option<&str>, runtime: Option<&str>) -> Surroundings {
    Surroundings {
        session_dir: session.map(Into::into),
        runtime_dir: runtime.map(Into::into),
        temp: "/temp".into(),
    }
}

#[test]
fn the_override_comes_first_and_is_not_checked() {
    let found = locate(&surroundings(Some("/kept"), Some("/run/user/7")));
    assert_eq!(found, SessionDir { path: "/kept".into(), checked: false });
}

#[cfg(unix)]
#[test]
fn the_runtime_folder_counts_only_when_it_is_absolute() {
    let own = format!("/temp/didi-sessions-{}", rustix::process::geteuid().as_raw());
    let path = |runtime| locate(&surroundings(Some(""), runtime)).path;
    assert_eq!(path(Some("/run/user/7")), Path::new("/run/user/7/didi-sessions"));
    assert_eq!(path(Some("run")), Path::new(&own));
    assert_eq!(path(Some("")), Path::new(&own));
    assert_eq!(path(None), Path::new(&own));
}

#[cfg(unix)]
#[test]
fn a_folder_that_others_may_enter_is_refused() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let temp = tempfile::tempdir().unwrap();
    let folder = SessionDir { path: temp.path().join("sessions"), checked: true };
    assert!(!folder.check().unwrap());
    folder.prepare().unwrap();
    assert!(folder.check().unwrap());
    assert_eq!(fs::metadata(&folder.path).unwrap().permissions().mode() & 0o777, 0o700);

    fs::set_permissions(&folder.path, fs::Permissions::from_mode(0o750)).unwrap();
    assert!(matches!(folder.prepare(), Err(SessionDirFault::NotPrivate(_))));
    assert!(SessionDir { checked: false, ..folder.clone() }.check().unwrap());

    let link = SessionDir { path: temp.path().join("link"), checked: true };
    symlink(&folder.path, &link.path).unwrap();
    assert!(matches!(link.check(), Err(SessionDirFault::NotPrivate(_))));
}
