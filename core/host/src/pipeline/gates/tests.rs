use std::{
    sync::{atomic::AtomicUsize, mpsc},
    thread,
};

use super::*;

/// An editor that shows one sight after the other, and then the last one for good.
struct Scripted(Mutex<VecDeque<Option<Sight>>>);

impl Watched for Scripted {
    fn look(&self, _may_attach: bool, _: &Cancel) -> Option<Sight> {
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
    gates.look(&Cancel::default());
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
        gates.look(&Cancel::default());
        assert_eq!(gates.standing().word(), word);
    }
}

#[test]
fn a_dialog_blocks_while_it_is_open_and_is_remembered_after() {
    let blocked = Sight { dialogs: vec![dialog("1")], ..sight("a", false) };
    let gates = gates([Some(blocked), Some(sight("a", true))]);
    gates.look(&Cancel::default());
    assert_eq!(gates.standing(), Standing::Blocked(vec![dialog("1")]));
    assert_eq!(gates.standing().word(), "blocked_by_dialog");
    assert_eq!(gates.dialogs_since(0), [dialog("1")]);
    gates.look(&Cancel::default());
    assert_eq!(gates.standing(), Standing::Ready);
    let gone = gates.dialogs_since(0);
    assert!(gone[0].dismissed_ms.is_some());
    assert_eq!(gates.dialogs_since(u64::MAX), []);
}

/// An editor that is never there, and how often it was looked for.
#[derive(Default)]
struct Missing(AtomicUsize);

impl Watched for Missing {
    fn look(&self, _: bool, _: &Cancel) -> Option<Sight> {
        self.0.fetch_add(1, Ordering::SeqCst);
        None
    }
}

#[test]
fn an_editor_that_was_not_there_is_not_looked_for_by_every_command() {
    let missing = Arc::new(Missing::default());
    let gates = Gates::new(Arc::clone(&missing) as Arc<dyn Watched>);
    let asked = source::now();
    assert_eq!(gates.known_for_command(asked), None);
    for _ in 0..3 {
        assert_eq!(gates.standing_for_command(asked), Standing::Ready);
        assert_eq!(gates.known_for_command(asked), Some(Standing::Ready));
    }
    assert_eq!(missing.0.load(Ordering::SeqCst), 1);
    // Later it may be there.
    let later = source::now() + LOOK_EVERY;
    assert_eq!(gates.known_for_command(later), None);
    gates.standing_for_command(later);
    assert_eq!(missing.0.load(Ordering::SeqCst), 2);
    // A look that would attach none says nothing for a command.
    let gates = Gates::new(Arc::clone(&missing) as Arc<dyn Watched>);
    gates.look(&Cancel::default());
    assert_eq!(gates.known_for_command(source::now()), None);
}

/// Looks without an editor take until the later one is through, or a while; one that may attach finds an editor.
struct Slow(Mutex<mpsc::Receiver<()>>, mpsc::Sender<()>);

impl Watched for Slow {
    fn look(&self, may_attach: bool, _: &Cancel) -> Option<Sight> {
        if may_attach {
            return Some(sight("a", false));
        }
        self.1.send(()).unwrap();
        let _ = self.0.lock().unwrap().recv_timeout(Duration::from_millis(300));
        None
    }
}

#[test]
fn an_older_look_does_not_undo_a_later_one() {
    let (later, is_through) = mpsc::channel();
    let (began, begun) = mpsc::channel();
    let gates = Arc::new(Gates::new(Arc::new(Slow(Mutex::new(is_through), began))));
    let looking = Arc::clone(&gates);
    let older = thread::spawn(move || looking.look(&Cancel::default()));
    begun.recv().unwrap();
    assert_eq!(gates.standing_for_command(source::now()), Standing::Settling);
    let _ = later.send(());
    older.join().unwrap();
    assert_eq!(gates.standing(), Standing::Settling);
}

/// An editor with a dialog that tells of it once, and then answers nothing any more.
#[derive(Default)]
struct Stuck(AtomicBool);

impl Watched for Stuck {
    fn look(&self, _: bool, cancel: &Cancel) -> Option<Sight> {
        if self.0.swap(true, Ordering::SeqCst) {
            cancel.wait(Duration::from_secs(60));
            return None;
        }
        Some(Sight { dialogs: vec![dialog("1")], ..sight("a", true) })
    }
}

#[test]
fn a_look_that_is_cut_short_tells_nothing_and_keeps_no_other_waiting() {
    let gates = Arc::new(Gates::new(Arc::new(Stuck::default())));
    gates.look(&Cancel::default());
    let (end, looking) = (Cancel::default(), Arc::clone(&gates));
    let until = end.clone();
    let older = thread::spawn(move || looking.look(&until));
    gates.look(&Cancel::after(Duration::from_millis(50)));
    end.raise();
    older.join().unwrap();
    assert_eq!(gates.standing().word(), "blocked_by_dialog");
    assert_eq!(gates.dialogs_since(0), [dialog("1")]);
}
