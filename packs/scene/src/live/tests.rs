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
    json!({"scene_saved": false, "undo_redo_registered": true})
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
        (
            "scene_reparent_node",
            json!({"target_node": "A", "new_parent_path": "B"}),
            json!({"target_node": "A", "new_parent_path": "B", "keep_global_transform": true}),
        ),
        (
            "physics_raycast_query",
            json!({"from": {"x": 0, "y": 0}, "to": {"x": 1, "y": 0}}),
            json!({"from": {"x": 0.0, "y": 0.0}, "to": {"x": 1.0, "y": 0.0}, "collision_mask": 1}),
        ),
        ("audio_add_bus", json!({"name": "Music"}), json!({"name": "Music", "send": "Master"})),
        (
            "scene_call_method",
            json!({"target_node": "A", "method_name": "go"}),
            json!({"target_node": "A", "method_name": "go", "arguments": [], "timeout_seconds": 10}),
        ),
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
fn a_preview_has_the_editor_check_the_change_and_sends_none() {
    let (_folder, kit, sent) = editor(|_| json!({"before": {"type": "Node2D"}}));
    let write = json!({"target_node": "A", "property_name": "x", "value": 2});
    for (tool, method, args, subject) in [
        ("scene_remove_node", "scene.removeNode", json!({"target_node": "A"}), "A"),
        ("scene_set_property", "scene.setProperty", write, "A"),
        ("scene_open", "scene.open", json!({"scene_path": "res://a.tscn"}), "res://a.tscn"),
        ("scene_create", "scene.create", json!({"scene_path": "res://a.tscn"}), "res://a.tscn"),
        ("scene_duplicate_node", "scene.duplicateNode", json!({"target_node": "A"}), "A"),
        ("signal_emit", "signal.emit", json!({"target_node": "A", "signal_name": "s"}), "A"),
        (
            "scene_call_method",
            "scene.callMethod",
            json!({"target_node": "A", "method_name": "m"}),
            "A",
        ),
        ("audio_add_bus", "audio.addBus", json!({"name": "Music"}), "Music"),
    ] {
        let target = kit.preview(tool, &args).unwrap();
        assert_eq!((target.subject.as_str(), &target.before["type"]), (subject, &json!("Node2D")));
        let (asked, probe) = last(&sent);
        assert_eq!(
            (asked.as_str(), &probe["mutation"]["method"]),
            ("scene.getProperty", &json!(method))
        );
        for (name, value) in args.as_object().unwrap() {
            assert_eq!(&probe["mutation"]["params"][name], value, "{tool}");
        }
    }
    let bad = kit.preview("scene_create", &json!({"scene_path": "a"})).unwrap_err();
    assert_eq!(bad.data["field"], "scene_path");
}

#[test]
fn what_does_not_go_together_is_refused_before_it_is_sent() {
    let (_folder, kit, sent) = editor(edited);
    let both = json!({"node_type": "Timer", "scene_path": "res://a.tscn"});
    let write = json!({"target_node": "A", "property_name": "x", "value": 1});
    let batch = json!([write]);
    let grid = |cell: Value| json!({"gridmap_path": "G", "cells": [cell]});
    let play = |speed: f64| json!({"animation_player_path": "P", "animation_name": "a", "custom_speed": speed});
    let ray = |to: Value| json!({"from": {"x": 0, "y": 0}, "to": to});
    let sweep =
        |shape: Value| json!({"shape": shape, "from": {"x": 0, "y": 0}, "to": {"x": 1, "y": 0}});
    let camera = |near: f64, far: f64| {
        let (position, look_at) =
            (json!({"x": 0, "y": 0, "z": 0}), json!({"x": 0, "y": 0, "z": 1}));
        json!({"camera": {"position": position, "look_at": look_at, "fov_degrees": 60, "near": near, "far": far, "aspect": 1}})
    };
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
        ("gridmap_set_cells", grid(json!({"item": 1})), "cells"),
        (
            "gridmap_set_cells",
            grid(json!({"position": [0, 0, 0], "coords": [0, 0, 0], "item": 1})),
            "cells",
        ),
        ("gridmap_set_cells", grid(json!({"position": [0, 0], "item": 1})), "cells"),
        (
            "gridmap_set_cells",
            grid(json!({"position": [0, 0, 0], "item": -1, "orientation": 1})),
            "cells",
        ),
        ("signal_list_connections", json!({}), "emitter_node"),
        (
            "signal_emit",
            json!({"signal_name": "s", "emitter_node": "A", "target_node": "A"}),
            "emitter_node",
        ),
        (
            "scene_call_method",
            json!({"target_node": "A", "method_name": "m", "arguments": [[[[[[1]]]]]]}),
            "arguments",
        ),
        (
            "scene_call_method",
            json!({"target_node": "A", "method_name": "m", "arguments": ["x".repeat(9000)]}),
            "arguments",
        ),
        ("anim_play_track", play(0.0), "custom_speed"),
        ("anim_play_track", play(-1.0), "from_end"),
        ("audio_configure_bus", json!({"bus": "Master"}), "volume_db"),
        ("audio_add_bus", json!({"name": "  "}), "name"),
        ("audio_add_bus", json!({"name": "a\u{7}"}), "name"),
        ("audio_add_bus", json!({"name": " a"}), "name"),
        ("audio_add_bus", json!({"name": "a", "send": "a"}), "send"),
        ("physics_raycast_query", ray(json!({"x": 0, "y": 0})), "to"),
        ("physics_raycast_query", ray(json!({"x": 1, "y": 0, "z": 0})), "to"),
        ("physics_raycast_query", ray(json!({"x": 1e7, "y": 0})), "to"),
        ("spatial_query_raycast_batch", json!({"rays": [ray(json!({"x": 0, "y": 0}))]}), "rays"),
        (
            "spatial_query_clearance",
            sweep(json!({"kind": "sphere", "size": {"x": 1, "y": 1}})),
            "shape",
        ),
        ("spatial_query_clearance", sweep(json!({"kind": "sphere", "radius": 0})), "shape"),
        (
            "spatial_query_clearance",
            sweep(json!({"kind": "capsule", "radius": 2, "height": 3})),
            "shape",
        ),
        (
            "spatial_query_clearance",
            sweep(json!({"kind": "box", "size": {"x": 1, "y": 1, "z": 1}})),
            "shape",
        ),
        (
            "nav_query_path",
            json!({"start_point": {"x": 0, "y": 0}, "end_point": {"x": 0, "y": 0, "z": 0}}),
            "end_point",
        ),
        ("spatial_query_frustum", json!({}), "camera_node"),
        (
            "spatial_query_frustum",
            json!({"camera": {"position": {"x": 0, "y": 0, "z": 0}}}),
            "camera",
        ),
        ("spatial_query_frustum", camera(2.0, 1.0), "camera"),
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
fn what_a_game_plays_and_mixes_is_read_for_a_preview() {
    let (_folder, kit, sent) = editor(|method| match method {
        "anim.listTracks" => json!({"animations": [{"name": "walk", "length": 2.0}]}),
        _ => json!({"buses": [{"index": 0, "name": "Master", "mute": false}]}),
    });
    let play = |name: &str| json!({"animation_player_path": "P", "animation_name": name});
    let target = kit.preview("anim_play_track", &play("walk")).unwrap();
    assert_eq!(target.before, json!({"animation_name": "walk", "length": 2.0}));
    let refusal = kit.preview("anim_play_track", &play("fly")).unwrap_err();
    assert_eq!(
        (refusal.code.status, &refusal.data["next_call"]["tool"]),
        (404, &json!("anim_list_tracks"))
    );
    for bus in [json!("Master"), json!(0)] {
        let target =
            kit.preview("audio_configure_bus", &json!({"bus": bus, "mute": true})).unwrap();
        assert_eq!((target.subject.as_str(), &target.before["mute"]), ("Master", &json!(false)));
    }
    let none = kit.preview("audio_configure_bus", &json!({"bus": 7, "mute": true})).unwrap_err();
    assert_eq!((none.code.status, &none.data["field"]), (404, &json!("bus")));
    let asked: Vec<String> =
        sent.lock().unwrap().iter().map(|(method, _)| method.clone()).collect();
    assert!(
        asked
            .iter()
            .all(|method| ["anim.listTracks", "audio.listBuses"].contains(&method.as_str()))
    );
}
