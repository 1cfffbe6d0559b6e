//! What the engine printed while a call ran, put beside its answer.
//!
//! Lines belong to a call by the time at which they were printed and not by their cause, and the answer says
//! so. Methods that read the log themselves get none.

use serde_json::{Map, Value, json};

use crate::{
    backend::Answer,
    ring::{Level, LogRing, Record, cut},
};

#[cfg(test)]
mod tests;

/// Most lines of one answer.
pub const MAX_LINES: usize = 8;

/// Longest message of a line, in bytes.
pub const MAX_MESSAGE_BYTES: usize = 1024;

/// Methods that read what was printed themselves.
const READERS: [&str; 3] = ["runtime.getLogs", "runtime.getOutput", "runtime.watchInvariants"];

const NOTE: &str = "error and warning lines that the engine printed while this call ran; they are told by the \
                    time at which they were printed, not by what caused them";

/// Puts the warnings and errors of `output` from `since` on beside an answer.
pub fn attach(answer: &mut Answer, method: &str, output: &LogRing, since: u64) {
    if READERS.contains(&method) {
        return;
    }
    let lines = output.since(since, Level::Warning);
    if lines.is_empty() {
        return;
    }
    match answer {
        Ok(Value::Object(members)) => put(members, &lines),
        Ok(_) => {}
        Err(error) => put(&mut error.data, &lines),
    }
}

fn put(members: &mut Map<String, Value>, lines: &[Record]) {
    let shown: Vec<Value> = lines.iter().take(MAX_LINES).map(line).collect();
    members.insert("engine_diagnostics".into(), shown.into());
    if let Some(omitted @ 1..) = lines.len().checked_sub(MAX_LINES) {
        members.insert("engine_diagnostics_omitted".into(), omitted.into());
    }
    members.insert("engine_diagnostics_note".into(), NOTE.into());
}

fn line(record: &Record) -> Value {
    let message = cut(&record.message, MAX_MESSAGE_BYTES);
    let detail = |name: &str| record.details.get(name).cloned().unwrap_or_default();
    let mut line = json!({
        "level": record.level,
        "message": message,
        "function": detail("function"),
        "file": detail("file"),
        "line": detail("line"),
    });
    if message.len() < record.message.len() || record.message_truncated {
        line["message_truncated"] = true.into();
    }
    line
}
