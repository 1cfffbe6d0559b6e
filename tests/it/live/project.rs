//! The project's own settings, looked at in its file and by a game that starts with it.

use didi_tests::{
    Project,
    live::{Engine, ask_engine},
};
use serde_json::{Value, json};

#[test]
fn settings_are_set_saved_and_taken_out_again() {
    let project = Project::sample();
    let Some(engine) = Engine::editor(&project) else { return };
    let mut client = engine.connect();
    let name = json!({"setting": "application/config/name"});
    assert_eq!(client.done("project.getSetting", name)["value"], "Lantern");
    let gravity = json!({"setting": "physics/2d/default_gravity", "value": 123.5});
    let set = client.done("project.setSetting", gravity);
    assert_eq!((&set["value_written"], &set["previous_value"]), (&json!("123.5"), &Value::Null));
    assert_eq!(set["defined_by_engine"], true, "{set}");
    let own = json!({"setting": "game/lamps", "value": ["a", 2], "create": true});
    client.done("project.setSetting", own);
    let body = "return [ProjectSettings.get_setting(\"physics/2d/default_gravity\"), ProjectSettings.get_setting(\"game/lamps\")]";
    assert_eq!(ask_engine(&project, body), json!([123.5, ["a", 2]]));
    for setting in ["physics/2d/default_gravity", "game/lamps"] {
        let removed =
            client.done("project.setSetting", json!({"setting": setting, "remove": true}));
        assert_eq!(removed["value_written"], Value::Null, "{setting}: {removed}");
    }
    let text = project.text("project.godot").unwrap();
    assert!(!text.contains("default_gravity") && !text.contains("lamps=["), "{text}");
    let refused = |client: &mut didi_tests::live::Client, params: Value| {
        client.refused("project.setSetting", params).1
    };
    let wrong = json!({"setting": "physics/2d/default_gravity", "value": "down"});
    assert_eq!(refused(&mut client, wrong), "setting_type_mismatch");
    let unknown = json!({"setting": "game/unknown", "value": 1});
    assert_eq!(refused(&mut client, unknown), "setting_not_found");
    let typed = json!({"setting": "input/jump", "value": {}});
    assert_eq!(refused(&mut client, typed), "invalid_arguments");
}

#[test]
fn autoloads_and_input_actions_reach_a_game_that_starts() {
    let project = Project::sample();
    let Some(engine) = Engine::editor(&project) else { return };
    let mut client = engine.connect();
    project.write(
        "data/clock.gd",
        "extends Node\n\nfunc _ready():\n\tprint(\"the clock is there\")\n",
    );
    let clock = json!({"name": "Clock", "path": "res://data/clock.gd"});
    let set = client.done("project.setAutoload", clock.clone());
    assert_eq!(
        set["autoload"],
        json!({"name": "Clock", "path": "res://data/clock.gd", "singleton": true})
    );
    assert_eq!(set["requires_editor_restart"], true);
    assert_eq!(client.refused("project.setAutoload", clock).1, "already_exists");
    let jump = json!({"action": "jump", "deadzone": 0.25, "events": [
        {"type": "key", "physical_keycode": 32, "shift": true},
        {"type": "joypad_motion", "axis": 1, "axis_value": -1.0},
    ]});
    assert_eq!(client.done("project.setInputAction", jump)["persisted"], true);
    let listed = client.done("project.listInputActions", json!({"action": "jump"}));
    let event = &listed["actions"][0]["events"][0];
    assert_eq!((&event["physical_keycode"], &event["shift_pressed"]), (&json!(32), &json!(true)));
    let all = client.done("project.listInputActions", json!({}));
    assert_eq!(all["actions"].as_array().unwrap().len(), 3, "{all}");
    assert!(all["omitted_engine_default_count"].as_u64().unwrap() > 50);
    assert_eq!(
        client.refused("project.listInputActions", json!({"action": "ui_accept"})).1,
        "engine_default_action"
    );
    {
        let Some(game) = Engine::game(&project) else { return };
        let mut player = game.connect();
        let press = json!({"events": [{"type": "action", "action_name": "jump", "pressed": true}]});
        assert_eq!(player.done("runtime.injectInput", press)["dispatched_event_count"], 1);
        assert!(game.log().contains("the clock is there"), "{}", game.log());
    }
    client.done("project.removeAutoload", json!({"name": "Clock"}));
    client.done("project.removeInputAction", json!({"action": "jump"}));
    let text = project.text("project.godot").unwrap();
    assert!(!text.contains("Clock") && !text.contains("jump"), "{text}");
    assert!(text.contains("walk_left") && text.contains("Score="), "{text}");
}

#[test]
fn uids_and_classes_are_those_of_the_engine() {
    let project = Project::sample();
    let Some(engine) = Engine::editor(&project) else { return };
    let mut client = engine.connect();
    let queries = json!({"queries": ["res://icon.svg", "res://nothing.png", "uid://b"]});
    let entries = client.done("project.resolveUids", queries)["entries"].clone();
    let uid = entries[0]["uid"].as_str().unwrap();
    assert!(project.text("icon.svg.import").unwrap().contains(uid), "{entries}");
    assert_eq!((&entries[1]["found"], &entries[2]["found"]), (&json!(false), &json!(false)));
    let back = client.done("project.resolveUids", json!({"queries": [uid]}));
    assert_eq!(back["entries"][0]["path"], "res://icon.svg");
    let names = json!({"class_names": ["Node2D", "Texture2D", "Nothing"]});
    let classes = client.done("engine.classExists", names)["classes"].clone();
    assert_eq!(
        (&classes[0]["is_node"], &classes[0]["can_instantiate"]),
        (&json!(true), &json!(true))
    );
    assert_eq!((&classes[1]["is_resource"], &classes[2]["exists"]), (&json!(true), &json!(false)));
}
