//! Who debugs a game, and what a game answers that is asked for its stack.
//!
//! A game that stands in a debugger runs no frame, so it can't tell its stack by itself; whoever debugs it can. Here
//! is the answer of the game, which its connection gives without the main thread.

use didi_wire::BridgeError;
use serde_json::json;

/// By which an editor tells a game who it is.
const EDITOR_PID: &str = "--editor-pid";

/// By which any debugger is named to a game.
const REMOTE_DEBUG: &str = "--remote-debug";

/// Whose debugger stops a game on a script error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Debugger {
    /// Nobody's: the game prints its errors and goes on.
    None,
    /// An editor's that started it, where its process is known.
    Editor {
        /// The editor's process.
        pid: Option<u32>,
    },
}

impl Debugger {
    /// What a game's command line says of it.
    pub fn of_arguments(arguments: &[String]) -> Self {
        let own = arguments.iter().position(|argument| matches!(argument.as_str(), "--" | "++"));
        let arguments = &arguments[..own.unwrap_or(arguments.len())];
        let after = |option: &str| {
            let place = arguments.iter().position(|argument| argument == option)?;
            Some(arguments.get(place + 1).map(String::as_str).unwrap_or_default())
        };
        if after(REMOTE_DEBUG).is_none() {
            return Debugger::None;
        }
        Debugger::Editor { pid: after(EDITOR_PID).and_then(|pid| pid.parse().ok()) }
    }

    /// Why a game does not tell its stack, with the way to it.
    pub fn refuse_stack(self) -> BridgeError {
        let Debugger::Editor { pid } = self else {
            let message = "this game was not started from an editor, so no debugger stops it";
            let reads = json!({
                "tool": "runtime_read_output",
                "arguments": { "minimum_level": "error" },
                "reason": "tells errors with file and line; to stop at one, run the game from the editor: \
                    attach that and call `runtime_control_debugger` with `action` `play`",
            });
            return BridgeError::new(409, "not_under_debugger", message).with("next_call", reads);
        };
        let message = "the stack of a game is told by the editor that debugs it";
        let finds = json!({
            "tool": "runtime_list_sessions",
            "arguments": {},
            "reason": "shows the editor, which has to be attached for this",
        });
        BridgeError::new(409, "stack_is_with_editor", message)
            .with("editor_pid", pid)
            .with("next_call", finds)
    }
}

#[cfg(test)]
mod tests;
