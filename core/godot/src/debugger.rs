//! The game that this editor debugs: whether it runs or stands, and what the editor was told when it stopped.
//!
//! Whether it stands is asked of the engine's own interface. Why, the debugger tells its panel once, when it happens;
//! this listens there, by the names of the panel's signals, and knows of no reason where there is no such panel. The
//! stack itself is the debug adapter's to tell.

use std::{any::Any, cell::RefCell};

use didi_engine::debug_adapter::{Arrivals, Known, Top};
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
    /// What is kept as long as the game stands, and no longer.
    static KEPT: RefCell<Option<Box<dyn Any>>> = const { RefCell::new(None) };
    /// The engine's way to the games that are debugged, while the editor is there.
    static GAMES: RefCell<Option<Gd<EditorDebuggerPlugin>>> = const { RefCell::new(None) };
    static TOLD: RefCell<Told> = RefCell::new(Told::default());
    /// Counted over all games.
    static ARRIVALS: Arrivals = Arrivals::default();
}

/// What the panel was told last.
#[derive(Default)]
struct Told {
    /// Moves whenever the game stops or goes on.
    turns: u64,
    reason: Option<String>,
    known: Known,
    /// Variables of the frame that are still to come.
    to_come: i64,
    /// How often variables had come when the stack was told, upon which the editor asks for more by itself.
    at_stack: u64,
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
        drop_kept();
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
        for (signal, method) in [
            ("breaked", "on_breaked"),
            ("stack_dump", "on_stack_dump"),
            ("stack_frame_vars", "on_variables"),
            ("stack_frame_var", "on_variable"),
            ("stopped", "on_stopped"),
        ] {
            if panel.has_signal(signal) {
                panel.connect(signal, &me.callable(method));
            }
        }
    }

    #[func]
    #[allow(clippy::unused_self, reason = "a signal is connected to a method")]
    fn on_breaked(&self, stands: bool, _can_step: bool, reason: GString, has_stack: bool) {
        turn(Told {
            reason: stands.then(|| bounded(&reason.to_string())),
            known: Known {
                has_stack: stands.then_some(has_stack),
                top: None,
                arrivals: Some(ARRIVALS.with(Clone::clone)),
            },
            ..Told::default()
        });
    }

    #[func]
    #[allow(clippy::unused_self, reason = "a signal is connected to a method")]
    fn on_stopped(&self) {
        turn(Told::default());
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
        let at_stack = ARRIVALS.with(Arrivals::count);
        TOLD.with_borrow_mut(|told| {
            told.known.top = top;
            told.at_stack = at_stack;
        });
    }

    #[func]
    #[allow(clippy::unused_self, reason = "a signal is connected to a method")]
    fn on_variables(&self, count: i64) {
        TOLD.with_borrow_mut(|told| told.to_come = count);
        if count == 0 {
            ARRIVALS.with(Arrivals::add);
        }
    }

    #[func]
    #[allow(clippy::unused_self, reason = "a signal is connected to a method")]
    fn on_variable(&self, _variable: VarArray) {
        let was_last = TOLD.with_borrow_mut(|told| {
            told.to_come -= 1;
            told.to_come == 0
        });
        if was_last {
            ARRIVALS.with(Arrivals::add);
        }
    }
}

/// The game has stopped, gone on or ended: what was known of it is over.
fn turn(now: Told) {
    TOLD.with_borrow_mut(|told| *told = Told { turns: told.turns + 1, ..now });
    drop_kept();
}

/// Keeps something until the game goes on. Where nobody would hear of that, nothing is kept.
pub(crate) fn keep_while_it_stands(what: Box<dyn Any>) {
    if known().has_stack.is_some() {
        let before = KEPT.with(|kept| kept.borrow_mut().replace(what));
        drop(before);
    }
}

/// Lets go of what was kept: no thread of ours outlives the session.
pub(crate) fn drop_kept() {
    let kept = KEPT.with(|kept| kept.borrow_mut().take());
    drop(kept);
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

/// Whether the editor knows the stack, and has the variables that it asks for by itself then.
pub(crate) fn is_told() -> bool {
    let came = ARRIVALS.with(Arrivals::count);
    TOLD.with_borrow(|told| {
        told.known.has_stack != Some(true) || (told.known.top.is_some() && came > told.at_stack)
    })
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
