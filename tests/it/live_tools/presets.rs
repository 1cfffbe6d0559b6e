//! Export presets that are added while an editor has the project open.

use didi_tests::{Caller, Project, live::Engine};
use serde_json::json;

#[test]
fn a_preset_that_is_added_behind_an_open_editor_is_written_and_wants_a_restart() {
    let project = Project::sample();
    let Some(engine) = Engine::editor(&project) else { return };
    let mut caller = Caller::of(&project);
    let before = project.text("export_presets.cfg").unwrap();
    let preset =
        json!({"name": "Second", "platform": "Linux", "export_path": "build/second.x86_64"});
    let data = caller.done("project_add_export_preset", preset);
    assert_eq!(data["editor_reloaded"], false, "{data}\n{}", engine.log());
    assert!(
        data["editor_reload_error"].as_str().is_some_and(|why| why.contains("presets")),
        "{data}"
    );
    assert_eq!(data["follow_up"][0]["work"], "restart", "{data}");
    // The editor still answers, and has not written its own list over the file.
    caller.done("editor_save_scene", json!({}));
    let after = project.text("export_presets.cfg").unwrap();
    assert!(after.starts_with(&before) && after.contains("name=\"Second\""), "{after}");
    drop(engine);
    let Some(_anew) = Engine::editor(&project) else { return };
    let listed = Caller::of(&project).answered("project_list_export_presets", json!({}));
    let names = listed["presets"].as_array().unwrap().iter().map(|one| one["name"].clone());
    assert!(names.collect::<Vec<_>>().contains(&json!("Second")), "{listed}");
    assert_eq!(
        project.text("export_presets.cfg").unwrap(),
        after,
        "a new editor takes it as it is"
    );
}
