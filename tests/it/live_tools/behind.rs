//! Files that tools write behind an editor that has the project open: what it holds is read anew, and nothing that it
//! would overwrite or lose is written.

use didi_tests::{Caller, Project, live::Engine};
use serde_json::{Value, json};

const SCENE: &str = "[gd_scene load_steps=2 format=3 uid=\"uid://b7q1w0e8yd1m3\"]\n\n\
    [ext_resource type=\"Script\" path=\"res://held.gd\" id=\"1\"]\n\n\
    [node name=\"Held\" type=\"Node2D\"]\nscript = ExtResource(\"1\")\n\n\
    [node name=\"Old\" type=\"Node2D\" parent=\".\"]\n";

/// An editor with a scene in a tab, whose root has a script.
fn opened() -> Option<(Project, Engine, Caller)> {
    let project = Project::sample();
    project.write("held.gd", "@tool\nextends Node2D\n\n\nfunc told() -> int:\n\treturn 1\n");
    project.write("held.tscn", SCENE);
    let engine = Engine::editor(&project)?;
    let mut caller = Caller::of(&project);
    caller.done("scene_open", json!({"scene_path": "res://held.tscn"}));
    Some((project, engine, caller))
}

/// What the editor itself says of a node's property; the code of its refusal otherwise.
fn held(engine: &Engine, node: &str, property: &str) -> Result<Value, u16> {
    let params = json!({"target_node": node, "property_name": property});
    let said = engine.connect().ask("scene.getProperty", params);
    said.map(|said| said["value"].clone()).map_err(|error| error.code)
}

#[test]
fn a_script_that_the_editor_holds_is_read_anew() {
    let Some((project, engine, mut caller)) = opened() else { return };
    assert_eq!(held(&engine, "/root/Held", "fresh"), Err(404));
    let patch = json!({
        "file_path": "res://held.gd", "method_name": "fresh", "symbol_type": "variable",
        "new_definition": "@export var fresh := 7", "create_if_missing": true,
    });
    let patched = caller.confirmed("script_patch_method", patch);
    assert_eq!(patched["editor_copy_reloaded"], true, "{patched}");
    // The engine gives a node that is there the new property without its default.
    assert_eq!(held(&engine, "/root/Held", "fresh"), Ok(Value::Null));
    let script = json!({"script_path": "res://new/deep/thing.gd", "source_text": "class_name DeepThing\nextends Node\n"});
    let written = caller.answered("script_create", script);
    assert_eq!(written["editor_copy_reloaded"], false, "{written}");
    // The editor gives a script that it lists its uid.
    assert!(project.text("new/deep/thing.gd.uid").is_some(), "{written}");
    drop(engine);
    let alone = json!({"script_path": "res://alone.gd", "source_text": "extends Node\n"});
    let alone = caller.answered("script_create", alone);
    assert!(alone.get("editor_copy_reloaded").is_none(), "no editor is there: {alone}");
}

#[test]
fn a_scene_in_a_tab_is_changed_only_where_nothing_can_be_lost() {
    let Some((project, engine, mut caller)) = opened() else { return };
    let before = project.text("held.tscn").unwrap();
    caller.edits("scene_instantiate_node", json!({"node_type": "Node2D", "name": "Lost"}));
    let rename = json!({"in_scene": "res://held.tscn", "target_node": "Old", "new_name": "Young"});
    let mut preview = rename.clone();
    preview["dry_run"] = true.into();
    let refusal = caller.refusal("scene_rename_node", preview);
    assert_eq!(refusal["data"]["code"], super::code_of_unsaved(&engine), "{refusal}");
    assert_eq!(refusal["data"]["open_scenes"], json!(["res://held.tscn"]), "{refusal}");
    assert_eq!(refusal["data"]["retry_with"], json!({"discard_unsaved": true}), "{refusal}");
    assert_eq!(project.text("held.tscn").unwrap(), before);
    let mut accepted = rename;
    accepted["discard_unsaved"] = true.into();
    let renamed = caller.confirmed("scene_rename_node", accepted);
    assert_eq!(renamed["editor_scenes_reloaded"], json!(["res://held.tscn"]), "{renamed}");
    assert_eq!(held(&engine, "/root/Held/Young", "visible"), Ok(json!(true)));
    assert_eq!(held(&engine, "/root/Held/Old", "visible"), Err(404));
    // What the editor saves from now on has the new name, too.
    let saved = caller.saved(&project, "held.tscn");
    assert!(saved.contains("name=\"Young\"") && !saved.contains("Lost"), "{saved}");
}

#[test]
fn a_scene_does_not_move_away_from_its_tab() {
    let Some((project, engine, mut caller)) = opened() else { return };
    let moves = json!({"moves": [{"from": "res://held.tscn", "to": "res://kept/held.tscn"}], "discard_unsaved": true});
    let mut preview = moves.clone();
    preview["dry_run"] = true.into();
    let refusal = caller.refusal("project_move_files", preview);
    assert_eq!(refusal["data"]["code"], "conflict", "{refusal}");
    assert_eq!(refusal["data"]["next_call"]["tool"], "scene_close", "{refusal}");
    caller.done("scene_close", json!({"discard_unsaved": true}));
    let moved = caller.confirmed("project_move_files", moves);
    assert_eq!(moved["editor_copy_errors"], Value::Null, "{moved}");
    assert!(project.text("held.tscn").is_none());
    let mut client = engine.connect();
    client.done("scene.open", json!({"scene_path": "res://kept/held.tscn"}));
    assert_eq!(held(&engine, "/root/Held/Old", "visible"), Ok(json!(true)));
}
