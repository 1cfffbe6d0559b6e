//! Asking an instance, and its failures as refusals that name the way out.

use didi_plugin_api::{
    pipeline::{Instance, Outcome, Question, Request},
    prelude::*,
};
use serde_json::Map;

/// A look may take this long; cheap endpoints answer at once.
pub(crate) const LOOK_MS: u64 = 10_000;
/// What to do again after, where nothing better is known.
const RETRY_MS: u64 = 1000;

/// The instance does not take commands at the moment; nothing ran.
pub(crate) const INSTANCE_BUSY: Code = Code::new(503, "instance_busy");
/// Nobody could be reached; nothing ran.
pub(crate) const INSTANCE_UNREACHABLE: Code = Code::new(503, "instance_unreachable");
/// The request went out, and nobody knows whether it ran.
pub(crate) const UNKNOWN_OUTCOME: Code = Code::new(504, "unknown_outcome");
/// Too many jobs wait in the instance.
const RATE_LIMITED: Code = Code::new(429, "rate_limited");

/// The codes of everything that asks an instance.
pub(crate) const CODES: [Code; 9] = [
    codes::NOT_FOUND,
    codes::CONFLICT,
    codes::FORBIDDEN,
    codes::INVALID_ARGUMENTS,
    codes::ENGINE_REFUSED,
    INSTANCE_BUSY,
    INSTANCE_UNREACHABLE,
    UNKNOWN_OUTCOME,
    RATE_LIMITED,
];

/// What an instance said.
pub(crate) struct Said {
    pub(crate) instance: Instance,
    pub(crate) status: u16,
    pub(crate) body: Value,
}

/// Asks, and refuses where nothing came back.
pub(crate) fn ask(
    ctx: &Ctx<'_>,
    instance: Option<&str>,
    question: Question,
    timeout_ms: u64,
) -> Result<Said, Refusal> {
    let instance = instance.map(str::to_owned);
    let changes = matches!(question, Question::Exec { .. } | Question::JobCancel { .. });
    let reply = ctx.pipeline_request(&Request { instance, question, timeout_ms })?;
    match reply.outcome {
        Outcome::Answered { status, body } => {
            let said = Said { instance: reply.instance, status, body };
            if changes { known(said) } else { Ok(said) }
        }
        Outcome::NotSent { why, message } => Err(unreachable(&reply.instance, &why, &message)),
        // A look that got lost changed nothing.
        Outcome::Unknown { why, message } if !changes => {
            Err(unreachable(&reply.instance, &why, &message))
        }
        Outcome::Unknown { why, message } => Err(unknown(&reply.instance, &why, &message)),
    }
}

/// An answer to what changes something, unless it leaves open whether it did: a success that can't be read, or the
/// instance's word that it gave up on what it had started.
fn known(said: Said) -> Result<Said, Refusal> {
    match said.status {
        200 if !said.body.is_object() => {
            Err(unknown(&said.instance, "bad_answer", "the answer is no object of JSON"))
        }
        400 if said.body["timedOut"] == true => {
            let refusal = unknown(&said.instance, "timed_out", &reason(&said));
            Err(refusal.with("reply", lean(&said.body)))
        }
        _ => Ok(said),
    }
}

fn unknown(instance: &Instance, why: &str, message: &str) -> Refusal {
    let message =
        format!("`{}`: {}; it may have run", instance.name, message.trim_end_matches('.'));
    Refusal::new(UNKNOWN_OUTCOME, message).with("why", why).with("outcome", "unknown").next_call(
        "unity_editor_status",
        "shows whether the instance is back; then read what the command would have changed",
    )
}

/// Asks for what an instance tells of itself; anything but a success is refused.
pub(crate) fn look(
    ctx: &Ctx<'_>,
    instance: Option<&str>,
    question: Question,
) -> Result<Said, Refusal> {
    let said = ask(ctx, instance, question, LOOK_MS)?;
    if said.status == 200 && said.body.is_object() { Ok(said) } else { Err(refused(&said)) }
}

/// A look that a whole answer need not fail for.
pub(crate) fn glance(ctx: &Ctx<'_>, instance: &Instance, question: Question) -> Option<Value> {
    let said = ask(ctx, Some(&instance.folder), question, LOOK_MS).ok()?;
    (said.status == 200 && said.body.is_object()).then_some(said.body)
}

fn unreachable(instance: &Instance, why: &str, message: &str) -> Refusal {
    let message = format!("`{}` can't be reached: {message}", instance.name);
    let refusal = Refusal::new(INSTANCE_UNREACHABLE, message).with("why", why);
    match why {
        "dead" | "denied" => refusal.next_call("unity_list_instances", "shows which instances run"),
        _ => refusal.retry_after_ms(RETRY_MS),
    }
}

/// A reply that is no success.
pub(crate) fn refused(said: &Said) -> Refusal {
    let Said { instance, status, body } = said;
    let details = reason(said);
    let message = format!("`{}`: {}", instance.name, details.trim_end_matches('.'));
    let with_reply = |code: Code| {
        Refusal::new(code, message.clone())
            .with("instance", instance.name.clone())
            .with("reply", lean(body))
    };
    match status {
        503 => with_reply(INSTANCE_BUSY)
            .with("busy_reason", body["busyReason"].clone())
            .retry_after_ms(RETRY_MS),
        429 => with_reply(RATE_LIMITED).retry_after_ms(RETRY_MS),
        401 | 403 => with_reply(codes::FORBIDDEN)
            .no_remedy("the instance does not take the token of its own descriptor; restart it"),
        400 if body["errorCode"] == "INVALID_COMMAND_ARGS" => with_reply(codes::INVALID_ARGUMENTS)
            .with("arg_problems", body["argProblems"].clone())
            .with("command_schema", body["commandSchema"].clone())
            .field("arguments"),
        400 if body["error"] == "Command Not Found" => with_reply(codes::NOT_FOUND)
            .next_call("unity_list_commands", "shows the commands that there are"),
        400 if body["error"] == "Parameter Validation Failed" => {
            with_reply(codes::INVALID_ARGUMENTS).field("parameters")
        }
        _ => with_reply(codes::ENGINE_REFUSED)
            .no_remedy("the instance ran the request and reports a failure; its reply says why"),
    }
}

/// What a reply gives as its reason.
fn reason(said: &Said) -> String {
    let Said { status, body, .. } = said;
    let text = |name: &str| body[name].as_str().filter(|text| !text.is_empty());
    let details = ["errorDetails", "error", "message"].iter().find_map(|name| text(name));
    details.map_or_else(|| format!("status {status} without a reason"), str::to_owned)
}

/// The reply without what stands elsewhere in the refusal.
fn lean(body: &Value) -> Value {
    let mut body = body.clone();
    if let Some(members) = body.as_object_mut() {
        for told in ["argProblems", "commandSchema"] {
            members.shift_remove(told);
        }
    }
    let size = body.to_string().len();
    if size > MAX_REPLY_BYTES { json!({"omitted_bytes": size}) } else { body }
}

/// Largest reply that a refusal repeats, in bytes.
const MAX_REPLY_BYTES: usize = 16 * 1024;

/// A value that fits, or how large it is and how it begins.
pub(crate) fn bounded(value: Value, max_bytes: usize) -> (Value, bool) {
    let text = value.to_string();
    if text.len() <= max_bytes {
        return (value, false);
    }
    let shown = match &value {
        Value::String(text) => text.as_str(),
        _ => text.as_str(),
    };
    let mut end = max_bytes.min(shown.len());
    while !shown.is_char_boundary(end) {
        end -= 1;
    }
    (json!({"truncated": true, "size_bytes": text.len(), "begins": &shown[..end]}), true)
}

/// A failure that a delivered result tells of itself, in an object or in a text that holds one.
pub(crate) fn inner_failure(result: &Value) -> Option<String> {
    let read: Value;
    let result = match result {
        Value::String(text) if text.trim_start().starts_with('{') => {
            read = serde_json::from_str(text).ok()?;
            &read
        }
        other => other,
    };
    if result["success"] != Value::Bool(false) {
        return None;
    }
    let told = ["errorDetails", "error", "message"].iter().find_map(|name| match &result[*name] {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Null | Value::String(_) => None,
        other => Some(other.to_string()),
    });
    Some(told.unwrap_or_else(|| "it does not say why".into()))
}

/// Members of an object.
pub(crate) fn members<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
