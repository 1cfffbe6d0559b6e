//! What keeps an editor from taking commands up, told beside its main thread: dialogs that a plugin of the test's own
//! opens, and a main thread that stands still.

use didi_tests::{
    Project,
    live::{Client, Engine},
    server::PATIENCE,
    until_ok,
};
use serde_json::{Value, json};

/// Asks a person while a file is there, and stops the main thread while another one is.
pub(crate) const ASKER: &str = r#"@tool
extends EditorPlugin
var dialog
func _process(_delta):
	var wanted = FileAccess.file_exists("res://.godot/ask")
	if wanted and dialog == null:
		dialog = ConfirmationDialog.new()
		dialog.title = "Unsaved level"
		dialog.dialog_text = "Throw the level away?"
		dialog.ok_button_text = "Throw away"
		dialog.add_button("Save first", true)
		EditorInterface.popup_dialog_centered(dialog)
	elif not wanted and dialog != null:
		dialog.queue_free()
		dialog = null
	while FileAccess.file_exists("res://.godot/stand_still"):
		OS.delay_msec(20)
"#;

#[test]
fn a_dialog_is_told_while_it_is_open_and_after_it_was_closed() {
    let project = Project::sample();
    project.add_plugin("asker", ASKER);
    let Some(engine) = Engine::editor(&project) else { return };
    let mut client = engine.connect();
    let quiet = await_report(&engine, &mut client, |report| report["settled"] == true);
    assert_eq!(quiet["dialogs"], json!([]), "{quiet}");

    project.write(".godot/ask", "");
    let asked = await_report(&engine, &mut client, |report| report["dialogs"][0].is_object());
    let dialog = &asked["dialogs"][0];
    assert_eq!(dialog["title"], "Unsaved level");
    assert_eq!(dialog["message"], "Throw the level away?");
    assert_eq!(dialog["class"], "ConfirmationDialog");
    let buttons: Vec<&str> =
        dialog["buttons"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    for label in ["Throw away", "Save first", "Cancel"] {
        assert!(buttons.contains(&label), "{buttons:?}");
    }
    assert_eq!(dialog["dismissed_at_ms"], Value::Null);

    std::fs::remove_file(project.file(".godot/ask")).unwrap();
    let closed = await_report(&engine, &mut client, |report| report["dialogs"] == json!([]));
    let past = closed["closed_dialogs"].as_array().unwrap();
    let past = past.iter().find(|one| one["id"] == dialog["id"]).unwrap();
    assert!(
        past["dismissed_at_ms"].as_u64().unwrap() >= dialog["opened_at_ms"].as_u64().unwrap(),
        "{past}"
    );
}

#[test]
fn an_editor_that_stands_still_goes_on_telling() {
    let project = Project::sample();
    project.add_plugin("asker", ASKER);
    let Some(engine) = Engine::editor(&project) else { return };
    let mut client = engine.connect();
    await_report(&engine, &mut client, |report| report["settled"] == true);
    project.write(".godot/stand_still", "");
    let stuck = await_report(&engine, &mut client, |report| {
        report["frame_age_ms"].as_u64().is_some_and(|age| age > 1500)
    });
    assert_eq!(stuck["settled"], true);
    std::fs::remove_file(project.file(".godot/stand_still")).unwrap();
    await_report(&engine, &mut client, |report| {
        report["frame_age_ms"].as_u64().is_some_and(|age| age < 1500)
    });
}

fn await_report(engine: &Engine, client: &mut Client, wanted: impl Fn(&Value) -> bool) -> Value {
    until_ok(PATIENCE, || {
        let report = client.done("editor.getActivity", json!({}));
        if wanted(&report) {
            return Ok(report);
        }
        Err(format!("the editor says {report}\n{}", engine.log()))
    })
}
