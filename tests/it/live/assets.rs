//! Files that the editor imports, lists and holds.

use didi_tests::{
    Project,
    live::{Client, Engine, ask_engine},
};
use serde_json::{Value, json};

/// Reads the end of detached work.
fn finished(client: &mut Client, method: &str, params: &Value) -> Value {
    loop {
        let state = client.done(method, params.clone());
        if state["state"] != "working" {
            return state;
        }
    }
}

#[test]
fn files_are_imported_anew_and_new_ones_are_found() {
    let project = Project::sample();
    let Some(engine) = Engine::editor(&project) else { return };
    let mut client = engine.connect();
    let paths = json!({"paths": ["res://icon.svg", "res://data/score.gd"]});
    let answer = client.done("asset.reimport", paths);
    assert_eq!(answer["reimported"], json!(["res://icon.svg"]), "{answer}");
    assert_eq!(answer["refreshed"], json!(["res://data/score.gd"]), "{answer}");
    let svg = project.text("icon.svg").unwrap();
    project.write("art/new.svg", &svg);
    let work = json!({"paths": ["res://art/new.svg"], "detach_timeout_ms": 60_000});
    let accepted = client.done("asset.reimport", work);
    assert_eq!(accepted["status"], "accepted", "{accepted}");
    let id = json!({"reimport_id": accepted["reimport_id"]});
    let end = finished(&mut client, "asset.reimportStatus", &id);
    assert_eq!(
        (&end["state"], &end["reimport_id"]),
        (&json!("finished"), &accepted["reimport_id"])
    );
    assert!(project.text("art/new.svg.import").unwrap().contains("dest_files"));
    let body = "return load(\"res://art/new.svg\").get_class()";
    assert_eq!(ask_engine(&project, body), json!("CompressedTexture2D"));
    let missing = json!({"paths": ["res://art/none.svg"]});
    assert_eq!(client.refused("asset.reimport", missing), (404, "not_found".to_owned()));
    project.write("art/bad.svg", "this is no picture");
    let bad = json!({"paths": ["res://art/bad.svg"]});
    client.ask("asset.reimport", bad.clone()).ok();
    assert_eq!(client.refused("asset.reimport", bad).1, "asset_import_failed");
}

#[test]
fn a_file_that_came_with_its_settings_is_imported_and_one_that_the_editor_passes_over_is_not() {
    let project = Project::sample();
    let Some(engine) = Engine::editor(&project) else { return };
    let mut client = engine.connect();
    let (svg, settings) =
        (project.text("icon.svg").unwrap(), project.text("icon.svg.import").unwrap());
    let uid = settings.lines().find(|line| line.starts_with("uid=")).unwrap();
    // As version control brings a pair that another machine made.
    let brought = |path: &str, own: &str| {
        let file = path.rsplit_once('/').unwrap().1;
        let text = settings
            .replace(uid, own)
            .replace("res://icon.svg", &format!("res://{path}"))
            .replace("icon.svg-", &format!("{file}-"));
        project.write(path, &svg);
        project.write(&format!("{path}.import"), text);
    };
    brought("art/brought.svg", "uid=\"uid://cbrought00001\"");
    let answer = client.done("asset.reimport", json!({"paths": ["res://art/brought.svg"]}));
    assert_eq!(answer["reimported"], json!(["res://art/brought.svg"]), "{answer}");
    let settings = project.text("art/brought.svg.import").unwrap();
    let made = settings.lines().find_map(|line| line.strip_prefix("path=\"res://")).unwrap();
    assert!(project.file(made.trim_end_matches('"')).is_file(), "{settings}");

    project.write("passed/.gdignore", "");
    brought("passed/over.svg", "uid=\"uid://cbrought00002\"");
    let over = json!({"paths": ["res://passed/over.svg", "res://icon.svg"]});
    let refused = client.ask("asset.reimport", over).unwrap_err();
    assert_eq!((refused.code, refused.code_name()), (409, Some("asset_not_indexed")));
    assert_eq!(refused.data["missing"], json!(["res://passed/over.svg"]));
    assert_eq!(refused.data["outcome"], "not_imported");
}

#[test]
fn a_reload_finds_what_was_written_behind_the_editor() {
    let project = Project::sample();
    let Some(engine) = Engine::editor(&project) else { return };
    let mut client = engine.connect();
    // More than once: a scan whose thread has ended is not applied yet, which one round rarely meets.
    for round in 0..12 {
        let class = format!("FreshThing{round}");
        project.write(&format!("fresh/{class}.gd"), format!("class_name {class}\nextends Node\n"));
        assert_eq!(client.done("editor.reloadProject", json!({}))["scan_applied"], true);
        let uid = project.text(&format!("fresh/{class}.gd.uid")).unwrap();
        assert!(uid.starts_with("uid://"), "{uid}");
        let classes = project.text(".godot/global_script_class_cache.cfg").unwrap();
        assert!(classes.contains(&class), "{classes}");
    }
    let accepted = client.done("editor.reloadProject", json!({"detach_timeout_ms": 60_000}));
    let id = json!({"reload_id": accepted["reload_id"]});
    let end = finished(&mut client, "editor.reloadStatus", &id);
    assert_eq!((&end["state"], &end["scan_applied"]), (&json!("finished"), &json!(true)));
    let state = client.done("editor.getRecoveryState", json!({}));
    assert_eq!((&state["ready"], &state["filesystem_scanning"]), (&json!(true), &json!(false)));
    let servers = client.done("editor.getProtocolServers", json!({}));
    assert_eq!(servers["language_server"]["port"], 6005, "{servers}");
    assert_eq!(servers["debug_adapter"]["host"], "127.0.0.1");
}

#[test]
fn the_editor_holds_what_the_file_says_after_a_refresh() {
    let project = Project::sample();
    project.write_scripted(
        "Held",
        "Node2D",
        "@tool\nextends Node2D\n\nconst SAYS := \"old\"\n\n@export var told := SAYS\n",
    );
    let Some(engine) = Engine::editor(&project) else { return };
    let mut client = engine.connect();
    client.done("scene.open", json!({"scene_path": "res://held.tscn"}));
    let constant = |client: &mut Client| {
        let params = json!({"target_node": "/root/Held", "property_name": "told"});
        client.ask("scene.getProperty", params)
    };
    assert_eq!(constant(&mut client).unwrap()["value"], "old");
    project.write("held.gd", "@tool\nextends Node2D\n\n@export var told_anew := \"new\"\n");
    let refreshed = client.done("resource.refreshCached", json!({"path": "res://held.gd"}));
    assert_eq!((&refreshed["cached"], &refreshed["reloaded"]), (&json!(true), &json!(true)));
    assert_eq!(constant(&mut client).unwrap_err().code, 404);
    let scene = project.text("held.tscn").unwrap();
    project
        .write("held.tscn", scene.replace("type=\"Node2D\"]", "type=\"Node2D\"]\nrotation = 0.5"));
    let both = json!({"paths": ["res://held.tscn", "res://made/deep/new.gd"]});
    project.write("made/deep/new.gd", "extends Node\n");
    let kept = client.done("resource.refreshCached", both.clone())["results"].clone();
    assert_eq!((&kept[0]["scene_open"], &kept[0]["scene_reloaded"]), (&json!(true), &json!(false)));
    // A folder that is new to the editor is listed after a scan, which a busy editor may answer before.
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let mut listed = kept[1].clone();
    while listed.get("index_pending").is_some() {
        assert!(std::time::Instant::now() < end, "{listed}");
        let again = json!({"path": "res://made/deep/new.gd"});
        listed = client.done("resource.refreshCached", again);
    }
    assert!(project.text("made/deep/new.gd.uid").is_some(), "{listed}");
    let mut both = both;
    both["discard_unsaved"] = json!(true);
    let rebuilt = client.done("resource.refreshCached", both)["results"].clone();
    assert_eq!(rebuilt[0]["scene_reloaded"], true, "{rebuilt}");
    let rotation = json!({"target_node": "/root/Held", "property_name": "rotation"});
    assert_eq!(client.done("scene.getProperty", rotation)["value"], 0.5);
}

#[test]
fn a_branch_becomes_a_scene_and_stays_where_it_is() {
    let project = Project::sample();
    let Some(engine) = Engine::editor(&project) else { return };
    let mut client = engine.connect();
    client.done("scene.create", json!({"scene_path": "res://whole.tscn", "root_name": "Whole"}));
    client.done("scene.instantiateNode", json!({"node_type": "Node2D", "name": "Branch"}));
    let leaf = json!({"node_type": "Sprite2D", "name": "Leaf", "parent_path": "Branch"});
    client.done("scene.instantiateNode", leaf);
    let lamp = json!({"scene_path": "res://lamps/lamp.tscn", "parent_path": "Branch"});
    client.done("scene.instantiateNode", lamp);
    let before = client.done("scene.getHierarchy", json!({}))["scene_tree"].clone();
    let pack = json!({"target_node": "Branch", "scene_path": "res://lamps/branch.tscn"});
    let packed = client.done("scene.packBranch", pack.clone());
    assert_eq!(
        (&packed["saved"], &packed["uid_registered"]),
        (&json!(true), &json!(true)),
        "{packed}"
    );
    assert_eq!(client.refused("scene.packBranch", pack).1, "already_exists");
    assert_eq!(client.done("scene.getHierarchy", json!({}))["scene_tree"], before);
    let text = project.text("lamps/branch.tscn").unwrap();
    assert!(text.contains("[node name=\"Leaf\" type=\"Sprite2D\" parent=\".\""), "{text}");
    assert!(text.contains("instance=ExtResource("), "{text}");
}
