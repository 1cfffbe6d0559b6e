//! Step seven: preview, confirmation token, a person's word, or skipped at launch.
//!
//! A token and an offer to a person bind the same things: the tool, its arguments, the project, the mode, the
//! session, the route's generation, and what the preview saw of the target. Each is good once, for a short
//! time. Only this module makes an [`Approved`].
//!
//! Spec: P-12, previews and confirmation.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use didi_plugin_api::{
    abi::code,
    desc::{Confirmation, Mode},
    digest::sha256_hex,
    outcome::Target,
    refusal::{Refusal, codes},
};
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::Sha256;

use super::{
    Call, Dispatcher, arguments_digest, job_key::MANNERS, kind::Admitted, route::Route,
    value_digest,
};
use crate::{
    answer::{self, Outcome, Success, floor::gate_codes},
    catalog::Tool,
    journal::redacted,
    services::Services,
    source,
};

/// Longest life of a token or an offer.
pub const CONFIRM_WITHIN: Duration = Duration::from_secs(120);

/// Tokens, and spent offers, that are remembered at the most; the oldest go first.
const MAX_REMEMBERED: usize = 1024;

/// Largest preview, in bytes.
const MAX_PREVIEW_BYTES: usize = 8 * 1024 * 1024;

/// Text longer than this is replaced by its size in a preview past its bound, in bytes.
const ELIDE_ABOVE_BYTES: usize = 4096;

/// The one question of an offer.
pub const QUESTION: &str = "confirm";

/// What a confirmation was worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confirmed {
    /// A person said yes.
    Human,
    /// The caller echoed a token that it was handed.
    Agent,
    /// Nobody was asked, by a launch flag.
    Skipped,
}

/// A call that may run.
pub struct Approved {
    pub(super) call: Call,
    pub(super) tool: Arc<Tool>,
    pub(super) request_id: Option<String>,
    pub(super) route: Route,
    pub(super) mode: Mode,
    pub(super) confirmed: Option<Confirmed>,
    pub(super) target: Option<Target>,
    // Made in this module alone.
    _proof: (),
}

/// How the step ends.
pub enum Step {
    /// The call may run.
    Go(Box<Approved>),
    /// A preview answers, and nothing runs.
    Preview(Outcome),
    /// A person has to be asked.
    Ask(Box<Offer>),
}

/// A question for a person, with what its answer allows.
#[derive(Debug, Clone)]
pub struct Offer {
    /// What is asked.
    pub message: String,
    /// The preview that the question is about.
    pub preview: Value,
    /// What a retry has to bring back: authenticated, bound, good once.
    pub state: String,
}

/// What a person said to an offer.
#[derive(Debug, Clone)]
pub struct Said {
    /// The offer's state, as it came back.
    pub state: String,
    /// Accept, decline or cancel.
    pub action: Action,
}

/// The three answers to an elicitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Yes.
    Accept,
    /// No.
    Decline,
    /// No answer.
    Cancel,
}

/// Live tokens, and the offers that were spent.
pub struct Approvals {
    within: Duration,
    key: [u8; 32],
    tokens: Mutex<BTreeMap<String, Binding>>,
    spent: Mutex<BTreeSet<(u64, String)>>,
}

struct Binding {
    to: String,
    target: Option<String>,
    expires: Instant,
}

/// An offer's state in the clear; the client sees it, and can't change it.
#[derive(Serialize, Deserialize)]
struct OfferState {
    to: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    expires_ms: u64,
    nonce: String,
}

/// Takes a call through the step.
///
/// # Errors
/// `confirmation_required`, `gone`, `conflict` with `target_changed`, `not_approved`, and whatever the
/// preview refuses.
pub fn approve(admitted: Admitted, host: &Dispatcher) -> Result<Step, Refusal> {
    let mut asked = Asked::read(admitted)?;
    if !asked.tool.desc.effects.mutates_project {
        return Ok(Step::Go(asked.go(None, None)));
    }
    let rule = asked.tool.desc.confirmation;
    let overwrites = asked.call.arguments.get("overwrite") == Some(&Value::Bool(true));
    let may_need = match rule {
        Confirmation::Never => false,
        Confirmation::Always => true,
        Confirmation::OnOverwrite => overwrites,
    };
    if asked.dry_run {
        let target = asked.read_target(host)?;
        let preview = asked.preview(host, target.as_ref(), rule != Confirmation::Never);
        return Ok(Step::Preview(asked.preview_outcome(preview)));
    }
    if !may_need && asked.token.is_none() {
        return Ok(Step::Go(asked.go(None, None)));
    }
    let target = asked.read_target(host)?;
    let needed = match rule {
        Confirmation::OnOverwrite => overwrites && target.as_ref().is_none_or(|found| found.exists),
        rule => rule == Confirmation::Always,
    };
    if needed && host.settings.yolo {
        return Ok(Step::Go(asked.go(Some(Confirmed::Skipped), target)));
    }
    if let Some(token) = asked.token.take() {
        host.approvals.spend_token(&token, &asked.binding(host), target.as_ref())?;
        return Ok(Step::Go(asked.go(Some(Confirmed::Agent), target)));
    }
    if !needed {
        return Ok(Step::Go(asked.go(None, target)));
    }
    if let Some(said) = asked.call.caller.approval.take() {
        host.approvals.spend_offer(&said, &asked.binding(host), target.as_ref())?;
        return Ok(Step::Go(asked.go(Some(Confirmed::Human), target)));
    }
    if asked.call.caller.elicits {
        return Ok(Step::Ask(Box::new(asked.offer(host, target.as_ref()))));
    }
    Err(confirmation_required(&asked.tool.desc.name))
}

fn confirmation_required(tool: &str) -> Refusal {
    let message = format!(
        "`{tool}` has to be confirmed: preview it with `dry_run`, then send the same call with the preview's `confirmation_token`"
    );
    Refusal::new(gate_codes::CONFIRMATION_REQUIRED, message)
        .with("dry_run_argument", "dry_run")
        .with("confirmation_argument", "confirmation_token")
        .retry_with(json!({"dry_run": true}))
}

/// A call with its manners taken out of the arguments.
struct Asked {
    call: Call,
    tool: Arc<Tool>,
    request_id: Option<String>,
    route: Route,
    mode: Mode,
    dry_run: bool,
    token: Option<String>,
}

impl Asked {
    fn read(admitted: Admitted) -> Result<Self, Refusal> {
        let Admitted { mut call, tool, request_id, route, mode } = admitted;
        let mut take = |name: &str| {
            if tool.owns(name) { None } else { call.arguments.shift_remove(name) }
        };
        let dry_run = take("dry_run") == Some(Value::Bool(true));
        let token = take("confirmation_token").and_then(|token| token.as_str().map(String::from));
        if dry_run && token.is_some() {
            let message = "a dry run takes no `confirmation_token`; send one or the other";
            return Err(Refusal::invalid("confirmation_token", message));
        }
        Ok(Asked { call, tool, request_id, route, mode, dry_run, token })
    }

    fn go(self, confirmed: Option<Confirmed>, target: Option<Target>) -> Box<Approved> {
        let Asked { call, tool, request_id, route, mode, .. } = self;
        Box::new(Approved { call, tool, request_id, route, mode, confirmed, target, _proof: () })
    }

    /// Asks the tool for its target; `None` when it has no preview.
    fn read_target(&self, host: &Dispatcher) -> Result<Option<Target>, Refusal> {
        if !self.tool.desc.previews {
            return Ok(None);
        }
        let services =
            Services::new(&host.shared, &self.tool.desc, self.mode, true, &self.call.cancel, None)
                .over(&self.route, self.call.caller.session.as_deref())
                .beside(super::run::file_caller(
                    &self.call.arguments,
                    &self.tool,
                    self.call.caller.modern,
                ));
        let reply = self.tool.preview(&super::run::to_bytes(&self.call.arguments), &services);
        match reply.code {
            code::UNKNOWN_OP => Ok(None),
            _ => super::run::read_reply(&reply, &self.tool.desc.name).map(Some),
        }
    }

    /// The session that serves, or that the caller named.
    fn session(&self) -> Option<String> {
        self.route.session().or_else(|| self.call.caller.session.clone())
    }

    /// What a confirmation is bound to, beside the target.
    fn binding(&self, host: &Dispatcher) -> String {
        let parts = [
            self.tool.desc.name.clone(),
            arguments_digest(&self.call.arguments, &MANNERS),
            host.shared.files.root().folder().display().to_string(),
            self.mode.as_str().to_owned(),
            self.session().unwrap_or_default(),
            self.route.generation().to_string(),
        ];
        sha256_hex(parts.join("\n").as_bytes())
    }

    fn preview(&self, host: &Dispatcher, target: Option<&Target>, with_token: bool) -> Value {
        let desc = &self.tool.desc;
        let binding = self.binding(host);
        let mut preview = Map::new();
        preview.insert("tool".into(), desc.name.clone().into());
        preview.insert("arguments".into(), redacted(&self.call.arguments));
        preview.insert(
            "project".into(),
            host.shared.files.root().folder().display().to_string().into(),
        );
        preview.insert("execution_mode".into(), self.mode.as_str().into());
        if let Some(session) = self.session() {
            preview.insert("session_id".into(), session.into());
        }
        preview.insert("route_generation".into(), self.route.generation().into());
        preview.insert("binding".into(), binding.clone().into());
        preview.insert("target_read".into(), target.is_some().into());
        let kind = if target.is_some() { "target_state" } else { "argument_binding" };
        preview.insert("preview_kind".into(), kind.into());
        preview.insert("changes".into(), json!([change(&self.call.arguments, target)]));
        preview.insert("target_checked_on_confirm".into(), (with_token && target.is_some()).into());
        preview.insert("max_response_bytes".into(), MAX_PREVIEW_BYTES.into());
        let truncated = elide(&mut preview);
        preview.insert("truncated".into(), truncated.into());
        if with_token {
            let token = host.approvals.mint_token(&binding, target);
            preview.insert("confirmation_token".into(), token.into());
            preview.insert("expires_in_seconds".into(), host.approvals.within.as_secs().into());
        }
        Value::Object(preview)
    }

    fn preview_outcome(self, preview: Value) -> Outcome {
        let data = json!({"dry_run": true, "mutation_preview": preview});
        let structured = answer::own(self.mode, data);
        Outcome {
            body: Ok(Success { structured, attachments: vec![] }),
            mode: self.mode,
            meta: Map::new(),
            session: self.route.engine().map(|route| Box::new(route.identity().clone())),
            names: (self.call.name, self.tool.desc.name.clone()),
        }
    }

    fn offer(&self, host: &Dispatcher, target: Option<&Target>) -> Offer {
        let subject =
            target.map_or_else(|| "its target".to_owned(), |found| format!("`{}`", found.subject));
        let project = host.shared.files.root().folder().display();
        let message =
            format!("Allow {} to change {subject} in the project {project}?", self.tool.desc.name);
        let state = host.approvals.mint_offer(&self.binding(host), target);
        Offer { message, preview: self.preview(host, target, false), state }
    }
}

fn change(arguments: &Map<String, Value>, target: Option<&Target>) -> Value {
    let Some(target) = target else {
        let subject = arguments.values().find_map(Value::as_str).unwrap_or("the arguments");
        let before =
            json!({"read": false, "note": "the target was not read; only the arguments are bound"});
        return json!({"kind": "unverified_mutation", "target": subject, "before": before});
    };
    let kind = if target.resolved_only { "resolved_target" } else { "planned_mutation" };
    let mut change = json!({"kind": kind, "target": target.subject, "before": target.before});
    if let Some(after) = &target.after {
        change["after"] = after.clone();
    }
    change
}

/// Replaces long texts by their size when a preview passes its bound; the token stays bound to the real ones.
fn elide(preview: &mut Map<String, Value>) -> bool {
    let size =
        |preview: &Map<String, Value>| serde_json::to_vec(preview).map_or(0, |text| text.len());
    if size(preview) <= MAX_PREVIEW_BYTES {
        return false;
    }
    preview.values_mut().for_each(elide_value);
    true
}

fn elide_value(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > ELIDE_ABOVE_BYTES => {
            *value = json!({"elided_bytes": text.len()});
        }
        Value::Array(items) => items.iter_mut().for_each(elide_value),
        Value::Object(members) => members.values_mut().for_each(elide_value),
        _ => {}
    }
}

fn target_digest(target: &Target) -> String {
    value_digest(&json!([target.subject, target.before]))
}

/// A target that is no longer what the preview saw. One that is gone does not count: nothing can be lost.
fn check_target(seen: Option<&String>, target: Option<&Target>) -> Result<(), Refusal> {
    let (Some(seen), Some(target)) = (seen, target) else { return Ok(()) };
    if *seen == target_digest(target) || !target.exists {
        return Ok(());
    }
    let message = format!("`{}` is no longer what the preview saw", target.subject);
    Err(Refusal::new(codes::CONFLICT, message)
        .with("target_changed", true)
        .retry_with(json!({"dry_run": true})))
}

impl Approvals {
    /// Tokens and offers live for `within`.
    pub fn new(within: Duration) -> Self {
        Approvals {
            within: within.min(CONFIRM_WITHIN),
            key: source::random_bytes(),
            tokens: Mutex::default(),
            spent: Mutex::default(),
        }
    }

    fn mint_token(&self, binding: &str, target: Option<&Target>) -> String {
        let token = source::random_hex::<32>();
        let now = source::now();
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        tokens.retain(|_, one| one.expires > now);
        if tokens.len() >= MAX_REMEMBERED {
            let oldest = tokens.iter().min_by_key(|(_, one)| one.expires);
            if let Some(oldest) = oldest.map(|(token, _)| token.clone()) {
                tokens.remove(&oldest);
            }
        }
        let expires = now + self.within;
        let bound = Binding { to: binding.to_owned(), target: target.map(target_digest), expires };
        tokens.insert(token.clone(), bound);
        token
    }

    /// Takes a token out, good or not, and compares what it is bound to.
    fn spend_token(
        &self,
        token: &str,
        binding: &str,
        target: Option<&Target>,
    ) -> Result<(), Refusal> {
        let found = self.tokens.lock().unwrap_or_else(PoisonError::into_inner).remove(token);
        let gone = |why: &str| {
            Err(Refusal::new(gate_codes::GONE, format!("the `confirmation_token` {why}"))
                .retry_with(json!({"dry_run": true})))
        };
        match found {
            None => gone("is unknown, or was used before"),
            Some(bound) if bound.expires <= source::now() => gone("is past its time"),
            Some(bound) if bound.to != binding => {
                gone("was minted for another call, and is now spent")
            }
            Some(bound) => check_target(bound.target.as_ref(), target),
        }
    }

    fn mint_offer(&self, binding: &str, target: Option<&Target>) -> String {
        let within_ms = u64::try_from(self.within.as_millis()).unwrap_or(u64::MAX);
        let state = OfferState {
            to: binding.to_owned(),
            target: target.map(target_digest),
            expires_ms: source::now_ms() + within_ms,
            nonce: source::random_hex::<16>(),
        };
        // Four plain members always serialise.
        let text = URL_SAFE_NO_PAD.encode(serde_json::to_vec(&state).unwrap_or_default());
        let seal = source::hex(&self.seal(&text).finalize().into_bytes());
        format!("{text}.{seal}")
    }

    fn seal(&self, text: &str) -> Hmac<Sha256> {
        let mut seal = Hmac::<Sha256>::new_from_slice(&self.key).expect("any key length is legal");
        seal.update(text.as_bytes());
        seal
    }

    /// Whether an offer's state was made by this process; what is inside then can be trusted.
    fn open_offer(&self, state: &str) -> Option<OfferState> {
        let (text, seal) = state.split_once('.')?;
        let mut bytes = [0; 32];
        // Numbers are read with a sign, too, and in either case; a seal has one spelling.
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if seal.len() != 64 || !seal.bytes().all(is_digit) {
            return None;
        }
        for (place, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(seal.get(place * 2..place * 2 + 2)?, 16).ok()?;
        }
        self.seal(text).verify_slice(&bytes).ok()?;
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).ok()?).ok()
    }

    /// Whether a state that a client sent back is one of this process's.
    pub fn is_own_state(&self, state: &str) -> bool {
        self.open_offer(state).is_some()
    }

    fn spend_offer(
        &self,
        said: &Said,
        binding: &str,
        target: Option<&Target>,
    ) -> Result<(), Refusal> {
        let gone = |why: &str| {
            Err(Refusal::new(
                gate_codes::GONE,
                format!("the approval {why}; send the call again without it"),
            )
            .field("requestState"))
        };
        let Some(state) = self.open_offer(&said.state) else {
            return gone("carries a `requestState` that this server did not make");
        };
        if state.to != binding {
            return gone("was given to another call");
        }
        // A no needs no time: only a yes can come too late.
        if said.action == Action::Accept && state.expires_ms <= source::now_ms() {
            return gone("is past its time");
        }
        {
            let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
            if !spent.insert((state.expires_ms, state.nonce)) {
                return gone("was used before");
            }
            while spent.len() > MAX_REMEMBERED {
                spent.pop_first();
            }
        }
        match said.action {
            Action::Accept => check_target(state.target.as_ref(), target),
            Action::Decline => {
                Err(Refusal::new(gate_codes::NOT_APPROVED, "a person declined the change")
                    .with("action", "decline")
                    .no_remedy("a person said no; do not ask for the same change again"))
            }
            Action::Cancel => Err(Refusal::new(
                gate_codes::NOT_APPROVED,
                "the question was dismissed without an answer",
            )
            .with("action", "cancel")
            .retry_after_ms(0)),
        }
    }
}

#[cfg(test)]
mod tests;
