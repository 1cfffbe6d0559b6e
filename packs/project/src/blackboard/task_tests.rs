use didi_plugin_api::{prelude::*, testkit::Kit};

use crate::tests::{call, code, project};

fn create(kit: &Kit, args: Value) -> String {
    let made = call(kit, "blackboard_task_create", &args);
    made["task"]["task_id"].as_str().unwrap().to_owned()
}

fn claim(kit: &Kit, args: Value) -> Value {
    call(kit, "blackboard_task_claim", &args)
}

fn reason(result: Result<Value, Refusal>) -> String {
    let (found, refusal) = code(result);
    assert_eq!(found, "conflict");
    refusal.data["reason_code"].as_str().unwrap().to_owned()
}

#[test]
fn a_task_goes_from_creation_to_completion_and_frees_what_waited() {
    let (_dir, kit) = project(&[]);
    let first =
        create(&kit, json!({"title": "Нарисовать", "tags": ["art", "art"], "author": "ann"}));
    assert_eq!(first, "TASK-1");
    let second =
        create(&kit, json!({"title": "b", "dependencies": [first, first], "task_id": "own"}));
    let args = json!({"agent_id": "x", "lease_seconds": 60});
    let target = kit.preview("blackboard_task_claim", &args).unwrap();
    assert_eq!(target.subject, "blackboard://default/tasks#TASK-1");
    assert_eq!(target.before["status"], "pending");
    let taken = claim(&kit, args);
    assert_eq!(taken["claimed"], true);
    assert_eq!(taken["task"]["status"], "in_progress");
    assert_eq!(taken["task"]["tags"], json!(["art"]));
    assert_eq!(taken["task"]["lease"]["agent_id"], "x");

    let update = json!({"task_id": first, "agent_id": "x", "progress": 50, "note": "half", "renew_lease_seconds": 90});
    let updated = call(&kit, "blackboard_task_update", &update);
    assert_eq!(updated["task"]["progress"], 50);
    assert_eq!(updated["task"]["notes"][0]["text"], "half");
    let lease = |answer: &Value| answer["task"]["lease"]["expires_at_ms"].as_u64().unwrap();
    assert_eq!(lease(&updated), lease(&taken) + 30_000);

    let done = json!({"task_id": first, "agent_id": "x", "artifacts": {"files": ["res://a.png"]}});
    let done = call(&kit, "blackboard_task_complete", &done);
    assert_eq!(done["task"]["status"], "completed");
    assert_eq!(done["task"]["artifacts"], json!({"files": ["res://a.png"]}));
    assert_eq!(done["unblocked"], json!([second]));
    let again = json!({"task_id": first, "agent_id": "x"});
    assert_eq!(reason(kit.call("blackboard_task_complete", &again)), "already_completed");
    assert_eq!(reason(kit.call("blackboard_task_claim", &again)), "already_completed");
}

#[test]
fn the_next_task_is_the_agents_own_then_the_most_urgent_then_the_oldest() {
    let (_dir, kit) = project(&[]);
    create(&kit, json!({"title": "old", "task_id": "old"}));
    create(&kit, json!({"title": "new", "task_id": "new"}));
    create(&kit, json!({"title": "urgent", "task_id": "urgent", "priority": 5, "tags": ["t"]}));
    create(
        &kit,
        json!({"title": "other", "task_id": "other", "priority": 9, "assigned_to": "bob"}),
    );
    let order: Vec<Value> = (0..4)
        .map(|_| claim(&kit, json!({"agent_id": "ann"}))["task"]["task_id"].clone())
        .collect();
    assert_eq!(order, ["urgent", "old", "new", "other"]);
    let none = claim(&kit, json!({"agent_id": "ann"}));
    assert_eq!((&none["claimed"], &none["reason_code"]), (&json!(false), &json!("all_leased")));
    let none = claim(&kit, json!({"agent_id": "ann", "tag": "none"}));
    assert_eq!(none["reason_code"], "no_tasks");
}

#[test]
fn a_claim_that_finds_nothing_says_why_and_writes_nothing() {
    let (dir, kit) = project(&[]);
    let none = claim(&kit, json!({"agent_id": "ann"}));
    assert_eq!(none["reason_code"], "no_tasks");
    assert!(!dir.path().join(".didi").exists());
    assert!(!kit.preview("blackboard_task_claim", &json!({"agent_id": "ann"})).unwrap().exists);
    create(&kit, json!({"title": "a", "task_id": "a"}));
    create(&kit, json!({"title": "b", "task_id": "b", "dependencies": ["a"], "tags": ["late"]}));
    assert_eq!(
        claim(&kit, json!({"agent_id": "ann", "tag": "late"}))["reason_code"],
        "all_blocked"
    );
    claim(&kit, json!({"agent_id": "ann"}));
    assert_eq!(claim(&kit, json!({"agent_id": "bob"}))["reason_code"], "no_ready_task");
    assert_eq!(
        reason(kit.call("blackboard_task_claim", &json!({"agent_id": "bob", "task_id": "b"}))),
        "blocked"
    );
}

#[test]
fn a_lease_lapses_by_itself() {
    let (_dir, kit) = project(&[]);
    kit.set_now_ms(1_000);
    create(&kit, json!({"title": "a", "task_id": "a"}));
    claim(&kit, json!({"agent_id": "ann", "lease_seconds": 10}));
    let (_, refusal) =
        code(kit.call("blackboard_task_claim", &json!({"agent_id": "bob", "task_id": "a"})));
    assert_eq!(refusal.data["reason_code"], "already_leased");
    assert_eq!(refusal.data["retry_after_ms"], 10_000);
    assert_eq!(claim(&kit, json!({"agent_id": "ann", "task_id": "a"}))["claimed"], true);
    kit.set_now_ms(400_000);
    let listed = call(&kit, "blackboard_task_list", &json!({"status": "pending"}));
    assert_eq!(listed["total"], 1);
    let late = json!({"task_id": "a", "agent_id": "ann", "progress": 1});
    assert_eq!(reason(kit.call("blackboard_task_update", &late)), "lease_not_held");
    assert_eq!(claim(&kit, json!({"agent_id": "bob"}))["task"]["lease"]["agent_id"], "bob");
    let (_, refusal) =
        code(kit.call("blackboard_task_complete", &json!({"task_id": "a", "agent_id": "ann"})));
    assert_eq!(refusal.data["next_call"]["tool"], "blackboard_task_claim");
    assert!(refusal.message.contains("`bob` holds it"), "{}", refusal.message);
}

#[test]
fn a_holder_gives_a_task_back_in_three_ways() {
    let (_dir, kit) = project(&[]);
    create(&kit, json!({"title": "a", "task_id": "a"}));
    for status in ["pending", "failed", "needs_review"] {
        assert_eq!(
            claim(&kit, json!({"agent_id": "ann", "task_id": "a"}))["claimed"],
            true,
            "{status}"
        );
        let args = json!({"task_id": "a", "agent_id": "ann", "status": status});
        let updated = call(&kit, "blackboard_task_update", &args);
        assert_eq!(updated["task"]["status"], status);
        assert!(updated["task"].get("lease").is_none());
    }
    assert_eq!(claim(&kit, json!({"agent_id": "ann"}))["reason_code"], "no_ready_task");
}

#[test]
fn a_task_that_does_not_fit_is_refused() {
    let (_dir, kit) = project(&[]);
    create(&kit, json!({"title": "a", "task_id": "a"}));
    assert_eq!(
        reason(kit.call("blackboard_task_create", &json!({"title": "b", "task_id": "a"}))),
        "task_id_taken"
    );
    for (args, field) in [
        (json!({"title": "b", "dependencies": ["nope", "a"]}), "dependencies"),
        (json!({"title": "b", "task_id": "b", "dependencies": ["b"]}), "dependencies"),
        (json!({"title": "b", "task_id": ""}), "task_id"),
        (json!({"title": "b", "tags": vec!["t"; 17]}), "tags"),
        (json!({"title": "b", "dependencies": vec!["a"; 65]}), "dependencies"),
    ] {
        let (found, refusal) = code(kit.call("blackboard_task_create", &args));
        assert_eq!((found.as_str(), &refusal.data["field"]), ("invalid_arguments", &json!(field)));
        assert_eq!(kit.preview("blackboard_task_create", &args).unwrap_err(), refusal);
    }
    for (tool, args) in [
        ("blackboard_task_claim", json!({"agent_id": "x", "task_id": "nope"})),
        ("blackboard_task_update", json!({"agent_id": "x", "task_id": "nope", "note": "n"})),
        ("blackboard_task_complete", json!({"agent_id": "x", "task_id": "nope"})),
    ] {
        let (found, refusal) = code(kit.call(tool, &args));
        assert_eq!(found, "not_found", "{tool}");
        assert_eq!(refusal.data["next_call"]["tool"], "blackboard_task_list");
    }
    claim(&kit, json!({"agent_id": "x", "task_id": "a"}));
    for (args, field) in [
        (json!({"agent_id": "x", "task_id": "a"}), "progress"),
        (
            json!({"agent_id": "x", "task_id": "a", "status": "failed", "renew_lease_seconds": 5}),
            "renew_lease_seconds",
        ),
        (json!({"agent_id": "x", "task_id": "a", "renew_lease_seconds": 0}), "renew_lease_seconds"),
        (json!({"agent_id": "x", "task_id": "a", "status": "completed"}), "arguments"),
    ] {
        let (found, refusal) = code(kit.call("blackboard_task_update", &args));
        assert_eq!((found.as_str(), &refusal.data["field"]), ("invalid_arguments", &json!(field)));
    }
}

#[test]
fn a_circle_that_a_hand_written_board_hides_is_refused() {
    let board = json!({"format": 1, "revision": 1, "updated_at_ms": 1, "values": {}, "tasks": [
        {"task_id": "a", "title": "a", "status": "blocked", "dependencies": ["later"],
         "created_at_ms": 1, "updated_at_ms": 1}
    ]});
    let (_dir, kit) = project(&[(".didi/blackboard/default.json", &board.to_string())]);
    let args = json!({"title": "x", "task_id": "later", "dependencies": ["a"]});
    let (found, refusal) = code(kit.call("blackboard_task_create", &args));
    assert_eq!(
        (found.as_str(), &refusal.data["field"]),
        ("invalid_arguments", &json!("dependencies"))
    );
}

#[test]
fn notes_and_tasks_are_bounded() {
    let (dir, kit) = project(&[]);
    create(&kit, json!({"title": "a", "task_id": "a"}));
    claim(&kit, json!({"agent_id": "x", "lease_seconds": 3600}));
    let note = json!({"agent_id": "x", "task_id": "a", "note": "n"});
    for _ in 0..100 {
        call(&kit, "blackboard_task_update", &note);
    }
    assert_eq!(reason(kit.call("blackboard_task_update", &note)), "notes_full");

    let tasks: Vec<Value> = (0..2_000)
        .map(|at| {
            json!({"task_id": format!("t{at}"), "title": "t", "status": "pending",
                   "created_at_ms": 1, "updated_at_ms": 1})
        })
        .collect();
    let board =
        json!({"format": 1, "revision": 1, "updated_at_ms": 1, "values": {}, "tasks": tasks});
    crate::tests::lay(dir.path(), &[(".didi/blackboard/full.json", &board.to_string())]);
    let one_more = kit.call("blackboard_task_create", &json!({"board": "full", "title": "b"}));
    assert_eq!(reason(one_more), "board_full");
    let listed = kit.answer("blackboard_task_list", &json!({"board": "full"})).unwrap();
    assert_eq!(listed.truncated, Some(true));
}

#[test]
fn tasks_are_listed_by_priority_and_filtered() {
    let (_dir, kit) = project(&[]);
    create(&kit, json!({"title": "a", "task_id": "a", "tags": ["x"]}));
    create(
        &kit,
        json!({"title": "b", "task_id": "b", "priority": 3, "assigned_to": "ann", "description": "d"}),
    );
    claim(&kit, json!({"agent_id": "ann", "task_id": "a"}));
    let ids = |args: Value| -> Vec<Value> {
        let listed = call(&kit, "blackboard_task_list", &args);
        listed["tasks"].as_array().unwrap().iter().map(|task| task["task_id"].clone()).collect()
    };
    assert_eq!(ids(json!({})), ["b", "a"]);
    assert_eq!(ids(json!({"assigned_to": "ann"})), ["b", "a"]);
    assert_eq!(ids(json!({"tag": "x"})), ["a"]);
    assert_eq!(ids(json!({"status": "in_progress"})), ["a"]);
    assert_eq!(ids(json!({"max_tasks": 1})), ["b"]);
}
