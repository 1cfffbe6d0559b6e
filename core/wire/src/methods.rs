//! The one table of bridge methods: who may run them, whether they may be sent twice, and on which thread an
//! engine answers them.
//!
//! The server reads it to refuse early, the engine to refuse in any case; neither has a list of its own.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::descriptor::SessionKind;

#[cfg(test)]
mod tests;

/// Longest extra time of a call.
const MAX_EXTRA_TIME: Duration = Duration::from_secs(120);

/// Extra time of a call that runs a game.
const GAME_START_TIME: Duration = Duration::from_secs(15);

/// Kinds of session that may run a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kinds {
    editor: bool,
    game: bool,
}

/// What a method does to the project or the game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: it may be sent once more when the first answer was lost.
    Reads,
    /// Something: it is never sent twice.
    Changes,
    /// It draws over the view, and repeating it is the same only when it replaces what was drawn: unless
    /// `replace` is false.
    Shows,
}

/// Where an engine answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thread {
    /// On the main thread, from a frame, in the order in which commands came.
    Main,
    /// On the thread of the connection, at once, even while the main thread is busy.
    Bridge,
    /// In an editor on the main thread; in a game at once, as its main thread may stand in the debugger.
    BridgeInGames,
}

impl Thread {
    /// Whether an engine of a kind answers on its main thread.
    pub fn is_main(self, kind: SessionKind) -> bool {
        match self {
            Thread::Main => true,
            Thread::Bridge => false,
            Thread::BridgeInGames => kind == SessionKind::Editor,
        }
    }
}

/// One bridge method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Method {
    /// `area.verbNoun`.
    pub name: &'static str,
    /// Who may run it.
    pub kinds: Kinds,
    /// Whether it may be repeated.
    pub effect: Effect,
    /// Who answers it.
    pub thread: Thread,
    /// Whether a run of it may share one frame. Anything else that comes after a change waits for the next frame, in
    /// which the engine has done what it puts off to the end of one.
    pub shares_frame: bool,
}

/// What a name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    /// A bridge method.
    Method(&'static Method),
    /// The name of something that the server does without an engine.
    OfflineOnly,
    /// No name at all.
    Unknown,
}

impl Kinds {
    /// Editors alone.
    pub const EDITOR: Kinds = Kinds { editor: true, game: false };
    /// Games alone.
    pub const GAME: Kinds = Kinds { editor: false, game: true };
    /// Either.
    pub const BOTH: Kinds = Kinds { editor: true, game: true };

    /// Whether a kind is among them.
    pub fn allow(self, kind: SessionKind) -> bool {
        match kind {
            SessionKind::Editor => self.editor,
            SessionKind::Game => self.game,
        }
    }

    /// The kinds, the editor first.
    pub fn iter(self) -> impl Iterator<Item = SessionKind> {
        [SessionKind::Editor, SessionKind::Game].into_iter().filter(move |kind| self.allow(*kind))
    }
}

impl Method {
    /// Whether a call may be sent once more after a transport failure; `params` decide for a method that
    /// [`Effect::Shows`].
    pub fn may_repeat(&self, params: &Map<String, Value>) -> bool {
        match self.effect {
            Effect::Reads => true,
            Effect::Changes => false,
            Effect::Shows => {
                params.get("replace").is_none_or(|replace| *replace == Value::Bool(true))
            }
        }
    }

    /// How much longer than the usual deadline a call may take, because its parameters ask for that: the window
    /// that it watches, or the coroutine that it waits for. At most two minutes.
    pub fn extra_time(&self, params: &Map<String, Value>) -> Duration {
        let number = |name: &str| params.get(name).and_then(Value::as_u64).unwrap_or(0);
        let asked = match self.name {
            "runtime.watchInvariants" | "runtime.exploreScene" | "runtime.readProfiler" => {
                Duration::from_millis(number("duration_ms"))
            }
            "scene.callMethod" => Duration::from_secs(number("timeout_seconds")),
            // A whole second engine has to start.
            "runtime.controlDebugger" => GAME_START_TIME,
            // How long a bake takes is known when it is done.
            "nav.bakeMesh" => MAX_EXTRA_TIME,
            _ => Duration::ZERO,
        };
        asked.min(MAX_EXTRA_TIME)
    }

    const fn sharing_a_frame(self) -> Method {
        Method { shares_frame: true, ..self }
    }

    const fn on_the_bridge(self) -> Method {
        Method { thread: Thread::Bridge, ..self }
    }

    const fn on_the_bridge_in_games(self) -> Method {
        Method { thread: Thread::BridgeInGames, ..self }
    }
}

/// What a name means.
pub fn lookup(name: &str) -> Lookup {
    if let Ok(at) = METHODS.binary_search_by_key(&name, |method| method.name) {
        return Lookup::Method(&METHODS[at]);
    }
    if OFFLINE_ONLY.binary_search(&name).is_ok() {
        return Lookup::OfflineOnly;
    }
    Lookup::Unknown
}

const fn reads(name: &'static str, kinds: Kinds) -> Method {
    on_main_thread(name, kinds, Effect::Reads)
}

const fn changes(name: &'static str, kinds: Kinds) -> Method {
    on_main_thread(name, kinds, Effect::Changes)
}

const fn shows(name: &'static str, kinds: Kinds) -> Method {
    on_main_thread(name, kinds, Effect::Shows)
}

const fn on_main_thread(name: &'static str, kinds: Kinds, effect: Effect) -> Method {
    Method { name, kinds, effect, thread: Thread::Main, shares_frame: false }
}

/// Every method, sorted by name.
pub const METHODS: &[Method] = &[
    changes("anim.addLibrary", Kinds::EDITOR),
    reads("anim.listTracks", Kinds::BOTH),
    changes("anim.playTrack", Kinds::GAME),
    reads("asset.readImportedStream", Kinds::EDITOR),
    changes("asset.reimport", Kinds::EDITOR),
    reads("asset.reimportStatus", Kinds::EDITOR).on_the_bridge(),
    changes("audio.addBus", Kinds::EDITOR),
    changes("audio.configureBus", Kinds::BOTH),
    reads("audio.listBuses", Kinds::BOTH),
    reads("editor.getActivity", Kinds::EDITOR).on_the_bridge(),
    reads("editor.getProtocolServers", Kinds::EDITOR),
    reads("editor.getRecoveryState", Kinds::EDITOR),
    reads("editor.getSelection", Kinds::EDITOR),
    reads("editor.getState", Kinds::EDITOR),
    reads("editor.openScenes", Kinds::EDITOR),
    changes("editor.redo", Kinds::EDITOR),
    changes("editor.reloadProject", Kinds::EDITOR),
    reads("editor.reloadStatus", Kinds::EDITOR).on_the_bridge(),
    changes("editor.saveScene", Kinds::EDITOR),
    changes("editor.undo", Kinds::EDITOR),
    reads("engine.classExists", Kinds::BOTH),
    changes("export.reloadPresets", Kinds::EDITOR),
    changes("gridmap.setCells", Kinds::EDITOR),
    changes("nav.bakeMesh", Kinds::EDITOR),
    reads("nav.queryPath", Kinds::BOTH),
    reads("physics.clearance", Kinds::BOTH),
    reads("physics.raycast", Kinds::BOTH),
    reads("physics.raycastBatch", Kinds::BOTH),
    changes("physics.simulateStep", Kinds::GAME),
    reads("preview.clearGhosts", Kinds::EDITOR),
    shows("preview.renderGhost", Kinds::EDITOR),
    reads("project.getSetting", Kinds::EDITOR),
    reads("project.listAutoloads", Kinds::EDITOR),
    reads("project.listInputActions", Kinds::EDITOR),
    changes("project.removeAutoload", Kinds::EDITOR),
    changes("project.removeInputAction", Kinds::EDITOR),
    reads("project.resolveUids", Kinds::EDITOR),
    changes("project.setAutoload", Kinds::EDITOR),
    changes("project.setInputAction", Kinds::EDITOR),
    changes("project.setSetting", Kinds::EDITOR),
    changes("resource.refreshCached", Kinds::EDITOR),
    changes("runtime.controlDebugger", Kinds::EDITOR),
    reads("runtime.evalGdscript", Kinds::BOTH),
    changes("runtime.exploreScene", Kinds::GAME),
    reads("runtime.getCallStack", Kinds::BOTH).on_the_bridge_in_games(),
    reads("runtime.getLogs", Kinds::BOTH).on_the_bridge(),
    reads("runtime.getOutput", Kinds::BOTH).on_the_bridge(),
    reads("runtime.getTree", Kinds::BOTH),
    changes("runtime.injectInput", Kinds::GAME),
    reads("runtime.readProfiler", Kinds::BOTH),
    changes("runtime.setPaused", Kinds::GAME),
    changes("runtime.step", Kinds::GAME),
    changes("runtime.stop", Kinds::GAME),
    changes("runtime.watchInvariants", Kinds::GAME),
    changes("scene.addToGroup", Kinds::EDITOR),
    changes("scene.callMethod", Kinds::EDITOR),
    changes("scene.close", Kinds::EDITOR),
    changes("scene.create", Kinds::EDITOR),
    changes("scene.duplicateNode", Kinds::EDITOR),
    reads("scene.getGroupMembers", Kinds::EDITOR),
    reads("scene.getHierarchy", Kinds::EDITOR),
    reads("scene.getProperty", Kinds::EDITOR),
    changes("scene.instantiateNode", Kinds::EDITOR),
    reads("scene.listGroups", Kinds::EDITOR),
    changes("scene.open", Kinds::EDITOR),
    changes("scene.packBranch", Kinds::EDITOR),
    changes("scene.removeFromGroup", Kinds::EDITOR),
    changes("scene.removeNode", Kinds::EDITOR),
    changes("scene.reparentNode", Kinds::EDITOR),
    changes("scene.setProperty", Kinds::EDITOR).sharing_a_frame(),
    changes("script.attachToNode", Kinds::EDITOR),
    changes("script.detachFromNode", Kinds::EDITOR),
    reads("session.handshake", Kinds::BOTH).on_the_bridge(),
    reads("shader.getVisualGraph", Kinds::EDITOR),
    reads("shader.listUniforms", Kinds::EDITOR),
    changes("shader.setUniform", Kinds::EDITOR),
    changes("signal.connect", Kinds::EDITOR),
    changes("signal.disconnect", Kinds::EDITOR),
    changes("signal.emit", Kinds::EDITOR),
    reads("signal.listConnections", Kinds::EDITOR),
    reads("tilemap.getUsedRect", Kinds::EDITOR),
    changes("tilemap.setCells", Kinds::EDITOR),
    reads("ui.hitTest", Kinds::BOTH),
    reads("ui.listControls", Kinds::BOTH),
    reads("vision.capturePasses", Kinds::BOTH),
    reads("vision.captureViewport", Kinds::BOTH),
    reads("vision.diffViewport", Kinds::BOTH),
    reads("vision.frustumQuery", Kinds::BOTH),
    changes("vision.setCameraTransform", Kinds::EDITOR),
    changes("vision.toggleDebugDraw", Kinds::EDITOR),
];

/// Names of what the server does from files and child processes alone, sorted.
pub const OFFLINE_ONLY: &[&str] = &[
    "csharp.checkBuild",
    "gridmap.exportMeshLibrary",
    "project.analyzeImpact",
    "project.applyChanges",
    "project.export",
    "project.listExportPresets",
    "project.listResources",
    "project.renameReferences",
    "project.runTests",
    "project.searchSymbols",
    "project.searchText",
    "project.verifyChanges",
    "resource.create",
    "resource.inspect",
    "script.checkSyntax",
    "script.create",
    "script.getSymbols",
    "script.patchMethod",
    "script.reflectClass",
    "shader.checkCompile",
    "vision.createTestLab",
];
