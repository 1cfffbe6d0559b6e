//! How a server comes up, is found, is the only one of its project, and goes.

use std::fs;

use didi_tests::{
    Launch, Pipeline, Project,
    pipeline::{DESCRIPTOR, descriptor},
    server::run,
    until,
};
use serde_json::{Value, json};

#[test]
fn the_descriptor_is_the_owners_alone_and_moves_with_the_heart() {
    let project = Project::sample();
    let pipeline = Pipeline::over(&project);
    let found = pipeline.descriptor().unwrap();
    assert_eq!(found["projectPath"], project.root().display().to_string());
    assert_eq!(found["mode"], "editor");
    assert_eq!(found["capabilities"], json!(["exec.argv", "exec.commandLine"]));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(project.file(DESCRIPTOR)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert_eq!(project.text(".didi/pipeline/.gitignore").as_deref(), Some("*\n"));
    let first = found["lastHeartbeat"].clone();
    let moved = until("the next heartbeat", || {
        pipeline.descriptor().filter(|found| found["lastHeartbeat"] != first)
    });
    for name in ["pid", "port", "evalToken", "startedAt"] {
        assert_eq!(moved[name], found[name], "{name}");
    }
}

#[cfg(unix)]
#[test]
fn a_server_that_is_ended_takes_its_descriptor_away() {
    let project = Project::sample();
    let mut pipeline = Pipeline::over(&project);
    assert!(pipeline.terminate().success());
    assert_eq!(project.text(DESCRIPTOR), None);
    // Beside standard input it ends with that.
    let server = Launch::over(project.root()).args(["--pipeline", "--pipeline-port", "0"]).start();
    let pipeline = Pipeline::of(server, &project);
    pipeline.status_is_quick();
    let closed = pipeline.server.close();
    assert!(closed.status.success(), "{closed:?}");
    assert_eq!(project.text(DESCRIPTOR), None);
}

#[cfg(unix)]
#[test]
fn a_descriptor_that_another_process_took_over_is_left() {
    // A heartbeat may come in between and write the server's own again; not every time.
    let is_left = || {
        let project = Project::sample();
        let mut pipeline = Pipeline::over(&project);
        let mut other = pipeline.descriptor().unwrap();
        other["evalToken"] = "another".into();
        project.write(DESCRIPTOR, other.to_string());
        pipeline.terminate();
        let left = descriptor(&project.root());
        left.is_some_and(|left| left["evalToken"] == "another")
    };
    assert!((0..5).any(|_| is_left()));
}

#[test]
fn what_a_killed_server_leaves_is_replaced_by_the_next() {
    let project = Project::sample();
    let mut first = Pipeline::over(&project);
    first.server.kill();
    let left = first.descriptor().expect("a killed server cleans nothing up");
    let second = Pipeline::over(&project);
    assert_ne!(second.token, left["evalToken"].as_str().unwrap());
    second.status_is_quick();
}

#[test]
fn a_second_server_of_a_project_is_refused_and_names_the_first() {
    let project = Project::sample();
    let first = Pipeline::over(&project);
    let root = project.root().display().to_string();
    let second = run(&["pipeline", "serve", "--project", &root]);
    assert_eq!(second.code, Some(2), "{second:?}");
    let (pid, port) = (first.server.pid().to_string(), first.port.to_string());
    assert!(second.err.contains(&pid) && second.err.contains(&port), "{}", second.err);
    assert!(second.err.contains("hint: "), "{}", second.err);
    first.status_is_quick();
    // A port that somebody has is no port for another project either.
    let other = Project::empty();
    let root = other.root().display().to_string();
    let taken = run(&["pipeline", "serve", "--project", &root, "--port", &port]);
    assert_eq!(taken.code, Some(2));
    assert!(taken.err.contains(&port), "{}", taken.err);
    assert_eq!(other.text(DESCRIPTOR), None);
}

/// A server beside standard input serves on without the project's place, and takes it when it is free.
#[test]
fn a_server_beside_standard_input_waits_for_the_place() {
    let project = Project::sample();
    let mut first = Pipeline::over(&project);
    let mut second =
        Launch::over(project.root()).args(["--pipeline", "--pipeline-port", "0"]).start();
    second.initialize("2025-11-25", json!({}));
    second.wait_for_log("is not served");
    assert_eq!(second.call("didi_control_room", json!({}))["isError"], false);
    assert_eq!(first.descriptor().unwrap()["pid"], first.server.pid());
    first.server.kill();
    Pipeline::of(second, &project).status_is_quick();
}

#[test]
fn unitys_own_layout_is_written_where_it_was_asked_for() {
    let project = Project::sample();
    let other = "Library/Pipeline/.unity-pipeline-port";
    let pipeline = Pipeline::start(&project, |launch| launch.args(["--unity-layout"]));
    let text = until("the other descriptor", || project.text(other));
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&found["port"], &found["evalToken"]),
        (&json!(pipeline.port), &json!(pipeline.token))
    );
    assert_eq!(project.text("Library/.gdignore").as_deref(), Some(""));
    drop(pipeline);
    let plain = Project::sample();
    let pipeline = Pipeline::over(&plain);
    assert!(!plain.file("Library").exists());
    drop(pipeline);
}

#[test]
fn without_a_word_nothing_listens_and_nothing_is_written() {
    let project = Project::sample();
    let mut server = Launch::over(project.root()).start();
    server.initialize("2025-11-25", json!({}));
    assert_eq!(server.call("didi_control_room", json!({}))["isError"], false);
    assert!(!project.file(".didi/pipeline").exists());
}

#[test]
fn what_it_says_on_its_output_is_where_it_listens() {
    let project = Project::sample();
    let mut pipeline = Pipeline::over(&project);
    let port = pipeline.port;
    let said = [pipeline.server.output_line(), pipeline.server.output_line()];
    assert_eq!(said[0], format!("Pipeline: server started on port {port}"));
    assert!(said[1].starts_with("Pipeline: descriptor written to "), "{said:?}");
    assert!(said.iter().all(|line| !line.contains(&pipeline.token)));
}

/// The first of the usual range that is free.
#[test]
fn a_port_of_the_usual_range_is_taken_by_itself() {
    let project = Project::empty();
    let server = Launch::over(project.root()).args(["pipeline", "serve"]).start();
    let pipeline = Pipeline::of(server, &project);
    assert!((7800..=7849).contains(&pipeline.port), "{}", pipeline.port);
    pipeline.status_is_quick();
}
