//! Real child processes behind the kit, for tests of tools that run an engine.
//!
//! Spec: P-34, testing a pack.

use std::{
    io::{Read, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::{
    ctx::{ChildLine, ChildReport, ChildSpec},
    refusal::{Refusal, codes},
};

/// The engine of this machine's tests: `DIDI_TEST_GODOT`, `GODOT_BIN`, the usual place, then the search path.
///
/// `None` names the test that is left out, on the standard error that the test runner does not capture.
///
/// # Panics
/// Where `CI` is `true`: there a missing engine is a failure.
pub fn real_engine() -> Option<PathBuf> {
    let named = ["DIDI_TEST_GODOT", "GODOT_BIN"].iter().filter_map(std::env::var_os);
    let named = named.map(PathBuf::from);
    let usual = std::iter::once(PathBuf::from("/usr/local/bin/godot"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let searched = std::env::split_paths(&path)
        .flat_map(|folder| ["godot", "godot4", "godot.exe"].map(|name| folder.join(name)));
    let found = named.chain(usual).chain(searched).find(|file| file.is_file());
    if found.is_none() {
        left_out("Godot 4.5 or newer; name one in DIDI_TEST_GODOT");
    }
    found
}

/// Says that this test is left out for want of something, on the standard error that the test runner does not capture.
///
/// # Panics
/// Where `CI` is `true`: there nothing may be missing.
pub fn left_out(needs: &str) {
    let thread = thread::current();
    let test = thread.name().unwrap_or("a test");
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "in CI {test} needs {needs}");
    // The print macros are captured; a line written to the stream itself is seen.
    let _ = writeln!(std::io::stderr(), "left out: {test} needs {needs}");
}

/// Runs a child for real, with the engine where the spec names no program.
///
/// # Errors
/// `toolchain_unavailable` when it can't be started.
pub fn run_for_real(
    engine: &Path,
    project: &Path,
    spec: &ChildSpec,
) -> Result<ChildReport, Refusal> {
    let program = spec.program.as_deref().unwrap_or(engine);
    let started = Instant::now();
    let mut child = Command::new(program)
        .args(&spec.args)
        .envs(spec.env.iter().map(|(name, value)| (name, value)))
        .current_dir(spec.folder.as_deref().unwrap_or(project))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| {
            let message = format!("`{}` can't be started: {error}", program.display());
            Refusal::new(codes::TOOLCHAIN_UNAVAILABLE, message).no_remedy("the program is missing")
        })?;
    let outputs = [collect(child.stdout.take(), false), collect(child.stderr.take(), true)];
    let limit = Duration::from_millis(spec.timeout_ms);
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break Some(status),
            None if started.elapsed() > limit => {
                child.kill().unwrap();
                child.wait().unwrap();
                break None;
            }
            None => thread::sleep(Duration::from_millis(5)),
        }
    };
    let pid = child.id();
    Ok(ChildReport {
        pid,
        exit_code: status.and_then(|status| status.code()),
        signal: None,
        timed_out: status.is_none(),
        tree_exited: true,
        ran_ms: u64::try_from(started.elapsed().as_millis()).unwrap(),
        lines: outputs.into_iter().flat_map(|output| output.join().unwrap()).collect(),
        output_truncated: false,
    })
}

fn collect(
    pipe: Option<impl Read + Send + 'static>,
    stderr: bool,
) -> thread::JoinHandle<Vec<ChildLine>> {
    thread::spawn(move || {
        let mut bytes = vec![];
        if let Some(mut pipe) = pipe {
            pipe.read_to_end(&mut bytes).unwrap();
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        text.lines().map(|line| ChildLine { stderr, text: line.into() }).collect()
    })
}
