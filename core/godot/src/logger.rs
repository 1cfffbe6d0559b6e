//! What the engine prints, kept in a ring: prints, warnings, errors and script errors with their place.
//!
//! The engine logs from many threads, and logging while logging would not end: nothing is called here but the
//! ring's own push, and what reads the trace that the engine hands over.
#![allow(clippy::too_many_arguments, reason = "the engine's own signature")]

use std::{
    cell::Cell,
    sync::{Arc, LazyLock},
};

use didi_engine::ring::{Level, LogRing};
use godot::{
    classes::{ILogger, Logger, Os, ScriptBacktrace},
    prelude::*,
};
use serde_json::{Value, json};

/// Who says what the engine prints.
const SOURCE: &str = "engine";

/// The engine's number of a warning among its kinds of errors.
const WARNING: i32 = 1;

static OUTPUT: LazyLock<Arc<LogRing>> = LazyLock::new(|| Arc::new(LogRing::new()));

thread_local! {
    static ATTACHED: Cell<Option<Gd<DidiLogger>>> = const { Cell::new(None) };
}

/// What the engine has printed.
pub(crate) fn output() -> Arc<LogRing> {
    Arc::clone(&OUTPUT)
}

/// Begins to keep it.
pub(crate) fn attach() {
    // The bindings look the class up when it is first seen, which may not happen on two threads at once.
    let _ = ScriptBacktrace::class_id();
    let logger = DidiLogger::new_gd();
    Os::singleton().add_logger(&logger);
    ATTACHED.set(Some(logger));
}

/// Stops keeping it; a logger that stays behind would be a leak.
pub(crate) fn detach() {
    if let Some(logger) = ATTACHED.take() {
        Os::singleton().remove_logger(&logger);
    }
}

/// The engine's way to hand its lines over.
#[derive(GodotClass)]
#[class(tool, init, base=Logger)]
struct DidiLogger {
    base: Base<Logger>,
}

#[godot_api]
impl ILogger for DidiLogger {
    #[func(gd_self)]
    fn log_message(_this: Gd<Self>, message: GString, error: bool) {
        let level = if error { Level::Error } else { Level::Info };
        OUTPUT.push(level, SOURCE, message.to_string().trim_end(), Value::Null);
    }

    #[func(gd_self)]
    fn log_error(
        _this: Gd<Self>,
        function: GString,
        file: GString,
        line: i32,
        code: GString,
        rationale: GString,
        _editor_notify: bool,
        error_type: i32,
        script_backtraces: Array<Gd<ScriptBacktrace>>,
    ) {
        let level = if error_type == WARNING { Level::Warning } else { Level::Error };
        let said = if rationale.is_empty() { code } else { rationale };
        let mut details = json!({
            "file": file.to_string(),
            "function": function.to_string(),
            "line": line,
            "error_type": error_type,
        });
        // What a script reports has the place of the engine's own function; the script's is in its trace.
        if let Some(trace) = script_backtraces.iter_shared().find(|one| one.get_frame_count() > 0) {
            details["file"] = trace.get_frame_file(0).to_string().into();
            details["function"] = trace.get_frame_function(0).to_string().into();
            details["line"] = trace.get_frame_line(0).into();
        }
        OUTPUT.push(level, SOURCE, said.to_string().trim_end(), details);
    }
}
