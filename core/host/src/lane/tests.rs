use std::{sync::Arc, thread};

use super::*;

#[test]
fn one_holds_it_and_the_next_gets_it() {
    let lane = Arc::new(Lane::default());
    let turn = lane.enter(&Cancel::default()).unwrap();
    let other = Arc::clone(&lane);
    let waiting = thread::spawn(move || other.enter(&Cancel::default()).is_some());
    assert!(!waiting.is_finished());
    drop(turn);
    assert!(waiting.join().unwrap());
    assert!(lane.enter(&Cancel::default()).is_some());
}

#[test]
fn who_is_cancelled_waits_no_longer() {
    let lane = Lane::default();
    let _turn = lane.enter(&Cancel::default()).unwrap();
    let cancel = Cancel::default();
    cancel.raise();
    assert!(lane.enter(&cancel).is_none());
}
