//! Requests, answers and errors as they stand in frames.
//!
//! A request is `{id, method, params}`, an answer `{id, result}` or `{id, error: {code, message, data}}`.
//! Ids are matched exactly; who closes a route over a wrong one is left to the server.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[cfg(test)]
mod tests;

/// The number that ties an answer to its request; unique on its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestId(pub u64);

/// What a server asks of an engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Echoed by the answer.
    pub id: RequestId,
    /// A name of [`crate::methods`].
    pub method: String,
    /// An object; the token travels in it.
    #[serde(default)]
    pub params: Map<String, Value>,
}

/// What an engine answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// Of the request, or `None` when that could not be read.
    pub id: Option<RequestId>,
    /// The result, or why there is none.
    pub body: Result<Value, BridgeError>,
}

/// Why an engine did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message} ({code})")]
#[serde(deny_unknown_fields)]
pub struct BridgeError {
    /// Status: 400 to 504, as the contract lists them.
    pub code: u16,
    /// One sentence without a final stop.
    pub message: String,
    /// The code's name under `code`, the remedy, the outcome, what the engine printed.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub data: Map<String, Value>,
}

/// What became of a command that has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was cancelled before anything ran.
    NotStarted,
    /// It began, and whether it changed something is not known.
    Unknown,
}

impl Outcome {
    /// The word in `data.outcome`.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::NotStarted => "not_started",
            Outcome::Unknown => "unknown_outcome",
        }
    }
}

/// A payload that is no message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Malformed {
    /// Its id, where that much could be read.
    pub id: Option<RequestId>,
    /// What is wrong with it.
    pub reason: String,
}

impl Request {
    /// Reads a payload.
    ///
    /// # Errors
    /// When it is no JSON, or no request; with the id where there is one.
    pub fn from_slice(payload: &[u8]) -> Result<Self, Malformed> {
        serde_json::from_slice(payload).map_err(|error| Malformed {
            id: id_of(payload),
            reason: format!("not a request of the bridge: {error}"),
        })
    }

    /// The payload of a frame.
    pub fn to_vec(&self) -> Vec<u8> {
        bytes(self)
    }
}

impl Response {
    /// A success.
    pub fn success(id: RequestId, result: Value) -> Self {
        Response { id: Some(id), body: Ok(result) }
    }

    /// A failure; without an id where the request could not be read.
    pub fn failure(id: Option<RequestId>, error: BridgeError) -> Self {
        Response { id, body: Err(error) }
    }

    /// Reads a payload.
    ///
    /// # Errors
    /// When it is no JSON, has neither or both of `result` and `error`, or a member besides.
    pub fn from_slice(payload: &[u8]) -> Result<Self, Malformed> {
        let malformed = |reason: String| Malformed { id: id_of(payload), reason };
        let fields: ResponseFields = serde_json::from_slice(payload)
            .map_err(|error| malformed(format!("not an answer of the bridge: {error}")))?;
        let body = match (fields.result, fields.error) {
            (Some(result), None) => Ok(result),
            (None, Some(error)) => Err(error),
            _ => return Err(malformed("an answer has either `result` or `error`".into())),
        };
        Ok(Response { id: fields.id, body })
    }

    /// The payload of a frame.
    pub fn to_vec(&self) -> Vec<u8> {
        bytes(&ResponseRef {
            id: self.id,
            result: self.body.as_ref().ok(),
            error: self.body.as_ref().err(),
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ResponseFields {
    id: Option<RequestId>,
    /// `null` is a result, an absent member is none.
    #[serde(default, deserialize_with = "present")]
    result: Option<Value>,
    #[serde(default)]
    error: Option<BridgeError>,
}

#[derive(Serialize)]
struct ResponseRef<'a> {
    id: Option<RequestId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a BridgeError>,
}

impl BridgeError {
    /// An error with the name of its code.
    pub fn new(status: u16, code: &str, message: impl Into<String>) -> Self {
        let mut data = Map::new();
        data.insert("code".into(), code.into());
        BridgeError { code: status, message: message.into(), data }
    }

    /// The same with one more member of `data`.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.data.insert(name.into(), value.into());
        self
    }

    /// The same, saying what became of the command; an unknown outcome asks for the route to be
    /// quarantined.
    #[must_use]
    pub fn outcome_is(self, outcome: Outcome) -> Self {
        self.with("outcome", outcome.as_str()).with("route_quarantine", outcome == Outcome::Unknown)
    }

    /// The name of the code, when `data` has one.
    pub fn code_name(&self) -> Option<&str> {
        self.data.get("code").and_then(Value::as_str)
    }

    /// What became of the command, when the engine said so.
    pub fn outcome(&self) -> Option<Outcome> {
        match self.data.get("outcome").and_then(Value::as_str)? {
            "not_started" => Some(Outcome::NotStarted),
            "unknown_outcome" => Some(Outcome::Unknown),
            _ => None,
        }
    }

    /// Whether the engine asks for this route to be given up.
    pub fn asks_for_quarantine(&self) -> bool {
        self.data.get("route_quarantine").and_then(Value::as_bool).unwrap_or(false)
    }
}

/// The id of a payload that is an object, whatever else it is.
fn id_of(payload: &[u8]) -> Option<RequestId> {
    #[derive(Deserialize)]
    struct OnlyId {
        id: RequestId,
    }
    serde_json::from_slice::<OnlyId>(payload).ok().map(|only| only.id)
}

fn present<'de, D: serde::Deserializer<'de>>(source: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(source).map(Some)
}

fn bytes(message: &impl Serialize) -> Vec<u8> {
    // Maps of texts, numbers and values: there is nothing that JSON could not take.
    serde_json::to_vec(message).unwrap_or_default()
}
