//! The status line of the editor: whether a client is attached, what it last did, and a button that sends it away.
//!
//! It stands in the editor's tool bar. Its words are written only when the session's clients have moved, four times a
//! second at most, so that an editor in which nothing happens draws nothing more. Pressing the button leaves a wish;
//! the bridge carries it out in its next frame, as it may be lent to a command right now.

use std::{
    cell::RefCell,
    sync::Arc,
    time::{Duration, Instant},
};

use didi_engine::{
    clients::{Done, View},
    server::Shared,
};
use godot::{
    classes::{
        Button, EditorPlugin, HBoxContainer, IEditorPlugin, Label, Time,
        editor_plugin::CustomControlContainer,
    },
    prelude::*,
};

/// Shortest time between two writings.
const WRITE_EVERY: Duration = Duration::from_millis(250);

thread_local! {
    /// The controls, while the editor shows them.
    static SHOWN: RefCell<Option<Shown>> = const { RefCell::new(None) };
    /// The session whose clients are shown.
    static SESSION: RefCell<Option<Arc<Shared>>> = const { RefCell::new(None) };
}

struct Shown {
    text: Gd<Label>,
    detach: Gd<Button>,
    /// The revision that the words are of; `None` before the first.
    revision: Option<u64>,
    written: Option<Instant>,
}

/// Puts the line into the editor. The engine makes it by itself, in editors alone.
#[derive(GodotClass)]
#[class(tool, init, base = EditorPlugin)]
struct DidiStatus {
    line: Option<Gd<HBoxContainer>>,
    base: Base<EditorPlugin>,
}

#[godot_api]
impl IEditorPlugin for DidiStatus {
    fn enter_tree(&mut self) {
        let mut line = HBoxContainer::new_alloc();
        line.set_name("DidiStatus");
        let mut text = Label::new_alloc();
        text.set_name("DidiText");
        let mut detach = Button::new_alloc();
        detach.set_name("DidiDetach");
        detach.set_text("Detach");
        detach.set_flat(true);
        detach.set_tooltip_text("Send the attached client away. It has to attach anew.");
        detach.signals().pressed().connect(wish_gone);
        line.add_child(&text);
        line.add_child(&detach);
        self.base_mut().add_control_to_container(CustomControlContainer::TOOLBAR, &line);
        let shown = Shown { text, detach, revision: None, written: None };
        SHOWN.with(|slot| *slot.borrow_mut() = Some(shown));
        self.line = Some(line);
    }

    fn exit_tree(&mut self) {
        SHOWN.with(|slot| slot.borrow_mut().take());
        if let Some(mut line) = self.line.take() {
            self.base_mut().remove_control_from_container(CustomControlContainer::TOOLBAR, &line);
            line.queue_free();
        }
    }
}

fn wish_gone() {
    SESSION.with(|session| {
        if let Some(shared) = &*session.borrow() {
            shared.clients.wish_gone();
        }
    });
}

/// From now on the clients of this session are shown, or of none.
pub(crate) fn show(session: Option<Arc<Shared>>) {
    SESSION.with(|slot| *slot.borrow_mut() = session);
    SHOWN.with(|slot| {
        if let Some(shown) = &mut *slot.borrow_mut() {
            shown.revision = None;
        }
    });
}

/// Writes the words anew if they are old; called once a frame.
pub(crate) fn refresh(shared: &Shared) {
    SHOWN.with(|slot| {
        // Setting a text can run code of the editor, but none of ours.
        if let Some(shown) = &mut *slot.borrow_mut() {
            shown.refresh(shared);
        }
    });
}

impl Shown {
    fn refresh(&mut self, shared: &Shared) {
        let revision = shared.clients.revision();
        if self.revision == Some(revision) {
            return;
        }
        let now = Instant::now();
        let is_early = |written: Instant| now.saturating_duration_since(written) < WRITE_EVERY;
        if self.revision.is_some() && self.written.is_some_and(is_early) {
            return;
        }
        (self.revision, self.written) = (Some(revision), Some(now));
        let view = shared.clients.view();
        self.text.set_text(&words(&view));
        self.text.set_tooltip_text(&details(&view));
        self.detach.set_disabled(!view.attached || view.sent_away);
    }
}

/// The line: short, as the tool bar is narrow.
fn words(view: &View) -> String {
    let state = match view {
        View { sent_away: true, .. } => return "Didi: detached".into(),
        View { attached: false, .. } => return "Didi: no client".into(),
        _ => "Didi: attached",
    };
    match &view.last {
        Some(done) => format!("{state}, {}", deed(done)),
        None => state.into(),
    }
}

fn deed(done: &Done) -> String {
    match &done.refused {
        Some(_) => format!("{} refused", done.method),
        None => done.method.into(),
    }
}

fn details(view: &View) -> String {
    let mut lines = vec![];
    match &view.holder {
        Some(holder) if view.attached => {
            lines.push(format!("{}, process {}", holder.name, holder.pid));
        }
        _ => {}
    }
    if let Some(done) = &view.last {
        let clock = clock(done.at_ms);
        let code = done.refused.as_ref().map(|code| format!(" ({code})")).unwrap_or_default();
        lines.push(format!("{clock} {}{code}", deed(done)));
    }
    if view.sent_away {
        lines.push("Sent away from here; it is refused until it attaches anew.".into());
    }
    lines.join("\n")
}

/// A time of day where the editor runs.
fn clock(at_ms: u64) -> String {
    let time = Time::singleton();
    let bias = time.get_time_zone_from_system().get("bias");
    let bias_min = bias.and_then(|bias| bias.try_to::<i64>().ok()).unwrap_or(0);
    let seconds = i64::try_from(at_ms / 1000).unwrap_or(0) + bias_min * 60;
    time.get_time_string_from_unix_time(seconds).to_string()
}
