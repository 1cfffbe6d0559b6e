//! A request to run a command: its three forms, and what is wrong with one, in the protocol's order of checks.
//!
//! What the command takes is not looked at here.
//!
//! Spec: P-65, running a command.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::{
    reply::{Reply, Shape},
    tokens,
};

/// Largest body of a request, in bytes.
pub const MAX_BODY_BYTES: usize = 1024 * 1024;

/// How long a run may take when nothing is said.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a run may take at the most.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 3600);

/// A request that can be read.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The command's name, as sent.
    pub command: String,
    /// What it is called with.
    pub arguments: Arguments,
    /// How its replies look.
    pub shape: Shape,
    /// Whether it runs as a job.
    pub job: bool,
    /// How long the reply may take.
    pub timeout: Duration,
}

/// What a command is called with.
#[derive(Debug, Clone, PartialEq)]
pub enum Arguments {
    /// Parameters by name.
    Named(Map<String, Value>),
    /// The tokens after the command's name.
    Tokens(Vec<String>),
}

/// A request that can't be read: how its reply looks, and the reply.
#[derive(Debug, Clone)]
pub struct Unreadable {
    /// As far as it was read.
    pub shape: Shape,
    /// The reply.
    pub reply: Reply,
}

const NO_COMMAND: &str = "Command name is required";

/// Reads a body.
///
/// # Errors
/// The reply to one that can't be read.
pub fn read(body: &[u8]) -> Result<Request, Box<Unreadable>> {
    let mut members =
        members(body).map_err(|reply| Box::new(Unreadable { shape: Shape::default(), reply }))?;
    let mut shape = Shape::default();
    read_members(&mut members, &mut shape).map_err(|reply| Box::new(Unreadable { shape, reply }))
}

fn members(body: &[u8]) -> Result<Map<String, Value>, Reply> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Err(Reply::failed(400, "Bad Request", "Request body is required"));
    }
    match serde_json::from_slice(body) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err(Reply::invalid_request("Request body must be a JSON object")),
        Err(error) => Err(Reply::failed(400, "Invalid JSON", error.to_string())),
    }
}

fn read_members(members: &mut Map<String, Value>, shape: &mut Shape) -> Result<Request, Reply> {
    shape.verbose = flag(members, "verbose")?;
    shape.omit_nulls = flag(members, "omitNulls")?;
    let (command, arguments) = form(members)?;
    let job = flag(members, "job")?;
    let timeout = timeout(members)?;
    Ok(Request { command, arguments, shape: *shape, job, timeout })
}

/// A member; one that is null is not there.
fn given<'a>(members: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    members.get(name).filter(|value| !value.is_null())
}

/// The same, taken out: it may be long.
fn taken(members: &mut Map<String, Value>, name: &str) -> Option<Value> {
    members.get_mut(name).map(Value::take).filter(|value| !value.is_null())
}

fn flag(members: &Map<String, Value>, name: &str) -> Result<bool, Reply> {
    match given(members, name) {
        None => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(_) => Err(Reply::invalid_request(format!("'{name}' must be true or false"))),
    }
}

fn timeout(members: &Map<String, Value>) -> Result<Duration, Reply> {
    let Some(value) = given(members, "timeout") else { return Ok(DEFAULT_TIMEOUT) };
    let limit = value.as_u64().map(Duration::from_millis);
    limit.filter(|limit| !limit.is_zero() && *limit <= MAX_TIMEOUT).ok_or_else(|| {
        let most = MAX_TIMEOUT.as_millis();
        Reply::invalid_request(format!("'timeout' must be 1 to {most} milliseconds"))
    })
}

fn form(members: &mut Map<String, Value>) -> Result<(String, Arguments), Reply> {
    let forms = ["command", "argv", "commandLine"].map(|name| taken(members, name));
    if forms.iter().flatten().count() > 1 {
        let message = "Exactly one of 'command', 'argv' and 'commandLine' can be given";
        return Err(Reply::invalid_request(message));
    }
    let parameters = taken(members, "parameters");
    let [command, argv, line] = forms;
    if parameters.is_some() && command.is_none() && (argv.is_some() || line.is_some()) {
        let message =
            "'parameters' goes with 'command' alone: 'argv' and 'commandLine' carry their own";
        return Err(Reply::invalid_request(message));
    }
    if let Some(command) = command {
        return Ok((text(command, "command")?, Arguments::Named(named(parameters)?)));
    }
    if let Some(argv) = argv {
        return first_of(words(&argv)?, "'argv' needs the command's name as its first element");
    }
    match line {
        Some(line) => first_of(split(&text_or_blank(line, "commandLine")?)?, NO_COMMAND),
        None => Err(Reply::invalid_request(NO_COMMAND)),
    }
}

fn text(value: Value, name: &str) -> Result<String, Reply> {
    let text = text_or_blank(value, name)?;
    if text.trim().is_empty() { Err(Reply::invalid_request(NO_COMMAND)) } else { Ok(text) }
}

fn text_or_blank(value: Value, name: &str) -> Result<String, Reply> {
    match value {
        Value::String(text) => Ok(text),
        _ => Err(Reply::invalid_request(format!("'{name}' must be a string"))),
    }
}

fn named(parameters: Option<Value>) -> Result<Map<String, Value>, Reply> {
    match parameters {
        None => Ok(Map::new()),
        Some(Value::Object(parameters)) => Ok(parameters),
        Some(_) => Err(Reply::invalid_request("'parameters' must be an object")),
    }
}

fn words(argv: &Value) -> Result<Vec<String>, Reply> {
    let wrong = || Reply::invalid_request("'argv' must be a list of strings");
    let items = argv.as_array().ok_or_else(wrong)?;
    items.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
}

fn split(line: &str) -> Result<Vec<String>, Reply> {
    tokens::split(line).map_err(|error| Reply::invalid_request(error.to_string()))
}

/// The command's name and what stands behind it.
fn first_of(mut words: Vec<String>, none: &str) -> Result<(String, Arguments), Reply> {
    if words.first().is_none_or(|first| first.trim().is_empty()) {
        return Err(Reply::invalid_request(none));
    }
    let rest = words.split_off(1);
    // There is one, as was just seen.
    let command = words.pop().unwrap_or_default();
    Ok((command, Arguments::Tokens(rest)))
}

#[cfg(test)]
mod tests;
