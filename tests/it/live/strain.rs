//! Engines that are killed, stopped, or busy in ways that a bridge has to stand.

use std::{
    io::Write as _,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use didi_tests::{
    Caller, Project, Signal,
    live::{Display, Engine, sessions},
    signal, until,
};
use didi_wire::{
    discovery::{self, DiagnosticCode},
    frame::encode,
    process::{Liveness, liveness},
};
use serde_json::json;

#[test]
fn a_killed_engine_is_stale_and_swept_with_its_socket() {
    let project = Project::sample();
    let Some(engine) = Engine::game(&project) else { return };
    let identity = engine.descriptor().identity.clone();
    let held = engine.connect();
    drop(engine);
    drop(held);
    assert_eq!(liveness(identity.pid, identity.started_at_ms), Liveness::Gone);
    let dir = sessions(&project);
    let found = discovery::scan(&dir).unwrap();
    assert!(found.sessions.is_empty());
    assert_eq!(found.diagnostics[0].code, DiagnosticCode::ProcessGone);
    let swept = discovery::sweep(&dir, &found).unwrap();
    assert_eq!((swept.descriptors, swept.sockets), (1, 1));
    assert!(!std::path::Path::new(&identity.endpoint).exists());
    assert!(discovery::scan(&dir).unwrap().diagnostics.is_empty());
}

#[test]
fn a_listing_shows_what_a_killed_engine_left_and_takes_it_away() {
    let project = Project::sample();
    let Some(engine) = Engine::game(&project) else { return };
    let endpoint = engine.descriptor().identity.endpoint.clone();
    let mut caller = Caller::of(&project);
    drop(engine);
    let mut listed = || caller.answered("runtime_list_sessions", json!({}))["sessions"].clone();
    assert_eq!(listed()[0]["stale"], true);
    assert!(!std::path::Path::new(&endpoint).exists(), "the socket stays");
    assert_eq!(listed(), json!([]));
}

#[test]
fn a_stopped_engine_is_alive_and_goes_on_where_it_was() {
    let project = Project::sample();
    let Some(engine) = Engine::game(&project) else { return };
    let mut client = engine.connect();
    client.done("runtime.getTree", json!({"max_depth": 0}));
    signal(engine.pid(), Signal::STOP);
    let identity = &engine.descriptor().identity;
    assert_eq!(liveness(identity.pid, identity.started_at_ms), Liveness::Alive);
    let waiting = thread::spawn(move || client.done("runtime.getTree", json!({"max_depth": 0})));
    signal(engine.pid(), Signal::CONT);
    assert_eq!(waiting.join().unwrap()["node_count"], 1);
}

#[test]
fn bad_clients_disturb_no_good_one() {
    let project = Project::sample();
    let Some(engine) = Engine::game(&project) else { return };
    let mut client = engine.connect();
    let endpoint = engine.descriptor().identity.endpoint.clone();
    for round in 0..60_u8 {
        let mut bad = std::os::unix::net::UnixStream::connect(&endpoint).unwrap();
        let _ = match round % 4 {
            0 => bad.write_all(b"\xff\xff\xff\xff"),
            1 => bad.write_all(&encode(b"{\"id\": 1, \"method\": \"runtime.stop\"}").unwrap()),
            2 => bad.write_all(&encode(b"nonsense").unwrap()[..6]),
            _ => Ok(()),
        };
        drop(bad);
        client.done("runtime.getTree", json!({"max_depth": 0}));
    }
}

#[test]
fn every_line_of_many_threads_is_kept() {
    let project = Project::sample();
    project.write_scripted(
        "Noise",
        "Node",
        "extends Node\n\nfunc _ready():\n\tvar threads := []\n\tfor i in 8:\n\t\tvar thread := Thread.new()\n\
         \t\tthread.start(shout.bind(i))\n\t\tthreads.append(thread)\n\tfor thread in threads:\n\t\tthread.wait_to_finish()\n\
         \tprint(\"all said\")\n\nfunc shout(i):\n\tfor k in 100:\n\t\tprint(\"line %d of %d\" % [k, i])\n\
         \t\tif k % 20 == 0:\n\t\t\tpush_error(\"fault %d of %d\" % [k, i])\n",
    );
    project.set_main_scene("res://noise.tscn");
    let Some(engine) = Engine::game(&project) else { return };
    let mut client = engine.connect();
    client.done("runtime.getTree", json!({}));
    let (mut lines, mut faults, mut cursor) = (0, 0, 0);
    loop {
        let page = client.done("runtime.getOutput", json!({"cursor": cursor, "limit": 500}));
        for record in page["records"].as_array().unwrap() {
            let message = record["message"].as_str().unwrap();
            lines += usize::from(message.starts_with("line "));
            let place = record["details"]["file"].as_str().unwrap_or_default();
            faults += usize::from(message.starts_with("fault ") && place.contains("noise.gd"));
        }
        cursor = page["next_cursor"].as_u64().unwrap();
        if page["has_more"] == false {
            break;
        }
    }
    assert_eq!((lines, faults), (800, 40));
    assert!(!engine.log().contains("panicked"), "{}", engine.log());
}

#[test]
fn an_editor_that_runs_frames_inside_a_save_takes_no_second_command_meanwhile() {
    let project = Project::sample();
    if didi_plugin_api::testkit::real_engine().is_none() {
        return;
    }
    let display = Display::start();
    let Some(engine) = Engine::windowed_editor(&project, &display) else { return };
    let (mut saver, mut reader) = (engine.connect(), engine.connect());
    saver.done("scene.create", json!({"scene_path": "res://saved.tscn"}));
    let saved = Arc::new(AtomicBool::new(false));
    let read = Arc::new(AtomicUsize::new(0));
    let (until_saved, count) = (Arc::clone(&saved), Arc::clone(&read));
    let reads = thread::spawn(move || {
        while !until_saved.load(Ordering::Relaxed) {
            reader.done("editor.openScenes", json!({}));
            count.fetch_add(1, Ordering::Relaxed);
        }
    });
    let (mut saves, mut beside) = (0, 0);
    // As often as it takes for reads to have come beside saves.
    until("five saves with reads beside them", || {
        let node = json!({"node_type": "Node2D", "name": format!("N{saves}")});
        saver.done("scene.instantiateNode", node);
        let before = read.load(Ordering::Relaxed);
        assert_eq!(saver.done("editor.saveScene", json!({}))["saved"], true);
        saves += 1;
        beside += usize::from(read.load(Ordering::Relaxed) > before);
        (beside >= 5).then_some(())
    });
    saved.store(true, Ordering::Relaxed);
    reads.join().unwrap();
    let last = format!("N{}", saves - 1);
    assert!(project.text("saved.tscn").unwrap().contains(&last));
    assert!(!engine.log().contains("panicked"), "{}", engine.log());
}

#[test]
fn memory_stays_flat_over_many_commands() {
    let project = Project::sample();
    let Some(engine) = Engine::editor(&project) else { return };
    let mut client = engine.connect();
    let resident = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", engine.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap().to_owned();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    let mut run = |count: usize| {
        for _ in 0..count {
            client.done("editor.openScenes", json!({}));
        }
    };
    run(3_000);
    let before = resident();
    run(10_000);
    let grown = resident().saturating_sub(before);
    assert!(grown < 4_096, "{grown} KiB more after 10,000 commands");
}
