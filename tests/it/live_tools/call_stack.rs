//! A game that the editor's debugger stopped: its stack, and the ways on from there.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::atomic::{AtomicU16, Ordering},
    thread,
};

use didi_tests::{
    Caller, Project,
    caller::refusal_of,
    live::{Engine, START_LIMIT},
    until_ok,
};
use serde_json::{Value, json};

/// A game that stops three frames deep, writes something down when it goes on, and stops again.
const CRASH: &str = "extends Node\n\n\
    var lives := 3\n\
    var label := \"boat\"\n\n\n\
    func _ready() -> void:\n\
    \touter(7)\n\
    \tFileAccess.open(\"res://went_on.txt\", FileAccess.WRITE).store_string(\"on\")\n\
    \tdeep(0, \"x\".repeat(900000))\n\n\n\
    func outer(amount: int) -> void:\n\
    \tvar doubled := amount * 2\n\
    \tinner(doubled, {\"oars\": [1, 2]})\n\n\n\
    func inner(value: int, table: Dictionary) -> void:\n\
    \tvar nothing = null\n\
    \tnothing.get_name()\n\n\n\
    func deep(depth: int, text: String) -> void:\n\
    \tif depth < 200:\n\
    \t\tdeep(depth + 1, text)\n\
    \t\treturn\n\
    \tvar here := Vector2(1, 2)\n\
    \tassert(here == Vector2.ZERO, \"too deep\")\n";

/// Lines of it, from 1.
const ERROR: (u64, &str) = (20, "nothing.get_name()");
const INNER: (u64, &str) = (15, "inner(doubled, {\"oars\": [1, 2]})");
const OUTER: (u64, &str) = (8, "outer(7)");
const ASSERT: (u64, &str) = (28, "assert(here == Vector2.ZERO, \"too deep\")");

/// A project whose game stops at errors.
fn crashing() -> Project {
    let project = Project::sample();
    project.write_scripted("Crash", "Node", CRASH);
    project.set_main_scene("res://crash.tscn");
    project
}

/// A port that nobody listens on and that the system gives to nobody: editors of other tests have the usual one, and this
/// one is bound only when the editor is up.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(21_000);
    loop {
        let port = NEXT.fetch_add(1, Ordering::Relaxed);
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// An editor whose adapter listens on a port.
fn editor(project: &Project, port: u16) -> Option<Engine> {
    Engine::editor_with(project, &["--dap-port", &port.to_string()])
}

/// How often stacks are read at once.
const ROUNDS: usize = 8;

fn act(action: &str) -> Value {
    json!({ "action": action })
}

/// The stack, once the game has stopped and so many of its frames came with their variables, which may be late.
fn stopped(caller: &mut Caller, engine: &Engine, arguments: &Value, whole: usize) -> Value {
    until_ok(START_LIMIT, || {
        let result = caller.result("runtime_get_call_stack", arguments);
        if result["isError"] == false {
            let stack = result["structuredContent"].clone();
            let has_come = |frame: &Value| frame["locals"]["variables"].is_array();
            let frames = stack["frames"].as_array().map_or(&[][..], Vec::as_slice);
            let come = frames.iter().take(whole).filter(|frame| has_come(frame)).count();
            return if come == whole {
                Ok(stack)
            } else {
                Err(format!("{come} frames are whole: {stack}"))
            };
        }
        let code = refusal_of(&result)["data"]["code"].clone();
        assert_eq!(code, "game_not_stopped", "{result}\n{}", engine.log());
        Err(format!("it runs:\n{}", engine.log()))
    })
}

fn place(frame: &Value) -> (&str, &str, (u64, &str)) {
    let text = |name: &str| frame[name].as_str().unwrap_or_default();
    (text("function"), text("file"), (frame["line"].as_u64().unwrap_or(0), text("source_line")))
}

fn variable(name: &str, kind: &str, value: &str) -> Value {
    json!({"name": name, "type": kind, "value": value})
}

#[test]
fn a_script_error_stops_the_game_and_the_stack_names_file_line_and_locals() {
    let project = crashing();
    let Some(engine) = editor(&project, free_port()) else { return };
    let mut caller = Caller::of(&project);
    for refused in ["continue", "stop"] {
        assert_eq!(caller.refused("runtime_control_debugger", act(refused)), "no_debugged_game");
    }
    let none = caller.refusal("runtime_get_call_stack", json!({}));
    assert_eq!(none["data"]["code"], "no_debugged_game", "{none}");
    let way = &none["data"]["next_call"];
    assert_eq!(
        (&way["tool"], &way["arguments"]),
        (&json!("runtime_control_debugger"), &act("play"))
    );

    let played = caller.done("runtime_control_debugger", act("play"));
    assert_eq!(played["playing"], true, "{played}");
    assert_eq!(caller.refused("runtime_control_debugger", act("play")), "game_already_playing");
    let stack = stopped(&mut caller, &engine, &json!({}), 3);
    let reason = "Invalid call. Nonexistent function 'get_name' in base 'Nil'.";
    assert_eq!((&stack["stopped"], &stack["reason"]), (&json!(true), &json!(reason)), "{stack}");
    assert_eq!((&stack["frame_count"], &stack["truncated"]), (&json!(3), &json!(false)), "{stack}");
    let frames = stack["frames"].as_array().unwrap();
    let script = "res://crash.gd";
    assert_eq!(
        frames.iter().map(place).collect::<Vec<_>>(),
        [("inner", script, ERROR), ("outer", script, INNER), ("_ready", script, OUTER)],
        "{stack}"
    );
    // The game says the same, of itself.
    assert!(engine.log().contains("at: inner (res://crash.gd:20)"), "{}", engine.log());
    let locals = |frame: usize| frames[frame]["locals"]["variables"].clone();
    let table = variable("table", "Dictionary", "{ \"oars\": [1, 2] }");
    let nothing = variable("nothing", "Nil", "<null>");
    assert_eq!(locals(0), json!([variable("value", "int", "14"), table, nothing]), "{stack}");
    let doubled = variable("doubled", "int", "14");
    assert_eq!(locals(1), json!([variable("amount", "int", "7"), doubled]), "{stack}");
    let members = frames[0]["members"]["variables"].as_array().unwrap();
    assert!(members.contains(&variable("lives", "int", "3")), "{stack}");
    assert!(members.contains(&variable("label", "String", "boat")), "{stack}");
    let me = json!({"name": "self", "type": "Object", "value": null});
    assert!(members.contains(&me), "{stack}");

    let short = json!({"max_frames": 1, "include_source_position": false});
    let again = stopped(&mut caller, &engine, &short, 1);
    assert_eq!((&again["frame_count"], &again["truncated"]), (&json!(3), &json!(true)), "{again}");
    assert_eq!(again["frames"].as_array().unwrap().len(), 1, "{again}");
    assert_eq!(again["frames"][0]["locals"], frames[0]["locals"], "{again}");
    assert!(again["frames"][0].get("file").is_none(), "{again}");
    assert!(!engine.log().contains("scope_list"), "the adapter complains: {}", engine.log());

    assert!(project.text("went_on.txt").is_none(), "the game stands");
    let way = &stack["next_calls"][0];
    assert_eq!(
        (&way["tool"], &way["arguments"]),
        (&json!("runtime_control_debugger"), &act("continue"))
    );
    caller.done("runtime_control_debugger", act("continue"));
    let deep = stopped(&mut caller, &engine, &json!({"max_frames": 128}), 8);
    assert_eq!(project.text("went_on.txt").as_deref(), Some("on"));
    assert_eq!(deep["reason"], "Assertion failed: too deep", "{deep}");
    assert_eq!((&deep["frame_count"], &deep["truncated"]), (&json!(202), &json!(true)), "{deep}");
    let frames = deep["frames"].as_array().unwrap();
    assert_eq!((frames.len(), place(&frames[0])), (128, ("deep", script, ASSERT)), "{deep}");
    let locals = frames[0]["locals"]["variables"].as_array().unwrap();
    for (frame, depth) in frames.iter().zip((193..=200).rev()) {
        let locals = frame["locals"]["variables"].as_array().unwrap();
        let depth = variable("depth", "int", &i32::to_string(&depth));
        assert!(locals.contains(&depth), "each frame has its own: {frame}");
    }
    assert!(locals.contains(&variable("here", "Vector2", "(1.0, 2.0)")), "{deep}");
    let text = locals.iter().find(|one| one["name"] == "text").unwrap();
    assert_eq!(
        (text["value"].as_str().unwrap().len(), &text["value_truncated"]),
        (1024, &json!(true))
    );

    let ended = caller.done("runtime_control_debugger", act("stop"));
    assert_eq!((&ended["playing"], &ended["stopped"]), (&json!(false), &json!(false)), "{ended}");
    assert_eq!(engine.connect().done("editor.getState", json!({}))["is_playing"], false);
    assert_eq!(caller.refused("runtime_get_call_stack", json!({})), "no_debugged_game");
}

/// The run arguments of a project of which some are the game's own.
const RUN_ARGUMENTS: &str = "--time-scale 2 -- --level=2";

/// Writes down what the game was given.
const GIVEN: &str = "extends Node\n\n\n\
    func _ready() -> void:\n\
    \tvar given := [Engine.time_scale, OS.get_cmdline_user_args(), DisplayServer.get_name()]\n\
    \tFileAccess.open(\"res://given.txt\", FileAccess.WRITE).store_string(JSON.stringify(given))\n";

#[test]
fn a_game_that_is_played_gets_the_projects_arguments_and_they_are_kept() {
    let project = Project::sample();
    project.write_scripted("Given", "Node", GIVEN);
    project.set_main_scene("res://given.tscn");
    let Some(engine) = editor(&project, free_port()) else { return };
    let mut caller = Caller::of(&project);
    let set =
        |setting: &str, value: Value| json!({"setting": setting, "value": value, "create": true});
    let arguments = "editor/run/main_run_args";
    caller.done("project_set_setting", set(arguments, RUN_ARGUMENTS.into()));
    let before = project.text("project.godot").unwrap();
    // Saved while the game is being started, and begun a second time.
    let [played, saved, again] = caller.results([
        ("runtime_control_debugger", act("play")),
        ("project_set_setting", set("proof/beside", 1.into())),
        ("runtime_control_debugger", act("play")),
    ]);
    assert_eq!(played["structuredContent"]["playing"], true, "{played}\n{}", engine.log());
    assert_eq!(saved["isError"], false, "{saved}");
    assert_eq!(refusal_of(&again)["data"]["code"], "game_already_playing", "{again}");
    let given = until_ok(START_LIMIT, || project.text("given.txt").ok_or_else(|| engine.log()));
    assert_eq!(given, "[2.0,[\"--level=2\"],\"headless\"]");
    let after = project.text("project.godot").unwrap();
    assert_eq!(after.replace("\n[proof]\n\nbeside=1\n", ""), before);
    let read = caller.done("project_get_setting", json!({"setting": arguments}));
    assert_eq!(read["value"], RUN_ARGUMENTS);
    caller.done("runtime_control_debugger", act("stop"));
}

#[test]
fn stacks_that_are_read_at_once_have_each_frames_own_variables() {
    let project = crashing();
    let Some(engine) = editor(&project, free_port()) else { return };
    let mut caller = Caller::of(&project);
    caller.done("runtime_control_debugger", act("play"));
    let alone = stopped(&mut caller, &engine, &json!({}), 3);
    let read = || ("runtime_get_call_stack", json!({}));
    for _ in 0..ROUNDS {
        for stack in caller.results([read(), read(), read()]) {
            assert_eq!(stack["structuredContent"]["frames"], alone["frames"], "{stack}");
        }
    }
    caller.done("runtime_control_debugger", act("stop"));
}

#[test]
fn a_game_says_who_tells_its_stack_even_while_it_stands() {
    let project = crashing();
    let Some(engine) = editor(&project, free_port()) else { return };
    let mut caller = Caller::of(&project);
    caller.done("runtime_control_debugger", act("play"));
    stopped(&mut caller, &engine, &json!({}), 0);
    let sessions = caller.answered("runtime_list_sessions", json!({}));
    let all = sessions["sessions"].as_array().unwrap();
    let game = all.iter().find(|session| session["kind"] == "game").unwrap_or_else(|| {
        panic!("the game that the editor runs has a session of its own: {sessions}");
    });
    caller.answered("runtime_attach_session", json!({"session_id": game["session_id"]}));
    let told = caller.refusal("runtime_get_call_stack", json!({}));
    assert_eq!(told["data"]["code"], "stack_is_with_editor", "{told}");
    assert_eq!(told["data"]["editor_pid"], engine.pid(), "{told}");
    assert_eq!(caller.refused("runtime_control_debugger", act("stop")), "session_kind_rejected");
    let editor = json!({"session_id": engine.descriptor().identity.session_id});
    caller.answered("runtime_attach_session", editor);
    assert_eq!(caller.done("runtime_control_debugger", act("stop"))["playing"], false);
}

#[test]
fn a_game_without_an_editor_has_no_debugger() {
    let project = Project::sample();
    let Some(_game) = Engine::game(&project) else { return };
    let mut caller = Caller::of(&project);
    let told = caller.refusal("runtime_get_call_stack", json!({}));
    assert_eq!(told["data"]["code"], "not_under_debugger", "{told}");
    assert_eq!(told["data"]["next_call"]["tool"], "runtime_read_output", "{told}");
}

#[test]
fn a_project_without_a_main_scene_is_not_played() {
    let project = Project::empty();
    let Some(_engine) = editor(&project, free_port()) else { return };
    let mut caller = Caller::of(&project);
    let told = caller.refusal("runtime_control_debugger", act("play"));
    assert_eq!(told["data"]["code"], "no_main_scene", "{told}");
    for gone in ["res://gone.tscn", "uid://cnevergiven00"] {
        let main = json!({"setting": "application/run/main_scene", "value": gone, "create": true});
        caller.done("project_set_setting", main);
        let told = caller.refusal("runtime_control_debugger", act("play"));
        assert_eq!(told["data"]["code"], "no_main_scene", "{told}");
        assert!(told["message"].as_str().is_some_and(|why| why.contains(gone)), "{told}");
    }
}

/// Speaks as an adapter of an editor whose game stands elsewhere.
fn elsewhere(stream: TcpStream) -> Option<()> {
    let mut out = stream.try_clone().ok()?;
    let mut lines = BufReader::new(stream);
    loop {
        let mut header = String::new();
        while !header.ends_with("\r\n\r\n") {
            (lines.read_line(&mut header).ok()? > 0).then_some(())?;
        }
        let length = header.trim().rsplit(' ').next()?.parse().ok()?;
        let mut body = vec![0; length];
        lines.read_exact(&mut body).ok()?;
        let request: Value = serde_json::from_slice(&body).ok()?;
        let frames = json!([{"id": 0, "name": "other", "line": 1, "source": {"path": "other.gd"}}]);
        let answer = json!({
            "type": "response", "request_seq": request["seq"], "success": true,
            "command": request["command"], "body": {"stackFrames": frames},
        })
        .to_string();
        write!(out, "Content-Length: {}\r\n\r\n{answer}", answer.len()).ok()?;
    }
}

#[test]
fn the_adapter_of_another_editor_is_not_taken_for_this_ones() {
    let project = crashing();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // None once the client has gone.
            let _ = elsewhere(stream);
        }
    });
    let Some(engine) = editor(&project, port) else { return };
    let mut caller = Caller::of(&project);
    caller.done("runtime_control_debugger", act("play"));
    let told = until_ok(START_LIMIT, || {
        let refusal = caller.refusal("runtime_get_call_stack", json!({}));
        match refusal["data"]["code"].as_str() {
            Some("game_not_stopped") => Err(format!("it runs:\n{}", engine.log())),
            _ => Ok(refusal),
        }
    });
    assert_eq!(told["data"]["code"], "debug_adapter_unavailable", "{told}");
    assert!(told["message"].as_str().is_some_and(|why| why.contains("another game")), "{told}");
    assert!(told["data"]["restart_with"].as_str().is_some_and(|way| way.contains("--dap-port")));
    assert_eq!(
        caller.refused("runtime_control_debugger", act("continue")),
        "debug_adapter_unavailable"
    );
    assert_eq!(caller.done("runtime_control_debugger", act("stop"))["playing"], false);
}
