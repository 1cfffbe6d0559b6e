use super::*;

/// An editor that shows one sight after the other, and then the last one for good.
struct Scripted(Mutex<VecDeque<Option<Sight>>>);

impl Watched for Scripted {
    fn look(&self, _may_attach: bool) -> Option<Sight> {
        let mut sights = self.0.lock().unwrap();
        if sights.len() > 1 { sights.pop_front().unwrap() } else { sights[0].clone() }
    }
}

fn gates(sights: impl IntoIterator<Item = Option<Sight>>) -> Gates {
    Gates::new(Arc::new(Scripted(Mutex::new(sights.into_iter().collect()))))
}

fn sight(session: &str, at_rest: bool) -> Sight {
    Sight { session: session.into(), at_rest, ..Sight::default() }
}

fn dialog(id: &str) -> Dialog {
    Dialog {
        id: id.into(),
        source: "native".into(),
        title: "Save?".into(),
        message: "Save changes?".into(),
        level: "warning".into(),
        buttons: vec!["Save".into()],
        opened_ms: 5,
        dismissed_ms: None,
    }
}

#[test]
fn without_an_editor_nothing_is_gated() {
    let gates = gates([None]);
    assert_eq!(gates.standing(), Standing::Ready);
    gates.look();
    assert_eq!(gates.standing(), Standing::Ready);
    assert_eq!(Gates::new(Arc::new(Nobody)).standing(), Standing::Ready);
}

#[test]
fn a_session_settles_once_and_another_one_anew() {
    let busy = |session: &str| Some(sight(session, false));
    let idle = Some(sight("a", true));
    let gates = gates([busy("a"), idle, busy("a"), busy("b"), None, busy("b")]);
    let words = ["settling", "ready", "ready", "settling", "ready", "settling"];
    for word in words {
        gates.look();
        assert_eq!(gates.standing().word(), word);
    }
}

#[test]
fn a_dialog_blocks_while_it_is_open_and_is_remembered_after() {
    let blocked = Sight { dialogs: vec![dialog("1")], ..sight("a", false) };
    let gates = gates([Some(blocked), Some(sight("a", true))]);
    gates.look();
    assert_eq!(gates.standing(), Standing::Blocked(vec![dialog("1")]));
    assert_eq!(gates.standing().word(), "blocked_by_dialog");
    assert_eq!(gates.dialogs_since(0), [dialog("1")]);
    gates.look();
    assert_eq!(gates.standing(), Standing::Ready);
    let gone = gates.dialogs_since(0);
    assert!(gone[0].dismissed_ms.is_some());
    assert_eq!(gates.dialogs_since(u64::MAX), []);
}
