//! The whole program on large projects, beside programs that do the same work in the same run.
//!
//! `cargo build --release --workspace && cargo bench -p didi-tests --bench project`. The search's peer is `rg`, the
//! scene's is the engine; a peer that is not on the machine is left out and named.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark starts programs, writes files, reads the clock and reports"
)]

mod tree;

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use didi_tests::{Launch, Server, godot};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Files of the large project without the 4,500 sidecars beside them, and bytes in all.
const FILES: usize = 9_000;
const BYTES: usize = 200_000_000;
/// Bytes of the large scene.
const SCENE_BYTES: u32 = 13_000_000;
/// Runs of each measurement.
const RUNS: usize = 9;
/// Files that have just changed are read again for this long.
const SETTLED: Duration = Duration::from_millis(2_100);

fn main() {
    // `cargo bench` passes arguments of its harness, which mean nothing here.
    let folder = TempDir::with_prefix("didi-bench-").unwrap();
    println!("| what | median | least | peer | ratio |\n| --- | --- | --- | --- | --- |");
    let project = folder.path().join("project");
    tree::project(&project, FILES, BYTES);
    std::thread::sleep(SETTLED);
    search(&project);
    index(&project);
    let scene = folder.path().join("scene");
    tree::scene(&scene, SCENE_BYTES as usize);
    read_scene(&scene);
    edit_scene(&scene);
}

/// Times in milliseconds, of which the median and the least are reported.
struct Times(Vec<f64>);

impl Times {
    fn of(runs: usize, mut once: impl FnMut()) -> Self {
        let mut times: Vec<f64> = (0..runs)
            .map(|_| {
                let start = Instant::now();
                once();
                start.elapsed().as_secs_f64() * 1000.0
            })
            .collect();
        times.sort_by(f64::total_cmp);
        Times(times)
    }

    fn median(&self) -> f64 {
        self.0[self.0.len() / 2]
    }

    fn report(&self, what: &str, peer: Option<(&str, &Times)>) {
        let (median, least) = (self.median(), self.0[0]);
        let (peer, ratio) = peer.map_or_else(Default::default, |(name, peer)| {
            (format!("{name}: {:.1} ms", peer.median()), format!("{:.2}x", median / peer.median()))
        });
        println!("| {what} | {median:.1} ms | {least:.1} ms | {peer} | {ratio} |");
    }
}

fn serve(project: &Path) -> Server {
    let mut server = Launch::over(project).args(["--yolo"]).start();
    // The packs are taken up while the first call waits.
    call(&mut server, "project_get_setting", json!({"setting": "application/config/name"}));
    server
}

fn call(server: &mut Server, tool: &str, arguments: Value) -> Value {
    let result = server.call(tool, arguments);
    assert_eq!(result["isError"], false, "{result}");
    result["structuredContent"].clone()
}

fn search(project: &Path) {
    let mut server = serve(project);
    // Few enough to be listed whole, so that both look at every file to its end.
    let query = "update_state_777";
    let arguments = json!({"query": query, "max_results": 500});
    let found = call(&mut server, "project_search_text", arguments.clone());
    let matches = found["matches"].as_array().unwrap().len();
    assert_eq!(found["truncated"], false, "{}", found["scanned_bytes"]);
    let ours = Times::of(RUNS, || {
        call(&mut server, "project_search_text", arguments.clone());
    });
    let endings = "*.{gd,cs,tscn,tres,gdshader,gdshaderinc,godot,cfg,json,import}";
    let mut peer = Command::new("rg");
    peer.args(["-F", "-n", "--no-ignore", "--hidden", "-g", endings, query]).arg(project);
    let Ok(listed) = peer.output() else {
        println!("| text search: `rg` is not on this machine | | | | |");
        return ours.report("text search", None);
    };
    let lines = String::from_utf8_lossy(&listed.stdout).lines().count();
    assert_eq!(lines, matches, "both find the same");
    peer.stdout(Stdio::null());
    let peers = Times::of(RUNS, || assert!(peer.status().unwrap().success()));
    let what =
        format!("text search, {} matches listed", found["matches"].as_array().unwrap().len());
    ours.report(&what, Some(("`rg`", &peers)));
}

fn index(project: &Path) {
    let list = json!({"fuzzy_query": "f00001"});
    let uids = json!({"resolve": ["res://d000/f00000.gd"]});
    let cold = Times::of(3, || {
        let mut server = serve(project);
        call(&mut server, "project_get_uid_map", uids.clone());
    });
    cold.report("index of 13,500 files, cold: start, read, answer", None);
    let mut server = serve(project);
    call(&mut server, "project_get_uid_map", uids.clone());
    Times::of(RUNS, || drop(call(&mut server, "project_list_resources", list.clone())))
        .report("index, warm: one file asked for", None);
    Times::of(RUNS, || drop(call(&mut server, "project_get_uid_map", uids.clone())))
        .report("index, warm: 8,100 uids answered", None);
    let changed = project.join("d000/f00000.gd");
    let mut count = 0;
    Times::of(RUNS, || {
        count += 1;
        fs::write(&changed, format!("class_name C{count}\n")).unwrap();
        call(&mut server, "project_list_resources", list.clone());
    })
    .report("index, one file changed", None);
    let first = Times::of(1, || {
        call(&mut server, "project_analyze_impact", json!({"target": "res://d000/f00010.gd"}));
    });
    first.report("impact of a file, first call (every text read once)", None);
    for (what, target) in [("a file", "res://d000/f00010.gd"), ("a class", "C00010")] {
        Times::of(RUNS, || {
            call(&mut server, "project_analyze_impact", json!({ "target": target }));
        })
        .report(&format!("impact of {what}, warm"), None);
    }
}

fn read_scene(project: &Path) {
    let mut server = serve(project);
    let arguments = json!({"root_path": "res://level.tscn", "max_nodes": 200});
    let ours =
        Times::of(RUNS, || drop(call(&mut server, "scene_get_hierarchy", arguments.clone())));
    let peer = engine_load(project);
    ours.report(
        "tree of a 13 MB scene, 200 nodes shown",
        peer.as_ref().map(|peer| ("the engine loads it", peer)),
    );
    let peak = peak_bytes(server.pid());
    println!(
        "| peak memory of the server after it | {:.1} MB | | the file: {:.1} MB | {:.2}x |",
        peak / 1e6,
        f64::from(SCENE_BYTES) / 1e6,
        peak / f64::from(SCENE_BYTES)
    );
}

/// How long the engine takes to load the scene, without its start.
fn engine_load(project: &Path) -> Option<Times> {
    let engine = godot()?;
    let script = project.join("load.gd");
    let text = "extends SceneTree\n\nfunc _init():\n\tfor run in 5:\n\t\tvar start := Time.get_ticks_usec()\n\t\t\
        var scene = ResourceLoader.load(\"res://level.tscn\", \"\", ResourceLoader.CACHE_MODE_IGNORE)\n\t\t\
        assert(scene != null)\n\t\tprint(\"loaded in \", Time.get_ticks_usec() - start)\n\tquit()\n";
    fs::write(&script, text).unwrap();
    let output = Command::new(engine)
        .args(["--headless", "--path"])
        .arg(project)
        .args(["-s", "res://load.gd"])
        .output()
        .unwrap();
    fs::remove_file(&script).unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut times: Vec<f64> = text
        .lines()
        .filter_map(|line| Some(line.strip_prefix("loaded in ")?.parse::<f64>().ok()? / 1000.0))
        .collect();
    times.sort_by(f64::total_cmp);
    assert!(!times.is_empty(), "{text}");
    Some(Times(times))
}

fn edit_scene(project: &Path) {
    let mut server = serve(project);
    let mut count = 0;
    let ours = Times::of(RUNS, || {
        let name =
            |count: usize| if count == 0 { "Last".to_owned() } else { format!("Last{count}") };
        let arguments = json!({
            "in_scene": "res://level.tscn", "target_node": name(count), "new_name": name(count + 1),
        });
        call(&mut server, "scene_rename_node", arguments);
        count += 1;
    });
    let (from, to) = (project.join("level.tscn"), project.join("copy.bin"));
    let write = |to: &Path, bytes: &[u8]| {
        let mut file = fs::File::create(to).unwrap();
        file.write_all(bytes).unwrap();
        file.sync_all().unwrap();
        fs::rename(to, project.join("copy2.bin")).unwrap();
    };
    let peer = Times::of(RUNS, || write(&to, &fs::read(&from).unwrap()));
    let tree = json!({"root_path": "res://level.tscn", "max_nodes": 200});
    let read = Times::of(RUNS, || drop(call(&mut server, "scene_get_hierarchy", tree.clone())));
    let bytes = fs::read(&from).unwrap();
    let written = Times::of(RUNS, || write(&to, &bytes));
    ours.report(
        "one line of it changed, confirmed and read back",
        Some(("its bytes read and written once", &peer)),
    );
    let both = read.median() + written.median();
    println!(
        "| the same | {:.1} ms | | its tree read, its bytes written once: {both:.1} ms | {:.2}x |",
        ours.median(),
        ours.median() / both
    );
}

/// The most memory that a process had, in bytes; 0 where the system does not say.
fn peak_bytes(pid: u32) -> f64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok()).unwrap_or(0.0) * 1024.0
}
