//! A small game from nothing, through the protocol alone, as a client makes one: scenes, nodes, scripts, a signal, an
//! input action, an autoload; saved, run, played, seen. Once as a client that declares no economy, once as one that
//! does, and the bytes of both.
//!
//! Spec: P-26, response economy; P-52, scenes; P-54, running games.

use std::{collections::BTreeMap, thread};

use didi_tests::{
    Caller, Launch, Project, godot,
    live::{Display, Engine, ask_engine, sessions},
    until,
};
use serde_json::{Value, json};

use crate::live_tools::pictures::Picture;

const PLAYER: &str = "extends CharacterBody2D\n\nsignal moved(x: float)\n\nconst SPEED := 240.0\n\n\n\
    func _physics_process(_delta: float) -> void:\n\tvelocity = Vector2(Input.get_axis(\"go_left\", \"go_right\") * SPEED, 0)\n\
    \tmove_and_slide()\n\tif velocity.x != 0.0:\n\t\tmoved.emit(position.x)\n";
/// The autoload by its path: an open editor knows it by name only when it is started again.
const MAIN: &str = "extends Node2D\n\n\nfunc _on_player_moved(x: float) -> void:\n\tget_node(\"/root/Score\").count(x)\n\n\n\
    func _on_clock_timeout() -> void:\n\tprint(\"tick\")\n";
const SCORE: &str = "extends Node\n\nvar furthest := 0.0\n\n\nfunc _ready() -> void:\n\tprint(\"score is there\")\n\n\n\
    func count(x: float) -> void:\n\tif furthest == 0.0:\n\t\tprint(\"first step\")\n\tfurthest = maxf(furthest, x)\n";

/// A client at work, and what each of its tools has cost it.
struct Author {
    caller: Caller,
    bytes: BTreeMap<&'static str, usize>,
}

impl Author {
    /// Calls what has to succeed: the whole result.
    fn result(&mut self, tool: &'static str, arguments: Value) -> Value {
        let before = self.caller.server.received_bytes();
        let result = self.caller.result(tool, &arguments);
        assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
        self.paid(tool, before);
        result
    }

    fn paid(&mut self, tool: &'static str, before: usize) {
        *self.bytes.entry(tool).or_default() += self.caller.server.received_bytes() - before;
    }

    fn call(&mut self, tool: &'static str, arguments: Value) -> Value {
        self.result(tool, arguments)["structuredContent"].clone()
    }

    fn writes(&mut self, path: &str, text: &str) {
        let written = self.call("script_create", json!({"script_path": path, "source_text": text}));
        assert_eq!(written["has_errors"], false, "{written}");
    }

    fn makes(&mut self, path: &str, class: &str, name: &str) {
        let scene = json!({"scene_path": path, "root_type": class, "root_name": name});
        self.call("scene_create", scene);
    }

    fn adds(&mut self, class: &str, name: &str, properties: Value) {
        let node = json!({"node_type": class, "name": name, "properties": properties});
        self.call("scene_instantiate_node", node);
    }

    /// The scenes, their scripts, and what the project says of them.
    fn makes_the_game(&mut self) {
        self.writes("res://score.gd", SCORE);
        self.call("project_set_autoload", json!({"name": "Score", "path": "res://score.gd"}));
        for (action, key) in [("go_left", 65), ("go_right", 68)] {
            let event = json!({"type": "key", "physical_keycode": key});
            let action = json!({"action": action, "events": [event]});
            self.call("project_set_input_action", action);
        }
        for (setting, value) in [
            ("application/config/name", json!("Walk")),
            ("application/run/main_scene", json!("res://main.tscn")),
            ("display/window/size/viewport_width", json!(640)),
            ("display/window/size/viewport_height", json!(360)),
            ("rendering/renderer/rendering_method", json!("gl_compatibility")),
            ("rendering/environment/defaults/default_clear_color", json!("#000000")),
        ] {
            self.call("project_set_setting", json!({"setting": setting, "value": value}));
        }
        self.makes_the_player();
        self.makes_the_main_scene();
    }

    fn makes_the_player(&mut self) {
        self.writes("res://player.gd", PLAYER);
        self.makes("res://player.tscn", "CharacterBody2D", "Player");
        let body = json!({"color": "#ff0000", "size": {"x": 32, "y": 32}, "position": {"x": -16, "y": -16}});
        self.adds("ColorRect", "Body", body);
        self.adds("CollisionShape2D", "Shape", json!({}));
        let shape = json!({
            "save_path": "res://body.tres", "resource_type": "RectangleShape2D",
            "properties": {"size": {"x": 32, "y": 32}},
        });
        self.call("resource_create", shape);
        let shape =
            json!({"target_node": "Shape", "property_name": "shape", "value": "res://body.tres"});
        self.call("scene_set_property", shape);
        let script = json!({"target_node": "/root/Player", "script_path": "res://player.gd"});
        self.call("script_attach_to_node", script);
        self.call("editor_save_scene", json!({}));
    }

    fn makes_the_main_scene(&mut self) {
        self.writes("res://main.gd", MAIN);
        self.makes("res://main.tscn", "Node2D", "Main");
        let script = json!({"target_node": "/root/Main", "script_path": "res://main.gd"});
        self.call("script_attach_to_node", script);
        let player = json!({"scene_path": "res://player.tscn", "name": "Player", "properties": {"position": {"x": 100, "y": 180}}});
        self.call("scene_instantiate_node", player);
        self.adds("Timer", "Clock", json!({"wait_time": 0.1, "autostart": true, "one_shot": true}));
        self.adds("Label", "Wrong", json!({"text": "not meant"}));
        self.call("editor_undo", json!({}));
        for (emitter, signal, method) in
            [("Player", "moved", "_on_player_moved"), ("Clock", "timeout", "_on_clock_timeout")]
        {
            let connection = json!({"emitter_node": emitter, "signal_name": signal, "target_node": "/root/Main", "target_method": method});
            self.call("signal_connect", connection);
        }
        self.call("scene_add_to_group", json!({"target_node": "Player", "group": "players"}));
        let tree = self.call("scene_get_hierarchy", json!({}));
        assert_eq!(tree["scene_tree"]["children"].as_array().unwrap().len(), 2, "{tree}");
        let wait = json!({"target_node": "Clock", "property_name": "wait_time"});
        assert_eq!(self.call("scene_get_property", wait)["value"], 0.1);
        self.call("editor_save_scene", json!({}));
    }

    fn player_x(&mut self) -> f64 {
        let place =
            json!({"expression": "node.get(\"position\").x", "context_node": "/root/Main/Player"});
        self.call("eval_gdscript", place)["value"].as_f64().unwrap()
    }

    fn presses(&mut self, pressed: bool) {
        let event = json!({"type": "action", "action_name": "go_right", "pressed": pressed});
        let now = json!({"events": [event], "paused_delivery": "now"});
        self.call("runtime_inject_input", now);
    }

    /// Runs the game, walks to the right for some frames, and reads what it said. Gives where the player was and is.
    fn plays(&mut self, headless: bool) -> (f64, f64) {
        let launch =
            json!({"detach": true, "headless": headless, "fixed_fps": true, "timeout_seconds": 60});
        let launched = self.call("runtime_launch", launch);
        assert_eq!(launched["success"], true, "{launched}");
        // Stepped at a fixed rate: forty frames are forty steps of the physics, whatever the machine does.
        self.call("runtime_set_paused", json!({"paused": true}));
        let before = self.player_x();
        self.presses(true);
        self.call("runtime_step", json!({"frames": 40}));
        self.presses(false);
        (before, self.player_x())
    }

    /// The game's tree, log and output hold what the scripts do: the signal reached the autoload.
    fn reads_the_game(&mut self) {
        let tree = self.call("runtime_get_tree", json!({"max_depth": 2})).to_string();
        for name in ["\"Score\"", "\"Main\"", "\"Player\"", "\"Clock\""] {
            assert!(tree.contains(name), "{name}: {tree}");
        }
        let output = self.call("runtime_read_output", json!({})).to_string();
        for line in ["score is there", "tick", "first step"] {
            assert!(output.contains(line), "{line}: {output}");
        }
        assert!(!output.contains("SCRIPT ERROR"), "{output}");
        let logs = self.call("runtime_read_logs", json!({"limit": 20})).to_string();
        assert!(logs.contains("session opened"), "{logs}");
    }

    /// Where the player stands in the game's window, in hundredths of it. Only the frame that shows it is paid for:
    /// how many come before depends on the machine.
    fn sees_the_player(&mut self) -> u32 {
        until("the player in the picture", || {
            let before = self.caller.server.received_bytes();
            let result = self.caller.result("viewport_capture_frame", &json!({}));
            assert_eq!(result["isError"], false, "{result}");
            let picture = Picture::of(&result);
            let is_red = |x: &u8| picture.at(usize::from(*x), 50) == [255, 0, 0, 255];
            let red = (0..100).rev().find(is_red)?;
            self.paid("viewport_capture_frame", before);
            Some(red.into())
        })
    }
}

/// The whole arc of one client. Gives its bytes by tool.
fn arc(capabilities: Value) -> BTreeMap<&'static str, usize> {
    let project = Project::empty();
    let display = Display::start();
    let _editor = Engine::editor(&project).expect("an engine was found before");
    let launch = Launch::over(project.root())
        .env("DIDI_SESSION_DIR", sessions(&project).path)
        .env("GODOT_BIN", godot().unwrap())
        .env("DISPLAY", display.name());
    let mut author = Author { caller: Caller::over(launch, capabilities), bytes: BTreeMap::new() };
    author.call("runtime_list_sessions", json!({}));
    author.makes_the_game();
    is_there(&project);

    let (from, to) = author.plays(true);
    assert_walked(from, to);
    author.reads_the_game();
    author.call("runtime_stop", json!({}));

    let (from, to) = author.plays(false);
    assert_walked(from, to);
    let seen = author.sees_the_player();
    let wanted = (to + 16.0) / 6.4;
    assert!((wanted - f64::from(seen)).abs() < 3.0, "it is seen at {seen} and stands at {wanted}");
    author.call("runtime_stop", json!({}));
    author.bytes
}

/// Forty steps of four pixels; the first may fall into the step that takes the input up.
fn assert_walked(from: f64, to: f64) {
    let steps = (to - from) / 4.0;
    assert!((from - 100.0).abs() < 0.01 && (39.0..=41.0).contains(&steps), "from {from} to {to}");
}

/// What was made is what another engine loads.
fn is_there(project: &Project) {
    let body = "var main = load(\"res://main.tscn\").instantiate()\nvar player = main.get_node(\"Player\")\n\
        var told = [main.get_script().resource_path, player.scene_file_path, player.get_script().resource_path,\n\
        \tplayer.is_in_group(\"players\"), player.moved.get_connections().size(), main.get_child_count(),\n\
        \tProjectSettings.get_setting(\"autoload/Score\"), ProjectSettings.get_setting(\"input/go_right\").events.size()]\n\
        main.free()\nreturn told";
    let wanted = json!([
        "res://main.gd",
        "res://player.tscn",
        "res://player.gd",
        true,
        1,
        2,
        "*res://score.gd",
        1
    ]);
    assert_eq!(ask_engine(project, body), wanted);
}

#[test]
fn a_small_game_is_made_run_played_and_seen_at_less_than_half_the_bytes_when_declared() {
    if godot().is_none() {
        return;
    }
    let economy = json!({"extensions": {"didi/responseEconomy": {"omit": ["textCopy", "sessionDescriptor"]}}});
    let (whole, declared) = thread::scope(|scope| {
        let whole = scope.spawn(|| arc(json!({})));
        let declared = arc(economy);
        (whole.join().expect("its own message says why"), declared)
    });
    let sum = |bytes: &BTreeMap<&str, usize>| bytes.values().sum::<usize>();
    for (tool, bytes) in &whole {
        eprintln!("{bytes:8} {:8} {tool}", declared.get(tool).unwrap_or(&0));
    }
    let (whole, declared) = (sum(&whole), sum(&declared));
    eprintln!("{whole:8} {declared:8} bytes of the arc, {} %", declared * 100 / whole);
    assert!(declared * 2 < whole, "{declared} of {whole} bytes");
}
