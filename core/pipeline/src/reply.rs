//! Replies to requests that run something: one envelope, lean unless more is asked for.
//!
//! A result is kept as the text that it came as, so that a large one is not taken apart to be passed on.
//!
//! Spec: P-65, running a command.

use serde::{
    Serialize, Serializer,
    ser::{Error as _, SerializeMap as _},
};
use serde_json::{Map, Value, value::RawValue};

/// What a reply says beside what happened, as its request asked for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shape {
    /// With the command, times, and members that are null.
    pub verbose: bool,
    /// Without nulls inside of the result.
    pub omit_nulls: bool,
}

/// What a verbose reply says of the run.
#[derive(Debug, Clone, Default)]
pub struct Stamp {
    /// The command's name.
    pub command: String,
    /// Its start, as a date of RFC 3339 in UTC.
    pub executed_at: String,
    /// How long it took.
    pub execution_time_ms: u64,
}

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The kind, as one of the protocol's own phrases.
    pub error: String,
    /// One sentence.
    pub details: String,
}

/// A reply before it is written.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The status of HTTP.
    pub status: u16,
    /// The result, or why there is none.
    pub outcome: Result<Box<RawValue>, Fault>,
    /// Members that stand only where they apply.
    pub more: Box<Map<String, Value>>,
}

impl Reply {
    /// A success.
    pub fn done(result: Box<RawValue>) -> Self {
        Reply { status: 200, outcome: Ok(result), more: Box::default() }
    }

    /// A success with a value.
    pub fn value(result: &impl Serialize) -> Self {
        // What is given here are trees of JSON values, which always serialise.
        Self::done(
            serde_json::value::to_raw_value(result).unwrap_or_else(|_| RawValue::NULL.to_owned()),
        )
    }

    /// A failure.
    pub fn failed(status: u16, error: &str, details: impl Into<String>) -> Self {
        let fault = Fault { error: error.into(), details: details.into() };
        Reply { status, outcome: Err(fault), more: Box::default() }
    }

    /// The request can't be read.
    pub fn invalid_request(details: impl Into<String>) -> Self {
        Self::failed(400, "Invalid Request", details)
    }

    /// The command takes other parameters.
    pub fn invalid_parameters(details: impl Into<String>) -> Self {
        Self::failed(400, "Parameter Validation Failed", details)
    }

    /// Nothing was run, and the same request may be sent again.
    pub fn busy(reason: &str, details: impl Into<String>) -> Self {
        Self::failed(503, "Server Busy", details)
            .with("status", "busy")
            .with("busyReason", reason)
            .with("retryable", true)
    }

    /// The same with one more member.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.more.insert(name.into(), value.into());
        self
    }

    /// Whether it did what was asked.
    pub fn is_done(&self) -> bool {
        self.outcome.is_ok()
    }

    /// The body as compact JSON. A stamp is shown in verbose replies alone.
    pub fn body(&self, shape: Shape, stamp: Option<&Stamp>) -> String {
        let written = Written { reply: self, shape, stamp };
        // Text, trees of JSON values and JSON that was read as such always serialise.
        serde_json::to_string(&written).unwrap_or_else(|_| r#"{"success":false}"#.into())
    }
}

/// A reply as it is written.
struct Written<'a> {
    reply: &'a Reply,
    shape: Shape,
    stamp: Option<&'a Stamp>,
}

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Written { reply, shape, stamp } = self;
        let stamp = stamp.filter(|_| shape.verbose);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("success", &reply.outcome.is_ok())?;
        if let Some(stamp) = stamp {
            map.serialize_entry("command", &stamp.command)?;
        }
        match &reply.outcome {
            Ok(result) if shape.omit_nulls => {
                let mut value: Value =
                    serde_json::from_str(result.get()).map_err(S::Error::custom)?;
                strip_nulls(&mut value);
                map.serialize_entry("result", &value)?;
            }
            Ok(result) => map.serialize_entry("result", result)?,
            Err(fault) => {
                map.serialize_entry("error", &fault.error)?;
                map.serialize_entry("errorDetails", &fault.details)?;
            }
        }
        if shape.verbose {
            for name in absent(&reply.outcome) {
                map.serialize_entry(name, &())?;
            }
            for name in ["message", "warnings"] {
                if !reply.more.contains_key(name) {
                    map.serialize_entry(name, &())?;
                }
            }
        }
        for (name, value) in reply.more.iter() {
            if shape.verbose || !value.is_null() {
                map.serialize_entry(name, value)?;
            }
        }
        if let Some(stamp) = stamp {
            map.serialize_entry("executedAt", &stamp.executed_at)?;
            map.serialize_entry("executionTimeMs", &stamp.execution_time_ms)?;
        }
        map.end()
    }
}

/// The members that the other outcome would have.
fn absent<T>(outcome: &Result<T, Fault>) -> &'static [&'static str] {
    match outcome {
        Ok(_) => &["error", "errorDetails"],
        Err(_) => &["result"],
    }
}

/// Takes members that are null out, at every depth. Items of lists stay: their places mean something.
pub fn strip_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, value| !value.is_null());
            members.values_mut().for_each(strip_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_nulls),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
