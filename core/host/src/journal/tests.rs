#![allow(clippy::disallowed_methods, reason = "lays plain files out for the test")]

use std::fs;

use serde_json::{Map, Value, json};

use super::{Editor, Journal, MAX_ENTRIES, Record, redacted};
use crate::files::{ProjectFiles, WriteRecord};

fn map(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn journal() -> (tempfile::TempDir, Journal) {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::new(ProjectFiles::new(dir.path().canonicalize().unwrap()));
    (dir, journal)
}

fn write() -> WriteRecord {
    WriteRecord { path: "res://a.gd".into(), before: None, after: (3, "abc".into()) }
}

fn record(journal: &Journal, tool: &str) {
    let arguments = map(json!({"source_text": "x".repeat(2000), "api_token": "hush"}));
    let writes = [write()];
    journal.record(&Record {
        tool,
        applied: true,
        target: None,
        arguments: &arguments,
        writes: &writes,
        undo_steps: &[],
        session: None,
    });
}

#[test]
fn a_step_that_another_took_the_place_of_is_undone() {
    let (_dir, journal) = journal();
    let made = |tool: &str, arguments: Value, steps: &[Value]| {
        let arguments = map(arguments);
        let record = Record {
            tool,
            applied: true,
            target: None,
            arguments: &arguments,
            writes: &[],
            undo_steps: steps,
            session: Some("s".into()),
        };
        journal.record(&record).unwrap()
    };
    let step = |serial: i64| json!({"history": "scene", "history_id": 3, "version": 7, "serial": serial, "scene_file_path": "res://a.tscn"});
    let first = made("scene_add_to_group", json!({}), &[step(4)]);
    let undo = made("editor_undo", json!({"journal_entry": first}), &[]);
    made("scene_add_to_group", json!({}), &[step(5)]);
    let read = |history_id: i32| {
        let histories = vec![
            json!({"history_id": history_id, "version": 7, "serials": [[5, 5], [1, 3]], "scene_file_path": "res://a.tscn"}),
        ];
        journal.read(Some(&Editor { session: "s".into(), histories }))["entries"].clone()
    };
    let states = |entries: &Value| [0, 1, 2].map(|at| entries[at]["undo_state"].clone());
    let entries = read(3);
    assert_eq!(states(&entries), ["available", "none", "undone"], "{entries}");
    assert_eq!((&entries[2]["undone_by"], &entries[1]["undoes"]), (&json!(undo), &json!(first)));
    assert_eq!((&entries[2]["scene"], entries[1].get("scene")), (&json!("res://a.tscn"), None));
    assert_eq!(states(&read(9)), ["gone", "none", "gone"], "opened again");
}

#[test]
fn an_entry_tells_the_steps_that_its_change_gained() {
    let (dir, journal) = journal();
    let steps = [
        json!({"history": "scene", "history_id": 3, "version": 7, "action": "Add Lamp", "scene_file_path": "res://a.tscn"}),
    ];
    journal.record(&Record {
        tool: "scene_instantiate_node",
        applied: true,
        target: None,
        arguments: &Map::new(),
        writes: &[],
        undo_steps: &steps,
        session: Some("s".into()),
    });
    let shown = journal.read(None)["entries"][0].clone();
    assert_eq!(shown["undo"], json!({"session_id": "s", "steps": steps}));
    assert_eq!(shown["undo_state"], "unknown");
    let judged = |session: &str, history_id: i32, version: u64| {
        let histories = vec![json!({"history_id": history_id, "version": version})];
        let editor = Editor { session: session.into(), histories };
        journal.read(Some(&editor))["entries"][0].clone()
    };
    assert_eq!(judged("s", 3, 7)["undo_state"], "available");
    assert_eq!(judged("s", 3, 9)["undo_state"], "later_history");
    assert_eq!(judged("s", 3, 9)["later_actions"], 2);
    assert_eq!(judged("s", 3, 6)["undo_state"], "undone");
    assert_eq!(judged("s", 4, 7)["undo_state"], "blocked");
    assert_eq!(judged("s", 4, 7)["scene_open"], json!({"scene_path": "res://a.tscn"}));
    assert_eq!(judged("t", 3, 7)["undo_state"], "gone");
    let entry = journal.entry(shown["id"].as_str().unwrap()).unwrap();
    assert_eq!(entry["undo"], shown["undo"]);
    let code = |id: &str| journal.entry(id).unwrap_err().code.name.into_owned();
    assert_eq!(code("1-abcdef"), "journal_entry_not_found");
    fs::write(dir.path().join(".didi/journal.json"), "{\"format\": 2}").unwrap();
    assert_eq!(code("1-abcdef"), "journal_format_newer");
    fs::write(dir.path().join(".didi/journal.json"), "{broken").unwrap();
    assert_eq!(code("1-abcdef"), "journal_unreadable");
}

#[test]
fn entries_are_newest_first_and_bounded() {
    let (_dir, journal) = journal();
    assert_eq!(journal.read(None)["status"], "empty");
    for n in 0..MAX_ENTRIES + 2 {
        record(&journal, &format!("tool_{n}"));
    }
    let read = journal.read(None);
    assert_eq!(
        (&read["total"], &read["dropped"], &read["truncated"]),
        (&json!(200), &json!(2), &json!(true))
    );
    assert_eq!(read["entries"].as_array().unwrap().len(), 50);
    let newest = &read["entries"][0];
    assert_eq!((&newest["tool"], &newest["target"]), (&json!("tool_201"), &json!("res://a.gd")));
    assert_eq!(
        (&newest["before"]["exists"], &newest["undo_state"]),
        (&json!(false), &json!("none"))
    );
    let text = newest.to_string();
    assert!(!text.contains("hush") && text.contains("(2000 bytes)"), "{text}");
}

#[test]
fn a_journal_that_does_not_parse_is_set_aside() {
    let (dir, journal) = journal();
    record(&journal, "one");
    fs::write(dir.path().join(".didi/journal.json"), "{broken").unwrap();
    assert_eq!(journal.read(None)["status"], "unreadable");
    record(&journal, "two");
    assert_eq!(journal.read(None)["total"], 1);
    let aside = fs::read_dir(dir.path().join(".didi")).unwrap().flatten();
    let aside: Vec<_> =
        aside.filter(|one| one.file_name().to_string_lossy().contains("unreadable")).collect();
    assert_eq!(fs::read(aside[0].path()).unwrap(), b"{broken");
}

#[test]
fn secrets_are_redacted_by_the_name_of_their_key() {
    let shown = redacted(&map(json!({
        "setting": "network/API-Key", "value": "hush", "deep": {"Password": "hush", "kept": 1},
        "list": [{"authorization": "hush"}],
    })));
    assert!(!shown.to_string().contains("hush"), "{shown}");
    assert_eq!(shown["deep"]["kept"], 1);
}
