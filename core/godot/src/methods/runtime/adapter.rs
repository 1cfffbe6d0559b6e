//! A conversation with the editor's debug adapter, on a thread of its own.
//!
//! The adapter is served by this editor's frames, so the main thread can't wait for it; and it stops those frames
//! while it writes to a client that does not read, so the client reads from beside them.

use std::{
    cell::Cell,
    sync::mpsc::{self, Receiver, SyncSender, TryRecvError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use didi_engine::debug_adapter::{Fault, Known, Leash};
use didi_wire::{BridgeError, Outcome};
use serde_json::json;

use crate::{
    debugger::{self, Game},
    methods::editor::get_protocol_servers,
    methods::runtime::active::Active,
    refuse,
};

/// How long a conversation may take, and the wait for its turn with it; less than the main thread's deadline.
const LIMIT: Duration = Duration::from_secs(12);

/// How long the editor may take to be told the stack, for which it asks the game when that stops. By the stack that it
/// was told, the adapter is known to be its own.
const TOLD_LIMIT: Duration = Duration::from_secs(3);

thread_local! {
    /// Whether a conversation goes on. The adapter takes variables that come for those of the frame that was asked for last,
    /// so two would get each other's.
    static TALKS: Cell<bool> = const { Cell::new(false) };
}

/// What is said in a conversation: with what the editor knows, until a deadline, on a leash. It tells what came of it,
/// and may stay connected then.
type Words<T> = Box<dyn FnOnce(Known, Instant, &Leash, Tell<T>) + Send>;

/// Takes what came of a conversation.
pub(super) type Tell<T> = SyncSender<Result<T, Fault>>;

/// A conversation. Dropped, it is ended.
pub(super) struct Talk<T> {
    /// Until it has begun.
    words: Option<Words<T>>,
    /// From its begin on.
    active: Option<Active>,
    said: Option<Receiver<Result<T, Fault>>>,
    leash: Leash,
    thread: Option<JoinHandle<()>>,
    made: Instant,
    /// The stop that it is about.
    turns: u64,
}

impl<T: Send + 'static> Talk<T> {
    /// One that begins when the editor knows which stack to expect, and no other goes on.
    pub(super) fn of(words: impl FnOnce(Known, Instant, &Leash, Tell<T>) + Send + 'static) -> Self {
        Talk {
            words: Some(Box::new(words)),
            active: None,
            said: None,
            leash: Leash::default(),
            thread: None,
            made: Instant::now(),
            turns: debugger::turns(),
        }
    }

    /// Looks once a frame: what came of it, once it has ended.
    pub(super) fn poll(&mut self) -> Option<Result<T, BridgeError>> {
        if self.words.is_some()
            && let Err(error) = self.begin_in_turn()
        {
            return Some(Err(error));
        }
        match self.said.as_ref()?.try_recv() {
            Ok(said) => Some(said.map_err(|fault| refused(&fault))),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err(refused(&Fault::Ended))),
        }
    }

    /// Lets the next one begin, while this one stays connected.
    pub(super) fn make_way(&mut self) {
        self.active = None;
    }

    /// Whether the game has stopped or gone on since it was made.
    pub(super) fn is_past(&self) -> bool {
        debugger::turns() != self.turns
    }

    fn begin_in_turn(&mut self) -> Result<(), BridgeError> {
        if self.is_past() {
            return Err(went_on());
        }
        if !debugger::is_told() && self.made.elapsed() < TOLD_LIMIT {
            return Ok(());
        }
        self.active = Active::begin(&TALKS);
        if self.active.is_some() {
            return self.begin();
        }
        if self.made.elapsed() < LIMIT { Ok(()) } else { Err(failed("another call reads there")) }
    }

    fn begin(&mut self) -> Result<(), BridgeError> {
        let Some(words) = self.words.take() else { return Ok(()) };
        let (tell, said) = mpsc::sync_channel(1);
        let (known, end, leash) = (debugger::known(), self.made + LIMIT, self.leash.clone());
        let thread = thread::Builder::new()
            .name("didi adapter".into())
            .spawn(move || words(known, end, &leash, tell))
            .map_err(|error| refuse::engine("debug_adapter_failed", error.to_string()))?;
        (self.said, self.thread) = (Some(said), Some(thread));
        Ok(())
    }
}

impl<T> Drop for Talk<T> {
    fn drop(&mut self) {
        self.leash.cut();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Where the adapter of this editor should listen.
///
/// # Errors
/// `debug_adapter_unavailable` where the engine has none.
pub(super) fn port() -> Result<u16, BridgeError> {
    get_protocol_servers::debug_adapter_port()
        .ok_or_else(|| unavailable("this editor has no debug adapter"))
}

/// The game has to stand in this editor's debugger.
///
/// # Errors
/// `no_debugged_game` without a game, `game_not_stopped` for one that runs.
pub(super) fn check_stands() -> Result<(), BridgeError> {
    match debugger::game() {
        Game::Stands => Ok(()),
        Game::None => {
            let message = "no game that this editor started is connected to its debugger";
            let error = refuse::conflict("no_debugged_game", message);
            let play = json!({ "action": "play" });
            Err(refuse::next_call(
                error,
                "runtime_control_debugger",
                play,
                "runs it from the editor",
            ))
        }
        Game::Runs => Err(runs()),
    }
}

fn runs() -> BridgeError {
    let message = if debugger::another_stands() {
        "the first of the editor's games runs; another stands, of which the debug adapter does not tell"
    } else {
        "the game runs: the debugger does not hold it"
    };
    let error = refuse::conflict("game_not_stopped", message);
    let reason = "shows the game, which answers other tools while it runs";
    refuse::next_call(error, "runtime_list_sessions", json!({}), reason)
}

/// The game went on while it was looked at.
pub(super) fn went_on() -> BridgeError {
    where_it_is(refuse::conflict("game_not_stopped", "the game went on meanwhile"))
}

fn refused(fault: &Fault) -> BridgeError {
    match fault {
        Fault::Unreachable { .. } | Fault::Foreign | Fault::Unreadable => {
            unavailable(&fault.to_string())
        }
        Fault::Ended | Fault::Late | Fault::Refused { .. } => failed(&fault.to_string()),
        Fault::Unanswered { .. } => unknown(&fault.to_string()),
    }
}

fn failed(why: &str) -> BridgeError {
    let message = format!("the debug adapter told nothing: {why}");
    BridgeError::new(502, "debug_adapter_failed", message).with("retry_after_ms", 1000)
}

/// What the game was told to do may be done or not, so the same call again could do it twice.
pub(super) fn unknown(message: &str) -> BridgeError {
    let error = BridgeError::new(502, "debug_adapter_failed", message);
    where_it_is(error.with("outcome", Outcome::Unknown.as_str()))
}

fn where_it_is(error: BridgeError) -> BridgeError {
    let reason = "tells whether the game stands now, and where";
    refuse::next_call(error, "runtime_get_call_stack", json!({}), reason)
}

fn unavailable(why: &str) -> BridgeError {
    let message = format!("the editor's debug adapter can't be used: {why}");
    let restart = "the editor, with --dap-port naming a port that nothing else listens on";
    BridgeError::new(503, "debug_adapter_unavailable", message).with("restart_with", restart)
}
