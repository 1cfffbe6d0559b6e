//! `batch` over the wire: references, refusals before anything runs, cuts, budgets, and taking back in a real editor.

#[cfg(unix)]
use didi_tests::live::{Engine, sessions};
use didi_tests::{Pipeline, Project};
use serde_json::{Value, json};

fn run(pipeline: &Pipeline, parameters: &Value) -> Value {
    pipeline.result("batch", parameters.clone())
}

fn setting(id: &str, name: &str) -> Value {
    json!({"id": id, "command": "project_get_setting", "params": {"setting": name}})
}

/// The problems of a batch that is refused before anything ran: index and code.
fn refused(pipeline: &Pipeline, parameters: &Value) -> Vec<(u64, String)> {
    let response = pipeline.exec(&json!({"command": "batch", "parameters": parameters}));
    let body = response.json();
    assert_eq!(
        (response.status, &body["error"]),
        (400, &json!("Parameter Validation Failed")),
        "{body}"
    );
    super::openapi::Document::read().check("POST", "/api/exec", &response);
    let problems = body["batchProblems"].as_array().into_iter().flatten();
    let shown = |problem: &Value| {
        (problem["index"].as_u64().unwrap(), problem["code"].as_str().unwrap().to_owned())
    };
    problems.map(shown).collect()
}

/// BL-73.
#[test]
fn references_carry_values_from_one_operation_to_the_next() {
    let project = Project::sample();
    let pipeline = Pipeline::over(&project);
    let operations = json!([
        {"id": "a", "command": "blackboard_write", "params": {"path": "/seed", "value": {"setting": "application/config/name", "list": [1, {"deep": true}]}}},
        {"id": "r", "command": "blackboard_read", "params": {"path": "/seed"}},
        {"command": "project_get_setting", "params": {"setting": "$r.value.setting"}},
        {"command": "blackboard_write", "params": {"path": "/copy", "value": ["$1.value.list.1", "$$literal", "see $r.value"]}},
    ]);
    let told = run(&pipeline, &json!({"operations": operations, "transactional": false}));
    assert_eq!(told["success"], true, "{told}");
    assert_eq!(told["results"][2]["result"]["value_literal"], "\"Lantern\"", "{told}");
    assert_eq!(told["results"][0]["id"], "a");
    assert_eq!(told["applied"], 2, "{told}");
    let copy = pipeline.result("blackboard_read", json!({"path": "/copy"}));
    assert_eq!(copy["value"], json!([{"deep": true}, "$literal", "see $r.value"]));
}

/// BL-73.
#[test]
fn what_is_wrong_is_refused_before_anything_runs_with_the_index() {
    let project = Project::sample();
    let pipeline = Pipeline::over(&project);
    let ok = || setting("ok", "application/config/name");
    let rows = [
        (json!([setting("0", "x")]), 0, "invalidId"),
        (json!([ok(), ok()]), 1, "duplicateId"),
        (json!([setting("a", "$b.x"), setting("b", "x")]), 0, "invalidReference"),
        (json!([setting("a", "$a.x")]), 0, "invalidReference"),
        (json!([ok(), setting("a", "$7.x")]), 1, "invalidReference"),
        (json!([ok(), {"command": "batch", "params": {"operations": [ok()]}}]), 1, "not_batchable"),
        (
            json!([{"command": "scene_open", "params": {"scene_path": "res://a.tscn"}}]),
            0,
            "not_batchable",
        ),
        (
            json!([{"command": "project_export", "params": {"preset": "Linux", "output_path": "res://a"}}]),
            0,
            "not_batchable",
        ),
        (json!([{"command": "runtime_launch"}]), 0, "not_batchable"),
        (json!([{"command": "eval_gdscript", "params": {"expression": "1"}}]), 0, "not_batchable"),
        (
            json!([{"command": "blackboard_write", "params": {"path": "/a", "value": 1}}]),
            0,
            "not_batchable_transactional",
        ),
        (json!([{"command": "no_such"}]), 0, "commandNotFound"),
        (json!([{"command": "project_get_setting"}]), 0, "invalidParameters"),
        (
            json!([{"command": "project_get_setting", "params": {"setting": "a", "x": 1}}]),
            0,
            "invalidParameters",
        ),
    ];
    for (operations, index, code) in rows {
        let found = refused(&pipeline, &json!({"operations": operations}));
        assert!(found.contains(&(index, code.into())), "{operations}: {found:?}");
    }
    // Types, too, where the value is not one of an earlier result; the first operation would have left something.
    let write = json!({"command": "blackboard_write", "params": {"path": "/a", "value": 1}});
    for params in
        [json!({"setting": 5}), json!({"setting": ["a"]}), json!({"setting": "a", "Setting": "b"})]
    {
        let operations = json!([write, {"command": "project_get_setting", "params": params}]);
        let found = refused(&pipeline, &json!({"operations": operations, "transactional": false}));
        assert_eq!(found, [(1, "invalidParameters".into())], "{params}");
    }
    let search =
        json!({"command": "project_search_text", "params": {"query": "a", "max_results": "many"}});
    let found = refused(&pipeline, &json!({"operations": [search]}));
    assert_eq!(found, [(0, "invalidParameters".into())]);
    let many = vec![json!({"command": "editor_status"}); 201];
    assert_eq!(refused(&pipeline, &json!({"operations": many})), []);
    assert_eq!(refused(&pipeline, &json!({"operations": []})), []);
    let fields = json!({"operations": [ok()], "result_fields": {"nobody": ["a"]}});
    assert_eq!(refused(&pipeline, &fields), [(0, "invalidResultFields".into())]);
    let fields = json!({"operations": [ok()], "result_fields": {"00": ["a"]}});
    assert_eq!(refused(&pipeline, &fields), [(0, "invalidResultFields".into())]);
    // The same as a dry run is an answer.
    let dry = json!({"operations": [ok(), setting("late", "$9.x")], "dry_run": true});
    let told = run(&pipeline, &dry);
    assert_eq!((&told["dryRun"], &told["valid"]), (&json!(true), &json!(false)), "{told}");
    assert_eq!(
        (&told["results"][0]["success"], &told["results"][1]["code"]),
        (&json!(true), &json!("invalidReference"))
    );
    assert!(project.text(".didi/blackboard/default.json").is_none(), "nothing ran");
}

/// BL-73.
#[test]
fn a_failure_ends_the_batch_or_not_and_skipped_steps_are_marked() {
    let project = Project::sample();
    let pipeline = Pipeline::over(&project);
    let operations = json!([
        setting("bad", "no/such"),
        setting("after", "application/config/name"),
        setting("refers", "$bad.setting"),
        setting("missing", "$after.no_such_field"),
    ]);
    let abort = run(&pipeline, &json!({"operations": operations}));
    let results = &abort["results"];
    assert_eq!(
        (&abort["success"], &abort["reverted"], &abort["applied"]),
        (&json!(false), &json!(false), &json!(0))
    );
    assert!(abort["error"].as_str().unwrap().contains("operation 0"), "{abort}");
    assert_eq!(results[0]["success"], false);
    assert_eq!((&results[1]["skipped"], &results[1]["success"]), (&json!(true), &json!(false)));
    let on = run(&pipeline, &json!({"operations": operations, "on_error": "continue"}));
    assert_eq!((&on["transactional"], &on["onError"]), (&json!(false), &json!("continue")), "{on}");
    assert_eq!(on["results"][1]["success"], true);
    assert!(on["results"][2]["errorDetails"].as_str().unwrap().contains("no result"), "{on}");
    assert!(
        on["results"][3]["errorDetails"].as_str().unwrap().contains("not in that result"),
        "{on}"
    );
    let verbose = pipeline.exec(
        &json!({"command": "batch", "verbose": true, "parameters": {"operations": operations}}),
    );
    let first = &verbose.json()["result"]["results"][0];
    assert!(first["executedAt"].is_string() && first["executionTimeMs"].is_u64(), "{first}");
    assert!(first.as_object().unwrap().contains_key("result"), "{first}");
}

/// BL-73.
#[test]
fn large_results_are_cut_and_read_whole_by_references_and_fields_are_kept() {
    let project = Project::sample();
    let pipeline = Pipeline::over(&project);
    let text = "x".repeat(20_000);
    pipeline
        .result("blackboard_write", json!({"path": "/big", "value": {"text": text, "small": 7}}));
    let operations = json!([
        {"id": "big", "command": "blackboard_read", "params": {"path": "/big"}},
        {"id": "part", "command": "blackboard_read", "params": {"path": "/big"}},
        {"command": "blackboard_write", "params": {"path": "/copy", "value": "$big.value.text"}},
    ]);
    let fields = json!({"part": ["value.small", "value.none"]});
    let told = run(
        &pipeline,
        &json!({"operations": operations, "transactional": false, "result_fields": fields}),
    );
    let results = &told["results"];
    assert_eq!(
        (&results[0]["resultTruncated"], &results[0]["result"]["truncated"]),
        (&json!(true), &json!(true)),
        "{told}"
    );
    assert!(results[0]["result"]["bytes"].as_u64().unwrap() > 20_000);
    assert_eq!(results[1]["result"], json!({"value.small": 7}));
    assert_eq!(results[1]["invalidResultFields"], json!(["value.none"]));
    let copy = pipeline.result("blackboard_read", json!({"path": "/copy"}));
    assert_eq!(copy["value"].as_str().unwrap().len(), 20_000);
    // All together: what comes too late is left out.
    let operations: Vec<Value> = (0..40)
        .map(|_| json!({"command": "blackboard_read", "params": {"path": "/half"}}))
        .collect();
    pipeline.result("blackboard_write", json!({"path": "/half", "value": "y".repeat(15_000)}));
    let told = run(&pipeline, &json!({"operations": operations}));
    let cut = |place: usize| told["results"][place].get("resultTruncated").is_some();
    assert!(!cut(0) && cut(39), "{}", told["results"][39]);
    assert!(told.to_string().len() < 300 * 1024);
}

/// BL-73.
#[test]
fn a_batch_past_its_budget_starts_nothing_more() {
    let project = Project::sample();
    let pipeline = Pipeline::over(&project);
    let operations = vec![json!({"command": "project_search_text", "params": {"query": "a"}}); 200];
    let told = run(&pipeline, &json!({"operations": operations, "time_budget_ms": 1}));
    assert_eq!(told["error"], "batch time budget exceeded", "{told}");
    assert_eq!(told["results"].as_array().unwrap().len(), 200);
    assert_eq!(told["results"][199]["skipped"], true);
}

/// In a real editor: a transaction whose last step fails leaves the scene as it was.
#[cfg(unix)]
#[test]
fn a_failed_transaction_is_taken_back_in_the_editor() {
    let project = Project::sample();
    let Some(_engine) = Engine::editor(&project) else { return };
    let folder = sessions(&project).path;
    let pipeline = Pipeline::start(&project, |launch| launch.env("DIDI_SESSION_DIR", folder));
    pipeline.result("scene_open", json!({"scene_path": "res://levels/meadow.tscn"}));
    let tree = || pipeline.result("scene_get_hierarchy", json!({}));
    let before = tree();
    assert_eq!(before["execution_mode"], "live", "{before}");
    let add = |name: &str| json!({"command": "scene_instantiate_node", "params": {"node_type": "Node2D", "name": name}});
    let moved = json!({"command": "scene_set_property", "params": {"target_node": "Sky", "property_name": "position", "value": {"x": 1, "y": 2}}});
    let bad = json!({"command": "scene_set_property", "params": {"target_node": "Nobody", "property_name": "position", "value": 1}});
    let told = run(&pipeline, &json!({"operations": [add("One"), moved, add("Two"), bad]}));
    assert_eq!(
        (&told["success"], &told["applied"], &told["reverted"]),
        (&json!(false), &json!(3), &json!(true)),
        "{told}"
    );
    assert_eq!(told["results"][0]["revertible"], true, "{told}");
    assert_eq!(told["journalEntries"].as_array().unwrap().len(), 3);
    let after = tree();
    assert_eq!(after["root"], before["root"], "{after}");
    let sky = json!({"target_node": "Sky", "property_name": "position"});
    let position = pipeline.result("scene_get_property", sky);
    assert!(!position.to_string().contains(r#""x":1.0"#), "{position}");
    // Without a failure they stay, with `$` carrying a name.
    let named = json!({"id": "new", "command": "scene_instantiate_node", "params": {"node_type": "Node2D", "name": "Kept"}});
    let told = run(&pipeline, &json!({"operations": [named, add("Also")]}));
    assert_eq!(
        (&told["success"], &told["applied"], &told["reverted"]),
        (&json!(true), &json!(2), &json!(false)),
        "{told}"
    );
    assert!(tree().to_string().contains("Kept"));
    assert!(told["undoGroup"].as_str().unwrap().starts_with("Batch "), "{told}");
    // They are one step for whoever takes them back and makes them again.
    pipeline.result("editor_undo", json!({}));
    assert_eq!(tree()["root"], before["root"], "one step took both back");
    pipeline.result("editor_redo", json!({}));
    let again = tree().to_string();
    assert!(again.contains("Kept") && again.contains("Also"), "{again}");
    // And without a transaction what was applied stays.
    let told = run(
        &pipeline,
        &json!({"operations": [add("Loose"), json!({"command": "scene_remove_node", "params": {"target_node": "Nobody"}})], "transactional": false}),
    );
    assert_eq!((&told["applied"], &told["reverted"]), (&json!(1), &json!(false)), "{told}");
    assert!(tree().to_string().contains("Loose"));
}
