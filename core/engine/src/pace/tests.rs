use super::*;

fn attached(sleep_us: u32) -> Sight {
    Sight { attached: true, saves_power: true, sleep_us }
}

fn alone(sleep_us: u32) -> Sight {
    Sight { attached: false, ..attached(sleep_us) }
}

#[test]
fn without_a_client_nothing_is_touched() {
    let mut pace = Pace::new();
    assert_eq!(pace.plan(Instant::now(), alone(100_000)), Plan::default());
    assert_eq!(pace.plan(Instant::now(), alone(SHORT_SLEEP_US)), Plan::default());
    assert_eq!(pace.give_back(6_900), None);
}

#[test]
fn an_attached_client_moves_the_sleep_into_the_frame_and_leaving_moves_it_back() {
    let mut pace = Pace::new();
    let start = Instant::now();
    let first = pace.plan(start, attached(100_000));
    assert_eq!(first.set_sleep_us, Some(SHORT_SLEEP_US));
    assert_eq!(first.wait_until, Some(start + Duration::from_millis(100)));
    pace.frame_ended(start);
    let next = pace.plan(start + Duration::from_millis(3), attached(SHORT_SLEEP_US));
    assert_eq!(next.set_sleep_us, None);
    // The work between two frames counts, as it does in the engine.
    assert_eq!(next.wait_until, Some(start + Duration::from_millis(100)));
    let last = pace.plan(start, alone(SHORT_SLEEP_US));
    assert_eq!(last, Plan { set_sleep_us: Some(100_000), wait_until: None });
    assert_eq!(pace.plan(start, alone(100_000)), Plan::default());
}

#[test]
fn what_the_editor_writes_when_the_focus_changes_is_its_own_from_then_on() {
    let mut pace = Pace::new();
    let now = Instant::now();
    pace.plan(now, attached(6_900));
    let rewritten = pace.plan(now, attached(100_000));
    assert_eq!(rewritten.set_sleep_us, Some(SHORT_SLEEP_US));
    assert_eq!(rewritten.wait_until, Some(now + Duration::from_millis(100)));
    assert_eq!(pace.plan(now, alone(SHORT_SLEEP_US)).set_sleep_us, Some(100_000));
}

#[test]
fn a_value_that_the_editor_wrote_last_is_not_overwritten_on_detach() {
    let mut pace = Pace::new();
    pace.plan(Instant::now(), attached(100_000));
    assert_eq!(pace.plan(Instant::now(), alone(6_900)).set_sleep_us, None);
}

#[test]
fn a_sleep_that_is_short_already_stays() {
    let mut pace = Pace::new();
    assert_eq!(pace.plan(Instant::now(), attached(500)).set_sleep_us, None);
    assert_eq!(pace.plan(Instant::now(), alone(500)).set_sleep_us, None);
}

#[test]
fn an_engine_that_does_not_save_power_is_not_slowed_down() {
    let mut pace = Pace::new();
    pace.plan(Instant::now(), attached(6_900));
    let busy = Sight { saves_power: false, ..attached(SHORT_SLEEP_US) };
    let plan = pace.plan(Instant::now(), busy);
    assert_eq!(plan, Plan { set_sleep_us: Some(6_900), wait_until: None });
}

#[test]
fn no_frame_waits_longer_than_a_quarter_of_a_second() {
    let now = Instant::now();
    let plan = Pace::new().plan(now, attached(60_000_000));
    assert_eq!(plan.wait_until, Some(now + MAX_WAIT));
}
