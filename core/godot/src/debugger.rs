//! The game that this editor debugs: whether it runs or stands, and what the editor was told when it stopped.
//!
//! Whether it stands is asked of the engine's own interface. Why, the debugger tells its panel once, when it happens;
//! this listens there, by the names of the panel's signals, and knows of no reason where there is no such panel. The
//! stack itself is the debug adapter's to tell.

use std::cell::RefCell;

use didi_engine::debug_adapter::{Known, Top};
use godot::{
    classes::{
        EditorDebuggerPlugin, EditorDebuggerSession, EditorInterface, EditorPlugin, IEditorPlugin,
    },
    prelude::*,
};

/// The debugger's panel of one game, which is no class of the public interface.
const PANEL: &str = "ScriptEditorDebugger";

/// Longest reason that is kept, in bytes.
const MAX_REASON_BYTES: usize = 4096;

/// The adapter tells of the first game alone, where an editor runs several.
const FIRST: i32 = 0;

thread_local! {
    /// The engine's way to the games that are debugged, while the editor is there.
    static GAMES: RefCell<Option<Gd<EditorDebuggerPlugin>>> = const { RefCell::new(None) };
    static TOLD: RefCell<Told> = RefCell::new(Told::default());
}

/// What the panel was told last.
#[derive(Default)]
struct Told {
    /// Moves whenever the game stops or goes on.
    turns: u64,
    reason: Option<String>,
    known: Known,
}

/// Where the game stands that this editor debugs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Game {
    /// None is connected to the debugger.
    None,
    /// It runs.
    Runs,
    /// The debugger holds it.
    Stands,
}

/// Registered with the editor, which makes it by itself.
#[derive(GodotClass)]
#[class(tool, init, base = EditorPlugin)]
struct DidiDebugger {
    games: Option<Gd<EditorDebuggerPlugin>>,
    base: Base<EditorPlugin>,
}

#[godot_api]
impl IEditorPlugin for DidiDebugger {
    fn enter_tree(&mut self) {
        let games = EditorDebuggerPlugin::new_gd();
        self.base_mut().add_debugger_plugin(&games);
        GAMES.with(|slot| *slot.borrow_mut() = Some(games.clone()));
        self.games = Some(games);
        self.listen();
    }

    fn exit_tree(&mut self) {
        GAMES.with(|slot| slot.borrow_mut().take());
        if let Some(games) = self.games.take() {
            self.base_mut().remove_debugger_plugin(&games);
        }
    }
}

#[godot_api]
impl DidiDebugger {
    /// Listens to the panel of the first game. The connections go with this object.
    fn listen(&self) {
        let Some(base) = EditorInterface::singleton().get_base_control() else { return };
        let panels = base.find_children_ex("*").type_(PANEL).owned(false).done();
        let Some(mut panel) = panels.get(0) else { return };
        let me = self.to_gd();
        for (signal, method) in [("breaked", "on_breaked"), ("stack_dump", "on_stack_dump")] {
            if panel.has_signal(signal) {
                panel.connect(signal, &me.callable(method));
            }
        }
    }

    #[func]
    #[allow(clippy::unused_self, reason = "a signal is connected to a method")]
    fn on_breaked(&self, stands: bool, _can_step: bool, reason: GString, has_stack: bool) {
        TOLD.with_borrow_mut(|told| {
            told.turns += 1;
            told.reason = stands.then(|| bounded(&reason.to_string()));
            let has_stack = stands.then_some(has_stack);
            told.known = Known { has_stack, top: None };
        });
    }

    #[func]
    #[allow(clippy::unused_self, reason = "a signal is connected to a method")]
    fn on_stack_dump(&self, frames: VarArray) {
        let top = frames.get(0).and_then(|frame| {
            let frame = frame.try_to::<VarDictionary>().ok()?;
            let text = |name: &str| Some(frame.get(name)?.stringify().to_string());
            Some(Top {
                function: text("function")?,
                line: frame.get("line")?.try_to::<i64>().ok()?,
                frame_count: frames.len(),
            })
        });
        TOLD.with_borrow_mut(|told| told.known.top = top);
    }
}

/// Where the first game stands.
pub(crate) fn game() -> Game {
    match session(FIRST) {
        Some(session) if session.is_active() && session.is_breaked() => Game::Stands,
        Some(session) if session.is_active() => Game::Runs,
        _ => Game::None,
    }
}

/// Whether another game than the first stands, where the editor runs several.
pub(crate) fn another_stands() -> bool {
    let games = GAMES.with_borrow(Clone::clone);
    let sessions = games.map(|games| games.get_sessions()).unwrap_or_default();
    sessions.iter_shared().skip(1).any(|session| {
        session.try_to::<Gd<EditorDebuggerSession>>().is_ok_and(|session| session.is_breaked())
    })
}

/// Why the game stands, where that was told.
pub(crate) fn reason() -> Option<String> {
    TOLD.with_borrow(|told| told.reason.clone())
}

/// What the editor knows of the stack.
pub(crate) fn known() -> Known {
    TOLD.with_borrow(|told| told.known.clone())
}

/// How often the game has stopped and gone on.
pub(crate) fn turns() -> u64 {
    TOLD.with_borrow(|told| told.turns)
}

fn session(id: i32) -> Option<Gd<EditorDebuggerSession>> {
    GAMES.with_borrow(|games| games.as_ref()?.get_session(id))
}

fn bounded(text: &str) -> String {
    didi_engine::ring::cut(text, MAX_REASON_BYTES).to_owned()
}
