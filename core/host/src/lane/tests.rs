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
fn who_waits_comes_in_when_it_is_free_or_leaves_when_it_is_cancelled() {
    let lane = Arc::new(Lane::default());
    let (forever, shortly) = (Cancel::default(), Cancel::after(Duration::from_millis(50)));
    for (cancel, comes_in) in [(forever, true), (shortly, false)] {
        let mut turn = lane.enter(&Cancel::default());
        let (other, (sender, entered)) = (Arc::clone(&lane), mpsc::channel());
        thread::spawn(move || sender.send(other.enter(&cancel).is_some()));
        if comes_in {
            turn.take();
        }
        assert_eq!(entered.recv_timeout(PATIENCE).unwrap(), comes_in);
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
