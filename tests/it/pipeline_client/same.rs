//! A command in this process and over Didi's own server: the same output, the same exit code.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Stdio},
};

use didi_tests::{
    Project,
    server::{Ran, program_alone},
    unity::{client, ran},
};
use serde_json::json;

use super::{code, envelope, quiet_machine};

/// A server of a project, ended with the test.
struct Served(Child);

impl Served {
    fn over(project: &Project) -> Self {
        let mut command = client(project.outside(), &project.root(), &["pipeline", "serve"]);
        command.arg("--project").arg(project.root()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let wrote = lines.any(|line| line.unwrap().contains("descriptor written"));
        assert!(wrote, "the server says where it is");
        std::thread::spawn(move || lines.for_each(drop));
        Served(child)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn in_project(project: &Project, args: &[&str]) -> Ran {
    ran(client(project.outside(), &project.root(), args))
}

#[test]
fn a_command_has_the_same_output_with_a_server_and_without_one() {
    let project = Project::sample();
    let lines: &[&[&str]] = &[
        &["command", "--quiet", "scene_get_hierarchy", "res://levels/cave.tscn"],
        &["command", "--quiet", "--json", "project_get_setting", "application/config/name"],
        &["command", "--quiet", "--result-only", "project_list_resources", "--max-results", "5"],
        &["command", "--quiet", "--format", "human", "editor_status"],
        &["command", "--quiet", "resource_inspect", "res://gone.tres"],
        &["command", "--quiet", "--json", "scene_get_hierarchy", "--no-such", "1"],
        &["command", "--quiet", "no_such_command"],
        &["command", "--quiet", "script_create", "res://new.gd", "--dry-run"],
        &["command", "--quiet", "--limit", "3"],
        &["command", "--quiet", "--tags"],
    ];
    let alone: Vec<Ran> = lines.iter().map(|line| in_project(&project, line)).collect();
    let _served = Served::over(&project);
    for (line, alone) in lines.iter().zip(alone) {
        let served = in_project(&project, line);
        assert_eq!(served.code, alone.code, "{line:?}: {served:?} {alone:?}");
        assert_eq!(served.err, alone.err, "{line:?}");
        if line.contains(&"--json") {
            let comparable = |ran: &Ran| {
                let mut envelope = envelope(ran);
                if let Some(target) = envelope["data"]["target"].as_object_mut() {
                    for name in ["port", "pid", "info"] {
                        target.remove(name);
                    }
                }
                envelope
            };
            assert_eq!(comparable(&served), comparable(&alone), "{line:?}");
        } else if !line.contains(&"--dry-run") {
            // A preview has a token of its own each time.
            assert_eq!(served.out, alone.out, "{line:?}");
        }
    }
}

#[test]
fn a_change_is_confirmed_by_the_callers_word() {
    let project = Project::sample();
    let lamp = project.text("res://lamps/lamp.gd");
    let text = "extends Node2D\n";
    let rewrite =
        ["command", "--json", "script_create", "res://lamps/lamp.gd", text, "--overwrite"];
    let refused = in_project(&project, &rewrite);
    assert_eq!((refused.code, code(&refused).as_str()), (Some(6), "COMMAND_FAILED"), "{refused:?}");
    assert!(refused.err.contains("--confirm"), "{}", refused.err);
    assert_eq!(project.text("res://lamps/lamp.gd"), lamp);
    let mut confirmed = rewrite.to_vec();
    confirmed.push("--confirm");
    let done = in_project(&project, &confirmed);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(project.text("res://lamps/lamp.gd").as_deref(), Some(text));
}

#[test]
fn a_job_needs_a_server_and_is_kept_by_one() {
    let project = Project::sample();
    let detach = ["command", "--json", "--detach", "scene_get_hierarchy", "res://levels/cave.tscn"];
    let alone = in_project(&project, &detach);
    assert_eq!((alone.code, code(&alone).as_str()), (Some(4), "PRECONDITION_FAILED"), "{alone:?}");
    let alone = in_project(&project, &["job", "status", "--json", "x"]);
    assert_eq!((alone.code, code(&alone).as_str()), (Some(7), "NO_INSTANCE"), "{alone:?}");
    let _served = Served::over(&project);
    let sent = in_project(&project, &["command", "--detach", "editor_status"]);
    let waited = in_project(&project, &["job", "wait", "--json", sent.out.trim()]);
    assert_eq!(waited.code, Some(0), "{waited:?}");
    assert_eq!(envelope(&waited)["data"]["state"], "completed");
    let status = in_project(&project, &["status", "--json"]);
    assert_eq!(envelope(&status)["data"]["instances"][0]["state"], json!("ready"), "{status:?}");
}

#[test]
fn what_needs_a_server_is_refused_before_a_pack_is_taken_up() {
    let project = Project::sample();
    let cache = project.outside().join("copies");
    for (args, exit, takes_up) in [
        (&["job", "wait", "x"][..], 7, false),
        (&["command", "--detach", "editor_status"], 4, false),
        (&["command", "project_list_autoloads"], 0, true),
    ] {
        let mut command = program_alone(&didi_tests::didi());
        command
            .arg("--pack-cache")
            .arg(&cache)
            .args(args)
            .current_dir(project.root())
            .env("DIDI_SESSION_DIR", project.outside().join("sessions"))
            .env("HOME", project.outside());
        let told = ran(command);
        assert_eq!(told.code, Some(exit), "{told:?}");
        assert_eq!(cache.exists(), takes_up, "{args:?}");
    }
}

#[test]
fn a_server_is_found_from_anywhere() {
    let _machine = quiet_machine();
    let project = Project::sample();
    let elsewhere = tempfile::tempdir().unwrap();
    let _served = Served::over(&project);
    let listed = ran(client(project.outside(), elsewhere.path(), &["list", "--json"]));
    let root = json!(project.root().canonicalize().unwrap());
    assert_eq!(envelope(&listed)["data"]["instances"][0]["projectPath"], root, "{listed:?}");
    let asked =
        ran(client(project.outside(), elsewhere.path(), &["command", "--json", "editor_status"]));
    assert_eq!(envelope(&asked)["data"]["target"]["projectPath"], root, "{asked:?}");
}
