//! Codes of the game in the editor's debugger.

use didi_plugin_api::prelude::*;

/// The editor debugs no game.
pub(super) const NO_DEBUGGED_GAME: Code = Code::new(409, "no_debugged_game");
/// The game runs.
pub(super) const GAME_NOT_STOPPED: Code = Code::new(409, "game_not_stopped");
/// Nothing listens where the editor's adapter should, or something else does.
pub(super) const ADAPTER_UNAVAILABLE: Code = Code::new(503, "debug_adapter_unavailable");
/// The adapter did not answer as it should.
pub(super) const ADAPTER_FAILED: Code = Code::new(502, "debug_adapter_failed");
