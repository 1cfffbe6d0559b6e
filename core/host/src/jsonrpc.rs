//! JSON-RPC 2.0: one line to one message, and one answer to one line.
//!
//! A line is taken apart without building a tree: ids are kept as the text that the client sent, so that they
//! go back digit for digit, and `params` stays raw until the method wants it. What a line can be wrong in is
//! decided here, and only here.
//!
//! Spec: P-1, lines and messages.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json, value::RawValue};

/// Longest line in bytes, its end not counted. A longer one is refused and skipped.
pub const MAX_LINE_BYTES: usize = 8 * 1024 * 1024;

/// Deepest nesting of `params` that is read, in levels: the parser's own limit, less the message's level.
pub const MAX_PARAMS_DEPTH: usize = 127;

/// Longest integer id in characters, sign included: what 64 bits can hold.
const MAX_INTEGER_ID_CHARS: usize = 20;

/// The line is not JSON.
pub const PARSE_ERROR: i32 = -32700;
/// The JSON is not a request.
pub const INVALID_REQUEST: i32 = -32600;
/// No such method.
pub const METHOD_NOT_FOUND: i32 = -32601;
/// The method's parameters are wrong.
pub const INVALID_PARAMS: i32 = -32602;
/// The server is at fault.
pub const INTERNAL_ERROR: i32 = -32603;

/// A fault of the client's program: a top-level JSON-RPC error.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProtocolError {
    /// One of the protocol's codes.
    pub code: i32,
    /// One sentence without a final stop.
    pub message: String,
    /// What a program can act on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl ProtocolError {
    /// An error without data.
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        ProtocolError { code, message: message.into(), data: None }
    }

    /// Adds data.
    #[must_use]
    pub fn data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// `-32602` about one member of the parameters.
    pub fn params(message: impl Into<String>) -> Self {
        ProtocolError::new(INVALID_PARAMS, message)
    }
}

/// A request's id, as the text that the client sent: a JSON string or an integer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id(Box<str>);

impl Id {
    /// An id of this server's own, for requests that it sends.
    pub fn own(name: &str) -> Self {
        Id(Value::from(name).to_string().into())
    }

    /// The JSON text.
    pub fn as_json(&self) -> &str {
        &self.0
    }

    fn parse(raw: &str) -> Result<Self, IdFault> {
        if raw.starts_with('"') {
            let text: Result<String, _> = serde_json::from_str(raw);
            return text.map(|_| Id(raw.into())).map_err(|_| IdFault::Unreadable);
        }
        let digits = raw.strip_prefix('-').unwrap_or(raw);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(IdFault::Kind);
        }
        let fits = raw.len() <= MAX_INTEGER_ID_CHARS
            && (raw.parse::<i64>().is_ok() || raw.parse::<u64>().is_ok());
        if fits { Ok(Id(raw.into())) } else { Err(IdFault::Overflow) }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl Serialize for Id {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The text is JSON already: it was checked when it came in.
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

enum IdFault {
    Kind,
    Overflow,
    Unreadable,
}

/// What one line, or one element of a batch, is.
#[derive(Debug)]
pub enum Message {
    /// Wants an answer.
    Request(Request),
    /// Wants none.
    Notification(Request),
    /// Answers a request of this server's.
    Response {
        /// The id that this server chose.
        id: Id,
        /// The result, or the client's error.
        outcome: Result<Value, Value>,
    },
}

/// A method with its parameters.
#[derive(Debug)]
pub struct Request {
    /// `None` in a notification.
    pub id: Option<Id>,
    /// The method's name.
    pub method: String,
    /// The raw parameters: an object or an array.
    pub params: Option<Box<RawValue>>,
}

impl Request {
    /// The parameters as an object; absent ones are an empty object.
    ///
    /// # Errors
    /// `-32602` for an array, `-32600` past the depth limit, `-32700` for text that JSON does not allow.
    pub fn params(&self) -> Result<Map<String, Value>, ProtocolError> {
        let Some(raw) = &self.params else { return Ok(Map::new()) };
        match serde_json::from_str(raw.get()) {
            Ok(Value::Object(map)) => Ok(map),
            Ok(_) => Err(ProtocolError::params("Params must be a JSON object")),
            Err(error) if error.to_string().starts_with("recursion limit") => {
                Err(ProtocolError::new(
                    INVALID_REQUEST,
                    format!("the parameters are nested deeper than {MAX_PARAMS_DEPTH} levels"),
                ))
            }
            Err(error) => Err(ProtocolError::new(
                PARSE_ERROR,
                format!("the parameters can't be read: {error}"),
            )),
        }
    }
}

/// What a line holds.
#[derive(Debug)]
pub enum Line {
    /// Nothing but white space.
    Blank,
    /// The start of an HTTP-style frame.
    ContentLength,
    /// A message, or why it is none, with the id to answer to where one could be read.
    Single(Result<Message, Fault>),
    /// An array of messages, each on its own; never empty.
    Batch(Vec<Result<Message, Fault>>),
}

/// Why a message is none.
#[derive(Debug)]
pub struct Fault {
    /// The id to answer to, where a legal one could be read.
    pub id: Option<Id>,
    /// The answer.
    pub error: ProtocolError,
}

impl Fault {
    fn new(id: Option<Id>, code: i32, message: impl Into<String>) -> Self {
        Fault { id, error: ProtocolError::new(code, message) }
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// Keeps an explicit `null` apart from an absent member.
fn present<'de, D>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Takes one line apart. The line's end is gone already.
pub fn read_line(line: &[u8]) -> Line {
    let Ok(text) = std::str::from_utf8(line) else {
        return Line::Single(Err(Fault::new(None, PARSE_ERROR, "the line is not UTF-8")));
    };
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    if text.is_empty() {
        return Line::Blank;
    }
    if text.len() >= 15 && text.as_bytes()[..15].eq_ignore_ascii_case(b"content-length:") {
        return Line::ContentLength;
    }
    if text.starts_with('[') {
        return read_batch(text);
    }
    Line::Single(read_message(text))
}

/// The refusal of a line past [`MAX_LINE_BYTES`].
pub fn line_too_long() -> Fault {
    let message = format!("the line is longer than {MAX_LINE_BYTES} bytes and was skipped");
    Fault::new(None, INVALID_REQUEST, message)
}

fn read_batch(text: &str) -> Line {
    match serde_json::from_str::<Vec<&RawValue>>(text) {
        Ok(elements) if elements.is_empty() => {
            Line::Single(Err(Fault::new(None, INVALID_REQUEST, "a batch can't be empty")))
        }
        Ok(elements) => {
            Line::Batch(elements.into_iter().map(|element| read_message(element.get())).collect())
        }
        Err(error) => Line::Single(Err(Fault::new(
            None,
            PARSE_ERROR,
            format!("the line is not JSON: {error}"),
        ))),
    }
}

fn read_message(text: &str) -> Result<Message, Fault> {
    if !text.starts_with('{') {
        // Not an object: broken text and a bare value are two different faults.
        return Err(match serde_json::from_str::<&RawValue>(text) {
            Ok(_) => Fault::new(None, INVALID_REQUEST, "a message is a JSON object"),
            Err(error) => Fault::new(None, PARSE_ERROR, format!("the line is not JSON: {error}")),
        });
    }
    let envelope: Envelope<'_> = serde_json::from_str(text).map_err(|error| {
        let shape = error.is_data();
        let (code, say) = if shape {
            (INVALID_REQUEST, "the message is not a request")
        } else {
            (PARSE_ERROR, "the line is not JSON")
        };
        Fault::new(None, code, format!("{say}: {error}"))
    })?;
    let id = read_id(&envelope)?;
    if envelope.jsonrpc.map(RawValue::get) != Some("\"2.0\"") {
        return Err(Fault::new(id, INVALID_REQUEST, "`jsonrpc` has to be \"2.0\""));
    }
    let Some(method) = envelope.method else { return read_response(&envelope, id) };
    let Ok(method) = serde_json::from_str::<String>(method.get()) else {
        return Err(Fault::new(id, INVALID_REQUEST, "`method` has to be a string"));
    };
    if let Some(params) = envelope.params
        && !params.get().starts_with(['{', '['])
    {
        return Err(Fault::new(id, INVALID_REQUEST, "`params` has to be an object or an array"));
    }
    let is_notification = envelope.id.is_none();
    let request = Request { id, method, params: envelope.params.map(ToOwned::to_owned) };
    Ok(if is_notification { Message::Notification(request) } else { Message::Request(request) })
}

fn read_id(envelope: &Envelope<'_>) -> Result<Option<Id>, Fault> {
    let Some(raw) = envelope.id else { return Ok(None) };
    let fault = |code, message: &str| Err(Fault::new(None, code, message));
    match Id::parse(raw.get()) {
        Ok(id) => Ok(Some(id)),
        Err(IdFault::Overflow) => fault(PARSE_ERROR, "`id` does not fit into 64 bits"),
        Err(IdFault::Unreadable) => fault(PARSE_ERROR, "`id` is not a readable string"),
        // A request that declares a modern version has its id judged as a parameter.
        Err(IdFault::Kind) if declares_version(envelope.params) => {
            fault(INVALID_PARAMS, "`id` has to be a string or an integer")
        }
        Err(IdFault::Kind) => fault(INVALID_REQUEST, "`id` has to be a string or an integer"),
    }
}

fn declares_version(params: Option<&RawValue>) -> bool {
    let parsed: Option<Value> = params.and_then(|raw| serde_json::from_str(raw.get()).ok());
    parsed.is_some_and(|params| params["_meta"].get(crate::mcp::era::VERSION_KEY).is_some())
}

fn read_response(envelope: &Envelope<'_>, id: Option<Id>) -> Result<Message, Fault> {
    let parse = |raw: &RawValue| serde_json::from_str(raw.get()).unwrap_or(Value::Null);
    match (id, envelope.result, envelope.error) {
        (Some(id), Some(result), None) => Ok(Message::Response { id, outcome: Ok(parse(result)) }),
        (Some(id), None, Some(error)) => Ok(Message::Response { id, outcome: Err(parse(error)) }),
        (id, _, _) => Err(Fault::new(id, INVALID_REQUEST, "a request has a string `method`")),
    }
}

/// The line of a result.
pub fn result_line(id: &Id, result: &impl Serialize) -> Vec<u8> {
    #[derive(Serialize)]
    struct Answer<'a, T> {
        jsonrpc: &'static str,
        id: &'a Id,
        result: &'a T,
    }
    match serde_json::to_vec(&Answer { jsonrpc: "2.0", id, result }) {
        Ok(line) => line,
        Err(error) => error_line(
            Some(id),
            &ProtocolError::new(INTERNAL_ERROR, format!("the answer can't be written: {error}")),
        ),
    }
}

/// The line of an error. Without an id, the id is null.
pub fn error_line(id: Option<&Id>, error: &ProtocolError) -> Vec<u8> {
    json_line(&json!({"jsonrpc": "2.0", "id": id, "error": error}))
}

/// The line of a notification or of a request of this server's.
pub fn outgoing_line(id: Option<&Id>, method: &str, params: &Value) -> Vec<u8> {
    let mut message = Map::new();
    message.insert("jsonrpc".into(), "2.0".into());
    if let Some(id) = id {
        message.insert("id".into(), json!(id));
    }
    message.insert("method".into(), method.into());
    message.insert("params".into(), params.clone());
    json_line(&Value::Object(message))
}

fn json_line(value: &Value) -> Vec<u8> {
    // A tree of JSON values always serialises.
    serde_json::to_vec(value).unwrap_or_default()
}

#[cfg(test)]
mod tests;
