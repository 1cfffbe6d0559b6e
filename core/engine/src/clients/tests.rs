use super::*;

fn holder(since_ms: u64) -> Holder {
    Holder { pid: 7, name: "didi".into(), since_ms }
}

#[test]
fn whoever_was_sent_away_comes_back_under_a_later_lock_only() {
    let clients = Clients::default();
    clients.welcome(|| Some(holder(1))).unwrap();
    clients.may_ask().unwrap();
    clients.send_away(Some(holder(1)));
    assert_eq!(clients.may_ask().unwrap_err().code_name(), Some(SESSION_DETACHED));
    assert!(clients.welcome(|| Some(holder(1))).is_err(), "the same lock");
    assert!(clients.view().sent_away);
    clients.welcome(|| Some(holder(2))).unwrap();
    clients.may_ask().unwrap();
    assert!(!clients.view().sent_away);
}

#[test]
fn where_locks_are_not_to_be_read_a_handshake_is_enough() {
    let clients = Clients::default();
    clients.send_away(None);
    assert!(clients.may_ask().is_err());
    clients.welcome(|| None).unwrap();
    clients.may_ask().unwrap();
}

#[test]
fn the_revision_moves_with_the_view_alone() {
    let clients = Clients::default();
    let before = clients.revision();
    assert_eq!(clients.view(), View::default());
    assert_eq!(clients.revision(), before);
    clients.attached(Some(holder(1)));
    clients.ended("scene.open", Some("not_found"));
    let view = clients.view();
    assert!(view.attached && view.holder == Some(holder(1)));
    assert_eq!(view.last.unwrap().refused.as_deref(), Some("not_found"));
    clients.gone();
    assert!(!clients.view().attached);
    assert_eq!(clients.revision(), before + 3);
}

#[test]
fn a_wish_is_taken_once() {
    let clients = Clients::default();
    assert!(!clients.take_wish());
    clients.wish_gone();
    assert!(clients.take_wish() && !clients.take_wish());
}
