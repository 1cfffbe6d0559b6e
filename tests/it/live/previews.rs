//! Previews: the checks of the call itself, and what it would land on, with nothing changed.

use didi_tests::{
    Project,
    live::{Client, Engine},
};
use serde_json::{Value, json};

fn preview(client: &mut Client, method: &str, params: &Value) -> Value {
    let probe = json!({"mutation": {"method": method, "params": params}});
    client.done("scene.getProperty", probe)["before"].clone()
}

#[test]
fn a_preview_reads_the_target_and_changes_nothing() {
    let project = Project::sample();
    let Some(engine) = Engine::editor(&project) else { return };
    let mut client = engine.connect();
    client.done("scene.open", json!({"scene_path": "res://levels/meadow.tscn"}));
    let tree =
        |client: &mut Client| client.done("scene.getHierarchy", json!({}))["scene_tree"].clone();
    let root = tree(&mut client);
    let (path, child) = (root["path"].clone(), root["children"][0]["path"].clone());
    let before = |name: &str| json!({"target_node": path, "property_name": name});
    let position = client.done("scene.getProperty", before("position"))["value"].clone();
    let cases = [
        (
            "scene.setProperty",
            json!({"target_node": path, "property_name": "position", "value": {"x": 1, "y": 2}}),
            json!({"target_node": path, "property_name": "position", "value": position}),
        ),
        (
            "scene.instantiateNode",
            json!({"node_type": "Node2D", "name": "New"}),
            json!({"resolved": true, "parent": path}),
        ),
        (
            "scene.addToGroup",
            json!({"target_node": path, "group": "g"}),
            json!({"in_group": false}),
        ),
        (
            "scene.create",
            json!({"scene_path": "res://new/one.tscn"}),
            json!({"exists": false, "bytes": null}),
        ),
        (
            "project.setSetting",
            json!({"setting": "application/config/name", "value": "Other"}),
            json!({"literal": "\"Lantern\""}),
        ),
        (
            "project.setAutoload",
            json!({"name": "Meter", "path": "res://data/score.gd"}),
            json!({"autoload": null}),
        ),
        ("project.setInputAction", json!({"action": "jump"}), json!({"action": null})),
    ];
    let text = project.text("project.godot");
    for (method, params, expected) in cases {
        assert_eq!(preview(&mut client, method, &params), expected, "{method}");
    }
    let gone = preview(&mut client, "scene.removeNode", &json!({"target_node": child}));
    assert_eq!(gone["path"], child);
    assert_eq!(tree(&mut client), root);
    assert_eq!(project.text("project.godot"), text);
    assert!(!project.file("new").exists());
    assert_eq!(client.refused("editor.undo", json!({})).1, "nothing_to_undo");
}

#[test]
fn a_preview_is_refused_as_the_call_would_be() {
    let project = Project::sample();
    let Some(engine) = Engine::editor(&project) else { return };
    let mut client = engine.connect();
    client.done("scene.open", json!({"scene_path": "res://levels/meadow.tscn"}));
    let cases = [
        ("scene.removeNode", json!({"target_node": "/root/Nobody"})),
        ("scene.removeNode", json!({"target_node": "/root"})),
        (
            "scene.setProperty",
            json!({"target_node": "/root", "property_name": "position", "value": "x"}),
        ),
        ("scene.instantiateNode", json!({"node_type": "Nod"})),
        ("scene.create", json!({"scene_path": "res://levels/meadow.tscn"})),
        ("scene.create", json!({"scene_path": "res://../out.tscn"})),
        ("scene.open", json!({"scene_path": "res://none.tscn"})),
        ("project.setSetting", json!({"setting": "a/b", "value": 1})),
        ("script.attachToNode", json!({"target_node": "/root", "script_path": "res://none.gd"})),
    ];
    for (method, params) in cases {
        let probe = json!({"mutation": {"method": method, "params": params}});
        let previewed = client.refused("scene.getProperty", probe);
        assert_eq!(previewed, client.refused(method, params.clone()), "{method} {params}");
    }
    let none = json!({"mutation": {"method": "editor.undo"}});
    assert_eq!(client.refused("scene.getProperty", none).0, 501);
}

/// Counts nodes that are in no tree, which nobody would free.
const ORPHANS: &str = "@tool\nextends Node\n\n\nfunc orphans() -> int:\n\
    \treturn int(Performance.get_monitor(Performance.OBJECT_ORPHAN_NODE_COUNT))\n";

#[test]
fn a_node_that_is_made_for_a_preview_or_a_refusal_is_freed() {
    const TIMES: i64 = 40;
    let project = Project::sample();
    project.write_scripted("Orphans", "Node", ORPHANS);
    let Some(engine) = Engine::editor(&project) else { return };
    let mut client = engine.connect();
    client.done("scene.open", json!({"scene_path": "res://orphans.tscn"}));
    let orphans = |client: &mut Client| {
        let count = json!({"target_node": "/root/Orphans", "method_name": "orphans"});
        client.done("scene.callMethod", count)["returned"].as_i64().unwrap()
    };
    let before = orphans(&mut client);
    for _ in 0..TIMES {
        let made = json!({"node_type": "Timer", "name": "New", "properties": {"wait_time": 2}});
        preview(&mut client, "scene.instantiateNode", &made);
        let refused = json!({"node_type": "Timer", "properties": {"wait_tim": 2}});
        assert_eq!(client.refused("scene.instantiateNode", refused).0, 404);
    }
    // Nodes of the editor's own may have come and gone meanwhile.
    let more = orphans(&mut client) - before;
    assert!(more < TIMES / 2, "{more} nodes were left over");
}
