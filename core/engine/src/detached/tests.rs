use super::*;

const KIND: WorkKind = WorkKind {
    id_field: "reimport_id",
    not_found: "reimport_not_found",
    unread: "reimport_unread",
};

#[test]
fn work_is_read_until_it_has_ended_and_after() {
    let detached = Detached::new();
    let now = Instant::now();
    let id = detached.accept(now).unwrap();
    let working = json!({"state": "working", "reimport_id": id});
    assert_eq!(detached.read(&id, KIND, now).unwrap(), working);
    detached.finish(&id, Ok(json!({"reimported": 2})));
    let finished = json!({"state": "finished", "reimport_id": id, "reimported": 2});
    assert_eq!(detached.read(&id, KIND, now).unwrap(), finished);
    assert_eq!(detached.read(&id, KIND, now).unwrap(), finished);
    let failed = detached.accept(now).unwrap();
    detached.finish(&failed, Err(BridgeError::new(409, "x", "y")));
    assert_eq!(detached.read(&failed, KIND, now).unwrap_err().code, 409);
}

#[test]
fn an_unknown_name_is_refused() {
    let refused = Detached::new().read("x", KIND, Instant::now()).unwrap_err();
    assert_eq!((refused.code, refused.code_name()), (404, Some("reimport_not_found")));
}

#[test]
fn work_that_nobody_reads_is_given_up() {
    let detached = Detached::new();
    let start = Instant::now();
    let id = detached.accept(start).unwrap();
    assert!(detached.is_wanted(&id, start + UNREAD_LIMIT / 2));
    detached.read(&id, KIND, start + UNREAD_LIMIT / 2).unwrap();
    assert!(detached.is_wanted(&id, start + UNREAD_LIMIT));
    assert!(!detached.is_wanted(&id, start + 2 * UNREAD_LIMIT));
    detached.give_up(&id, KIND);
    assert_eq!(detached.read(&id, KIND, start).unwrap_err().code_name(), Some("reimport_unread"));
    detached.accept(start + 2 * UNREAD_LIMIT).unwrap();
    assert_eq!(detached.read(&id, KIND, start).unwrap_err().code, 404);
}

#[test]
fn only_so_much_is_kept() {
    let detached = Detached::new();
    let now = Instant::now();
    for _ in 0..MAX_KEPT {
        detached.accept(now).unwrap();
    }
    assert_eq!(detached.accept(now).unwrap_err().code, 429);
    assert!(detached.accept(now + UNREAD_LIMIT).is_ok());
}
