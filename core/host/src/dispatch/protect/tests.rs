use didi_plugin_api::refusal::Code;

use super::*;

fn refusal(status: u16, outcome: Option<&str>) -> Refusal {
    let refusal = Refusal::new(Code::new(status, "some_code"), "it did not work");
    match outcome {
        Some(outcome) => refusal.with("outcome", outcome).retry_after_ms(0),
        None => refusal.retry_after_ms(0),
    }
}

#[test]
fn what_an_engine_says_of_the_outcome_counts() {
    for mode in [Mode::Live, Mode::OfflineFallback] {
        assert!(!is_uncertain(&refusal(504, Some("not_started")), mode, || true));
        assert!(is_uncertain(&refusal(504, Some("unknown_outcome")), mode, || false));
    }
}

#[test]
fn where_nothing_is_said_the_files_tell() {
    for (status, mode, moved, uncertain) in [
        (404, Mode::Live, true, false),
        (409, Mode::Local, true, false),
        (502, Mode::Local, false, false),
        (502, Mode::Local, true, true),
        (503, Mode::Live, false, false),
        (500, Mode::Local, false, false),
        (500, Mode::Live, false, true),
    ] {
        let found = is_uncertain(&refusal(status, None), mode, || moved);
        assert_eq!(found, uncertain, "{status} {mode:?} {moved}");
    }
}

#[test]
fn a_cancelled_live_change_may_have_been_made() {
    let cancelled = || Refusal::new(codes::CANCELLED, "nobody waits").retry_after_ms(0);
    assert!(is_uncertain(&cancelled(), Mode::Live, || false));
    assert!(!is_uncertain(&cancelled(), Mode::OfflineFallback, || false));
    assert!(is_uncertain(&cancelled(), Mode::OfflineFallback, || true));
}

#[test]
fn only_what_would_run_finds_a_lost_editor() {
    let arguments = |value: Value| -> Map<String, Value> { serde_json::from_value(value).unwrap() };
    let runs = |rule, value, has_word| is_authorized(rule, &arguments(value), has_word);
    assert!(runs(Confirmation::Never, json!({}), false));
    assert!(!runs(Confirmation::Never, json!({"dry_run": true}), false));
    assert!(!runs(Confirmation::Always, json!({}), false));
    assert!(runs(Confirmation::Always, json!({"confirmation_token": "x"}), false));
    assert!(runs(Confirmation::Always, json!({}), true));
    assert!(runs(Confirmation::OnOverwrite, json!({}), false));
    assert!(!runs(Confirmation::OnOverwrite, json!({"overwrite": true}), false));
}
