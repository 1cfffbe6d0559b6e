use std::{sync::mpsc, time::Duration};

use didi_plugin_api::desc::Mode;
use serde_json::{Map, json};

use super::{Jobs, MAX_KEPT, MAX_RUNNING, Order, Status};
use crate::{
    answer::{self, Outcome, Success},
    services::cancelled,
};

fn order(request_id: &str) -> Order {
    Order { request_id: Some(request_id.into()), tool: "t".into(), arguments_digest: "d".into() }
}

fn done() -> Outcome {
    let structured = answer::own(Mode::Local, json!({"n": 1}));
    Outcome {
        body: Ok(Success { structured, attachments: vec![] }),
        mode: Mode::Local,
        meta: Map::new(),
        names: ("t".into(), "t".into()),
        session: None,
    }
}

const LONG: Duration = Duration::from_secs(10);

#[test]
fn a_job_keeps_its_outcome() {
    let jobs = Jobs::default();
    let job = jobs.start(order("request-1"), |_| done()).unwrap();
    let outcome = job.wait(LONG).unwrap();
    assert_eq!(outcome.meta["job"]["state"], "completed");
    let again = jobs.find("request-1").unwrap();
    assert!(again.wait(Duration::ZERO).unwrap().body.is_ok());
    assert!(jobs.find("request-2").is_none());
}

#[test]
fn the_fifth_running_job_is_refused_and_starts_nothing() {
    let jobs = Jobs::default();
    let mut doors = vec![];
    for n in 0..MAX_RUNNING {
        let (open, door) = mpsc::channel::<()>();
        jobs.start(order(&format!("request-{n}")), move |_| {
            let _ = door.recv();
            done()
        })
        .unwrap();
        doors.push(open);
    }
    let Err(refusal) = jobs.start(order("request-5"), |_| done()) else { panic!() };
    assert_eq!((refusal.code.status, &*refusal.code.name), (429, "rate_limited"));
    assert_eq!(jobs.counts(), (MAX_RUNNING, MAX_RUNNING));
    doors.clear();
    jobs.find("request-0").unwrap().wait(LONG).unwrap();
    assert!(jobs.start(order("request-5"), |_| done()).is_ok());
}

#[test]
fn a_cancelled_job_reads_as_cancelled() {
    let jobs = Jobs::default();
    let job = jobs.start(order("request-1"), |cancel| {
        cancel.wait(LONG);
        Outcome { body: Err(cancelled()), ..done() }
    });
    let job = job.unwrap();
    assert!(job.wait(Duration::from_millis(20)).is_none());
    job.cancel();
    let outcome = job.wait(LONG).unwrap();
    assert_eq!(outcome.body.unwrap_err().code.name, "job_cancelled");
    assert_eq!(job.status().0, Status::Cancelled);
}

#[test]
fn a_job_that_panics_reads_as_a_fault() {
    let jobs = Jobs::default();
    let job = jobs.start(order("request-1"), |_| panic!("on purpose")).unwrap();
    assert_eq!(job.wait(LONG).unwrap().body.unwrap_err().code.status, 500);
}

#[test]
fn the_oldest_finished_job_goes_first() {
    let jobs = Jobs::default();
    for n in 0..MAX_KEPT + 3 {
        jobs.start(order(&format!("request-{n}")), |_| done()).unwrap().wait(LONG).unwrap();
    }
    assert_eq!(jobs.counts(), (0, MAX_KEPT));
    assert!(jobs.find("request-0").is_none() && jobs.find("request-3").is_some());
}
