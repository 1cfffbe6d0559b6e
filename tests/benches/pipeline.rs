//! The Pipeline's listener beside a bare handler, running a command beside the same call over standard input, and what
//! idle connections cost.
//!
//! `cargo build --workspace --release` and `cargo bench -p didi-tests --bench pipeline`; `wrk`, where it is installed,
//! measures a second time.
#![allow(clippy::disallowed_methods, reason = "a benchmark starts programs and reads the clock")]

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use axum::{Router, routing::get};
use didi_tests::{
    Pipeline, Project, didi, http::Http, pack_cache, pipeline::descriptor, server::program_alone,
    until,
};
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tower::ServiceExt as _;

/// Requests for the status.
const REQUESTS: usize = 50_000;

/// Rounds in which they are sent.
const ROUNDS: usize = 10;

/// Connections that ask at once.
const CLIENTS: usize = 4;

/// Commands that are run one after another, each way, over all processes.
const COMMANDS: usize = 10_000;

/// Processes that they are spread over.
const PROCESSES: usize = 10;

/// Connections that do nothing.
const IDLE: usize = 200;

fn main() {
    let project = Project::sample();
    let pipeline = Pipeline::over(&project);
    let bare = bare_handler();
    let status = pipeline.head("GET", "/api/status", 0);
    let (mut ours, mut beside) = (vec![], vec![]);
    // In turns, so that what else the machine does meets both.
    for _ in 0..ROUNDS {
        ours.append(&mut load(pipeline.port, &status));
        beside.append(&mut load(bare, "GET /api/status HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"));
    }
    ours.sort_unstable();
    beside.sort_unstable();
    told("/api/status", &ours);
    told("a bare axum handler", &beside);
    print(&format!(
        "  median {:.2}x of the bare handler (wanted: within 2x)",
        ratio(&ours, &beside)
    ));
    wrk(&pipeline, bare);
    memory(&pipeline);
    drop(pipeline);
    commands();
}

/// A handler that answers a constant as long as our status, on a runtime like ours.
fn bare_handler() -> u16 {
    let (sender, port) = mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime can be made");
        runtime.block_on(async move {
            let body = "x".repeat(500);
            let app: Router = Router::new().route("/api/status", get(move || async move { body }));
            let listener =
                tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
            sender.send(listener.local_addr().expect("it is bound").port()).expect("main waits");
            while let Ok((stream, _)) = listener.accept().await {
                let app = app.clone();
                let _ = stream.set_nodelay(true);
                let service = service_fn(move |request| app.clone().oneshot(request));
                let served = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                tokio::spawn(served);
            }
        });
    });
    port.recv().expect("the handler starts")
}

/// One round of requests over a few connections; how long each took.
fn load(port: u16, request: &str) -> Vec<Duration> {
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let request = request.to_owned();
            thread::spawn(move || {
                let mut http = Http::connect(port);
                let mut took = Vec::with_capacity(REQUESTS / ROUNDS / CLIENTS);
                for _ in 0..REQUESTS / ROUNDS / CLIENTS {
                    let began = Instant::now();
                    http.send(request.as_bytes()).expect("the server reads");
                    assert_eq!(http.response().status, 200);
                    took.push(began.elapsed());
                }
                took
            })
        })
        .collect();
    clients.into_iter().flat_map(|client| client.join().expect("a client ends well")).collect()
}

/// The same by another program's measure, where it is there.
fn wrk(pipeline: &Pipeline, bare: u16) {
    let run = |port: u16, token: &str| {
        let output = Command::new("wrk")
            .args([
                "-t2",
                "-c10",
                "-d10s",
                "--latency",
                "-H",
                &format!("Authorization: Bearer {token}"),
            ])
            .arg(format!("http://127.0.0.1:{port}/api/status"))
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!text.contains("Socket errors") && !text.contains("Non-2xx"), "{text}");
        let line =
            |part: &str| text.lines().find(|line| line.trim().starts_with(part)).map(str::trim);
        Some(format!("{} | {}", line("50%")?, line("Requests/sec")?))
    };
    match (run(pipeline.port, &pipeline.token), run(bare, "none")) {
        (Some(ours), Some(beside)) => {
            print(&format!("wrk, /api/status: {ours}"));
            print(&format!("wrk, a bare axum handler: {beside}"));
        }
        _ => print("wrk is not installed: measured by this program alone"),
    }
}

/// What connections cost that have asked once and are kept.
fn memory(pipeline: &Pipeline) {
    let resident = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", pipeline.server.pid()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
        line.split_whitespace().next().and_then(|text| text.parse::<i64>().ok()).unwrap_or(0)
    };
    let before = resident();
    let mut idle: Vec<Http> = (0..IDLE).map(|_| pipeline.connect()).collect();
    for http in &mut idle {
        assert_eq!(pipeline.ask(http, "GET", "/api/status", "").status, 200);
    }
    let grown = resident() - before;
    print(&format!("{IDLE} idle connections: {grown} KiB more (wanted: under 10240)"));
}

/// A cheap read over both fronts of one process, in turns; several processes, as each has its own luck with the cores.
fn commands() {
    let (mut over_http, mut over_stdio) = (vec![], vec![]);
    for _ in 0..PROCESSES {
        take_turns(&mut over_http, &mut over_stdio);
    }
    over_http.sort_unstable();
    over_stdio.sort_unstable();
    told("/api/exec of project_get_setting", &over_http);
    told("the same over standard input", &over_stdio);
    let ratio = ratio(&over_http, &over_stdio);
    print(&format!("  median {ratio:.2}x of standard input (wanted: within 1.3x)"));
}

fn take_turns(over_http: &mut Vec<Duration>, over_stdio: &mut Vec<Duration>) {
    const SETTING: &str = "application/config/name";
    const WARM: usize = 100;
    let project = Project::sample();
    let mut both = Both::start(&project);
    let body =
        json!({"command": "project_get_setting", "parameters": {"setting": SETTING}}).to_string();
    let request = format!(
        "POST /api/exec HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n{body}",
        both.token,
        body.len()
    );
    let mut http = Http::connect(both.port);
    for round in 0..COMMANDS / PROCESSES + WARM {
        let began = Instant::now();
        http.send(request.as_bytes()).expect("the server reads");
        let response = http.response();
        let http_took = began.elapsed();
        assert_eq!(response.status, 200, "{}", response.text());
        let began = Instant::now();
        let answer = both.ask(
            "tools/call",
            &json!({"name": "project_get_setting", "arguments": {"setting": SETTING}}),
        );
        let stdio_took = began.elapsed();
        assert!(answer.contains("Lantern"), "{answer}");
        // The first ones find nothing warm.
        if round >= WARM {
            over_http.push(http_took);
            over_stdio.push(stdio_took);
        }
    }
}

/// One process with both fronts, its lines read without a thread between.
struct Both {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    port: u16,
    token: String,
}

impl Both {
    fn start(project: &Project) -> Self {
        let mut child = program_alone(&didi())
            .arg("--project")
            .arg(project.root())
            .arg("--pack-cache")
            .arg(pack_cache())
            .args(["--log-level", "ERROR", "--pipeline", "--pipeline-port", "0"])
            .env("DIDI_SESSION_DIR", project.outside())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program can be started");
        let input = child.stdin.take().expect("it is piped");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let found = until("the descriptor", || descriptor(&project.root()));
        let port = found["port"].as_u64().and_then(|port| u16::try_from(port).ok());
        let token = found["evalToken"].as_str().expect("a token is there").to_owned();
        let mut both = Both { child, input, output, port: port.expect("a port is there"), token };
        let client = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}});
        both.ask("initialize", &client);
        both
    }

    fn ask(&mut self, method: &str, params: &Value) -> String {
        let line = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
            .to_string()
            + "\n";
        self.input.write_all(line.as_bytes()).expect("the server reads");
        let mut answer = String::new();
        self.output.read_line(&mut answer).expect("the server answers");
        answer
    }
}

impl Drop for Both {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn at(sorted: &[Duration], percent: usize) -> Duration {
    sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)]
}

fn ratio(ours: &[Duration], beside: &[Duration]) -> f64 {
    at(ours, 50).as_secs_f64() / at(beside, 50).as_secs_f64()
}

fn told(what: &str, sorted: &[Duration]) {
    let micros = |percent| at(sorted, percent).as_micros();
    print(&format!(
        "{what}: median {} us, 99 % {} us ({} requests, no error)",
        micros(50),
        micros(99),
        sorted.len()
    ));
}

#[allow(clippy::print_stdout, reason = "a benchmark says what it measured")]
fn print(line: &str) {
    println!("{line}");
}
