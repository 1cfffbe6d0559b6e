//! The status line of the editor: its words and its button, read and pressed by a plugin of the test's own.

use didi_tests::{
    Launch, Project, Server,
    live::{Engine, sessions, until_free},
    server::PATIENCE,
    until_ok,
};
use serde_json::{Value, json};

/// Tells what the line says whenever it changes, and presses the button when a file asks for that.
const WITNESS: &str = r#"@tool
extends EditorPlugin
var told = ""
func _process(_delta):
	var line = EditorInterface.get_base_control().find_child("DidiStatus", true, false)
	if line == null:
		return
	var text = line.get_node("DidiText")
	var button = line.get_node("DidiDetach")
	var now = JSON.stringify([text.text, text.tooltip_text, button.disabled])
	if now != told:
		told = now
		var file = FileAccess.open("res://.godot/witness.tmp", FileAccess.WRITE)
		file.store_string(now)
		file.close()
		DirAccess.rename_absolute("res://.godot/witness.tmp", "res://.godot/witness.json")
	if FileAccess.file_exists("res://.godot/press"):
		DirAccess.remove_absolute("res://.godot/press")
		button.pressed.emit()
"#;

fn watched() -> Option<(Project, Engine)> {
    let project = Project::sample();
    project.add_plugin("witness", WITNESS);
    let engine = Engine::editor(&project)?;
    Some((project, engine))
}

/// Waits until the line is as wanted: its text, what stands behind it, whether its button is off.
fn await_line(project: &Project, engine: &Engine, wanted: impl Fn(&str, &str, bool) -> bool) {
    until_ok(PATIENCE, || {
        let told = project.text(".godot/witness.json").unwrap_or_default();
        let line: Value = serde_json::from_str(&told).unwrap_or_default();
        let words = |at: usize| line[at].as_str().unwrap_or_default();
        let is_so = wanted(words(0), words(1), line[2] == true);
        if is_so { Ok(()) } else { Err(format!("the line says {told}\n{}", engine.log())) }
    });
}

fn call(server: &mut Server, tool: &str, arguments: Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    server.request("tools/call", params)["result"].clone()
}

#[test]
fn a_person_sees_the_client_and_sends_it_away() {
    let Some((project, engine)) = watched() else { return };
    await_line(&project, &engine, |text, _, off| text == "Didi: no client" && off);
    let folder = sessions(&project);
    let mut server = Launch::over(project.root()).env("DIDI_SESSION_DIR", &folder.path).start();
    server.initialize("2025-06-18", json!({}));
    let open = json!({"scene_path": "res://levels/meadow.tscn"});
    assert_eq!(call(&mut server, "scene_open", open.clone())["isError"], false);
    let pid = format!("process {}", server.pid());
    await_line(&project, &engine, |text, more, off| {
        text == "Didi: attached, scene.open" && more.contains(&pid) && more.contains(':') && !off
    });
    let missing = json!({"target_node": "/root/Nobody"});
    assert_eq!(call(&mut server, "scene_remove_node", missing)["isError"], true);
    await_line(&project, &engine, |text, more, _| {
        text == "Didi: attached, scene.removeNode refused" && more.contains("(not_found)")
    });
    project.write(".godot/press", "");
    await_line(&project, &engine, |text, _, off| text == "Didi: detached" && off);
    let session = engine.descriptor().identity.session_id;
    until_free(&project, session);
    let refused = call(&mut server, "scene_open", open.clone());
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("session_detached"), "the next answer says so: {refused}");
    let attach = json!({"session_id": session});
    assert_eq!(call(&mut server, "runtime_attach_session", attach)["isError"], false);
    assert_eq!(call(&mut server, "scene_open", open)["isError"], false);
    await_line(&project, &engine, |text, _, off| text == "Didi: attached, scene.open" && !off);
    server.close();
    await_line(&project, &engine, |text, _, off| text == "Didi: no client" && off);
}
