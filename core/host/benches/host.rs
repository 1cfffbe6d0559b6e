//! What one call costs inside the server: reading its line, crossing to a pack, writing its answer.
//!
//! The boundary is measured on a real pack, the project pack of the same profile; build it first with
//! `cargo build --release --workspace`.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    missing_docs,
    reason = "a benchmark fails by panicking"
)]

use std::{hint::black_box, path::PathBuf, sync::Arc};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use didi_host::{
    answer::{CallResult, Economy, Outcome, Success, own},
    bridge::Routes,
    cancel::Cancel,
    engine::{Engines, Places},
    files::ProjectFiles,
    jsonrpc,
    loader::open,
    pipeline::client::find,
    services::{Services, Shared},
};
use didi_plugin_api::{abi::phase, desc::Mode};
use didi_wire::session_dir::SessionDir;
use serde_json::{Map, Value, json};

const MEGABYTE: usize = 1_000_000;

/// A JSON object of about one megabyte with many small members, as a large listing has.
fn document() -> Value {
    let row = json!({"path": "res://levels/meadow.tscn", "line": 17, "column": 3, "preview": "lamp = Lamp.new()"});
    let rows = MEGABYTE / row.to_string().len();
    json!({ "matches": vec![row; rows] })
}

fn lines(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("line");
    let ping = br#"{"jsonrpc":"2.0","id":12345,"method":"ping"}"#;
    group.bench_function("read a ping", |bench| bench.iter(|| jsonrpc::read_line(black_box(ping))));
    let text = "x".repeat(MEGABYTE);
    let large = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t", "arguments": {"text": text}}});
    let large = large.to_string();
    group.throughput(Throughput::Bytes(large.len() as u64));
    group.bench_function("read 1 MB", |bench| {
        bench.iter(|| jsonrpc::read_line(black_box(large.as_bytes())));
    });
    group.finish();
}

fn answers(criterion: &mut Criterion) {
    let structured = own(Mode::Local, document());
    let outcome = Outcome {
        body: Ok(Success { structured, attachments: vec![] }),
        mode: Mode::Local,
        meta: Map::new(),
        names: ("t".into(), "t".into()),
        session: None,
    };
    let write = |omit_text_copy| {
        let economy = Economy { omit_text_copy, omit_session_descriptor: false };
        serde_json::to_vec(&CallResult::of(outcome.clone(), economy, None)).unwrap()
    };
    let mut group = criterion.benchmark_group("answer of 1 MB");
    group.bench_function("with its text copy", |bench| bench.iter(|| write(black_box(false))));
    group.bench_function("without", |bench| bench.iter(|| write(black_box(true))));
    let tree = document();
    group.bench_function("serialised from a tree, for comparison", |bench| {
        bench.iter(|| serde_json::to_vec(black_box(&tree)).unwrap());
    });
    group.finish();
}

fn pack_file() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let target = own.parent().and_then(|deps| deps.parent()).unwrap();
    target.join(format!(
        "{}didi_pack_project{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    ))
}

fn boundary(criterion: &mut Criterion) {
    let file = pack_file();
    assert!(file.is_file(), "{} is missing: cargo build --release --workspace", file.display());
    let name = "didi-pack-project";
    let root = open::open(&file, name, didi_plugin_api::stamp::API_VERSION).unwrap();
    open::describe(root, name).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let root_folder = folder.path().canonicalize().unwrap();
    let sessions = SessionDir { path: root_folder.join("sessions"), checked: false };
    let shared = Shared {
        pipelines: Arc::new(find::Places { sessions: sessions.clone(), hub: None }),
        routes: Arc::new(Routes::new(sessions, root_folder.clone())),
        files: ProjectFiles::new(root_folder),
        engines: Arc::new(Engines::new(Places::default())),
        recovery: None,
    };
    let services = Services::for_resource(&shared, "bench", Mode::Local, &Cancel::default());
    let text = document().to_string();
    let mut group = criterion.benchmark_group("boundary");
    // The first tool has no preview, so its handler does nothing with what it is handed.
    let cross = |args: &[u8]| root.call()(0, phase::PREVIEW, args.into(), services.as_host()).code;
    group.bench_function("an empty call", |bench| bench.iter(|| cross(black_box(b"{}"))));
    group.bench_function("1 MB in", |bench| bench.iter(|| cross(black_box(text.as_bytes()))));
    group.bench_function("the same 1 MB as JSON, parsed and written", |bench| {
        bench.iter(|| {
            let value: Value = serde_json::from_str(black_box(&text)).unwrap();
            serde_json::to_vec(&value).unwrap()
        });
    });
    group.finish();
}

criterion_group!(benches, lines, answers, boundary);
criterion_main!(benches);
