//! The server and engines that do not behave: scripted ones, each of which lies, stalls or hangs up in one way.

use std::time::{Duration, Instant};

use didi_tests::{
    Launch, Project, Server,
    caller::refusal_of,
    live::{sessions, until_free},
    modern,
    scripted::{Act, Scripted},
};
use didi_wire::SessionKind;
use serde_json::{Map, Value, json};

/// A live read that a scripted engine can answer.
const READ: &str = "project_get_setting";

fn serve(project: &Project) -> Server {
    let mut server =
        Launch::over(project.root()).env("DIDI_SESSION_DIR", sessions(project).path).start();
    server.initialize("2025-06-18", json!({}));
    server
}

/// Calls as the legacy client that the session belongs to; answers the data, or the error's data with its status.
fn call(server: &mut Server, tool: &str, arguments: Value) -> Result<Value, (u64, Value)> {
    let answer = server.request("tools/call", json!({"name": tool, "arguments": arguments}));
    let result = &answer["result"];
    if result["isError"] == false {
        return Ok(result["structuredContent"].clone());
    }
    let text = result["content"][0]["text"].as_str().unwrap();
    let document: Value = serde_json::from_str(text).unwrap();
    let error = &document["error"];
    let mut data = error["data"].clone();
    data["session"] = document["session"].clone();
    Err((error["code"].as_u64().unwrap(), data))
}

fn read(server: &mut Server) -> Result<Value, (u64, Value)> {
    call(server, READ, json!({"setting": "application/config/name"}))
}

fn write(server: &mut Server) -> Result<Value, (u64, Value)> {
    call(
        server,
        "project_set_setting",
        json!({"setting": "application/config/name", "value": "New"}),
    )
}

fn good() -> Act {
    Act::Answer(json!({"status": "success", "setting": "application/config/name", "value": "Live"}))
}

#[test]
fn an_engine_of_the_project_serves_and_its_token_stays_inside() {
    let project = Project::sample();
    let engine = Scripted::editor(&sessions(&project), &project.root(), |_, _| good());
    let mut server = serve(&project);
    let listed = call(&mut server, "runtime_list_sessions", json!({})).unwrap();
    assert_eq!(listed["sessions"][0]["session_id"], engine.session(), "{listed}");
    assert_eq!(listed["sessions"][0]["selected"], false);
    let answer = read(&mut server).unwrap();
    assert_eq!((&answer["value"], &answer["execution_mode"]), (&json!("Live"), &json!("live")));
    assert_eq!(answer["session"]["session_id"], engine.session());
    assert_eq!(answer["session"]["kind"], "editor");
    server.notification("notifications/tools/list_changed");
    let state = call(&mut server, "runtime_get_session", json!({})).unwrap();
    assert_eq!((&state["connected"], &state["handshake"]["status"]), (&json!(true), &json!("ok")));
    let all = format!("{listed}{answer}{state}{}", server.log());
    assert!(!all.contains(&engine.token()), "the token is nobody's business");
}

#[test]
fn a_session_descriptor_is_sent_once_to_a_client_that_declares_it() {
    let project = Project::sample();
    let engine = Scripted::editor(&sessions(&project), &project.root(), |_, _| good());
    let mut server =
        Launch::over(project.root()).env("DIDI_SESSION_DIR", sessions(&project).path).start();
    let economy = json!({"extensions": {"didi/responseEconomy": {"omit": ["sessionDescriptor"]}}});
    server.initialize("2025-06-18", economy);
    let first = read(&mut server).unwrap();
    assert_eq!(first["session"]["project_path"], project.root().display().to_string());
    let second = read(&mut server).unwrap();
    assert_eq!(second["session"], json!({"session_id": engine.session(), "kind": "editor"}));
}

#[test]
fn a_read_that_got_no_answer_is_asked_once_more_and_a_change_never() {
    for lie in
        [Act::HangUp, Act::HalfAFrame, Act::OtherId, Act::Bytes(vec![2, 0, 0, 0, b'{', b'x'])]
    {
        let project = Project::sample();
        let act = lie.clone();
        let engine = Scripted::editor(&sessions(&project), &project.root(), move |_, before| {
            if before == 0 { act.clone() } else { good() }
        });
        let mut server = serve(&project);
        let answer = read(&mut server).unwrap();
        assert_eq!(answer["value"], "Live", "{lie:?}");
        assert_eq!(answer["transport"]["repeats"], 1, "{lie:?}: {answer}");
        assert_eq!(engine.asked(), 2);

        let project = Project::sample();
        let act = lie.clone();
        let engine =
            Scripted::editor(&sessions(&project), &project.root(), move |request, before| {
                // The tool reads before it writes, if it reads at all.
                if request.method == "project.setSetting" || before > 5 {
                    act.clone()
                } else {
                    good()
                }
            });
        let mut server = serve(&project);
        let before = std::fs::read(project.file("project.godot")).unwrap();
        let (status, data) = write(&mut server).unwrap_err();
        assert_eq!(status, 504, "{lie:?}: {data}");
        assert_eq!(data["code"], "route_deadline_exceeded");
        assert_eq!(data["outcome"], "unknown_outcome");
        assert_eq!(data["transport"]["outcome_unknown"], true);
        assert_eq!(data["engine"], "alive", "the test's own process plays the engine");
        assert_eq!(data["next_call"]["tool"], "runtime_list_sessions");
        assert!(data["session"]["endpoint"].is_null(), "a failure names no address");
        assert_eq!(data["session"]["session_id"], engine.session());
        assert_eq!(std::fs::read(project.file("project.godot")).unwrap(), before);
        let asked = engine.asked();
        // The route is given up: the next call is not served by that engine, and does not attach by itself.
        let next = read(&mut server).unwrap();
        assert_eq!(next["execution_mode"], "offline_fallback");
        assert_eq!(engine.asked(), asked, "nothing was sent twice");
    }
}

#[test]
fn an_engine_that_never_answers_is_given_up_at_the_deadline() {
    let project = Project::sample();
    let engine = Scripted::editor(&sessions(&project), &project.root(), |request, _| {
        if request.method == "project.setSetting" { Act::Silence } else { good() }
    });
    let mut server = serve(&project);
    let started = Instant::now();
    let (status, data) = write(&mut server).unwrap_err();
    let waited = started.elapsed();
    assert_eq!((status, &data["transport"]["reason"]), (504, &json!("deadline")), "{data}");
    assert_eq!(data["transport"]["timed_out"], true);
    assert!(data["transport"]["waited_ms"].as_u64().unwrap() >= 17_000, "{data}");
    assert!(waited < Duration::from_secs(25), "{waited:?}");
    assert_eq!(engine.asked(), 1);
}

#[test]
fn a_frame_that_says_it_is_too_long_is_not_waited_for() {
    let project = Project::sample();
    let long = 129_u32 * 1024 * 1024;
    let engine = Scripted::editor(&sessions(&project), &project.root(), move |_, _| {
        Act::Bytes(long.to_le_bytes().to_vec())
    });
    let mut server = serve(&project);
    let (status, data) = read(&mut server).unwrap_err();
    assert_eq!((status, &data["transport"]["repeated"]), (504, &json!(true)), "{data}");
    assert_eq!(engine.asked(), 2);
}

#[test]
fn what_the_engine_refuses_is_refused_in_its_own_words() {
    let project = Project::sample();
    let engine = Scripted::editor(&sessions(&project), &project.root(), |_, before| match before {
        0 => Act::Refuse(409, "editor_import_busy", false),
        1 => good(),
        _ => Act::Refuse(504, "main_thread_deadline", true),
    });
    let mut server = serve(&project);
    let (status, data) = read(&mut server).unwrap_err();
    assert_eq!((status, &data["code"]), (409, &json!("editor_import_busy")));
    assert_eq!(read(&mut server).unwrap()["value"], "Live", "the route serves on");
    let (status, data) = read(&mut server).unwrap_err();
    assert_eq!((status, &data["code"]), (504, &json!("main_thread_deadline")));
    let next = read(&mut server).unwrap();
    assert_eq!(
        next["execution_mode"], "offline_fallback",
        "the engine asked for its route to be given up"
    );
    assert_eq!(engine.asked(), 3);
}

#[test]
fn another_engine_at_the_endpoint_is_not_attached() {
    let project = Project::sample();
    let liar = |change: fn(&mut Value)| {
        Scripted::start(
            &sessions(&project),
            &project.root(),
            SessionKind::Editor,
            |_, _| good(),
            move |identity| {
                let mut answer = json!(identity);
                answer["status"] = "ok".into();
                change(&mut answer);
                Act::Answer(answer)
            },
        )
    };
    let lies: [fn(&mut Value); 4] = [
        |answer| answer["pid"] = 1.into(),
        |answer| answer["kind"] = "game".into(),
        |answer| answer["status"] = "later".into(),
        |answer| answer["token"] = "0".repeat(64).into(),
    ];
    for lie in lies {
        let engine = liar(lie);
        let mut server = serve(&project);
        let attach = json!({"session_id": engine.session()});
        let (status, data) = call(&mut server, "runtime_attach_session", attach).unwrap_err();
        assert_eq!((status, &data["code"]), (409, &json!("protocol_version_rejected")), "{data}");
        assert_eq!(read(&mut server).unwrap()["execution_mode"], "offline_fallback");
    }
}

#[test]
fn a_handshake_without_an_answer_has_begun_no_change() {
    let project = Project::sample();
    let engine = Scripted::start(
        &sessions(&project),
        &project.root(),
        SessionKind::Editor,
        |_, _| good(),
        |_| Act::HangUp,
    );
    let mut server =
        Launch::over(project.root()).env("DIDI_SESSION_DIR", sessions(&project).path).start();
    let meta = json!({"didi": {"runtime_session_id": engine.session()}});
    let arguments = json!({"node_type": "Node", "name": "New"});
    let more = Map::from_iter([("_meta".to_owned(), meta)]);
    let result = server.call_with("scene_instantiate_node", arguments, more);
    let data = refusal_of(&result)["data"].clone();
    assert_eq!(
        (&data["code"], &data["outcome"]),
        (&json!("route_deadline_exceeded"), &json!("not_started")),
        "{data}"
    );
    assert_eq!(data["transport"]["outcome_unknown"], false, "{data}");
    assert_eq!(engine.asked(), 0);
}

#[test]
fn a_session_of_another_project_is_attached_only_when_that_is_said() {
    let (own, other) = (Project::sample(), Project::sample());
    let engine = Scripted::editor(&sessions(&own), &other.root(), |_, _| good());
    let mut server = serve(&own);
    assert_eq!(read(&mut server).unwrap()["execution_mode"], "offline_fallback", "not by itself");
    let attach = json!({"session_id": engine.session()});
    let (status, data) = call(&mut server, "runtime_attach_session", attach).unwrap_err();
    assert_eq!((status, &data["code"]), (409, &json!("foreign_project_session")));
    assert_eq!(data["retry_with"], json!({"allow_foreign_project": true}));
    let attach = json!({"session_id": engine.session(), "allow_foreign_project": true});
    let attached = call(&mut server, "runtime_attach_session", attach).unwrap();
    assert_eq!(attached["project_mismatch"], true);
    assert_eq!(read(&mut server).unwrap()["value"], "Live");
    let detached = call(&mut server, "runtime_detach_session", json!({})).unwrap();
    assert_eq!((&detached["detached"], &detached["connected"]), (&json!(true), &json!(false)));
    assert_eq!(read(&mut server).unwrap()["execution_mode"], "offline_fallback");
}

#[test]
fn one_client_holds_a_session_and_its_end_frees_it() {
    let project = Project::sample();
    let engine = Scripted::editor(&sessions(&project), &project.root(), |_, _| good());
    let attach = json!({"session_id": engine.session()});
    let mut first = serve(&project);
    call(&mut first, "runtime_attach_session", attach.clone()).unwrap();
    let mut second = serve(&project);
    let (status, data) = call(&mut second, "runtime_attach_session", attach.clone()).unwrap_err();
    assert_eq!((status, &data["code"]), (423, &json!("request_failed")), "{data}");
    assert_eq!(data["held_by"]["pid"], first.pid());
    assert_eq!(read(&mut second).unwrap()["execution_mode"], "offline_fallback");
    first.kill();
    call(&mut second, "runtime_attach_session", attach).unwrap();
    assert_eq!(read(&mut second).unwrap()["value"], "Live");
}

#[test]
fn a_client_that_a_person_sends_away_lets_go_and_says_so_once() {
    let project = Project::sample();
    let engine = Scripted::editor(&sessions(&project), &project.root(), |_, before| {
        let Act::Answer(answer) = good() else { unreachable!() };
        if before == 0 { Act::AnswerAndPart(answer) } else { good() }
    });
    let mut server = serve(&project);
    assert_eq!(read(&mut server).unwrap()["value"], "Live");
    until_free(&project, engine.session().parse().unwrap());
    server.notification("notifications/tools/list_changed");
    let (status, data) = write(&mut server).unwrap_err();
    assert_eq!((status, &data["code"]), (409, &json!("session_detached")), "{data}");
    let arguments = json!({"session_id": engine.session()});
    assert_eq!(data["next_call"]["tool"], "runtime_attach_session", "{data}");
    assert_eq!(data["next_call"]["arguments"], arguments, "{data}");
    assert!(!project.text("project.godot").unwrap().contains("\"New\""), "nothing was done");
    let next = read(&mut server).unwrap();
    assert_eq!(next["execution_mode"], "offline_fallback", "it is not attached by itself");
    call(&mut server, "runtime_attach_session", arguments).unwrap();
    assert_eq!(read(&mut server).unwrap()["value"], "Live");
    assert_eq!(engine.asked(), 2);
}

#[test]
fn a_client_that_learns_of_it_by_a_call_is_told_once_too() {
    let project = Project::sample();
    let engine = Scripted::editor(&sessions(&project), &project.root(), |_, before| match before {
        0 => Act::Refuse(409, "session_detached", false),
        _ => good(),
    });
    let mut server = serve(&project);
    let (_, data) = write(&mut server).unwrap_err();
    assert_eq!(data["code"], "session_detached", "{data}");
    assert_eq!(data["next_call"]["arguments"]["session_id"], engine.session());
    until_free(&project, engine.session().parse().unwrap());
    assert_eq!(read(&mut server).unwrap()["execution_mode"], "offline_fallback");
    assert_eq!(engine.asked(), 1, "a change is not sent again");
}

#[test]
fn a_modern_client_that_was_sent_away_names_the_session_in_vain_until_it_attaches() {
    let project = Project::sample();
    let engine = Scripted::editor(&sessions(&project), &project.root(), |_, before| match before {
        0 => Act::Refuse(409, "session_detached", false),
        _ => good(),
    });
    let mut server =
        Launch::over(project.root()).env("DIDI_SESSION_DIR", sessions(&project).path).start();
    let mut ask = |tool: &str, arguments: Value| {
        let meta = json!({"didi": {"runtime_session_id": engine.session()}});
        let more = Map::from_iter([("_meta".to_owned(), meta)]);
        server.call_with(tool, arguments, more)
    };
    let setting = json!({"setting": "application/config/name"});
    for _ in 0..3 {
        let refused = ask(READ, setting.clone());
        assert!(refused.to_string().contains("session_detached"), "{refused}");
    }
    let attached = ask("runtime_attach_session", json!({"session_id": engine.session()}));
    assert_eq!(attached["isError"], false, "{attached}");
    assert_eq!(ask(READ, setting)["structuredContent"]["value"], "Live");
}

#[test]
fn the_ninth_session_is_refused_with_the_way_out() {
    let project = Project::sample();
    let engines: Vec<_> = (0..9)
        .map(|_| Scripted::editor(&sessions(&project), &project.root(), |_, _| good()))
        .collect();
    let mut server = serve(&project);
    assert_eq!(
        read(&mut server).unwrap()["execution_mode"],
        "offline_fallback",
        "which one is not clear"
    );
    for engine in &engines[..8] {
        call(&mut server, "runtime_attach_session", json!({"session_id": engine.session()}))
            .unwrap();
    }
    let ninth = json!({"session_id": engines[8].session()});
    let (status, data) = call(&mut server, "runtime_attach_session", ninth.clone()).unwrap_err();
    assert_eq!((status, &data["code"]), (429, &json!("rate_limited")));
    assert_eq!(data["next_call"]["tool"], "runtime_detach_session");
    call(&mut server, "runtime_detach_session", json!({})).unwrap();
    call(&mut server, "runtime_attach_session", ninth).unwrap();
}

#[test]
fn modern_requests_are_served_by_the_session_they_name_and_move_nothing() {
    let project = Project::sample();
    let engines = ["One", "Two"].map(|name| {
        Scripted::editor(&sessions(&project), &project.root(), move |_, _| {
            Act::Answer(
                json!({"status": "success", "setting": "application/config/name", "value": name}),
            )
        })
    });
    let mut server =
        Launch::over(project.root()).env("DIDI_SESSION_DIR", sessions(&project).path).start();
    let mut ask = |session: Option<&str>| {
        let mut more = Map::new();
        if let Some(session) = session {
            let meta = json!({"didi": {"runtime_session_id": session}});
            more.insert("_meta".into(), meta);
        }
        let arguments = json!({"setting": "application/config/name"});
        server.call_with(READ, arguments, more)["structuredContent"].clone()
    };
    let [one, two] = engines.each_ref().map(Scripted::session);
    assert_eq!(ask(Some(&one))["value"], "One");
    assert_eq!(ask(Some(&two))["value"], "Two");
    assert_eq!(ask(Some(&one))["value"], "One");
    assert_eq!(ask(None)["execution_mode"], "offline_fallback");
    let meta = json!({"didi": {"runtime_session_id": one}});
    let list = server.request("tools/list", modern(json!({"_meta": meta})));
    let tools = list["result"]["tools"].as_array().unwrap().clone();
    let mode = |name: &str| {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        tool["_meta"]["didi"]["currentMode"].clone()
    };
    assert_eq!((mode(READ), mode("project_list_resources")), (json!("live"), json!("local")));
}

#[test]
fn an_engine_of_the_wrong_kind_is_named_in_the_refusal() {
    let project = Project::sample();
    let game = Scripted::start(
        &sessions(&project),
        &project.root(),
        SessionKind::Game,
        |_, _| good(),
        |identity| {
            let mut answer = json!(identity);
            answer["status"] = "ok".into();
            Act::Answer(answer)
        },
    );
    let mut server = serve(&project);
    let (status, data) = read(&mut server).unwrap_err();
    assert_eq!((status, &data["code"]), (409, &json!("session_kind_rejected")), "{data}");
    assert_eq!(
        (&data["selected_session_kind"], &data["allowed_session_kinds"]),
        (&json!("game"), &json!(["editor"]))
    );
    assert_eq!(game.asked(), 0);
}
