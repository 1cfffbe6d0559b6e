//! Each row of the table of exit codes, and that nothing which may have run is sent twice.

use std::{
    fs,
    net::TcpListener,
    process::{Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use didi_tests::unity::{Act, Unity, client, ran};
use serde_json::{Value, json};

use super::{code, dead_pid, envelope, quiet_machine};

/// One run of `didi command` against a scripted instance.
struct Case {
    name: &'static str,
    args: &'static [&'static str],
    act: fn(usize) -> Act,
    exit: i32,
    /// Empty for a success.
    code: &'static str,
    /// How many commands may reach the instance.
    execs: usize,
    /// What standard error says.
    err: &'static str,
}

const PING: &[&str] = &["command", "--json", "ping"];
const SOON: &[&str] = &["command", "--json", "--timeout", "1", "ping"];
const STRICT: &[&str] = &["command", "--json", "--strict", "ping"];

fn inner() -> Act {
    Act::done(json!({"success": false, "error": "compile"}))
}

/// What a server says of a command that did not end in its time.
fn late() -> Act {
    Act::Reply(
        400,
        json!({
            "success": false, "error": "Command Execution Failed", "timedOut": true,
            "errorDetails": "The command was asked to stop; whether it took effect is not known",
        }),
    )
}

fn arguments() -> Act {
    Act::Reply(
        400,
        json!({
            "success": false, "error": "Invalid Command Arguments", "errorCode": "INVALID_COMMAND_ARGS",
            "errorDetails": "ping has no parameter --mesage. Did you mean --message?",
            "argProblems": [{"kind": "unknownName", "name": "mesage", "suggestion": "message"}],
            "commandSchema": {"name": "ping", "parameters": [{"name": "message", "type": "String", "required": true}]},
        }),
    )
}

#[rustfmt::skip]
const CASES: &[Case] = &[
    Case { name: "done", args: PING, act: |_| Act::done(json!("pong")), exit: 0, code: "", execs: 1, err: "" },
    Case { name: "delivered and failed", args: PING, act: |_| inner(), exit: 0, code: "", execs: 1, err: "its result says that it failed: compile" },
    Case { name: "the same as a text", args: PING, act: |_| Act::done(json!("{\"success\": false, \"error\": \"compile\"}")), exit: 0, code: "", execs: 1, err: "its result says that it failed: compile" },
    Case { name: "the same, strictly", args: STRICT, act: |_| inner(), exit: 6, code: "COMMAND_FAILED", execs: 1, err: "compile" },
    Case { name: "a text that is no failure", args: STRICT, act: |_| Act::done(json!("{\"success\": true}")), exit: 0, code: "", execs: 1, err: "" },
    Case { name: "tests failed, strictly", args: STRICT, act: |_| Act::done(json!({"success": false, "failed": 2, "error": "2 tests"})), exit: 8, code: "TESTS_FAILED", execs: 1, err: "2 tests" },
    Case { name: "tests failed in a Didi", args: PING, act: |_| Act::Reply(400, json!({"success": false, "error": "Command Execution Failed", "errorDetails": "1 of 3 tests failed.", "refusal": {"code": 422, "data": {"code": "tests_failed"}}})), exit: 8, code: "TESTS_FAILED", execs: 1, err: "1 of 3" },
    Case { name: "warnings", args: PING, act: |_| Act::Reply(200, json!({"success": true, "result": 1, "warnings": ["odd"]})), exit: 0, code: "", execs: 1, err: "warning: odd" },
    Case { name: "an option that is none", args: &["command", "--json", "--no-such", "ping"], act: |_| Act::Close, exit: 2, code: "INVALID_ARGUMENTS", execs: 0, err: "--no-such" },
    Case { name: "an option of the list with a name", args: &["command", "--json", "--tags", "ping"], act: |_| Act::Close, exit: 2, code: "INVALID_ARGUMENTS", execs: 0, err: "--tags" },
    Case { name: "a short flag", args: &["command", "--json", "ping", "-x"], act: |_| Act::Close, exit: 2, code: "INVALID_COMMAND_ARGS", execs: 0, err: "-x is no flag" },
    Case { name: "arguments that do not bind", args: &["command", "--json", "ping", "--mesage", "x"], act: |_| arguments(), exit: 2, code: "INVALID_COMMAND_ARGS", execs: 1, err: "Did you mean --message?" },
    Case { name: "a token that is not taken", args: PING, act: |_| Act::Reply(401, json!({"error": "Unauthorized"})), exit: 3, code: "UNAUTHORIZED", execs: 1, err: "Unauthorized" },
    Case { name: "a folder that is not there", args: &["command", "--json", "--project-path", "gone", "ping"], act: |_| Act::Close, exit: 4, code: "PRECONDITION_FAILED", execs: 0, err: "gone" },
    Case { name: "an unknown command", args: PING, act: |_| Act::failed("Command Not Found", "Command 'ping' not found"), exit: 6, code: "COMMAND_FAILED", execs: 1, err: "not found" },
    Case { name: "a command that threw", args: PING, act: |_| Act::failed("Command Execution Failed", "boom"), exit: 6, code: "COMMAND_FAILED", execs: 1, err: "boom" },
    Case { name: "settling twice, then ready", args: PING, act: |nth| if nth < 2 { Act::busy("settling") } else { Act::done(json!(1)) }, exit: 0, code: "", execs: 3, err: "" },
    Case { name: "too many jobs", args: &["command", "--json", "--detach", "ping"], act: |_| Act::Reply(429, json!({"success": false, "error": "Too Many Queued Jobs"})), exit: 7, code: "TOO_MANY_JOBS", execs: 1, err: "Too Many Queued Jobs" },
    Case { name: "closed without an answer", args: PING, act: |_| Act::Close, exit: 7, code: "OUTCOME_UNKNOWN", execs: 1, err: "may have run" },
    Case { name: "closed in the middle", args: PING, act: |_| Act::Half, exit: 7, code: "OUTCOME_UNKNOWN", execs: 1, err: "may have run" },
    Case { name: "a body that is no JSON", args: PING, act: |_| Act::Raw(200, "<html>".into()), exit: 7, code: "BAD_REPLY", execs: 1, err: "no JSON" },
    Case { name: "a list for an answer", args: PING, act: |_| Act::Reply(200, json!([1])), exit: 7, code: "BAD_REPLY", execs: 1, err: "may have run" },
    Case { name: "a refusal that is no JSON", args: PING, act: |_| Act::Raw(401, "Unauthorized".into()), exit: 3, code: "UNAUTHORIZED", execs: 1, err: "status 401" },
    Case { name: "an endpoint that is not there", args: PING, act: |_| Act::Raw(404, "Not Found".into()), exit: 6, code: "COMMAND_FAILED", execs: 1, err: "status 404" },
    Case { name: "busy in words that are no JSON", args: PING, act: |_| Act::Raw(503, "later".into()), exit: 6, code: "EDITOR_NOT_READY", execs: 1, err: "status 503" },
    Case { name: "asked to stop by the instance", args: PING, act: |_| late(), exit: 7, code: "TIMED_OUT", execs: 1, err: "may have run" },
    Case { name: "no answer in time", args: SOON, act: |_| Act::Stall, exit: 7, code: "TIMED_OUT", execs: 1, err: "may have run" },
];

#[test]
fn every_exit_code_has_its_reason() {
    thread::scope(|scope| {
        for case in CASES {
            scope.spawn(|| {
                let act = case.act;
                let unity = Unity::running(move |_, nth| act(nth));
                let ran = unity.run(case.args);
                assert_eq!(ran.code, Some(case.exit), "{}: {ran:?}", case.name);
                assert_eq!(code(&ran), case.code, "{}: {ran:?}", case.name);
                assert_eq!(envelope(&ran)["success"], case.exit == 0, "{}", case.name);
                assert_eq!(unity.execs(), case.execs, "{}: what is sent", case.name);
                assert!(ran.err.contains(case.err), "{}: {}", case.name, ran.err);
                if case.err.is_empty() {
                    assert_eq!(ran.err, "", "{}", case.name);
                }
            });
        }
    });
}

#[test]
fn an_unknown_outcome_is_said_to_programs() {
    for act in [(|| Act::Close) as fn() -> Act, late, || Act::Raw(200, "<html>".into())] {
        let unity = Unity::running(move |_, _| act());
        let ran = unity.run(PING);
        assert_eq!(envelope(&ran)["errors"][0]["outcome"], "unknown", "{ran:?}");
    }
}

#[test]
fn a_dialog_that_stays_is_not_ready() {
    let unity = Unity::running(|_, _| Act::busy("blocked_by_dialog"));
    let ran = unity.run(SOON);
    assert_eq!((ran.code, code(&ran).as_str()), (Some(6), "EDITOR_NOT_READY"));
    assert!(ran.err.contains("dialog"), "{}", ran.err);
    assert!(unity.execs() > 1, "it was asked again within the time");
    assert_eq!(envelope(&ran)["errors"][0]["busyReason"], "blocked_by_dialog");
}

#[test]
fn each_try_has_the_time_that_is_left() {
    let unity = Unity::running(|_, nth| match nth {
        0 | 1 => Act::busy("settling"),
        _ => Act::done(json!(1)),
    });
    assert_eq!(unity.run(PING).code, Some(0));
    let told: Vec<u64> =
        unity.seen().iter().map(|seen| seen.body["timeout"].as_u64().unwrap()).collect();
    assert!(told.is_sorted_by(|before, after| before > after), "{told:?}");
    assert_eq!(told.len(), 3);
}

#[test]
fn nobody_and_the_dead_are_told_apart_from_the_unready() {
    let _machine = quiet_machine();
    let unity = Unity::absent();
    let ran = unity.run(SOON);
    assert_eq!((ran.code, code(&ran).as_str()), (Some(6), "EDITOR_NOT_READY"), "{ran:?}");
    let mut descriptor = unity.descriptor();
    descriptor["pid"] = dead_pid().into();
    unity.describe(&descriptor);
    let ran = unity.run(SOON);
    assert_eq!((ran.code, code(&ran).as_str()), (Some(7), "NO_INSTANCE"), "{ran:?}");
    assert!(ran.err.contains("what is left are descriptors of Game"), "{}", ran.err);
    fs::remove_file(unity.root().join("Library/Pipeline/.unity-pipeline-port")).unwrap();
    let ran = unity.run(SOON);
    assert_eq!((ran.code, code(&ran).as_str()), (Some(7), "NO_INSTANCE"), "{ran:?}");
}

#[test]
fn an_editor_that_comes_back_on_another_port_is_found_there() {
    let (closed, gate) = mpsc::channel();
    let gate = Mutex::new(gate);
    let unity = Unity::running(move |_, _| {
        gate.lock().unwrap().recv().unwrap();
        Act::busy("settling")
    });
    let running = unity.command(PING).stdout(Stdio::piped()).spawn().unwrap();
    // It knows the old port now, and the descriptor is read anew only when that is closed.
    unity.wait_for("/api/exec");
    unity.stop_listening();
    closed.send(()).unwrap();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let taken = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&taken);
    let _unity = unity.serve(listener, move |_, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        Act::done(json!("back"))
    });
    let output = running.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(taken.load(Ordering::SeqCst), 1);
}

#[test]
fn a_descriptor_is_waited_for_while_it_is_half_written_and_told_when_it_stays_so() {
    let unity = Unity::running(|_, _| Act::done(json!(1)));
    let whole = unity.descriptor().to_string();
    unity.write_descriptor(&whole.as_bytes()[..whole.len() / 2]);
    let running = unity.command(PING).stdout(std::process::Stdio::piped()).spawn().unwrap();
    unity.write_descriptor(whole.as_bytes());
    let output = running.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    for (text, why) in [(&whole[..20], "half written"), ("[]", "none")] {
        unity.write_descriptor(text.as_bytes());
        let ran = unity.run(PING);
        assert_eq!((ran.code, code(&ran).as_str()), (Some(4), "BAD_DESCRIPTOR"), "{ran:?}");
        assert!(ran.err.contains(why), "{}", ran.err);
        assert!(!ran.err.contains("c2Nya"), "no token is told: {}", ran.err);
    }
}

#[test]
fn two_editors_are_ambiguous_and_one_is_found_from_anywhere() {
    let _machine = quiet_machine();
    let (one, other) =
        (Unity::running(|_, _| Act::done(json!(1))), Unity::running(|_, _| Act::done(json!(2))));
    let elsewhere = tempfile::tempdir().unwrap();
    let note = |unity: &Unity| {
        let root = unity.root();
        let args = ["command", "--project-path", root.to_str().unwrap(), "ping"];
        assert_eq!(ran(client(elsewhere.path(), elsewhere.path(), &args)).code, Some(0));
    };
    // The port tells them apart, as both are this process.
    note(&one);
    let alone = ran(client(elsewhere.path(), elsewhere.path(), PING));
    assert_eq!(envelope(&alone)["data"]["result"], 1, "{alone:?}");
    note(&other);
    let both = ran(client(elsewhere.path(), elsewhere.path(), PING));
    assert_eq!((both.code, code(&both).as_str()), (Some(6), "AMBIGUOUS_EDITOR"), "{both:?}");
    let candidates = envelope(&both)["data"]["candidates"].clone();
    let mut paths: Vec<Value> =
        candidates.as_array().unwrap().iter().map(|it| it["projectPath"].clone()).collect();
    let mut roots = vec![json!(one.root()), json!(other.root())];
    paths.sort_by_key(Value::to_string);
    roots.sort_by_key(Value::to_string);
    assert_eq!(paths, roots);
    for name in ["project", "port", "pid"] {
        assert!(!candidates[0][name].is_null(), "{candidates}");
    }
    // A folder inside of a project means that project.
    let inside = ran(client(elsewhere.path(), &other.root().join("Assets"), PING));
    assert_eq!(envelope(&inside)["data"]["result"], 2, "{inside:?}");
}

#[cfg(unix)]
#[test]
fn a_descriptor_that_may_not_be_read_is_no_missing_editor() {
    use std::os::unix::fs::PermissionsExt as _;
    let unity = Unity::running(|_, _| Act::done(json!(1)));
    let file = unity.root().join("Library/Pipeline/.unity-pipeline-port");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    let ran = unity.run(PING);
    if fs::File::open(&file).is_ok() {
        assert_eq!(ran.code, Some(0), "the superuser reads everything");
    } else {
        assert_eq!((ran.code, code(&ran).as_str()), (Some(4), "PERMISSION_DENIED"));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_can_not_be_written_is_a_general_failure() {
    let unity = Unity::running(|_, _| Act::done(json!(1)));
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status = unity.command(PING).stdout(full).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_waiting_with_its_own_code() {
    use didi_tests::Signal;
    for (signal, exit) in [(Signal::HUP, 129), (Signal::INT, 130), (Signal::TERM, 143)] {
        let unity = Unity::running(|_, _| Act::Stall);
        // Whoever runs the tests may have all of them ignore a signal.
        let mut plain = through("env", &["--default-signal"], &unity.command(PING));
        let mut running = plain.stdout(Stdio::null()).spawn().unwrap();
        unity.wait_for("/api/exec");
        didi_tests::signal(running.id(), signal);
        assert_eq!(running.wait().unwrap().code(), Some(exit));
        assert_eq!(unity.execs(), 1);
    }
}

/// A program started by another one, which becomes it.
#[cfg(unix)]
fn through(program: &str, args: &[&str], plain: &Command) -> Command {
    let mut command = Command::new(program);
    command.args(args).arg(plain.get_program()).args(plain.get_args());
    command.current_dir(plain.get_current_dir().expect("it runs in a folder"));
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// What `nohup` started outlives its terminal.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_is_ignored_from_the_start_ends_nothing() {
    use didi_tests::Signal;
    let (hung_up, gate) = mpsc::channel();
    let gate = Mutex::new(gate);
    let unity = Unity::running(move |_, _| {
        gate.lock().unwrap().recv().unwrap();
        Act::done(json!(7))
    });
    let shield = ["-c", r#"trap "" HUP; exec "$0" "$@""#];
    let mut shielded = through("sh", &shield, &unity.command(PING));
    let mut running = shielded.stdout(Stdio::null()).spawn().unwrap();
    unity.wait_for("/api/exec");
    didi_tests::signal(running.id(), Signal::HUP);
    hung_up.send(()).unwrap();
    assert_eq!(running.wait().unwrap().code(), Some(0));
}
