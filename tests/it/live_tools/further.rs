//! The project's settings, the mixer, visual shaders and what the editor starts games with, looked at by a separate
//! engine, by a game, or in the editor's own files.

use didi_tests::{
    Caller, Project,
    live::{Engine, START_LIMIT, ask_engine},
    until, until_ok,
};
use serde_json::{Value, json};

#[test]
fn an_autoload_and_an_action_are_removed_and_put_back() {
    let project = Project::sample();
    let Some(_engine) = Engine::editor(&project) else { return };
    let mut caller = Caller::of(&project);
    let seen = |project: &Project| {
        ask_engine(
            project,
            "return [ProjectSettings.has_setting(\"autoload/Score\"), ProjectSettings.has_setting(\"input/walk_right\"),\n\
             \tProjectSettings.has_setting(\"input/ui_accept\")]",
        )
    };
    let (score, walk) = (json!({"name": "Score"}), json!({"action": "walk_right"}));
    for (tool, arguments) in
        [("project_remove_autoload", &score), ("project_remove_input_action", &walk)]
    {
        let mut preview = arguments.clone();
        preview["dry_run"] = true.into();
        let preview = caller.done(tool, preview)["mutation_preview"].clone();
        let before = preview["changes"][0]["before"].to_string();
        assert!(before.contains("score.gd") || before.contains("walk_right"), "{preview}");
    }
    assert_eq!(seen(&project), json!([true, true, true]), "a preview writes nothing");
    let events = caller.done("project_list_input_actions", walk.clone())["actions"][0].clone();
    let removed = caller.done("project_remove_autoload", score.clone());
    assert_eq!(
        (&removed["requires_editor_restart"], &removed["follow_up"][0]["work"]),
        (&json!(true), &json!("restart"))
    );
    let removed = caller.done("project_remove_input_action", walk.clone());
    assert_eq!((&removed["event_count"], &removed["persisted"]), (&json!(1), &json!(true)));
    assert_eq!(seen(&project), json!([false, false, true]));
    assert_eq!(caller.refused("project_remove_autoload", score), "not_found");
    assert_eq!(caller.refused("project_remove_input_action", walk), "input_action_not_found");
    caller.done("project_set_autoload", json!({"name": "Score", "path": "res://data/score.gd"}));
    let key = events["events"][0]["physical_keycode"].clone();
    let back = json!({"action": "walk_right", "deadzone": 0.2, "events": [{"type": "key", "physical_keycode": key}]});
    caller.done("project_set_input_action", back);
    assert_eq!(seen(&project), json!([true, true, true]));
    let default = caller.refusal("project_remove_input_action", json!({"action": "ui_accept"}));
    assert_eq!(default["data"]["code"], "engine_default_action", "{default}");
    assert_eq!(default["data"]["next_call"]["tool"], "project_set_input_action");
    // The file is broken behind the editor's back: nothing of it may be lost by saving over it.
    let text = project.text("project.godot").unwrap();
    project.write("project.godot", format!("{text}\n[broken\n"));
    let broken = caller.refusal("project_remove_input_action", json!({"action": "walk_left"}));
    assert_eq!(broken["data"]["code"], "conflict", "{broken}");
    let lines = text.lines().count();
    let said = broken["data"]["engine_diagnostics"].to_string();
    let names_line = (lines..lines + 4).any(|line| said.contains(&format!("project.godot:{line}")));
    assert!(names_line, "the engine's own words name the line: {broken}");
    let held = project.text("project.godot").unwrap();
    for (tool, arguments) in [
        ("project_remove_autoload", json!({"name": "Score"})),
        ("project_set_autoload", json!({"name": "Again", "path": "res://data/score.gd"})),
        ("project_set_input_action", json!({"action": "fly"})),
        ("project_set_setting", json!({"setting": "application/config/name", "value": "Other"})),
    ] {
        // A setting's preview is made without the engine, and has other words for it.
        for dry_run in [true, false] {
            let mut ask = arguments.clone();
            ask["dry_run"] = dry_run.into();
            assert_eq!(caller.refused(tool, ask), "conflict", "{tool}, dry_run {dry_run}");
            assert_eq!(project.text("project.godot").unwrap(), held, "{tool}");
        }
    }
}

#[test]
fn a_bus_is_added_and_a_separate_engine_loads_it() {
    let project = Project::sample();
    let Some(_engine) = Engine::editor(&project) else { return };
    let mut caller = Caller::of(&project);
    let music = json!({"name": "Music", "volume_db": -6, "mute": true});
    let mut preview = music.clone();
    preview["dry_run"] = true.into();
    let preview = caller.done("audio_add_bus", preview);
    assert_eq!(preview["mutation_preview"]["changes"][0]["before"]["bus_count"], 1, "{preview}");
    assert_eq!(caller.done("audio_list_buses", json!({}))["bus_count"], 1);
    let added = caller.done("audio_add_bus", music.clone());
    assert_eq!(
        (&added["layout_written"], &added["bus"]["index"]),
        (&json!(true), &json!(1)),
        "{added}"
    );
    assert_eq!(added["panel_refreshed"], true, "{added}");
    let drums = json!({"name": "Drums", "send": "Music"});
    assert_eq!(caller.done("audio_add_bus", drums)["layout_written"], true);
    let body = "var told = range(AudioServer.bus_count).map(func(at): return [AudioServer.get_bus_name(at), AudioServer.get_bus_send(at), AudioServer.is_bus_mute(at)])\nreturn told";
    let wanted =
        json!([["Master", "", false], ["Music", "Master", true], ["Drums", "Music", false]]);
    assert_eq!(ask_engine(&project, body), wanted);
    let named = |name: &str| json!({"name": name});
    for (arguments, code) in [
        (music, "bus_name_in_use"),
        (named("music"), "bus_name_differs_only_in_case"),
        (json!({"name": "Horns", "send": "Brass"}), "send_bus_not_found"),
        (json!({"name": "Horns", "send": "Horns"}), "invalid_arguments"),
        (named(" Horns"), "invalid_arguments"),
        (named("Ho\trns"), "invalid_arguments"),
    ] {
        assert_eq!(caller.refused("audio_add_bus", arguments.clone()), code, "{arguments}");
    }
    assert_eq!(
        caller.refusal("audio_add_bus", named(" Horns"))["data"]["retry_with"],
        named("Horns")
    );
    let near = caller.refusal("audio_add_bus", json!({"name": "Horns", "send": "drums"}));
    assert_eq!(near["data"]["did_you_mean"], "Drums", "{near}");
    assert_eq!(ask_engine(&project, body), wanted, "a refusal adds nothing");
}

#[test]
fn the_graph_of_a_visual_shader_is_the_one_that_another_engine_made() {
    let project = Project::sample();
    let Some(_engine) = Engine::editor(&project) else { return };
    let body = "var shader = VisualShader.new()\nshader.set_mode(Shader.MODE_CANVAS_ITEM)\n\
        shader.add_node(VisualShader.TYPE_FRAGMENT, VisualShaderNodeColorConstant.new(), Vector2(40, 60), 7)\n\
        shader.connect_nodes(VisualShader.TYPE_FRAGMENT, 7, 0, 0, 0)\n\
        var pic = Sprite2D.new()\npic.name = \"Pic\"\npic.material = ShaderMaterial.new()\npic.material.shader = shader\n\
        var scene = PackedScene.new()\nscene.pack(pic)\nResourceSaver.save(scene, \"res://pic.tscn\")\npic.free()\nreturn true";
    assert_eq!(ask_engine(&project, body), true);
    let mut caller = Caller::of(&project);
    caller.done("scene_open", json!({"scene_path": "res://pic.tscn"}));
    let pic = json!({"target_node": "/root/Pic", "property_name": "material"});
    let graph = caller.done("shader_get_visual_graph", pic);
    let types = graph["shader_types"].as_array().unwrap();
    assert_eq!((types.len(), &graph["truncated"]), (10, &json!(false)), "{graph}");
    let fragment = types.iter().find(|one| one["type"] == "fragment").unwrap();
    let color = fragment["nodes"].as_array().unwrap().iter().find(|one| one["id"] == 7).unwrap();
    assert_eq!(color["class"], "VisualShaderNodeColorConstant", "{fragment}");
    assert_eq!(color["position"], json!({"x": 40.0, "y": 60.0}));
    let connection = json!({"from_node": 7, "from_port": 0, "to_node": 0, "to_port": 0});
    assert_eq!(fragment["connections"], json!([connection]), "{fragment}");
    let none = json!({"target_node": "/root/Pic", "property_name": "texture"});
    assert_eq!(caller.refused("shader_get_visual_graph", none), "not_a_shader_material");
}

const HINTED: &str = "@tool\nextends Node\n\n\nfunc play() -> void:\n\
    \tEditorInterface.play_main_scene()\n\n\n\
    func plays() -> bool:\n\treturn EditorInterface.is_playing_scene()\n\n\n\
    func _ready() -> void:\n\tif Engine.is_editor_hint():\n\t\treturn\n\
    \tvar told := [get_tree().debug_collisions_hint, get_tree().debug_navigation_hint]\n\
    \tFileAccess.open(\"res://hints.json\", FileAccess.WRITE).store_string(JSON.stringify(told))\n\tget_tree().quit()\n";

/// A headless editor does not start headless games by itself.
const HEADLESS: &str = "\n[editor]\n\nrun/main_run_args=\"--headless --ignore-error-breaks\"\n";

#[test]
fn a_game_that_the_editor_starts_has_the_debug_hints() {
    let project = Project::sample();
    project.write_scripted("Hinted", "Node", HINTED);
    project.set_main_scene("res://hinted.tscn");
    project.write("project.godot", project.text("project.godot").unwrap() + HEADLESS);
    let Some(engine) = Engine::editor(&project) else { return };
    let mut caller = Caller::of(&project);
    caller.done("scene_open", json!({"scene_path": "res://hinted.tscn"}));
    let played = |caller: &mut Caller| -> Value {
        let _ = std::fs::remove_file(project.file("hints.json"));
        let hinted = |method: &str| json!({"target_node": "/root/Hinted", "method_name": method});
        // An editor that has not seen the game before end would stop the next one in its place.
        until("an editor that plays nothing", || {
            let told = caller.confirmed("scene_call_method", hinted("plays"));
            (told["returned"] == false).then_some(())
        });
        caller.confirmed("scene_call_method", hinted("play"));
        // A whole second engine has to start.
        until_ok(START_LIMIT, || {
            let told = project.text("hints.json").and_then(|text| serde_json::from_str(&text).ok());
            told.ok_or_else(|| format!("the game wrote nothing down:\n{}", engine.log()))
        })
    };
    let show = json!({"collision_shapes": true, "navigation_mesh": true});
    let mut preview = show.clone();
    preview["dry_run"] = true.into();
    let preview = caller.done("viewport_toggle_debug_draw", preview);
    assert_eq!(
        preview["mutation_preview"]["changes"][0]["before"]["collision_shapes"], false,
        "{preview}"
    );
    let shown = caller.done("viewport_toggle_debug_draw", show);
    assert_eq!(shown["effective_scope"], "future_games_run_from_editor", "{shown}");
    assert_eq!(played(&mut caller), json!([true, true]));
    caller.done("viewport_toggle_debug_draw", shown["previous"].clone());
    assert_eq!(played(&mut caller), json!([false, false]));
    for arguments in [
        json!({}),
        json!({"wireframe": false}),
        json!({"collision_shapes": true, "wireframe": true}),
    ] {
        assert_eq!(caller.refused("viewport_toggle_debug_draw", arguments), "invalid_arguments");
    }
}

/// A second of silence, as a WAV file of one channel.
fn silence() -> Vec<u8> {
    const RATE: u32 = 8000;
    let mut file = b"RIFF".to_vec();
    file.extend((36 + RATE).to_le_bytes());
    file.extend(b"WAVEfmt ");
    file.extend(16_u32.to_le_bytes());
    file.extend([1_u16, 1].iter().flat_map(|one| one.to_le_bytes()));
    file.extend(RATE.to_le_bytes());
    file.extend(RATE.to_le_bytes());
    file.extend([1_u16, 8].iter().flat_map(|one| one.to_le_bytes()));
    file.extend(b"data");
    file.extend(RATE.to_le_bytes());
    file.resize(file.len() + RATE as usize, 128);
    file
}

#[test]
fn import_options_are_those_that_a_separate_engine_loads() {
    let project = Project::sample();
    std::fs::write(project.file("beep.wav"), silence()).unwrap();
    let Some(_engine) = Engine::editor(&project) else { return };
    let mut caller = Caller::of(&project);
    let seen = |project: &Project| {
        ask_engine(
            project,
            "var beep = load(\"res://beep.wav\")\nreturn [load(\"res://icon.svg\").get_width(), beep.loop_mode, beep.loop_end]",
        )
    };
    caller.done("asset_reimport", json!({"paths": ["res://beep.wav"]}));
    let before = seen(&project);
    let ask = |asset: &str, options: Value| json!({"asset_path": asset, "options": options});
    let sidecar = project.text("icon.svg.import").unwrap();
    let mut preview = ask("res://icon.svg", json!({"svg/scale": 2}));
    preview["dry_run"] = true.into();
    let preview = caller.done("asset_configure_import", preview)["mutation_preview"].clone();
    assert_eq!(preview["changes"][0]["before"]["options"]["svg/scale"], 1.0, "{preview}");
    assert_eq!(project.text("icon.svg.import").unwrap(), sidecar, "a preview writes nothing");
    let picture =
        caller.done("asset_configure_import", ask("res://icon.svg", json!({"svg/scale": 2})));
    assert_eq!(
        (&picture["options"]["svg/scale"], &picture["verified"]),
        (&json!(2.0), &json!(true)),
        "{picture}"
    );
    let looped = ask("res://beep.wav", json!({"edit/loop_mode": "forward", "edit/loop_end": 4000}));
    let sound = caller.done("asset_configure_import", looped);
    assert_eq!(sound["stream"]["loop_mode"], 1, "{sound}");
    let width = before[0].as_f64().unwrap();
    let after = seen(&project);
    assert_eq!(
        (&after[0].as_f64(), &after[1].as_f64(), &after[2].as_f64()),
        (&Some(width * 2.0), &Some(1.0), &Some(4000.0))
    );
    for done in [picture, sound] {
        caller.done("asset_configure_import", done["way_back"]["arguments"].clone());
    }
    assert_eq!(seen(&project), before);
    for (asset, options, code) in [
        ("res://icon.svg", json!({"svg/scal": 2}), "invalid_arguments"),
        ("res://icon.svg", json!({"svg/scale": "big"}), "invalid_arguments"),
        ("res://beep.wav", json!({"edit/loop_mode": 5}), "invalid_arguments"),
        ("res://beep.wav", json!({"edit/loop_mode": "around"}), "invalid_arguments"),
        ("res://beep.wav", json!({"edit/loop_end": -2}), "invalid_arguments"),
        ("res://levels/meadow.tscn", json!({"x": 1}), "no_import_metadata"),
    ] {
        let asked = ask(asset, options);
        assert_eq!(caller.refused("asset_configure_import", asked.clone()), code, "{asked}");
    }
    let text = project.text("beep.wav.import").unwrap();
    project.write("beep.wav.import", text.replace("importer=\"wav\"", "importer="));
    let asked = ask("res://beep.wav", json!({"edit/loop_end": 1}));
    assert_eq!(
        caller.refused("asset_configure_import", asked.clone()),
        "unparseable_import_metadata"
    );
    project.write("beep.wav.import", "[remap]\n\nimporter=\"wav\"\n");
    assert_eq!(caller.refused("asset_configure_import", asked), "hand_edited_import_metadata");
}
