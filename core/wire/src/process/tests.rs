#![allow(clippy::disallowed_methods, reason = "a child of the test's own")]

use std::process::{Command, Stdio};

use super::*;

#[test]
fn this_process_is_alive_and_started_before_now() {
    let started = own_start_ms().unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let now = u64::try_from(now.as_millis()).unwrap();
    assert!(started <= now + START_TOLERANCE_MS, "{started} {now}");
    assert!(now - started < 24 * 3_600_000, "{started} {now}");
    assert_eq!(liveness(std::process::id(), started), Liveness::Alive);
}

#[test]
fn a_recycled_pid_is_gone() {
    let started = own_start_ms().unwrap();
    let pid = std::process::id();
    assert_eq!(liveness(pid, started - START_TOLERANCE_MS - 1), Liveness::Gone);
    assert_eq!(liveness(pid, started + START_TOLERANCE_MS + 1), Liveness::Gone);
}

#[cfg(unix)]
#[test]
fn an_ended_process_is_gone_before_and_after_it_is_reaped() {
    use std::io::Read as _;

    let mut child = Command::new("sh")
        .args(["-c", "read line"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = child.id();
    let Sight::Running(Some(started)) = system::look(pid) else { panic!("not running") };
    assert_eq!(liveness(pid, started), Liveness::Alive);
    drop(child.stdin.take());
    // Its output ends with it.
    child.stdout.take().unwrap().read_to_end(&mut vec![]).unwrap();
    let end = std::time::Instant::now() + std::time::Duration::from_secs(5);
    while liveness(pid, started) != Liveness::Gone {
        assert!(std::time::Instant::now() < end, "an ended child still counts as alive");
        std::thread::yield_now();
    }
    child.wait().unwrap();
    assert_eq!(liveness(pid, started), Liveness::Gone);
}

#[test]
fn no_process_has_pid_0_or_one_beyond_the_systems() {
    assert_eq!(liveness(0, 1), Liveness::Gone);
    assert_eq!(liveness(u32::MAX, 1), Liveness::Gone);
}
