//! Detached commands: sent off, waited for, cancelled, forgotten.

use didi_tests::unity::{Act, Unity};
use serde_json::{Value, json};

use super::{code, envelope};

fn job(state: &str, more: Value) -> Act {
    let mut body = json!({"jobId": "j1", "command": "bake", "state": state});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Act::Reply(200, body)
}

/// A state of a job, and what is told beside it.
type State = (&'static str, fn() -> Value);

/// An instance whose one job goes through these states, then stays in the last.
fn with_job(states: &'static [State]) -> Unity {
    Unity::start(move |seen, nth| match seen.path() {
        "/api/exec" => Act::done(json!({"jobId": "j1", "state": "queued"})),
        "/api/job/cancel" => job("canceled", json!({"cancellationRequested": true})),
        "/api/job" => {
            let (state, more) = states[nth.min(states.len() - 1)];
            job(state, more())
        }
        _ => Act::at_rest(seen),
    })
}

#[test]
fn a_job_is_sent_off_and_waited_for() {
    let unity = with_job(&[
        ("queued", || json!({})),
        ("running", || json!({"progress": {"title": "Baking", "pct": 0.5}})),
        ("completed", || json!({"result": {"maps": 3}})),
    ]);
    let ran = unity.run(&["command", "--detach", "bake", "--quality", "high"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "j1\n"), "{ran:?}");
    assert_eq!(unity.seen()[0].body["job"], true);
    let ran = unity.run(&["job", "wait", "j1", "--poll-interval", "50", "--format", "ndjson"]);
    let frames: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(frames[0], json!({"type": "progress", "title": "Baking", "pct": 0.5}));
    assert_eq!(frames[1]["data"]["result"], json!({"maps": 3}));
    assert_eq!(unity.run(&["job", "wait", "j1"]).out, "maps\t3\n");
    assert_eq!(unity.execs(), 1);
}

#[test]
fn the_end_of_a_job_decides_the_exit_code() {
    for (states, args, exit, reason) in [
        (
            &[(
                "failed",
                (|| json!({"error": "Command Execution Failed", "errorDetails": "boom"}))
                    as fn() -> Value,
            )][..],
            &["job", "wait", "--json", "j1"][..],
            6,
            "COMMAND_FAILED",
        ),
        (&[("canceled", || json!({}))], &["job", "wait", "--json", "j1"], 6, "JOB_CANCELED"),
        (&[("failed", || json!({}))], &["job", "status", "--json", "j1"], 0, ""),
        (
            &[("running", || json!({}))],
            &["job", "wait", "--json", "--timeout", "1", "j1"],
            7,
            "TIMED_OUT",
        ),
        (
            &[("completed", || json!({"result": {"success": false, "error": "compile"}}))],
            &["job", "wait", "--json", "j1"],
            0,
            "",
        ),
        (
            &[("completed", || json!({"result": {"success": false, "error": "compile"}}))],
            &["job", "wait", "--json", "--strict", "j1"],
            6,
            "COMMAND_FAILED",
        ),
    ] {
        let unity = with_job(states);
        let ran = unity.run(args);
        assert_eq!((ran.code, code(&ran).as_str()), (Some(exit), reason), "{args:?}: {ran:?}");
    }
}

#[test]
fn a_job_that_is_gone_after_a_reload_has_an_unknown_outcome() {
    let unity = Unity::start(|seen, nth| match (seen.path(), nth) {
        ("/api/job", 0) => job("running", json!({})),
        ("/api/job", _) => Act::Reply(404, json!({"error": "Job Not Found"})),
        _ => Act::at_rest(seen),
    });
    let ran = unity.run(&["job", "wait", "--json", "--poll-interval", "50", "j1"]);
    assert_eq!((ran.code, code(&ran).as_str()), (Some(7), "OUTCOME_UNKNOWN"), "{ran:?}");
    assert_eq!(envelope(&ran)["errors"][0]["outcome"], "unknown");
}

#[test]
fn a_reply_that_is_no_json_is_judged_by_its_status() {
    for (act, exit, reason) in [
        (Act::Raw(401, "Unauthorized".into()), 3, "UNAUTHORIZED"),
        (Act::Raw(503, "later".into()), 6, "EDITOR_NOT_READY"),
        (Act::Raw(404, "Not Found".into()), 7, "OUTCOME_UNKNOWN"),
        (Act::Raw(200, "<html>".into()), 7, "BAD_REPLY"),
        (Act::Reply(200, json!("running")), 7, "BAD_REPLY"),
    ] {
        let told = format!("{act:?}");
        let unity = Unity::start(move |_, _| act.clone());
        for verb in ["status", "cancel"] {
            let ran = unity.run(&["job", verb, "--json", "j1"]);
            let got = (ran.code, code(&ran));
            assert_eq!(got, (Some(exit), reason.to_owned()), "{verb} {told}: {ran:?}");
        }
    }
}

#[test]
fn a_lost_look_at_a_job_is_repeated() {
    let unity = Unity::start(|seen, nth| match (seen.path(), nth) {
        ("/api/job", 0 | 1) => Act::Close,
        ("/api/job", _) => job("completed", json!({"result": "done"})),
        _ => Act::at_rest(seen),
    });
    let ran = unity.run(&["job", "wait", "j1"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "done\n"), "{ran:?}");
}

#[test]
fn a_job_is_cancelled_by_its_id() {
    let unity = with_job(&[("running", || json!({}))]);
    let ran = unity.run(&["job", "cancel", "j 1&x", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let data = envelope(&ran)["data"].clone();
    assert_eq!(
        (&data["state"], &data["cancellationRequested"]),
        (&json!("canceled"), &json!(true))
    );
    assert_eq!(unity.seen()[0].body, json!({"id": "j 1&x"}));
    unity.run(&["job", "status", "j 1&x"]);
    assert_eq!(unity.seen()[1].target, "/api/job?id=j+1%26x");
}
