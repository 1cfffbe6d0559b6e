//! Export presets that are added while an editor has the project open.

use std::fs;

use didi_tests::{Caller, Project, live::Engine, until};
use serde_json::{Value, json};

/// Opens the editor's export dialog when a file asks for that, and tells the presets in its list.
const WITNESS: &str = r#"@tool
extends EditorPlugin
var frames = -1
func all(node, found):
	found.append(node)
	for child in node.get_children(true):
		all(child, found)
	return found
func press():
	for node in all(get_tree().root, []):
		if node is PopupMenu:
			for at in node.item_count:
				if node.get_item_text(at).begins_with("Export..."):
					node.id_pressed.emit(node.get_item_id(at))
					return
func _process(_delta):
	if FileAccess.file_exists("res://.godot/ask"):
		DirAccess.remove_absolute("res://.godot/ask")
		press()
		frames = 5
	frames -= 1
	if frames != 0:
		return
	var names = []
	for node in all(get_tree().root, []):
		if node.get_class() == "ProjectExportDialog":
			var list = node.find_children("*", "ItemList", true, false)[0]
			for at in list.item_count:
				names.append(list.get_item_text(at))
			node.hide()
	var file = FileAccess.open("res://.godot/told.tmp", FileAccess.WRITE)
	file.store_string(JSON.stringify(names))
	file.close()
	DirAccess.rename_absolute("res://.godot/told.tmp", "res://.godot/told.json")
"#;

/// The presets that the editor shows.
fn shown(project: &Project) -> Vec<String> {
    project.write(".godot/ask", "");
    let told = until("list of presets", || project.text(".godot/told.json"));
    fs::remove_file(project.file(".godot/told.json")).unwrap();
    let names: Value = serde_json::from_str(&told).unwrap();
    names.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_open_editor_shows_a_preset_as_soon_as_it_is_added() {
    let project = Project::sample();
    project.add_plugin("witness", WITNESS);
    let Some(_engine) = Engine::editor(&project) else { return };
    let mut caller = Caller::of(&project);
    let before = shown(&project);
    assert!(
        !before.is_empty() && before.iter().all(|name| !name.starts_with("Second")),
        "{before:?}"
    );
    let preset =
        json!({"name": "Second", "platform": "Linux", "export_path": "build/second.x86_64"});
    let data = caller.done("project_add_export_preset", preset);
    assert_eq!(data["editor_reloaded"], true, "{data}");
    assert!(data.get("editor_reload_error").is_none() && data.get("follow_up").is_none(), "{data}");
    let after = shown(&project);
    assert_eq!(after[..before.len()], before[..]);
    assert_eq!(
        after[before.len()..],
        ["Second"],
        "what the editor had in memory is not what the file has"
    );
    let file = project.text("export_presets.cfg").unwrap();
    assert!(file.contains("name=\"Second\""), "the editor left the file as it was written");
}
