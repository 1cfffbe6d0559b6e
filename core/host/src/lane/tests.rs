use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use super::*;

const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn one_at_a_time_holds_it_and_each_gets_it() {
    let (lane, inside) = (Lane::default(), AtomicUsize::new(0));
    let work = || {
        for _ in 0..200 {
            let _turn = lane.enter(&Cancel::default()).unwrap();
            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
            // Whoever could come in, would now.
            thread::yield_now();
            inside.fetch_sub(1, Ordering::SeqCst);
        }
    };
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(work);
        }
    });
}

#[test]
fn who_waits_is_woken_by_its_end_and_by_being_cancelled() {
    let lane = Arc::new(Lane::default());
    for is_cancelled in [false, true] {
        let turn = lane.enter(&Cancel::default()).unwrap();
        let (other, cancel, (sender, entered)) =
            (Arc::clone(&lane), Cancel::default(), mpsc::channel());
        let flag = cancel.clone();
        thread::spawn(move || sender.send(other.enter(&flag).is_some()));
        let mut turn = Some(turn);
        if is_cancelled {
            cancel.raise();
        } else {
            turn.take();
        }
        assert_eq!(entered.recv_timeout(PATIENCE).unwrap(), !is_cancelled);
    }
}

#[test]
fn who_is_cancelled_waits_no_longer() {
    let lane = Lane::default();
    let _turn = lane.enter(&Cancel::default()).unwrap();
    let cancel = Cancel::default();
    cancel.raise();
    assert!(lane.enter(&cancel).is_none());
}
