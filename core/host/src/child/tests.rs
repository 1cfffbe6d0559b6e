use std::{path::Path, thread, time::Duration};

use super::{Spec, run};
use crate::{cancel::Cancel, source};

fn shell(script: &str, limit_ms: u64, cancel: &Cancel) -> didi_plugin_api::ctx::ChildReport {
    let args = ["-c".to_owned(), script.to_owned()];
    let spec = Spec {
        program: Path::new("/bin/sh"),
        args: &args,
        env: &[("GREETING".into(), "hello there".into())],
        folder: Path::new("/"),
        limit: Duration::from_millis(limit_ms),
        max_output_bytes: 1000,
        ends_with_us: true,
    };
    run(&spec, cancel).unwrap()
}

#[test]
fn output_and_exit_code_come_back() {
    let report = shell("echo \"$GREETING\"; echo bad >&2; exit 3", 5000, &Cancel::default());
    assert_eq!((report.exit_code, report.timed_out, report.tree_exited), (Some(3), false, true));
    let mut lines: Vec<_> = report.lines.iter().map(|line| (line.stderr, &*line.text)).collect();
    lines.sort_unstable();
    assert_eq!(lines, [(false, "hello there"), (true, "bad")]);
}

#[test]
fn a_time_limit_ends_the_whole_tree() {
    let report = shell("sleep 60 & setsid sleep 60 & echo $$; wait", 300, &Cancel::default());
    assert!(report.timed_out && report.tree_exited);
    assert_eq!(report.exit_code, None);
}

#[test]
fn a_background_process_does_not_outlive_its_parent() {
    let report = shell("sleep 60 & echo started", 5000, &Cancel::default());
    assert!(report.tree_exited && report.ran_ms < 4000);
    assert_eq!(report.lines[0].text, "started");
}

#[test]
fn a_cancel_ends_it_at_once() {
    let cancel = Cancel::default();
    let raised = cancel.clone();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(50));
        raised.raise();
    });
    let started = source::now();
    let report = shell("sleep 60", 30_000, &cancel);
    assert!(started.elapsed() < Duration::from_secs(5));
    assert!(!report.timed_out && report.exit_code.is_none());
}

#[test]
fn output_past_the_bound_is_dropped_and_said() {
    let report = shell("for i in 1 2 3; do printf '%0600d\\n' $i; done", 5000, &Cancel::default());
    assert!(report.output_truncated);
    assert_eq!(report.lines.len(), 1);
}
