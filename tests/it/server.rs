//! What transcripts can't say: sizes, depths, clocks, children, and what stays behind.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use didi_tests::{
    Launch, Project, Server, modern, runs,
    server::{AT_ONCE_MS, PATIENCE},
    stub_engine, until, until_gone,
};
use serde_json::{Value, json};

/// The stated bound of a line.
const MAX_LINE_BYTES: usize = 8 * 1024 * 1024;

/// A stub that says its process id, starts a child that outlives it, and works until it is told to go on.
const WITH_CHILD: &str = "sleep 300 & echo $! > \"$3/child.pid\"; echo $$ > \"$3/engine.pid\"; \
                          while [ ! -e \"$3/go\" ]; do sleep 0.02; done; printf GDPC0000 > \"$6\"";

fn export() -> Value {
    json!({"preset": "Linux", "output_path": "res://build/a.pck", "mode": "pack"})
}

fn stubbed(project: &Project, body: &str) -> Server {
    let engine = stub_engine(project.outside(), body);
    Launch::over(project.root()).env("GODOT_BIN", engine).start()
}

/// A process id that a stub wrote down.
fn pid(file: &Path) -> u32 {
    until("stub's process id", || fs::read_to_string(file).ok()?.trim().parse().ok())
}

fn ping_works(server: &mut Server) {
    let answer = server.request("ping", json!({}));
    assert_eq!(answer["result"], json!({}), "{answer}");
}

/// BL-62.
#[test]
fn a_line_past_the_bound_is_refused_and_the_next_is_served() {
    let project = Project::empty();
    let mut server = Server::over_project(&project.root());
    server.initialize("2025-11-25", json!({}));
    let mut line = br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":""#.to_vec();
    line.resize(MAX_LINE_BYTES + 100, b'x');
    line.extend_from_slice(b"\"}}\n");
    server.send_raw(&line);
    let refused = server.recv();
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&Value::Null, &json!(-32600)));
    assert!(refused["error"]["message"].as_str().unwrap().contains("8388608"), "{refused}");
    ping_works(&mut server);
}

#[test]
fn a_line_of_exactly_the_bound_is_served() {
    let project = Project::empty();
    let mut server = Server::over_project(&project.root());
    server.initialize("2025-11-25", json!({}));
    let head = br#"{"jsonrpc":"2.0","id":"big","method":"ping","params":{"x":""#;
    let tail = br#""}}"#;
    let mut line = head.to_vec();
    line.resize(MAX_LINE_BYTES - tail.len(), b'x');
    line.extend_from_slice(tail);
    line.push(b'\n');
    server.send_raw(&line);
    assert_eq!(server.recv(), json!({"jsonrpc": "2.0", "id": "big", "result": {}}));
}

/// BL-62.
#[test]
fn an_endless_line_is_refused_before_it_ends() {
    let project = Project::empty();
    let mut server = Server::over_project(&project.root());
    server.initialize("2025-11-25", json!({}));
    let piece = vec![b'{'; 1 << 20];
    for _ in 0..9 {
        server.send_raw(&piece);
    }
    assert_eq!(server.recv()["error"]["code"], -32600);
    // The rest of it is skipped, up to its end.
    server.send_raw(&piece);
    server.send_raw(b"\n");
    ping_works(&mut server);
}

/// BL-56.
#[test]
fn a_long_string_id_goes_back_whole() {
    let project = Project::empty();
    let mut server = Server::over_project(&project.root());
    server.initialize("2025-11-25", json!({}));
    let id = "x".repeat(10_000);
    server.send(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"}));
    assert_eq!(server.recv(), json!({"jsonrpc": "2.0", "id": id, "result": {}}));
}

/// A ping whose parameters nest `levels` deep, `params` itself being the first.
fn deep_ping(id: usize, levels: usize) -> Vec<u8> {
    let opened = r#"{"x":"#.repeat(levels - 1);
    let closed = "}".repeat(levels - 1);
    let params = format!("{opened}{{}}{closed}");
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\",\"params\":{params}}}\n")
        .into_bytes()
}

/// BL-59.
#[test]
fn depth_is_bounded_and_the_next_request_is_served() {
    let project = Project::empty();
    let mut server = Server::over_project(&project.root());
    server.initialize("2025-11-25", json!({}));
    for levels in [100, 127] {
        server.send_raw(&deep_ping(levels, levels));
        assert_eq!(server.recv(), json!({"jsonrpc": "2.0", "id": levels, "result": {}}));
    }
    for levels in [128, 200, 100_000] {
        server.send_raw(&deep_ping(levels, levels));
        let refused = server.recv();
        let code = refused["error"]["code"].as_i64().unwrap();
        assert!([-32600, -32700].contains(&code), "{levels} levels: {refused}");
        assert!(refused["id"] == levels || refused["id"].is_null(), "{refused}");
    }
    ping_works(&mut server);
}

#[test]
fn many_requests_at_once_are_all_answered_once() {
    let project = Project::empty();
    let mut server = Server::over_project(&project.root());
    server.initialize("2025-11-25", json!({}));
    let mut lines = vec![];
    for id in 0..2000 {
        let line = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        lines.extend_from_slice(line.to_string().as_bytes());
        lines.push(b'\n');
    }
    server.send_raw(&lines);
    let ids: Vec<u64> = (0..2000).map(|_| server.recv()["id"].as_u64().unwrap()).collect();
    assert!(ids.is_sorted(), "what is answered at once is answered in order");
}

/// BL-65.
#[test]
fn end_of_input_ends_the_server_and_everything_under_it() {
    let project = Project::sample();
    let mut server = stubbed(&project, WITH_CHILD);
    server.ask("tools/call", modern(json!({"name": "project_export", "arguments": export()})));
    let engine = pid(&project.file("engine.pid"));
    let child = pid(&project.file("child.pid"));
    assert!(runs(engine) && runs(child));
    let closed = server.close();
    assert!(closed.status.success(), "{closed:?}");
    assert!(closed.took_ms < AT_ONCE_MS, "the end took {} ms", closed.took_ms);
    until_gone(engine);
    until_gone(child);
    assert_eq!(project.text("build/a.pck"), None);
}

/// BL-40.
#[test]
fn end_of_input_ends_running_jobs() {
    let project = Project::sample();
    let mut server = stubbed(&project, WITH_CHILD);
    let meta = json!({"io.modelcontextprotocol/clientCapabilities":
        {"extensions": {"io.modelcontextprotocol/tasks": {}}}});
    let call = json!({"name": "project_export", "arguments": export(), "_meta": meta});
    assert_eq!(server.request("tools/call", modern(call))["result"]["resultType"], "task");
    let (engine, child) = (pid(&project.file("engine.pid")), pid(&project.file("child.pid")));
    let closed = server.close();
    assert!(closed.took_ms < AT_ONCE_MS, "the end took {} ms", closed.took_ms);
    until_gone(engine);
    until_gone(child);
}

#[test]
fn an_idle_server_ends_at_once_and_well() {
    let project = Project::empty();
    let mut server = Server::over_project(&project.root());
    server.initialize("2024-11-05", json!({}));
    let closed = server.close();
    assert!(closed.status.success() && closed.took_ms < AT_ONCE_MS, "{closed:?}");
    assert!(closed.rest.is_empty(), "{closed:?}");
}

#[cfg(unix)]
#[test]
fn a_termination_signal_takes_the_same_way_out() {
    let project = Project::sample();
    let mut server = stubbed(&project, WITH_CHILD);
    server.ask("tools/call", modern(json!({"name": "project_export", "arguments": export()})));
    let (engine, child) = (pid(&project.file("engine.pid")), pid(&project.file("child.pid")));
    didi_tests::signal(server.pid(), didi_tests::Signal::TERM);
    server.wait_for_exit();
    until_gone(engine);
    until_gone(child);
}

#[test]
fn a_cancelled_call_kills_its_child_and_is_not_answered() {
    let project = Project::sample();
    let mut server = stubbed(&project, WITH_CHILD);
    let id =
        server.ask("tools/call", modern(json!({"name": "project_export", "arguments": export()})));
    let (engine, child) = (pid(&project.file("engine.pid")), pid(&project.file("child.pid")));
    server.notify("notifications/cancelled", json!({"requestId": id}));
    until_gone(engine);
    until_gone(child);
    // The lane is free again, and what comes next is not the cancelled call's answer.
    let write = server.call("blackboard_write", json!({"path": "/a", "value": 1}));
    assert_eq!(write["isError"], false);
    assert!(server.close().rest.iter().all(|message| message["id"] != id));
    assert_eq!(project.text("build/a.pck"), None);
}

/// BL-40.
#[test]
fn a_cancelled_task_kills_its_child() {
    let project = Project::sample();
    let mut server = stubbed(&project, WITH_CHILD);
    let meta = json!({"io.modelcontextprotocol/clientCapabilities":
        {"extensions": {"io.modelcontextprotocol/tasks": {}}}});
    let call = json!({"name": "project_export", "arguments": export(), "_meta": meta});
    let task = server.request("tools/call", modern(call))["result"]["taskId"].clone();
    let (engine, child) = (pid(&project.file("engine.pid")), pid(&project.file("child.pid")));
    let cancel = server.request("tasks/cancel", modern(json!({"taskId": task, "_meta": meta})));
    assert_eq!(cancel["result"]["resultType"], "complete", "{cancel}");
    until_gone(engine);
    until_gone(child);
    let read = || json!({"taskId": task, "_meta": meta});
    until("the end of the task", || {
        let told = server.request("tasks/get", modern(read()));
        (told["result"]["status"] == "cancelled").then_some(())
    });
}

#[test]
fn quick_work_of_a_client_that_takes_tasks_ends_as_its_answer_or_its_task() {
    let project = Project::sample();
    let mut server = stubbed(&project, "exit 1");
    let meta = json!({"io.modelcontextprotocol/clientCapabilities":
        {"extensions": {"io.modelcontextprotocol/tasks": {}}}});
    let arguments = json!({"preset": "Nope", "output_path": "res://a.pck", "mode": "pack"});
    let call = json!({"name": "project_export", "arguments": arguments, "_meta": meta});
    let mut result = server.request("tools/call", modern(call))["result"].clone();
    // On a busy machine a quarter of a second is not enough for it.
    let task = result["taskId"].clone();
    let deadline = Instant::now() + PATIENCE;
    while result["resultType"] == "task" || result["status"] == "working" {
        let read = json!({"taskId": task, "_meta": meta});
        result = server.request("tasks/get", modern(read))["result"].clone();
        assert!(Instant::now() < deadline, "the task did not end: {result}");
    }
    let ended = result.get("result").unwrap_or(&result);
    assert_eq!((&ended["isError"], &ended["resultType"]), (&json!(true), &json!("complete")));
    assert!(ended.to_string().contains("not_found"), "{ended}");
}

#[test]
fn progress_grows_and_ends_with_the_answer() {
    let project = Project::sample();
    let mut server = stubbed(&project, "sleep 0.1; printf GDPC0000 > \"$6\"");
    let call =
        json!({"name": "project_export", "arguments": export(), "_meta": {"progressToken": 7}});
    let id = server.ask("tools/call", modern(call));
    let mut steps = vec![];
    loop {
        let message = server.recv();
        if message["id"] == id {
            assert_eq!(message["result"]["isError"], false, "{message}");
            break;
        }
        assert_eq!(message["method"], "notifications/progress", "{message}");
        assert_eq!(message["params"]["progressToken"], 7, "{message}");
        assert_eq!(message["params"]["total"], 3, "{message}");
        steps.push(message["params"]["progress"].as_f64().unwrap());
    }
    assert!(steps.len() >= 2, "{steps:?}");
    assert!(steps.windows(2).all(|pair| pair[0] < pair[1]), "each is higher: {steps:?}");
    assert!(server.close().rest.is_empty(), "none comes behind the answer");
}

#[test]
fn mutations_keep_their_order() {
    let project = Project::empty();
    let mut server = Server::over_project(&project.root());
    let ids: Vec<u64> = (0..50)
        .map(|count| {
            let arguments = json!({"path": "/count", "value": count});
            let call = json!({"name": "blackboard_write", "arguments": arguments});
            server.ask("tools/call", modern(call))
        })
        .collect();
    for (count, id) in ids.iter().enumerate() {
        let answer = server.recv();
        assert_eq!(answer["id"], *id, "in the order of arrival");
        assert_eq!(answer["result"]["structuredContent"]["revision"], count + 1, "{answer}");
    }
}

#[test]
fn two_servers_on_one_project_lose_no_change() {
    let project = Project::empty();
    let mut servers = [(); 2].map(|()| Server::over_project(&project.root()));
    let mut asked = vec![];
    for round in 0..20 {
        for (which, server) in servers.iter_mut().enumerate() {
            let arguments = json!({"path": format!("/w{which}/r{round}"), "value": round});
            let call = json!({"name": "blackboard_write", "arguments": arguments});
            asked.push((which, server.ask("tools/call", modern(call))));
        }
    }
    for (which, id) in asked {
        let answer = servers[which].answer(id);
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
    let keys = servers[0].call("blackboard_list_keys", json!({}));
    assert_eq!(keys["structuredContent"]["total"], 40, "{keys}");
}

#[cfg(unix)]
#[test]
fn a_probe_leaves_nothing_behind() {
    let project = Project::empty();
    let mut server = Server::over_project(&project.root());
    server.request("server/discover", json!({}));
    didi_tests::signal(server.pid(), didi_tests::Signal::TERM);
    server.wait_for_exit();
    let left: Vec<_> =
        fs::read_dir(project.root()).unwrap().map(|one| one.unwrap().file_name()).collect();
    assert_eq!(left, ["project.godot"], "a probe writes nothing into the project");
}

/// BL-65.
#[test]
fn a_killed_server_blocks_no_next_start() {
    let project = Project::empty();
    let mut first = Server::over_project(&project.root());
    assert_eq!(first.call("blackboard_write", json!({"path": "/a", "value": 1}))["isError"], false);
    drop(first);
    let mut second = Server::over_project(&project.root());
    let write = second.call("blackboard_write", json!({"path": "/a", "value": 2}));
    assert_eq!(write["structuredContent"]["replaced"], true, "{write}");
}

#[test]
fn nobody_hears_more_than_was_asked_for() {
    let project = Project::empty();
    let mut server = Server::over_project(&project.root());
    server.initialize("2025-11-25", json!({}));
    // Nobody subscribed, so a change is not told.
    server.call("blackboard_write", json!({"path": "/a", "value": 1}));
    let quiet = server.recv_within(Duration::from_millis(500));
    assert_eq!(quiet, None);
}
