//! A real engine behind the test kit, where the machine has one.
#![allow(clippy::disallowed_methods, reason = "starts the engine that the tests are about")]

use std::{path::Path, process::Command};

use didi_plugin_api::{prelude::*, testkit::Kit};

use crate::ExportPack;

/// A kit whose children are real, or `None` with a word on standard error.
pub(crate) fn real(project: &Path) -> Option<Kit> {
    let named = std::env::var("DIDI_TEST_GODOT").ok();
    let engine = named.unwrap_or_else(|| "/usr/local/bin/godot".into());
    if !Path::new(&engine).exists() {
        eprintln!("left out: no engine at `{engine}`; name one in DIDI_TEST_GODOT");
        return None;
    }
    let run = move |spec: &ChildSpec| Ok(run(&engine, spec));
    Some(Kit::open::<ExportPack>(project).children("4.6.3.stable", run))
}

fn run(engine: &str, spec: &ChildSpec) -> ChildReport {
    let limit = format!("{}", spec.timeout_ms.div_ceil(1000));
    let ran = Command::new("timeout").arg(limit).arg(engine).args(&spec.args).output().unwrap();
    let lines = |bytes: &[u8], stderr: bool| -> Vec<ChildLine> {
        let text = String::from_utf8_lossy(bytes).into_owned();
        text.lines().map(|line| ChildLine { stderr, text: line.into() }).collect()
    };
    let timed_out = ran.status.code() == Some(124);
    ChildReport {
        pid: 0,
        exit_code: ran.status.code().filter(|_| !timed_out),
        signal: None,
        timed_out,
        tree_exited: true,
        ran_ms: 0,
        lines: [lines(&ran.stdout, false), lines(&ran.stderr, true)].concat(),
        output_truncated: false,
    }
}
