use super::*;
use crate::descriptor::tests::identity;

#[test]
fn a_name_holds_project_process_and_session() {
    let session = SessionId::parse("0123456789abcdef0123456789abcdef").unwrap();
    let name = name(Path::new("/run/temp"), "/projects/a", 77, session);
    let key = project_key("/projects/a");
    assert_eq!(key.len(), 16);
    if cfg!(windows) {
        assert_eq!(name, format!(r"\\.\pipe\godot_didi_{key}_77_{session}"));
    } else {
        assert_eq!(name, format!("/run/temp/godot_didi_{key}_77_0123456789ab.sock"));
    }
}

#[test]
fn only_the_sessions_own_name_has_the_shape() {
    let good = identity();
    assert!(has_exact_shape(&good));
    let other = |change: &dyn Fn(&str) -> String| {
        let endpoint = change(&good.endpoint);
        assert_ne!(endpoint, good.endpoint);
        let identity = Identity { endpoint, ..good.clone() };
        assert!(!has_exact_shape(&identity), "{}", identity.endpoint);
    };
    other(&|name| name.replace("_4242_", "_4243_"));
    other(&|name| name.replace("godot_didi_", "godot_other_"));
    other(&|name| format!("{name}x"));
    other(&|name| name.trim_start_matches(['/', '\\']).to_owned());
    other(&|_| String::new());
    assert!(!has_exact_shape(&Identity { project_path: "/other".into(), ..good.clone() }));
    assert!(!has_exact_shape(&Identity { pid: 1, ..good.clone() }));
    assert!(!has_exact_shape(&Identity { session_id: SessionId::random(), ..good.clone() }));
    if cfg!(unix) {
        other(&|name| name.replace("/run/", "/run/../run/"));
        other(&|name| name.replace("/godot", "//godot"));
        other(&|name| format!("{name}/"));
        other(&|name| name.replace(".sock", ".sock\0"));
    }
}
