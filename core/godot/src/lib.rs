//! The engine extension: the bridge inside a Godot editor or a running game.
//!
//! One dispatcher, `methods`, maps the names of the bridge to small functions; `json` is the one form in
//! which values cross, `edit` the one way in which scenes change, `status` what a person sees of it. Sockets, deadlines and the log are the
//! engine crate's. Everything here runs on the main thread but the logger, which only pushes to a ring.
#![allow(unsafe_code, reason = "the engine's entry point is declared by an unsafe trait")]

mod backend;
mod background;
mod bridge;
mod change;
mod debugger;
mod dialogs;
mod edit;
mod expression;
mod joypad;
mod json;
mod logger;
mod methods;
mod node_path;
mod params;
mod property;
mod purpose;
mod refuse;
mod status;
mod surroundings;
mod waiting;

use didi_wire::addon::Stamp;
use godot::{
    init::{ExtensionLibrary, InitStage},
    prelude::gdextension,
};

/// By which the set-up knows this build from its file alone.
#[unsafe(export_name = "didi_addon_stamp")]
pub static STAMP: Stamp = Stamp::of(env!("CARGO_PKG_VERSION"));

/// What the engine loads.
struct DidiExtension;

// SAFETY: every hook is called by the engine on its main thread, as the trait asks for.
#[gdextension]
unsafe impl ExtensionLibrary for DidiExtension {
    fn on_stage_init(stage: InitStage) {
        match stage {
            // As early as classes of our own exist, so that errors while loading are kept.
            InitStage::Scene => logger::attach(),
            InitStage::MainLoop => bridge::open(),
            _ => {}
        }
    }

    fn on_stage_deinit(stage: InitStage) {
        // Comes without the init before it when a script is only checked.
        if stage == InitStage::MainLoop {
            bridge::close();
            logger::detach();
        }
    }

    fn on_main_loop_frame() {
        bridge::frame();
    }
}
