//! What is said of frames that are known.

use super::*;

const BUDGET: Budget = Budget { millis: 16.0, basis: "max_fps", separate_thread: false };

fn frames(physics: f64, process: f64, draw: f64, gpu: f64) -> Vec<Frame> {
    vec![Frame { whole: 16.0, physics, process, draw, gpu }; 60]
}

#[test]
fn the_longest_part_of_a_full_frame_bounds_it() {
    for (physics, process, draw, gpu, bound) in [
        (1.0, 2.0, 3.0, 0.0, "none"),
        (1.0, 20.0, 3.0, 0.0, "cpu"),
        (20.0, 1.0, 3.0, 0.0, "physics"),
        (1.0, 1.0, 3.0, 30.0, "gpu"),
        (1.0, 1.0, 30.0, 0.0, "unknown"),
        (10.0, 9.0, 1.0, 0.0, "contested"),
    ] {
        let verdict = BUDGET.judge(&frames(physics, process, draw, gpu), 60);
        assert_eq!(verdict["bound"], bound, "{verdict}");
        assert_eq!((&verdict["confidence"], &verdict["frames"]), (&json!("high"), &json!(60)));
    }
}

#[test]
fn one_slow_frame_is_told_and_does_not_decide() {
    let mut frames = frames(1.0, 2.0, 1.0, 0.0);
    frames[7].process = 90.0;
    let verdict = BUDGET.judge(&frames, 120);
    assert_eq!((&verdict["bound"], &verdict["slow_frames"]["count"]), (&json!("none"), &json!(1)));
    assert_eq!(verdict["slow_frames"]["worst"], 92.0);
    assert_eq!(verdict["physics_ticks_per_frame"], 2.0);
}

#[test]
fn too_few_frames_are_unknown() {
    let verdict = BUDGET.judge(&frames(1.0, 90.0, 1.0, 0.0)[..4], 4);
    assert_eq!((&verdict["bound"], &verdict["confidence"]), (&json!("unknown"), &json!("low")));
    assert_eq!(BUDGET.judge(&[], 0)["bound"], "unknown");
}

#[test]
fn a_stall_that_is_not_seen_fails_its_check() {
    let stalled = BUDGET.stall().as_secs_f64() * 1000.0;
    assert_eq!(BUDGET.judge_stall(&frames(0.1, stalled + 0.5, 0.1, 0.0))["passed"], true);
    assert_eq!(BUDGET.judge_stall(&frames(0.1, 1.0, 0.1, 0.0))["passed"], false);
}
