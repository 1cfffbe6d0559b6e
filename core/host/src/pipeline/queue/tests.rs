use std::sync::mpsc;

use super::*;

const PATIENCE: Duration = Duration::from_secs(30);

fn deliver() -> (Deliver, mpsc::Receiver<Reply>) {
    let (sender, replies) = mpsc::channel();
    (Box::new(move |reply| sender.send(reply).unwrap()), replies)
}

/// A queue whose one runner is held; dropping the sender lets it go.
fn held() -> (Queue, mpsc::Sender<()>, Arc<Run>, mpsc::Receiver<Reply>) {
    let queue = Queue::default();
    let (release, released) = mpsc::channel::<()>();
    let (began, begun) = mpsc::channel();
    let (done, replies) = deliver();
    let work = move |_: &Run| {
        began.send(()).unwrap();
        let _ = released.recv();
        Reply::value(&"held")
    };
    let run = queue.submit("hold", work, done).unwrap();
    begun.recv_timeout(PATIENCE).unwrap();
    (queue, release, run, replies)
}

/// A job as it is told.
fn told(queue: &Queue, id: &str) -> Option<Value> {
    queue.job(id).map(|job| job.shown())
}

/// How a job is told to whoever cancels it.
fn cancelled(queue: &Queue, id: &str) -> Option<Value> {
    queue.cancel_job(id).map(|job| job.shown())
}

fn wait_for(queue: &Queue, id: &str, state: &str) -> Value {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let job = told(queue, id).unwrap();
        if job["state"] == state {
            return job;
        }
        assert!(Instant::now() < deadline, "{job}");
        thread::yield_now();
    }
}

#[test]
fn commands_run_one_after_another_in_order() {
    let (queue, release, _, first) = held();
    let (order, seen) = mpsc::channel();
    for name in ["a", "b", "c"] {
        let order = order.clone();
        let work = move |run: &Run| {
            order.send(run.command.clone()).unwrap();
            Reply::value(&1)
        };
        queue.submit(name, work, Box::new(|_| ())).unwrap();
    }
    assert!(seen.try_recv().is_err());
    drop(release);
    assert!(first.recv_timeout(PATIENCE).unwrap().is_done());
    let got: Vec<_> = (0..3).map(|_| seen.recv_timeout(PATIENCE).unwrap()).collect();
    assert_eq!(got, ["a", "b", "c"]);
}

#[test]
fn what_waits_can_be_taken_back_and_what_runs_is_asked_to_stop() {
    let (queue, release, running, _replies) = held();
    let waiting = queue.submit("never", |_| unreachable!(), Box::new(|_| unreachable!())).unwrap();
    assert_eq!(queue.give_up(&waiting), GivenUp::Waiting);
    assert_eq!(queue.give_up(&waiting), GivenUp::Ended);
    assert_eq!(queue.give_up(&running), GivenUp::Running);
    assert!(running.cancel.is_raised());
    drop(release);
    queue.wait_idle(PATIENCE);
    assert_eq!(queue.give_up(&running), GivenUp::Ended);
}

#[test]
fn a_job_goes_from_queued_to_its_end_and_can_be_read_again() {
    let (queue, release, _, _replies) = held();
    let (step, steps) = mpsc::channel::<()>();
    let id = queue
        .submit_job("work", move |run: &Run| {
            run.report("half", 1, 2);
            let _ = steps.recv();
            Reply::value(&json!({"n": 1}))
        })
        .unwrap();
    let job = told(&queue, &id).unwrap();
    assert_eq!((&job["state"], &job["startedAt"]), (&json!("queued"), &Value::Null));
    drop(release);
    wait_for(&queue, &id, "running");
    let deadline = Instant::now() + PATIENCE;
    while told(&queue, &id).unwrap()["progress"].is_null() {
        assert!(Instant::now() < deadline);
        thread::yield_now();
    }
    let want = json!({"title": "work", "info": "half", "current": 1, "total": 2, "pct": 0.5});
    assert_eq!(told(&queue, &id).unwrap()["progress"], want);
    drop(step);
    let job = wait_for(&queue, &id, "completed");
    assert_eq!((&job["result"], &job["error"]), (&json!({"n": 1}), &Value::Null));
    assert_eq!(job["progress"], Value::Null);
    assert_eq!(told(&queue, &id).unwrap(), job);
    assert_eq!(told(&queue, "other"), None);
}

#[test]
fn a_queued_job_is_canceled_before_it_starts_and_a_running_one_by_its_end() {
    let (queue, release, _, _replies) = held();
    let never = queue.submit_job("never", |_| unreachable!()).unwrap();
    let asked = queue
        .submit_job("asked", |run: &Run| {
            assert!(run.cancel.wait(PATIENCE));
            Reply::failed(400, "Command Execution Failed", "cancelled")
        })
        .unwrap();
    let job = cancelled(&queue, &never).unwrap();
    assert_eq!((&job["state"], &job["cancellationRequested"]), (&json!("canceled"), &json!(true)));
    drop(release);
    wait_for(&queue, &asked, "running");
    cancelled(&queue, &asked).unwrap();
    wait_for(&queue, &asked, "canceled");
    assert_eq!(cancelled(&queue, "other"), None);
}

#[test]
fn one_job_too_many_is_refused_and_finished_ones_are_dropped_from_the_oldest() {
    let (queue, release, _, _replies) = held();
    let job = |_: &Run| Reply::value(&1);
    let ids: Vec<_> = (0..MAX_OPEN_JOBS).map(|_| queue.submit_job("job", job).unwrap()).collect();
    assert_eq!(queue.submit_job("job", job), Err(Refused::Full));
    drop(release);
    wait_for(&queue, ids.last().unwrap(), "completed");
    let more = queue.submit_job("job", job).unwrap();
    wait_for(&queue, &more, "completed");
    assert_eq!(told(&queue, &ids[0]), None);
    assert!(told(&queue, &ids[1]).is_some());
}

#[test]
fn too_many_that_wait_are_refused() {
    let (queue, _release, _, _replies) = held();
    let submit = || queue.submit("x", |_| Reply::value(&1), Box::new(|_| ()));
    for _ in 0..MAX_WAITING {
        submit().unwrap();
    }
    assert_eq!(submit().err(), Some(Refused::Full));
}

#[test]
fn a_command_that_panics_is_answered_and_the_next_one_runs() {
    let queue = Queue::default();
    let (done, replies) = deliver();
    queue.submit("bad", |_| panic!("on purpose"), done).unwrap();
    let reply = replies.recv_timeout(PATIENCE).unwrap();
    assert_eq!(reply.outcome.unwrap_err().error, "Internal Server Error");
    let (done, replies) = deliver();
    queue.submit("good", |_| Reply::value(&1), done).unwrap();
    assert!(replies.recv_timeout(PATIENCE).unwrap().is_done());
}

#[test]
fn a_closed_queue_answers_what_waits_and_takes_nothing_more() {
    let (queue, release, running, _replies) = held();
    let (done, replies) = deliver();
    queue.submit("waits", |_| unreachable!(), done).unwrap();
    queue.close();
    assert!(running.cancel.is_raised());
    assert_eq!(replies.recv_timeout(PATIENCE).unwrap().status, 503);
    assert_eq!(queue.submit_job("late", |_| unreachable!()), Err(Refused::Closed));
    drop(release);
    queue.wait_idle(PATIENCE);
    assert!(queue.running().is_none());
}

#[test]
fn large_results_make_room_for_newer_ones() {
    let queue = Queue::default();
    let large = |_: &Run| Reply::value(&"x".repeat(MAX_KEPT_BYTES / 2 + 1));
    let first = queue.submit_job("large", large).unwrap();
    wait_for(&queue, &first, "completed");
    let second = queue.submit_job("large", large).unwrap();
    wait_for(&queue, &second, "completed");
    assert_eq!(told(&queue, &first), None);
}

#[test]
fn what_has_ended_is_not_cancelled_any_more() {
    let queue = Queue::default();
    let failed = queue
        .submit_job("bad", |_| Reply::failed(400, "Command Execution Failed", "no such thing"))
        .unwrap();
    let done = queue.submit_job("good", |_| Reply::value(&1)).unwrap();
    for (id, state) in [(failed, "failed"), (done, "completed")] {
        let before = wait_for(&queue, &id, state);
        assert_eq!(before["cancellationRequested"], false);
        assert_eq!(cancelled(&queue, &id).unwrap(), before);
        assert_eq!(told(&queue, &id).unwrap(), before);
    }
}

#[test]
fn what_a_refusal_carries_counts_as_a_result_does() {
    let queue = Queue::default();
    let large = |_: &Run| {
        let preview = "x".repeat(MAX_KEPT_BYTES / 2 + 1);
        Reply::failed(400, "Command Execution Failed", "not confirmed").with("refusal", preview)
    };
    let first = queue.submit_job("large", large).unwrap();
    wait_for(&queue, &first, "failed");
    let second = queue.submit_job("large", large).unwrap();
    wait_for(&queue, &second, "failed");
    assert_eq!(told(&queue, &first), None);
}

#[test]
fn a_job_that_runs_makes_no_room_among_those_that_wait() {
    let queue = Queue::default();
    let (_release, released) = mpsc::channel::<()>();
    let (began, begun) = mpsc::channel();
    let work = move |_: &Run| {
        began.send(()).unwrap();
        let _ = released.recv();
        Reply::value(&1)
    };
    queue.submit_job("runs", work).unwrap();
    begun.recv_timeout(PATIENCE).unwrap();
    // One that waits takes no place from requests either.
    queue.submit_job("waits", |_| Reply::value(&1)).unwrap();
    let submit = || queue.submit("x", |_| Reply::value(&1), Box::new(|_| ()));
    for _ in 0..MAX_WAITING {
        submit().unwrap();
    }
    assert_eq!(submit().err(), Some(Refused::Full));
}
