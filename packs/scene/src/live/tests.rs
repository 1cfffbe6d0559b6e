//! What the live tools of scenes send to the editor, and what they refuse before they send anything.

use std::sync::{Arc, Mutex};

use didi_plugin_api::{prelude::*, testkit::Kit};

use crate::ScenePack;

type Sent = Arc<Mutex<Vec<(String, Value)>>>;

/// A kit whose editor answers so, and what it was asked.
fn editor(answer: fn(&str) -> Value) -> (tempfile::TempDir, Kit, Sent) {
    let folder = tempfile::tempdir().unwrap();
    let sent = Sent::default();
    let asked = Arc::clone(&sent);
    let kit =
        Kit::open::<ScenePack>(folder.path()).mode(Mode::Live).bridge(move |method, params| {
            asked.lock().unwrap().push((method.to_owned(), params.clone()));
            Ok(answer(method))
        });
    (folder, kit, sent)
}

/// An edit that went well.
fn edited(_: &str) -> Value {
    json!({"scene_saved": false, "undo_redo_registered": true, "scene_tree": {"name": "Lamp"}})
}

fn last(sent: &Sent) -> (String, Value) {
    sent.lock().unwrap().last().cloned().expect("the editor was asked")
}

#[test]
fn arguments_are_sent_with_their_defaults_and_nothing_else() {
    let (_folder, kit, sent) = editor(edited);
    let calls = [
        (
            "scene_instantiate_node",
            json!({"node_type": "Timer"}),
            json!({"node_type": "Timer", "parent_path": "/root"}),
        ),
        (
            "scene_set_property",
            json!({"target_node": "A", "property_name": "script", "value": null}),
            json!({"target_node": "A", "property_name": "script", "value": null, "make_unique": false}),
        ),
        (
            "scene_add_to_group",
            json!({"target_node": "A", "group": "g"}),
            json!({"target_node": "A", "group": "g", "persistent": true}),
        ),
        ("scene_close", json!({}), json!({"discard_unsaved": false})),
    ];
    for (tool, args, wanted) in calls {
        kit.call(tool, &args).unwrap();
        assert_eq!(last(&sent).1, wanted, "{tool}");
    }
}

#[test]
fn an_edit_leaves_a_save_and_so_does_a_step_back() {
    let (_folder, kit, _) = editor(edited);
    let answer = kit.answer("scene_remove_node", &json!({"target_node": "Lamp"})).unwrap();
    assert_eq!(answer.facts, [Fact::SceneSaved(false)]);
    assert!(!answer.data.get().contains("scene_saved"), "the host says it from the fact");
    let (_folder, kit, _) = editor(|_| json!({"history": "scene", "undone": "Add Lamp"}));
    let answer = kit.answer("editor_undo", &json!({})).unwrap();
    assert_eq!(answer.facts, [Fact::SceneSaved(false)]);
    let (_folder, kit, _) = editor(|_| json!({"history": "global", "undone": "Set"}));
    assert_eq!(kit.answer("editor_redo", &json!({})).unwrap().facts, []);
}

#[test]
fn a_preview_reads_and_the_change_itself_is_not_sent() {
    let (_folder, kit, sent) = editor(edited);
    for (tool, args) in [
        ("scene_instantiate_node", json!({"node_type": "Timer", "parent_path": "Lamp"})),
        ("scene_remove_node", json!({"target_node": "Lamp"})),
        (
            "anim_add_library",
            json!({"animation_player_path": "Lamp", "library_path": "res://a.tres"}),
        ),
    ] {
        let target = kit.preview(tool, &args).unwrap();
        assert_eq!((target.subject.as_str(), &target.before["name"]), ("Lamp", &json!("Lamp")));
        let asked = ("scene.getHierarchy".to_owned(), json!({"root_path": "Lamp", "max_depth": 0}));
        assert_eq!(last(&sent), asked, "{tool}");
    }
    let write = json!({"writes": [{"target_node": "A", "property_name": "x", "value": 2}]});
    let target = kit.preview("scene_set_property", &write).unwrap();
    assert_eq!((target.subject.as_str(), target.after), ("A:x", Some(json!([2]))));
    let reads = json!({"reads": [{"target_node": "A", "property_name": "x"}]});
    assert_eq!(last(&sent), ("scene.getProperty".to_owned(), reads));
    let methods = sent.lock().unwrap().iter().map(|(method, _)| method.clone()).collect::<Vec<_>>();
    assert!(methods.iter().all(|method| method.contains(".get")), "{methods:?}");
}

#[test]
fn what_does_not_go_together_is_refused_before_it_is_sent() {
    let (_folder, kit, sent) = editor(edited);
    let both = json!({"node_type": "Timer", "scene_path": "res://a.tscn"});
    let write = json!({"target_node": "A", "property_name": "x", "value": 1});
    let batch = json!([write]);
    let cells = |cell: Value| json!({"tilemap_path": "T", "cells": [cell]});
    for (tool, args, field) in [
        ("scene_instantiate_node", both, "node_type"),
        ("scene_instantiate_node", json!({}), "node_type"),
        ("scene_set_property", json!({}), "target_node"),
        ("scene_set_property", json!({"target_node": "A", "value": 1}), "property_name"),
        ("scene_set_property", json!({"target_node": "A", "property_name": "x"}), "value"),
        ("scene_set_property", json!({"target_node": "A", "writes": batch}), "writes"),
        ("scene_get_property", json!({"property_name": "x"}), "target_node"),
        ("scene_create", json!({"scene_path": "res://a.scn"}), "scene_path"),
        ("scene_pack_branch", json!({"target_node": "A", "scene_path": "a.tscn"}), "scene_path"),
        (
            "anim_add_library",
            json!({"animation_player_path": "A", "library_path": "res://a.tres", "library_name": "a/b"}),
            "library_name",
        ),
        ("tilemap_set_cells", cells(json!({"erase": true})), "cells"),
        (
            "tilemap_set_cells",
            cells(json!({"coords": [0, 0], "position": [0, 0], "erase": true})),
            "cells",
        ),
        ("tilemap_set_cells", cells(json!({"coords": [0, 0], "source_id": 0})), "cells"),
        ("tilemap_set_cells", cells(json!({"coords": [0, 2_000_000], "erase": true})), "cells"),
        ("tilemap_set_cells", cells(json!({"coords": [0, 0], "erase": true, "z": 1})), "cells"),
    ] {
        let refusal = kit.call(tool, &args).unwrap_err();
        assert_eq!(
            (&refusal.data["field"], refusal.code.status),
            (&json!(field), 400),
            "{tool} {args}"
        );
    }
    assert!(sent.lock().unwrap().is_empty(), "nothing of it was sent");
}

#[test]
fn a_scene_that_is_there_is_replaced_only_on_demand() {
    let (folder, kit, _) = editor(edited);
    #[allow(clippy::disallowed_methods, reason = "lays a plain file out for the test")]
    std::fs::write(folder.path().join("a.tscn"), "[gd_scene format=3]\n").unwrap();
    let args = json!({"scene_path": "res://a.tscn"});
    assert_eq!(kit.preview("scene_create", &args).unwrap_err().code.name, "already_exists");
    let args = json!({"scene_path": "res://a.tscn", "overwrite": true});
    assert!(kit.preview("scene_create", &args).unwrap().exists);
    assert!(
        kit.preview("scene_open", &json!({"scene_path": "res://a.tscn"})).unwrap().resolved_only
    );
    let gone = json!({"scene_path": "res://b.tscn"});
    assert_eq!(kit.preview("scene_open", &gone).unwrap_err().code.name, "not_found");
}
