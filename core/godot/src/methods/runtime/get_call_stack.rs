//! `runtime.getCallStack`: the stack of the game that stands in this editor's debugger.
//!
//! A game is asked beside its main thread, and answers who can tell; this is the editor's half.

use didi_engine::{
    Answer, Task,
    debug_adapter::{self, Stack, Want},
};
use godot::{classes::ProjectSettings, prelude::*};
use serde::Deserialize;
use serde_json::{Value, json};

use super::adapter::{self, Talk};
use crate::{
    debugger::{self, Game},
    methods::{Begun, Context},
    params::{self, Params},
    refuse,
};

/// Most frames of one call.
const MAX_FRAMES: usize = 128;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default = "some")]
    max_frames: usize,
    #[serde(default = "params::yes")]
    include_source_position: bool,
}

fn some() -> usize {
    32
}

pub(crate) fn run(_context: &Context, params: &Params) -> Begun {
    let args: Args = params::read(params)?;
    if !(1..=MAX_FRAMES).contains(&args.max_frames) {
        return Err(refuse::invalid("max_frames", format!("1 to {MAX_FRAMES} frames are told")));
    }
    adapter::check_stands()?;
    let project = ProjectSettings::singleton().globalize_path("res://").to_string();
    let port = adapter::port()?;
    let Args { max_frames, include_source_position: with_position } = args;
    let talk = Talk::of(move |known, end, leash, tell| {
        let project = project.into();
        let want = Want { port, max_frames, with_position, project, known, end };
        match debug_adapter::read_stack(&want, leash) {
            Ok((stack, open)) => {
                let _ = tell.send(Ok(stack));
                open.stay();
            }
            Err(fault) => drop(tell.send(Err(fault))),
        }
    });
    Ok(Box::new(Reading(Some(talk))))
}

/// A stack that is being read, of the stop that it began with, until it was told.
struct Reading(Option<Talk<Stack>>);

impl Task for Reading {
    fn poll(&mut self) -> Option<Answer> {
        let said = self.0.as_mut()?.poll()?;
        let mut talk = self.0.take()?;
        if talk.is_past() || debugger::game() != Game::Stands {
            return Some(Err(adapter::went_on()));
        }
        Some(said.map(|stack| {
            talk.make_way();
            debugger::keep_while_it_stands(Box::new(talk));
            told(&stack)
        }))
    }
}

fn told(stack: &Stack) -> Value {
    let mut told = serde_json::to_value(stack).unwrap_or_default();
    told["stopped"] = true.into();
    told["reason"] = debugger::reason().into();
    told["session_kind"] = "editor".into();
    told["next_calls"] = json!([
        next("continue", "lets the game go on behind the error"),
        next("stop", "ends the game"),
    ]);
    told
}

fn next(action: &str, reason: &str) -> Value {
    json!({ "tool": "runtime_control_debugger", "arguments": { "action": action }, "reason": reason })
}
