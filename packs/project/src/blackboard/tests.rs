#![allow(clippy::disallowed_methods, reason = "lays plain files out for the test")]

use std::{fs, thread};

use didi_plugin_api::{prelude::*, testkit::Kit};

use crate::{
    ProjectPack,
    tests::{call, code, lay, project},
};

const FILE: &str = ".didi/blackboard/default.json";

#[test]
fn a_value_is_written_read_and_written_over() {
    let (dir, kit) = project(&[]);
    let first = call(
        &kit,
        "blackboard_write",
        &json!({"path": "план.шаг", "value": {"n": [1, null]}, "author": "ann", "reason": "start"}),
    );
    assert_eq!(first["path"], "/план/шаг");
    assert_eq!(first["value"], json!({"n": [1, null]}));
    assert_eq!(first["revision"], 1);
    assert_eq!(first["replaced"], false);
    assert_eq!(first["metadata"]["author"], "ann");
    assert!(first.get("previous_value").is_none());
    let second = call(&kit, "blackboard_write", &json!({"path": "/план/шаг", "value": null}));
    assert_eq!(second["replaced"], true);
    assert_eq!(second["previous_value"], json!({"n": [1, null]}));
    assert_eq!(second["value"], Value::Null);
    assert!(second["metadata"].get("author").is_none());

    let read =
        call(&kit, "blackboard_read", &json!({"path": "план/шаг", "include_metadata": true}));
    assert_eq!(read["found"], true);
    assert_eq!(read["revision"], 2);
    assert_eq!(read["updated_at_ms"], second["metadata"]["updated_at_ms"]);
    assert_eq!(read["metadata"]["/план/шаг"], second["metadata"]);
    assert_eq!(kit.record().written, [format!("res://{FILE}"), format!("res://{FILE}")]);
    assert!(dir.path().join(FILE).is_file());
}

#[test]
fn a_read_makes_no_board() {
    let (dir, kit) = project(&[]);
    let read = call(&kit, "blackboard_read", &json!({"board": "new", "path": "a"}));
    assert_eq!((&read["found"], &read["reason"]), (&json!(false), &json!("no_record")));
    let whole = call(&kit, "blackboard_read", &json!({}));
    assert_eq!(whole["found"], false);
    call(&kit, "blackboard_list_keys", &json!({}));
    call(&kit, "blackboard_task_list", &json!({}));
    kit.preview("blackboard_write", &json!({"path": "a", "value": 1})).unwrap();
    assert!(!dir.path().join(".didi").exists());
}

#[test]
fn one_level_says_what_it_left_out() {
    let (_dir, kit) = project(&[]);
    let value = json!({"deep": {"a": 1, "b": 2}, "list": [1], "empty": {}, "plain": 1});
    call(&kit, "blackboard_write", &json!({"path": "v", "value": value}));
    let answer = kit.answer("blackboard_read", &json!({"path": "v", "deep": false})).unwrap();
    assert_eq!(answer.truncated, Some(true));
    let shown: Value = serde_json::from_str(answer.data.get()).unwrap();
    let wanted = json!({
        "deep": {"_truncated": true, "keys": 2},
        "list": {"_truncated": true, "items": 1},
        "empty": {},
        "plain": 1
    });
    assert_eq!(shown["value"], wanted);
    let flat = kit.answer("blackboard_read", &json!({"path": "v/plain", "deep": false})).unwrap();
    assert_eq!(flat.truncated, Some(false));
}

#[test]
fn a_write_with_an_expectation_sees_that_it_is_stale() {
    let (_dir, kit) = project(&[]);
    let write = |value: i32, expected: u64| {
        let args = json!({"path": "a", "value": value, "author": "ann", "expected_updated_at_ms": expected});
        kit.call("blackboard_write", &args)
    };
    let first = write(1, 0).unwrap()["metadata"]["updated_at_ms"].as_u64().unwrap();
    let (found, refusal) = code(write(2, 0));
    assert_eq!(found, "conflict");
    assert_eq!(refusal.data["reason_code"], "stale_write");
    assert_eq!(refusal.data["value"], 1);
    assert_eq!(refusal.data["metadata"]["author"], "ann");
    let second = write(2, first).unwrap()["metadata"]["updated_at_ms"].as_u64().unwrap();
    assert!(second > first, "the kit's clock stands still, and the stamp has to move");
    assert_eq!(code(write(3, first)).0, "conflict");
    let missing = kit
        .call("blackboard_write", &json!({"path": "b", "value": 1, "expected_updated_at_ms": 5}));
    assert_eq!(code(missing).0, "conflict");
    let preview = kit.preview(
        "blackboard_write",
        &json!({"path": "a", "value": 3, "expected_updated_at_ms": first}),
    );
    assert_eq!(preview.unwrap_err().data["reason_code"], "stale_write");
}

#[test]
fn a_value_expires_without_a_write_and_the_next_write_keeps_that() {
    let (_dir, kit) = project(&[]);
    kit.set_now_ms(1_000);
    let args =
        json!({"path": "a", "value": 1, "author": "ann", "reason": "short", "ttl_seconds": 5});
    let written = call(&kit, "blackboard_write", &args);
    assert_eq!(written["metadata"]["expires_at_ms"], 6_000);
    kit.set_now_ms(6_000);
    let gone = call(&kit, "blackboard_read", &json!({"path": "a"}));
    assert_eq!(gone["reason"], "expired");
    assert_eq!(gone["expired_at_ms"], 6_000);
    assert_eq!(
        (&gone["expired_author"], &gone["expired_reason"]),
        (&json!("ann"), &json!("short"))
    );
    assert_eq!(gone["revision"], 1);
    call(&kit, "blackboard_write", &json!({"path": "b", "value": 1, "expected_updated_at_ms": 0}));
    assert_eq!(call(&kit, "blackboard_read", &json!({"path": "a"}))["reason"], "expired");
    let keys = call(&kit, "blackboard_list_keys", &json!({}));
    assert_eq!(keys["keys"], json!(["/b"]));
}

#[test]
fn a_clear_takes_a_path_or_everything_and_is_remembered() {
    let (_dir, kit) = project(&[]);
    call(&kit, "blackboard_write", &json!({"path": "a.b", "value": {"x": 1, "y": 2}}));
    call(&kit, "blackboard_write", &json!({"path": "c", "value": 1}));
    let preview = kit.preview("blackboard_clear", &json!({"path": "a.b"})).unwrap();
    assert_eq!(preview.subject, "blackboard://default/state#/a/b");
    assert_eq!((preview.exists, &preview.before), (true, &json!({"x": 1, "y": 2})));
    let cleared =
        call(&kit, "blackboard_clear", &json!({"path": "a.b", "author": "ann", "reason": "old"}));
    assert_eq!(cleared["removed"], json!({"keys": 2, "tasks": 0}));
    assert_eq!(cleared["revision"], 3);
    let gone = call(&kit, "blackboard_read", &json!({"path": "a.b.x"}));
    assert_eq!(
        (&gone["reason"], &gone["cleared_by"], &gone["cleared_reason"]),
        (&json!("cleared"), &json!("ann"), &json!("old"))
    );
    let again = call(&kit, "blackboard_clear", &json!({"path": "a.b"}));
    assert_eq!(
        (&again["removed"], &again["revision"]),
        (&json!({"keys": 0, "tasks": 0}), &json!(3))
    );
    assert!(!kit.preview("blackboard_clear", &json!({"path": "a.b"})).unwrap().exists);

    assert!(kit.preview("blackboard_clear", &json!({})).unwrap().exists);
    call(&kit, "blackboard_task_create", &json!({"title": "t"}));
    let all = call(&kit, "blackboard_clear", &json!({"author": "bob"}));
    assert_eq!(all["removed"], json!({"keys": 2, "tasks": 1}));
    let whole = call(&kit, "blackboard_read", &json!({}));
    assert_eq!((&whole["found"], &whole["value"]), (&json!(true), &json!({})));
    assert_eq!(whole["last_board_clear"]["author"], "bob");
    assert!(!kit.preview("blackboard_clear", &json!({})).unwrap().exists);
}

#[test]
fn a_patch_is_applied_whole_or_not_at_all() {
    let (dir, kit) = project(&[]);
    call(&kit, "blackboard_write", &json!({"path": "a", "value": [1]}));
    let before = fs::read(dir.path().join(FILE)).unwrap();
    let bad = json!({"operations": [
        {"op": "add", "path": "/b", "value": 1},
        {"op": "test", "path": "/a/0", "value": 9}
    ]});
    let (found, refusal) = code(kit.call("blackboard_patch", &bad));
    assert_eq!((found.as_str(), &refusal.data["found"]), ("invalid_arguments", &json!(1)));
    assert_eq!(kit.preview("blackboard_patch", &bad).unwrap_err(), refusal);
    assert_eq!(fs::read(dir.path().join(FILE)).unwrap(), before);

    let good = json!({"expected_revision": 1, "author": "ann", "operations": [
        {"op": "add", "path": "/a/-", "value": 2},
        {"op": "copy", "from": "/a", "path": "/b"}
    ]});
    let target = kit.preview("blackboard_patch", &good).unwrap();
    assert_eq!(target.after.unwrap(), json!({"a": [1, 2], "b": [1, 2]}));
    let patched = call(&kit, "blackboard_patch", &good);
    assert_eq!(patched, json!({"board": "default", "revision": 2, "applied": true}));
    let (found, refusal) = code(kit.call("blackboard_patch", &good));
    assert_eq!((found.as_str(), &refusal.data["reason_code"]), ("conflict", &json!("stale_patch")));
    let only = json!({"operations": [{"op": "test", "path": "/b/1", "value": 2}]});
    assert_eq!(call(&kit, "blackboard_patch", &only)["applied"], false);
    let none = kit.call("blackboard_patch", &json!({"operations": []}));
    assert_eq!(code(none).0, "invalid_arguments");
}

#[test]
fn keys_are_listed_below_a_prefix_and_up_to_a_bound() {
    let (_dir, kit) = project(&[]);
    call(
        &kit,
        "blackboard_write",
        &json!({"path": "a", "value": {"x": 1, "y.z": [1]}, "author": "ann"}),
    );
    call(&kit, "blackboard_write", &json!({"path": "b", "value": 1}));
    let all = call(&kit, "blackboard_list_keys", &json!({"include_metadata": true}));
    assert_eq!(all["keys"], json!(["/a/x", "/a/y.z", "/b"]));
    assert_eq!(all["metadata"]["/a/x"]["author"], "ann");
    let below = call(&kit, "blackboard_list_keys", &json!({"prefix": "a"}));
    assert_eq!((&below["total"], &below["prefix"]), (&json!(2), &json!("/a")));
    let cut = kit.answer("blackboard_list_keys", &json!({"max_keys": 2})).unwrap();
    assert_eq!(cut.truncated, Some(true));
}

#[test]
fn what_can_not_be_written_is_refused() {
    let (_dir, kit) = project(&[]);
    call(&kit, "blackboard_write", &json!({"path": "n", "value": 5}));
    call(&kit, "blackboard_write", &json!({"path": "l", "value": [5]}));
    for (args, field) in [
        (json!({"path": "n.x", "value": 1}), "path"),
        (json!({"path": "l.5", "value": 1}), "path"),
        (json!({"path": "/", "value": 1}), "path"),
        (json!({"path": "a..b", "value": 1}), "path"),
        (json!({"path": "l.0", "value": 1, "ttl_seconds": 5}), "path"),
        (json!({"path": "a", "value": "x".repeat(256 * 1024)}), "value"),
        (json!({"path": vec!["a"; 32].join("."), "value": {"b": 1}}), "value"),
        (json!({"path": "a", "value": 1, "ttl_seconds": 0}), "ttl_seconds"),
        (json!({"path": "a", "value": 1, "board": "../up"}), "board"),
        (json!({"path": "a", "value": 1, "board": ""}), "board"),
        (json!({"path": "a", "value": 1, "board": "con"}), "board"),
        (json!({"path": "a"}), "arguments"),
    ] {
        let (found, refusal) = code(kit.call("blackboard_write", &args));
        assert_eq!(found, "invalid_arguments", "{field}");
        assert_eq!(refusal.data["field"], field);
        let preview = kit.preview("blackboard_write", &args).unwrap_err();
        assert_eq!(preview, refusal);
    }
}

#[test]
fn a_board_that_can_not_be_understood_is_refused_and_left_alone() {
    let (dir, kit) = project(&[(FILE, "{\"format\": 1, oops")]);
    for (tool, args) in [
        ("blackboard_read", json!({})),
        ("blackboard_write", json!({"path": "a", "value": 1})),
        ("blackboard_clear", json!({})),
        ("blackboard_task_claim", json!({"agent_id": "a"})),
    ] {
        let (found, refusal) = code(kit.call(tool, &args));
        assert_eq!(found, "unprocessable", "{tool}");
        assert!(refusal.data.contains_key("no_remedy"));
    }
    assert_eq!(fs::read_to_string(dir.path().join(FILE)).unwrap(), "{\"format\": 1, oops");
    fs::remove_file(dir.path().join(FILE)).unwrap();
    fs::create_dir_all(dir.path().join(FILE)).unwrap();
    assert_eq!(code(kit.call("blackboard_read", &json!({}))).0, "unprocessable");
    lay(dir.path(), &[(".didi/blackboard/big.json", &" ".repeat(4 * 1024 * 1024 + 1))]);
    assert_eq!(code(kit.call("blackboard_read", &json!({"board": "big"}))).0, "file_too_large");
}

#[test]
fn a_board_folder_that_leads_outside_is_refused() {
    let (dir, kit) = project(&[]);
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), dir.path().join(".didi")).unwrap();
    let (found, refusal) = code(kit.call("blackboard_write", &json!({"path": "a", "value": 1})));
    assert_eq!((found.as_str(), &refusal.data["field"]), ("invalid_arguments", &json!("board")));
}

#[test]
fn writers_of_two_servers_lose_nothing() {
    const WRITERS: usize = 4;
    const WRITES: usize = 15;
    let dir = tempfile::tempdir().unwrap();
    let kits = [Kit::open::<ProjectPack>(dir.path()), Kit::open::<ProjectPack>(dir.path())];
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let kit = &kits[writer % 2];
            scope.spawn(move || {
                for write in 0..WRITES {
                    let args = json!({"path": format!("w{writer}.n{write}"), "value": write});
                    let written = retried(kit, "blackboard_write", &args);
                    assert_eq!(written["value"], write);
                }
            });
        }
    });
    let whole = call(&kits[0], "blackboard_read", &json!({}));
    assert_eq!(whole["revision"], WRITERS * WRITES);
    let keys = call(&kits[1], "blackboard_list_keys", &json!({}));
    assert_eq!(keys["total"], WRITERS * WRITES);
}

#[test]
fn a_task_is_leased_once_however_many_ask() {
    let dir = tempfile::tempdir().unwrap();
    let kits = [Kit::open::<ProjectPack>(dir.path()), Kit::open::<ProjectPack>(dir.path())];
    for _ in 0..12 {
        call(&kits[0], "blackboard_task_create", &json!({"title": "t"}));
    }
    let mut claimed: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|worker| {
                let kit = &kits[worker % 2];
                scope.spawn(move || {
                    let args = json!({"agent_id": format!("agent-{worker}")});
                    let claim = |_| retried(kit, "blackboard_task_claim", &args);
                    (0..3)
                        .map(claim)
                        .map(|claim| claim["task"]["task_id"].as_str().unwrap().to_owned())
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    claimed.sort();
    claimed.dedup();
    assert_eq!(claimed.len(), 12);
}

/// A crowd may make one writer wait for another try, which the refusal says.
fn retried(kit: &Kit, tool: &str, args: &Value) -> Value {
    for _ in 0..20 {
        match kit.call(tool, args) {
            Ok(answer) => return answer,
            Err(refusal) => assert_eq!(refusal.code, codes::PROJECT_FILE_BUSY),
        }
    }
    panic!("the board stayed busy");
}
