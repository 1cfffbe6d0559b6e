//! A client of the debug adapter that a Godot editor serves: the stack of the game that stands in its debugger.
//!
//! It speaks plain DAP over loopback, knows no engine, and blocks: the adapter is served by the editor's own frames,
//! and a client that does not read while the adapter writes stops those frames, so all of this runs on a thread of
//! its own. What the adapter does and does not do is told in decision 0015.
//!
//! What is told is bounded here: frames, variables, the bytes of each and of all.

mod client;
mod message;
mod stack;

#[cfg(test)]
mod tests;

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::json;

use client::Client;
pub use client::{Fault, Leash};
pub use stack::{Frame, Position, Scopes, Stack, Variable, Variables};

/// How long a stack that the adapter has forgotten is waited for, or the variables of one frame.
const GAME_LIMIT: Duration = Duration::from_secs(3);

/// Between two looks at what was not there yet. The adapter looks once a frame.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// What the editor itself knows of the game that stands.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Whether there is a stack: a game that was paused outside of scripts has none. `None` where nobody saw it stop.
    pub has_stack: Option<bool>,
    /// The innermost frame, and how many there are, where they were seen.
    pub top: Option<Top>,
    /// The variables that come to the editor, where that is seen.
    pub arrivals: Option<Arrivals>,
}

/// How often the editor was told all variables of a frame, whoever asked for them.
///
/// The adapter takes what comes for variables of the frame that was asked for last, and does not say whether they have
/// come. Two frames that are asked for in a row would get each other's.
#[derive(Debug, Clone, Default)]
pub struct Arrivals(Arc<AtomicU64>);

impl Arrivals {
    /// All variables of a frame have come.
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }

    /// How often they have.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// The innermost frame as the editor was told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Top {
    /// The function.
    pub function: String,
    /// The line, from 1.
    pub line: i64,
    /// How many frames there are.
    pub frame_count: usize,
}

/// What is asked of an adapter.
#[derive(Debug, Clone)]
pub struct Want {
    /// Where it listens on this machine.
    pub port: u16,
    /// Most frames that are told, at least 1.
    pub max_frames: usize,
    /// Whether frames say where they are.
    pub with_position: bool,
    /// The project's folder as the engine writes it.
    pub project: PathBuf,
    /// By which it is held against the editor.
    pub known: Known,
    /// When all of it ends.
    pub end: Instant,
}

/// A frame as the adapter tells it.
#[derive(Debug, Deserialize)]
struct ToldFrame {
    id: i64,
    #[serde(default)]
    name: String,
    #[serde(default)]
    line: i64,
    source: Option<ToldSource>,
}

#[derive(Debug, Deserialize)]
struct ToldSource {
    #[serde(default)]
    path: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToldFrames {
    stack_frames: Vec<ToldFrame>,
}

/// Reads the stack of the game that stands, innermost frame first, with variables of the first few frames.
///
/// Variables are what time and room allow: frames whose variables did not come are told without them. The adapter has
/// the stack ready for the next reader as long as the connection that comes along is kept.
///
/// # Errors
/// See [`Fault`]; [`Fault::Foreign`] when the stack is not the one that the editor knows of.
pub fn read_stack(want: &Want, leash: &Leash) -> Result<(Stack, Open), Fault> {
    let mut client = Client::connect(want.port, want.end, leash)?;
    let frames = frames(&mut client, &want.known)?;
    let stack = stack::read(&mut client, want, frames);
    Ok((stack, Open(client)))
}

/// A connection that is kept after the work, as an adapter whose last client goes forgets the stack, and complains of
/// variables that still come.
pub struct Open(Client);

impl Open {
    /// Keeps it until the leash is cut, or the adapter ends it. Blocks, and reads whatever is told meanwhile, so that
    /// the adapter never waits.
    pub fn stay(self) {
        self.0.idle();
    }
}

/// Lets the game that stands go on. Its end is the editor's to see.
///
/// # Errors
/// As [`read_stack`]; nothing was sent to the game then, unless it is [`Fault::Unanswered`].
pub fn resume(port: u16, known: &Known, end: Instant, leash: &Leash) -> Result<(), Fault> {
    let mut client = Client::connect(port, end, leash)?;
    frames(&mut client, known)?;
    let command = "continue";
    client.do_it(command, json!({ "threadId": 1 })).map_err(|fault| match fault {
        Fault::Refused { .. } => fault,
        _ => Fault::Unanswered { command },
    })
}

/// All frames. The adapter forgets them when its last client goes, and is told them anew by the game on request.
fn frames(client: &mut Client, known: &Known) -> Result<Vec<ToldFrame>, Fault> {
    let mut frames = all_frames(client)?;
    if frames.is_empty() && known.has_stack != Some(false) {
        let came = known.arrivals.as_ref().map(Arrivals::count);
        client.do_it("godot/put_msg", json!({ "message": "get_stack_dump", "data": [] }))?;
        let end = Instant::now() + GAME_LIMIT;
        while frames.is_empty() && Instant::now() < end {
            client.pause(BETWEEN_LOOKS)?;
            frames = all_frames(client)?;
        }
        // The editor asks for variables by itself then.
        if let (Some(came), false) = (came, frames.is_empty()) {
            arrived(client, known, came)?;
        }
    }
    if is_of(&frames, known) { Ok(frames) } else { Err(Fault::Foreign) }
}

/// Waits until variables have come once more than so often; whether they have.
fn arrived(client: &Client, known: &Known, came: u64) -> Result<bool, Fault> {
    let Some(arrivals) = &known.arrivals else { return Ok(false) };
    let end = Instant::now() + GAME_LIMIT;
    while arrivals.count() <= came {
        if Instant::now() >= end {
            return Ok(false);
        }
        client.pause(BETWEEN_LOOKS)?;
    }
    Ok(true)
}

fn all_frames(client: &mut Client) -> Result<Vec<ToldFrame>, Fault> {
    let told: ToldFrames = client.ask("stackTrace", json!({ "threadId": 1 }))?;
    Ok(told.stack_frames)
}

/// Whether these are the frames that the editor knows of. Another editor may listen on the port.
fn is_of(frames: &[ToldFrame], known: &Known) -> bool {
    let has_stack = known.has_stack.is_none_or(|has_stack| has_stack != frames.is_empty());
    let same_top = known.top.as_ref().is_none_or(|top| {
        frames.len() == top.frame_count
            && frames
                .first()
                .is_some_and(|frame| frame.name == top.function && frame.line == top.line)
    });
    has_stack && same_top
}
