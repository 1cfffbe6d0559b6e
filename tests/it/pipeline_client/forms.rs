//! What is sent and what is printed: headers, the forms of a request, older servers, the four output formats.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

#[cfg(target_os = "linux")]
use didi_tests::executable::write_executable;
use didi_tests::{
    unity::{Act, TOKEN, Unity},
    until,
};
use serde_json::{Value, json};

#[cfg(target_os = "linux")]
use super::busy_machine;
use super::{code, envelope};

#[test]
fn a_request_goes_to_the_loopback_with_its_token_and_no_origin() {
    let unity = Unity::running(|_, _| Act::done(json!("pong")));
    let ran = unity.run(&["command", "log_editor", "two words", "--count", "007", "--", "-x"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "pong\n"), "{ran:?}");
    let seen = unity.seen();
    assert_eq!(seen.len(), 1, "one request, no look before: {seen:?}");
    let headers = &seen[0].headers;
    assert_eq!(headers["authorization"], format!("Bearer {TOKEN}"));
    assert_eq!(headers["host"], format!("127.0.0.1:{}", unity.descriptor()["port"]));
    assert!(!headers.contains_key("origin"));
    let argv = json!(["log_editor", "two words", "--count", "007", "--", "-x"]);
    assert_eq!(seen[0].body["argv"], argv);
    assert!(seen[0].body["timeout"].as_u64().is_some_and(|ms| ms <= 30_000));
    assert!(seen[0].body.get("command").is_none());
}

#[test]
fn a_proxy_of_the_environment_is_not_asked() {
    let unity = Unity::running(|_, _| Act::done(json!(1)));
    let mut command = unity.command(&["command", "ping"]);
    for name in ["http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"] {
        command.env(name, "http://127.0.0.1:9");
    }
    assert_eq!(command.output().unwrap().status.code(), Some(0));
}

#[test]
fn an_older_server_gets_named_parameters_and_never_a_raw_line() {
    let unity = Unity::running(|_, _| Act::done(json!("ok")));
    let mut older = unity.descriptor();
    older.as_object_mut().unwrap().remove("capabilities");
    unity.describe(&older);
    let ran = unity.run(&["command", "--json", "log_editor", "007", "--Count=007"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.err.contains("takes no raw command lines"), "{}", ran.err);
    let sent: Vec<Value> = unity.seen().iter().map(|seen| seen.body.clone()).collect();
    let body = sent.last().unwrap();
    assert_eq!(body["command"], "log_editor");
    assert_eq!(body["parameters"], json!({"message": "007", "count": 7}));
    assert!(
        sent.iter().all(|body| body.get("argv").is_none() && body.get("commandLine").is_none())
    );
    let data = envelope(&ran)["data"].clone();
    assert_eq!(data["parameters"], json!({"message": "007", "count": 7}));
    // Defects are found here, all of them, and nothing is sent to run.
    let before = unity.execs();
    let ran = unity.run(&["command", "--json", "log_editor", "--mesage", "x", "--count=five"]);
    assert_eq!((ran.code, code(&ran).as_str()), (Some(2), "INVALID_COMMAND_ARGS"), "{ran:?}");
    let problems = envelope(&ran)["errors"][0]["argProblems"].clone();
    assert_eq!(
        problems[0],
        json!({"kind": "unknownName", "name": "mesage", "suggestion": "message"})
    );
    assert_eq!(problems[1]["kind"], "typeMismatch");
    assert!(ran.err.contains("usage: log_editor <message> [--count Int32]"), "{}", ran.err);
    assert_eq!(unity.execs(), before);
    // Without arguments no list is needed.
    unity.run(&["command", "log_editor"]);
    assert_eq!(unity.seen().last().unwrap().body["command"], "log_editor");
}

#[test]
fn an_older_server_without_a_list_is_told_by_its_status() {
    let unity = Unity::start(|_, _| Act::Raw(404, "Not Found".into()));
    let mut older = unity.descriptor();
    older.as_object_mut().unwrap().remove("capabilities");
    unity.describe(&older);
    let ran = unity.run(&["command", "--json", "log_editor", "hi"]);
    assert_eq!((ran.code, code(&ran).as_str()), (Some(6), "COMMAND_FAILED"), "{ran:?}");
    assert_eq!(unity.execs(), 0);
}

#[test]
fn a_server_that_claims_more_than_it_has_is_served_as_an_older_one() {
    let unity = Unity::running(|seen, _| {
        let raw = seen.body.get("argv").is_some();
        if raw {
            Act::failed("Invalid JSON", "Required property 'command'")
        } else {
            Act::done(json!("ok"))
        }
    });
    let ran = unity.run(&["command", "log_editor", "hi"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "ok\n"), "{ran:?}");
    assert_eq!(unity.execs(), 2);
}

#[test]
fn each_format_has_its_form() {
    let rows = json!([{"name": "a", "size": 1}, {"name": "b\tc", "size": 20}]);
    let result = rows.clone();
    let unity = Unity::running(move |_, _| {
        Act::Reply(
            200,
            json!({"success": true, "result": rows, "parameters": {"x": "1"}, "warnings": ["odd"]}),
        )
    });
    let printed = |args: &[&str]| {
        let all: Vec<&str> = ["command"].iter().chain(args).chain(&["ping"]).copied().collect();
        let ran = unity.run(&all);
        assert_eq!(ran.code, Some(0), "{args:?}: {ran:?}");
        let quiet = args.contains(&"--quiet");
        assert_eq!(ran.err, if quiet { "" } else { "warning: odd\n" }, "{args:?}");
        ran.out
    };
    // A pipe gets lines.
    assert_eq!(printed(&[]), "name\tsize\na\t1\nb\\tc\t20\n");
    assert_eq!(printed(&["--format", "tsv", "--quiet"]), printed(&[]));
    assert_eq!(printed(&["--format", "human"]), "NAME  SIZE\na     1\nb\\tc  20\n");
    let only: Value = serde_json::from_str(&printed(&["--result-only"])).unwrap();
    assert_eq!(only, result);
    let one: Value = serde_json::from_str(&printed(&["--json"])).unwrap();
    assert_eq!(one["success"], true);
    assert_eq!((&one["errors"], &one["warnings"]), (&json!([]), &json!(["odd"])));
    let data = &one["data"];
    assert_eq!(
        (&data["command"], &data["parameters"], &data["result"]),
        (&json!("ping"), &json!({"x": "1"}), &result)
    );
    assert_eq!(data["target"]["projectPath"], json!(unity.root()));
    let lines = printed(&["--format", "ndjson"]);
    let frames: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(frames.len(), 1);
    assert_eq!((&frames[0]["type"], &frames[0]["data"]["result"]), (&json!("result"), &result));
}

#[test]
fn the_environment_names_a_format_and_the_line_wins() {
    let unity = Unity::running(|_, _| Act::done(json!({"a": 1})));
    let printed = |args: &[&str]| {
        let output = unity.command(args).env("DIDI_FORMAT", "json").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(printed(&["command", "ping"]).starts_with('{'));
    assert_eq!(printed(&["command", "--format", "tsv", "ping"]), "a\t1\n");
}

#[test]
fn progress_comes_in_frames_before_the_result() {
    // The command goes on until its progress was asked for a third time: two answers were taken then. The third is
    // never answered, and holds back nothing.
    let third = Arc::new(AtomicBool::new(false));
    let unity = Unity::start(move |seen, nth| match (seen.path(), nth) {
        ("/api/progress", 0 | 1) => Act::Reply(
            200,
            json!({"active": true, "progress": {"title": "Baking", "current": 42, "total": 100, "pct": 0.42}}),
        ),
        ("/api/progress", _) => {
            third.store(true, Ordering::SeqCst);
            Act::Stall
        }
        ("/api/exec", _) => {
            until("third question", || third.load(Ordering::SeqCst).then_some(()));
            Act::done(json!("done"))
        }
        _ => Act::at_rest(seen),
    });
    let ran = unity.run(&["command", "--format", "ndjson", "bake"]);
    let frames: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(
        frames[0],
        json!({"type": "progress", "title": "Baking", "current": 42, "total": 100, "pct": 0.42})
    );
    assert_eq!(frames.last().unwrap()["type"], "result");
    assert_eq!(frames.len(), 2, "one that did not change is told once: {frames:?}");
}

#[test]
fn commands_are_listed_with_the_query_that_was_asked() {
    let unity = Unity::running(|_, _| Act::Close);
    let ran = unity.run(&["command", "--query", "é x", "--limit", "5", "--order", "desc"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(
        ran.out,
        "name\ttags\tdescription\nlog_editor\t[\"observability\"]\tWrites to the console.\n"
    );
    let target = unity.seen()[0].target.clone();
    assert_eq!(target, "/api/commands?detail=compact&query=%C3%A9+x&order=desc&limit=5");
    let ran = unity.run(&["command", "--tags"]);
    assert_eq!(ran.out, "tag\tcommands\nobservability\t1\n");
    let ran = unity.run(&["command", "--detail", "full", "--format", "human"]);
    assert!(ran.out.contains("log_editor <message> [--count Int32]"), "{}", ran.out);
    assert_eq!(unity.run(&["command", "--tags", "--detail", "full"]).code, Some(2));
    assert_eq!(unity.execs(), 0);
}

#[test]
fn the_aliases_and_the_players_options_reach_an_instance() {
    let unity = Unity::running(|_, _| Act::done(json!("pong")));
    for word in ["cmd", "req", "request"] {
        assert_eq!(unity.run(&[word, "ping"]).out, "pong\n", "{word}");
    }
    let folder = unity.around().join("Builds");
    std::fs::create_dir(&folder).unwrap();
    let mut player = unity.descriptor();
    for name in ["projectPath", "projectName", "mode"] {
        player.as_object_mut().unwrap().remove(name);
    }
    player["workingDirectory"] = json!(folder);
    player["platform"] = "LinuxPlayer".into();
    let file = folder.join(".unity-pipeline-runtime-port");
    std::fs::write(&file, player.to_string()).unwrap();
    for path in [&folder, &file] {
        let ran =
            unity.run(&["command", "--json", "--runtime-path", path.to_str().unwrap(), "ping"]);
        assert_eq!(envelope(&ran)["data"]["target"]["project"], "Builds", "{ran:?}");
    }
    assert_eq!(unity.run(&["command", "--runtime-path", "nowhere", "ping"]).code, Some(4));
    assert_eq!(unity.run(&["command", "--runtime", "NoSuchGame", "ping"]).code, Some(7));
}

#[cfg(target_os = "linux")]
#[test]
fn a_player_is_found_by_the_name_of_its_process() {
    let _machine = busy_machine();
    let unity = Unity::running(|_, _| Act::done(json!("pong")));
    let folder = unity.around().join("Builds");
    std::fs::create_dir(&folder).unwrap();
    // A program that waits for the end of its input, under a name of the test's own.
    let program = folder.join("DidiScriptedGame.x86_64");
    write_executable(&program, &std::fs::read("/bin/cat").unwrap());
    let mut game = std::process::Command::new(&program)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut player = unity.descriptor();
    player.as_object_mut().unwrap().remove("projectPath");
    player["workingDirectory"] = json!(folder);
    player["pid"] = game.id().into();
    std::fs::write(folder.join(".unity-pipeline-runtime-port"), player.to_string()).unwrap();
    for name in ["DidiScriptedGame.x86_64", "didiscriptedgame", "DidiScripted*"] {
        let ran = unity.run(&["command", "--runtime", name, "ping"]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), "pong\n"), "{name}: {ran:?}");
    }
    drop(game.stdin.take());
    game.wait().unwrap();
}
