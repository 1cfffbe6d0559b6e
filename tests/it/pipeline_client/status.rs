//! `didi status` and `didi list`.

#[cfg(target_os = "linux")]
use didi_tests::executable::write_executable;
use didi_tests::unity::{Act, Unity, client, ran};
use serde_json::json;

#[cfg(target_os = "linux")]
use super::busy_machine;
use super::{code, dead_pid, envelope, quiet_machine};

/// Where the Hub's list is, below the user's home.
const HUB: &str = if cfg!(target_os = "macos") {
    "Library/Application Support/UnityHub"
} else {
    ".config/unityhub"
};

/// How many descriptors somebody is about to write.
const HALF_WRITTEN: u64 = 30;

fn saying(words: &'static [&'static str]) -> Unity {
    Unity::start(move |seen, nth| match seen.path() {
        "/api/status" => Act::Reply(200, json!({"status": words[nth.min(words.len() - 1)]})),
        _ => Act::at_rest(seen),
    })
}

#[test]
fn a_ready_instance_is_ready() {
    let _machine = quiet_machine();
    let unity = saying(&["ready"]);
    let ran = unity.run(&["status", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let instance = envelope(&ran)["data"]["instances"][0].clone();
    assert_eq!(instance["state"], "ready");
    assert_eq!(instance["project"], "Game");
    assert_eq!(instance["version"], "6000.1.2f1");
    for name in ["port", "pid"] {
        assert_eq!(instance[name], unity.descriptor()[name]);
    }
    assert!(!ran.out.contains("c2Nya"), "no token is shown");
}

#[test]
fn one_that_has_ended_does_not_hide_who_has_its_port_now() {
    let _machine = quiet_machine();
    let (ended, unity) = (saying(&["ready"]), saying(&["ready"]));
    let root = ended.root();
    let noted = ended.run(&["status", "--project-path", root.to_str().unwrap()]);
    assert_eq!(noted.code, Some(0), "{noted:?}");
    let mut left = ended.descriptor();
    left["pid"] = dead_pid().into();
    left["port"] = unity.descriptor()["port"].clone();
    ended.describe(&left);
    let ran = ran(client(ended.around(), &unity.root(), &["status", "--json"]));
    let instances = envelope(&ran)["data"]["instances"].clone();
    assert_eq!(instances[0]["projectPath"], json!(unity.root()), "{ran:?}");
}

#[test]
fn half_written_descriptors_cost_their_time_once() {
    let _machine = quiet_machine();
    let unity = saying(&["ready"]);
    let home = tempfile::tempdir().unwrap();
    let mut projects = serde_json::Map::new();
    for nth in 0..HALF_WRITTEN {
        let project = home.path().join(format!("half-{nth}"));
        std::fs::create_dir_all(project.join("Library/Pipeline")).unwrap();
        std::fs::write(project.join("Library/Pipeline/.unity-pipeline-port"), "{").unwrap();
        projects.insert(project.to_str().unwrap().to_owned(), json!({}));
    }
    projects.insert(unity.root().to_str().unwrap().to_owned(), json!({}));
    let hub = home.path().join(HUB);
    std::fs::create_dir_all(&hub).unwrap();
    std::fs::write(hub.join("projects-v1.json"), json!({"data": projects}).to_string()).unwrap();
    let began = std::time::Instant::now();
    let listed = envelope(&ran(client(home.path(), home.path(), &["list", "--json"])));
    // One after another they would take two seconds each.
    assert!(began.elapsed().as_secs() < HALF_WRITTEN, "{:?}", began.elapsed());
    if cfg!(unix) {
        assert_eq!(listed["data"]["instances"][0]["projectName"], "Game", "{listed}");
    }
}

#[test]
fn what_keeps_an_instance_is_told() {
    let _machine = quiet_machine();
    for (words, args, exit, reason) in [
        (&["settling"][..], &["status", "--json"][..], 6, "STATUS_NOT_READY"),
        (&["blocked_by_dialog"], &["status", "--json"], 6, "STATUS_NOT_READY"),
        (
            &["settling"],
            &["status", "--json", "--until-ready", "--timeout", "1"],
            6,
            "STATUS_NOT_READY",
        ),
        (&["settling", "settling", "ready"], &["status", "--json", "--until-ready"], 0, ""),
        (
            &["ready"],
            &["status", "--json", "--timeout", "3"],
            2,
            "STATUS_TIMEOUT_REQUIRES_UNTIL_READY",
        ),
        (&["ready"], &["status", "--json", "--port", "1"], 6, "STATUS_NO_INSTANCES"),
        (&["ready"], &["status", "--json", "--project-path", "gone"], 4, "PRECONDITION_FAILED"),
    ] {
        let unity = saying(words);
        let ran = unity.run(args);
        assert_eq!((ran.code, code(&ran).as_str()), (Some(exit), reason), "{args:?}: {ran:?}");
    }
}

#[test]
fn nobody_and_nobody_who_answers_are_two_things() {
    let _machine = quiet_machine();
    let unity = Unity::absent();
    let project = unity.root();
    let ran_here = unity.run(&["status", "--json"]);
    assert_eq!((ran_here.code, code(&ran_here).as_str()), (Some(6), "STATUS_ALL_UNREACHABLE"));
    let elsewhere = tempfile::tempdir().unwrap();
    let nobody = ran(client(elsewhere.path(), elsewhere.path(), &["status", "--json"]));
    assert_eq!(
        (nobody.code, code(&nobody).as_str()),
        (Some(6), "STATUS_NO_INSTANCES"),
        "{nobody:?}"
    );
    let args = ["status", "--json", "--project-path", project.to_str().unwrap()];
    let named = ran(client(elsewhere.path(), elsewhere.path(), &args));
    assert_eq!(code(&named), "STATUS_ALL_UNREACHABLE");
}

#[test]
fn an_instance_that_was_named_once_is_listed_from_anywhere() {
    let _machine = quiet_machine();
    let unity = saying(&["ready"]);
    let elsewhere = tempfile::tempdir().unwrap();
    let list = || envelope(&ran(client(elsewhere.path(), elsewhere.path(), &["list", "--json"])));
    assert_eq!(list()["data"]["instances"], json!([]));
    let root = unity.root();
    let args = ["status", "--project-path", root.to_str().unwrap()];
    assert_eq!(ran(client(elsewhere.path(), elsewhere.path(), &args)).code, Some(0));
    let listed = list();
    assert_eq!(listed["data"]["instances"][0]["projectPath"], json!(root));
    assert!(!listed.to_string().contains("c2Nya"), "no token is shown");
    assert_eq!(unity.seen().len(), 1, "a list asks nobody");
}

#[test]
fn a_project_of_the_hub_is_listed() {
    let _machine = quiet_machine();
    let unity = saying(&["ready"]);
    let home = tempfile::tempdir().unwrap();
    let hub = home.path().join(HUB);
    std::fs::create_dir_all(&hub).unwrap();
    let list = json!({"schema_version": "v1", "data": {unity.root().to_str().unwrap(): {"title": "Game"}, "relative": {}}});
    std::fs::write(hub.join("projects-v1.json"), list.to_string()).unwrap();
    let listed = envelope(&ran(client(home.path(), home.path(), &["list", "--json"])));
    if cfg!(unix) {
        assert_eq!(listed["data"]["instances"][0]["projectName"], "Game", "{listed}");
    }
    std::fs::write(hub.join("projects-v1.json"), "{oops").unwrap();
    let listed = ran(client(home.path(), home.path(), &["list", "--json"]));
    assert_eq!((listed.code, &envelope(&listed)["data"]["instances"]), (Some(0), &json!([])));
}

#[cfg(target_os = "linux")]
#[test]
fn an_editor_that_loads_is_told_apart_from_none_and_found_by_its_command_line() {
    let _machine = busy_machine();
    let unity = saying(&["ready"]);
    let elsewhere = tempfile::tempdir().unwrap();
    // A program of the editor's name that waits for the end of its input.
    let program = elsewhere.path().join("Unity");
    write_executable(&program, &std::fs::read("/bin/sh").unwrap());
    let mut editor = std::process::Command::new(&program)
        .args(["-c", "read line", "-projectPath"])
        .arg(unity.root())
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut descriptor = unity.descriptor();
    descriptor["pid"] = editor.id().into();
    unity.describe(&descriptor);
    let ready = ran(client(
        elsewhere.path(),
        elsewhere.path(),
        &["status", "--json", "--port", &descriptor["port"].to_string()],
    ));
    assert_eq!(ready.code, Some(0), "{ready:?}");
    std::fs::remove_file(unity.root().join("Library/Pipeline/.unity-pipeline-port")).unwrap();
    let root = unity.root();
    let args = ["status", "--json", "--project-path", root.to_str().unwrap()];
    let loading = ran(client(elsewhere.path(), elsewhere.path(), &args));
    assert_eq!(
        (loading.code, code(&loading).as_str()),
        (Some(6), "STATUS_PIPELINE_LOAD_PENDING"),
        "{loading:?}"
    );
    drop(editor.stdin.take());
    editor.wait().unwrap();
    let gone = ran(client(elsewhere.path(), elsewhere.path(), &args));
    assert_eq!(code(&gone), "STATUS_NO_INSTANCES", "{gone:?}");
}
