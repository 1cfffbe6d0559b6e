//! Several editors and several clients at once, all of them real: each call lands in the project that it is meant
//! for or is refused with the way there, and what ends takes nothing of the others with it.
//!
//! Spec: P-9, routes.

use std::{sync::Barrier, thread};

use didi_tests::{
    Caller, Launch, Project,
    caller::refusal_of,
    live::{Engine, ask_engine, sessions},
    modern,
};
use serde_json::{Value, json};

/// Calls that each client makes while the others make theirs.
const CALLS: usize = 40;

/// An editor with a new scene of its own open, and the client that opened it.
fn ready(project: &Project) -> Option<(Engine, Caller)> {
    let engine = Engine::editor(project)?;
    let mut caller = Caller::of(project);
    let scene = json!({"scene_path": "res://own.tscn", "root_type": "Node2D", "root_name": "Own"});
    caller.done("scene_create", scene);
    Some((engine, caller))
}

/// Two of them, started side by side.
fn both(left: &Project, right: &Project) -> Option<[(Engine, Caller); 2]> {
    thread::scope(|scope| {
        let other = scope.spawn(|| ready(right));
        let one = ready(left);
        Some([one?, other.join().expect("its own message says why")?])
    })
}

/// Makes a client's calls once all clients are there.
fn many(start: &Barrier, call: impl FnMut(usize)) {
    start.wait();
    (0..CALLS).for_each(call);
}

fn session(engine: &Engine) -> String {
    engine.descriptor().identity.session_id.to_string()
}

/// Adds a node, and looks at whose engine says that it did.
fn adds(caller: &mut Caller, engine: &Engine, name: &str) {
    let node = json!({"node_type": "Node2D", "name": name});
    let answer = caller.edits("scene_instantiate_node", node);
    assert_eq!(answer["node_path"], format!("/root/Own/{name}"), "{answer}");
    assert_eq!(answer["session"]["session_id"], session(engine), "{answer}");
}

/// The children of the saved scene, as another engine loads them.
fn children(project: &Project) -> Value {
    ask_engine(
        project,
        "var own = load(\"res://own.tscn\").instantiate()\n\
         var names = own.get_children().map(func(one): return String(one.name))\nown.free()\nreturn names",
    )
}

/// What a client is told that can't have the session that it would be served by: who could serve, who holds it,
/// and that another project's engine is not for it.
fn refused_thrice(third: &mut Caller, own: &Engine, holder: u32, other: &Engine) {
    let node = json!({"node_type": "Node2D", "name": "Stray"});
    let lost = third.refusal("scene_instantiate_node", node.clone());
    assert_eq!((&lost["code"], &lost["data"]["code"]), (&json!(503), &json!("not_connected")));
    let candidate = json!({"session_id": session(own), "kind": "editor", "pid": own.pid()});
    assert_eq!(lost["data"]["candidates"], json!([candidate]), "its own project's alone: {lost}");

    let held = third.refusal("runtime_attach_session", json!({"session_id": session(own)}));
    assert_eq!((&held["code"], &held["data"]["code"]), (&json!(423), &json!("request_failed")));
    assert_eq!(held["data"]["held_by"]["pid"], holder, "{held}");

    let foreign = third.refusal("runtime_attach_session", json!({"session_id": session(other)}));
    assert_eq!(
        (&foreign["code"], &foreign["data"]["code"]),
        (&json!(409), &json!("foreign_project_session"))
    );
}

/// The same for a client that names a session with each request.
fn refused_by_name(third: &mut Caller, named: &Engine, wanted: (u16, &str)) {
    let meta = json!({"didi": {"runtime_session_id": session(named)}});
    let node = json!({"node_type": "Node2D", "name": "Stray"});
    let params = json!({"name": "scene_instantiate_node", "arguments": node, "_meta": meta});
    let answer = third.server.request("tools/call", modern(params));
    let refusal = refusal_of(&answer["result"]);
    assert_eq!(
        (&refusal["code"], &refusal["data"]["code"]),
        (&json!(wanted.0), &json!(wanted.1)),
        "{refusal}"
    );
}

#[test]
fn three_clients_of_two_editors_get_their_own_project_or_the_way_to_it() {
    let left = Project::sample();
    let right = Project::empty().meeting(&left);
    let Some([(left_editor, mut ann), (right_editor, mut ben)]) = both(&left, &right) else {
        return;
    };
    let mut cid = Caller::of(&left);
    let mut dot = Caller { server: launch(&left).start() };

    let (start, holder) = (&Barrier::new(4), ann.server.pid());
    thread::scope(|scope| {
        scope.spawn(|| many(start, |at| adds(&mut ann, &left_editor, &format!("Left{at}"))));
        scope.spawn(|| many(start, |at| adds(&mut ben, &right_editor, &format!("Right{at}"))));
        scope.spawn(|| {
            many(start, |_| refused_thrice(&mut cid, &left_editor, holder, &right_editor));
        });
        scope.spawn(|| {
            many(start, |_| {
                refused_by_name(&mut dot, &left_editor, (423, "request_failed"));
                refused_by_name(&mut dot, &right_editor, (409, "foreign_project_session"));
            });
        });
    });
    for caller in [&mut ann, &mut ben] {
        caller.done("editor_save_scene", json!({}));
    }
    let all = |side: &str| -> Value { (0..CALLS).map(|at| format!("{side}{at}")).collect() };
    assert_eq!(children(&left), all("Left"));
    assert_eq!(children(&right), all("Right"));
}

fn launch(project: &Project) -> Launch {
    Launch::over(project.root()).env("DIDI_SESSION_DIR", sessions(project).path)
}

#[test]
fn the_end_of_a_client_frees_its_editor_and_the_end_of_an_editor_is_its_own() {
    let left = Project::sample();
    let right = Project::empty().meeting(&left);
    let Some([(left_editor, mut ann), (right_editor, mut ben)]) = both(&left, &right) else {
        return;
    };
    let mut cid = Caller::of(&left);
    let attach = json!({"session_id": session(&left_editor)});
    adds(&mut ann, &left_editor, "Before");
    assert_eq!(cid.refusal("runtime_attach_session", attach.clone())["code"], 423);

    // Killed while a call of its is on the way: the kernel frees the lock, and nothing waits for the dead.
    let last = json!({"name": "scene_get_hierarchy", "arguments": {}});
    ann.server.ask("tools/call", last);
    ann.server.kill();
    cid.answered("runtime_attach_session", attach);
    adds(&mut cid, &left_editor, "After");
    adds(&mut ben, &right_editor, "Beside");
    cid.done("editor_save_scene", json!({}));
    assert_eq!(children(&left), json!(["Before", "After"]));

    let gone = session(&left_editor);
    drop(left_editor);
    for at in 0..CALLS {
        adds(&mut ben, &right_editor, &format!("Still{at}"));
    }
    // Whatever the client is told first, it is never served by the other project's editor.
    let lost = cid.refusal("scene_instantiate_node", json!({"node_type": "Node2D"}));
    assert!(
        [json!("live_session_ended"), json!("not_connected")].contains(&lost["data"]["code"]),
        "{lost}"
    );
    assert!(lost["data"].get("candidates").is_none(), "its project has no engine: {lost}");
    let listed = cid.answered("runtime_list_sessions", json!({}));
    let all = listed["sessions"].as_array().unwrap();
    let of = |id: &str| all.iter().find(|one| one["session_id"] == id).unwrap();
    assert_eq!(of(&gone)["alive"], false, "{listed}");
    assert_eq!(of(&session(&right_editor))["alive"], true, "{listed}");
    let state = ben.answered("runtime_get_session", json!({}));
    assert_eq!(state["handshake"]["status"], "ok", "{state}");
    ben.done("editor_save_scene", json!({}));
    assert_eq!(children(&right).as_array().unwrap().len(), CALLS + 1);

    // A new editor of the project is found and attached like the first.
    let again = Engine::editor(&left).expect("it was found before");
    cid.answered("runtime_attach_session", json!({"session_id": session(&again)}));
    cid.done("scene_open", json!({"scene_path": "res://own.tscn"}));
    adds(&mut cid, &again, "Again");
}
