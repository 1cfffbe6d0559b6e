use super::*;

fn seen(id: i64, message: &str) -> SeenDialog {
    SeenDialog {
        id,
        class: "ConfirmationDialog".into(),
        title: "Please confirm".into(),
        message: message.into(),
        buttons: vec!["Save".into(), "Cancel".into()],
    }
}

#[test]
fn settling_ends_once_and_importing_comes_and_goes() {
    let activity = Activity::default();
    assert_eq!(activity.report()["settled"], false);
    assert_eq!(activity.report()["frame_age_ms"], Value::Null);
    activity.frame(true, false);
    activity.frame(false, true);
    let report = activity.report();
    assert_eq!((&report["settled"], &report["importing"]), (&true.into(), &true.into()));
    assert!(report["frame_age_ms"].is_u64());
}

#[test]
fn a_dialog_keeps_its_name_while_open_and_gets_another_when_shown_again() {
    let mut dialogs = Dialogs::default();
    dialogs.take(vec![seen(7, "Save?")], 100);
    dialogs.take(vec![seen(7, "Save all?")], 200);
    assert_eq!((dialogs.open[0].id.as_str(), dialogs.open[0].opened_at_ms), ("7-100", 100));
    assert_eq!(dialogs.open[0].message, "Save all?");
    dialogs.take(vec![], 300);
    assert!(dialogs.open.is_empty());
    assert_eq!(dialogs.past[0].dismissed_at_ms, Some(300));
    dialogs.take(vec![seen(7, "Save?")], 400);
    assert_eq!(dialogs.open[0].id, "7-400");
}

#[test]
fn closed_dialogs_are_remembered_up_to_a_bound() {
    let mut dialogs = Dialogs::default();
    for id in 0..40 {
        dialogs.take(vec![seen(id, "")], u64::try_from(id).unwrap());
    }
    assert_eq!((dialogs.open.len(), dialogs.past.len()), (1, MAX_PAST));
    assert_eq!(dialogs.past.back().unwrap().seen, 38);
}

#[test]
fn windows_are_not_looked_at_in_every_frame() {
    let activity = Activity::default();
    let looks = std::cell::Cell::new(0);
    for _ in 0..1000 {
        activity.look_at_dialogs(|| {
            looks.set(looks.get() + 1);
            vec![]
        });
    }
    assert!(looks.get() < 1000, "each of a thousand frames looked");
}
