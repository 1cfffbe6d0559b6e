//! Round trips over the bridge of a real headless editor and game, printed as medians and tails.
//!
//! `cargo build --workspace --release` and `cargo bench -p didi-tests --bench bridge`; needs a Godot and the built extension.
#![allow(clippy::disallowed_methods, reason = "a benchmark starts programs and reads the clock")]

use std::{
    process::Command,
    time::{Duration, Instant},
};

use didi_tests::{
    Project,
    live::{Client, Display, Engine},
};
use serde_json::{Value, json};

fn main() {
    let project = Project::sample();
    let Some(editor) = Engine::editor(&project) else { return };
    let mut client = editor.connect();
    client.done("editor.getState", json!({}));
    drop(client);
    idle("headless editor", &editor);
    let mut client = editor.connect();
    run("editor: a read in a run of calls", &mut client, "editor.openScenes", &json!({}));
    run("editor: on the bridge's own thread", &mut client, "session.handshake", &json!({}));
    after_pauses(&mut client);
    writes(&mut client);
    hierarchy(&mut client);
    memory(&mut client, &editor);
    drop(editor);
    windowed();
    pictures();
    comparisons();
    let project = Project::sample();
    let Some(game) = Engine::game(&project) else { return };
    let mut client = game.connect();
    run("game: a read in a run of calls", &mut client, "runtime.getTree", &json!({"max_depth": 0}));
}

/// An editor with a window: one that nobody has given the focus, and then one that has it, where `xdotool` is installed.
fn windowed() {
    let project = Project::sample();
    let display = Display::start();
    let Some(editor) = Engine::windowed_editor(&project, &display) else { return };
    let mut client = editor.connect();
    // Shows the view that is still while nothing happens; the other draws without pause.
    client.done("scene.create", json!({"scene_path": "res://still.tscn"}));
    drop(client);
    idle("windowed editor", &editor);
    let mut client = editor.connect();
    run("windowed editor: a read in a run of calls", &mut client, "editor.openScenes", &json!({}));
    after_pauses(&mut client);
    writes(&mut client);
    drop(client);
    if !has_focus(&display, &editor) {
        return print("focused editor: not measured, as nothing gives it the focus");
    }
    idle("focused editor", &editor);
    let mut client = editor.connect();
    run("focused editor: a read in a run of calls", &mut client, "editor.openScenes", &json!({}));
    after_pauses(&mut client);
}

/// Gives the focus to an editor's window; whether it then has it.
fn has_focus(display: &Display, engine: &Engine) -> bool {
    let pid = engine.pid().to_string();
    let ask = |words: &[&str]| {
        let said = Command::new("xdotool").env("DISPLAY", display.name()).args(words).output();
        said.is_ok_and(|said| String::from_utf8_lossy(&said.stdout).trim() == pid)
    };
    ask(&["search", "--onlyvisible", "--pid", &pid, "windowfocus", "getwindowpid"])
        && (0..20).any(|_| {
            std::thread::sleep(Duration::from_millis(100));
            ask(&["getwindowfocus", "getwindowpid"])
        })
}

/// What an engine holds more of after many commands.
fn memory(client: &mut Client, engine: &Engine) {
    const COMMANDS: usize = 100_000;
    let resident = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", engine.pid()));
        let line = status.unwrap_or_default();
        let line = line.lines().find_map(|line| line.strip_prefix("VmRSS:").map(str::to_owned));
        line.and_then(|line| line.split_whitespace().next()?.parse::<i64>().ok()).unwrap_or(0)
    };
    let mut ask = |count: usize| {
        (0..count).for_each(|_| drop(client.done("editor.openScenes", json!({}))));
    };
    ask(COMMANDS / 20);
    let before = resident();
    ask(COMMANDS);
    let grown = resident() - before;
    print(&format!("editor: {grown} KiB more after {COMMANDS} commands"));
}

/// The sample project, whose window has so many pixels.
fn of_size(width: u32, height: u32) -> Project {
    let project = Project::sample();
    let settings = project.text("project.godot").unwrap_or_default();
    let settings = settings
        .replace("viewport_width=640", &format!("viewport_width={width}"))
        .replace("viewport_height=360", &format!("viewport_height={height}"));
    project.write("project.godot", settings);
    project
}

/// A frame of a game of 1280 by 720, captured and encoded.
fn pictures() {
    let project = of_size(1280, 720);
    let display = Display::start();
    let Some(game) = Engine::windowed_game(&project, &display) else { return };
    let mut client = game.connect();
    let picture = client.done("vision.captureViewport", json!({}));
    let spans = (0..30).map(|_| timed(|| client.done("vision.captureViewport", json!({}))));
    report(&format!("game: a picture of {}", size(&picture)), spans.collect());
}

/// A game of 1920 by 1080 compared with its own earlier picture, and 256 rays of one call.
fn comparisons() {
    let project = of_size(1920, 1080);
    let display = Display::of(1920, 1080);
    let Some(game) = Engine::windowed_game(&project, &display) else { return };
    let mut client = game.connect();
    let mut spans = vec![];
    let mut answer = json!({});
    for _ in 0..20 {
        let baseline = client.done("vision.captureViewport", json!({}))["capture_id"].clone();
        let ask = json!({"baseline_capture_id": baseline, "min_ssim": 0.5});
        let start = Instant::now();
        answer = client.done("vision.diffViewport", ask);
        spans.push(start.elapsed());
    }
    let (size, ssim) = (&answer["resolution"], &answer["ssim"]);
    report(&format!("game: a comparison with SSIM of {size}, ssim {ssim}"), spans);
    let spans = (0..20).map(|_| timed(|| client.done("vision.captureViewport", json!({}))));
    report("game: a picture of the same size alone", spans.collect());
    let ray = json!({"from": {"x": 0, "y": 0, "z": 0}, "to": {"x": 0, "y": 0, "z": -50}});
    let rays = json!({"rays": vec![ray; 256]});
    let spans = (0..50).map(|_| timed(|| client.done("physics.raycastBatch", rays.clone())));
    report("game: 256 rays in one call", spans.collect());
    let spans = (0..50).map(|_| timed(|| client.done("physics.raycast", rays["rays"][0].clone())));
    report("game: one ray in one call", spans.collect());
}

/// The size that the head of a PNG tells.
fn size(answer: &Value) -> String {
    let text = answer["image"]["data"].as_str().unwrap_or_default();
    let picture = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, text);
    let number = |at: usize| {
        let four = picture.as_ref().ok()?.get(at..at + 4)?;
        Some(u32::from_be_bytes(four.try_into().ok()?))
    };
    format!("{:?} by {:?}", number(16), number(20))
}

/// What an engine spends of a core without a client, and with one that is silent.
fn idle(what: &str, engine: &Engine) {
    std::thread::sleep(Duration::from_secs(2));
    let alone = share(engine);
    let mut client = engine.connect();
    client.done("session.handshake", json!({}));
    std::thread::sleep(Duration::from_secs(1));
    let attached = share(engine);
    print(&format!("{what}: {alone:.2} % of a core alone, {attached:.2} % with a silent client"));
}

/// Percent of a core over five seconds.
fn share(engine: &Engine) -> f64 {
    let span = Duration::from_secs(5);
    let before = ticks(engine.pid());
    std::thread::sleep(span);
    // A tick is a hundredth of a second.
    (ticks(engine.pid()) - before) / span.as_secs_f64()
}

/// Time that a process has spent, in the system's ticks.
fn ticks(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
    fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum()
}

fn run(what: &str, client: &mut Client, method: &str, params: &Value) {
    let spans = (0..1000).map(|_| timed(|| client.done(method, params.clone()))).collect();
    report(what, spans);
}

fn after_pauses(client: &mut Client) {
    let once = |_| {
        std::thread::sleep(Duration::from_millis(317));
        timed(|| client.done("editor.openScenes", json!({})))
    };
    report("editor: the first call after a pause", (0..20).map(once).collect());
}

fn writes(client: &mut Client) {
    let params = json!({"scene_path": "res://bench.tscn", "root_name": "Bench"});
    client.done("scene.create", params);
    client.done("scene.instantiateNode", json!({"node_type": "Node2D", "name": "A"}));
    let write = |at: usize| json!({"target_node": "A", "property_name": "position", "value": {"x": at, "y": 0}});
    let batch = json!({"writes": (0..64).map(write).collect::<Vec<_>>()});
    let start = Instant::now();
    let batches = (0..16).map(|_| timed(|| client.done("scene.setProperty", batch.clone())));
    let batches: Vec<Duration> = batches.collect();
    let spent = start.elapsed().as_secs_f64();
    print(&format!("editor: {:.0} property writes a second, in batches of 64", 1024.0 / spent));
    report("editor: one such batch", batches);
}

/// A root with 10,000 children.
fn hierarchy(client: &mut Client) {
    let mut scene = String::from("[gd_scene format=3]\n\n[node name=\"Big\" type=\"Node2D\"]\n");
    for at in 0..10_000 {
        scene += "\n[node name=\"N";
        scene += &at.to_string();
        scene += "\" type=\"Node2D\" parent=\".\"]\n";
    }
    let handshake = client.done("session.handshake", json!({}));
    let folder = handshake["project_path"].as_str().unwrap_or_default().to_owned();
    let written = std::fs::write(format!("{folder}/big.tscn"), scene);
    assert!(written.is_ok(), "{written:?}");
    client.done("scene.open", json!({"scene_path": "res://big.tscn"}));
    let spans = (0..20).map(|_| timed(|| client.done("scene.getHierarchy", json!({})))).collect();
    report("editor: the tree of 10,001 nodes", spans);
}

fn timed(call: impl FnOnce() -> Value) -> Duration {
    let start = Instant::now();
    call();
    start.elapsed()
}

fn report(what: &str, mut spans: Vec<Duration>) {
    spans.sort();
    let at = |part: usize| spans[(spans.len() - 1) * part / 100].as_secs_f64() * 1000.0;
    print(&format!(
        "{what}: median {:.3} ms, p90 {:.3} ms, worst {:.3} ms",
        at(50),
        at(90),
        at(100)
    ));
}

#[allow(clippy::print_stdout, reason = "what a benchmark is for")]
fn print(line: &str) {
    println!("{line}");
}
