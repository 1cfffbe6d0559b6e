//! One `tools/call` from its arguments to its outcome, a step a file, in this order:
//!
//! [`resolve`] a name to a tool, [`profile`] whether the list shows it, [`job_key`] takes `request_id` out or
//! answers with the kept job, [`schema`] the arguments, [`protect`] the server's own editor, [`route`] the engine, [`kind`] editor or game,
//! [`approve`] preview, token, person or skipped, [`run`] inline or as a job.
//!
//! Each step takes the value that only the step before it can make, so none can be left out.
//!
//! Spec: P-7, the path of a call.

pub mod approve;
pub mod job_key;
pub mod kind;
#[cfg(feature = "argument-normalization")]
pub mod normalize;
pub mod profile;
pub mod protect;
pub mod resolve;
pub mod route;
pub mod run;
pub mod schema;

use std::{
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::Duration,
};

use didi_plugin_api::{
    desc::{Mode, Profile},
    digest::sha256_hex,
    refusal::Refusal,
};
use serde_json::{Map, Value};

use self::approve::Approvals;
use crate::{
    answer::{Outcome, floor, repeat::Repeats},
    cancel::Cancel,
    catalog::Catalog,
    jobs::{Jobs, Ticket},
    journal::Journal,
    jsonrpc::ProtocolError,
    lane::Lane,
    services::{Progress, Shared},
};

/// What the process was started with, as far as dispatch is concerned.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Which list is shown.
    pub profile: Profile,
    /// Whether confirmations are skipped (`--yolo`).
    pub yolo: bool,
    /// How long a confirmation token lives.
    pub confirm_within: Duration,
}

/// A `tools/call` as the protocol hands it in.
pub struct Call {
    /// The name as called.
    pub name: String,
    /// The arguments as sent.
    pub arguments: Map<String, Value>,
    /// Who calls, as far as answers depend on it.
    pub caller: Caller,
    /// Raised when nobody wants the answer any more.
    pub cancel: Cancel,
    /// Takes progress notes.
    pub progress: Option<Progress>,
}

/// A change that was made.
#[derive(Debug, Clone)]
pub struct Change {
    /// The name of its entry in the change journal; `None` when that could not be written.
    pub entry: Option<String>,
    /// The steps that the editor's undo histories gained, as the editor told them.
    pub undo_steps: Vec<Value>,
}

/// Changes in their order.
pub type Recorded = Arc<Mutex<Vec<Change>>>;

/// The caller of one call.
#[derive(Debug, Clone, Default)]
pub struct Caller {
    /// Whether each request stands for itself.
    pub modern: bool,
    /// Whether a person can be asked through this client.
    pub elicits: bool,
    /// Whether the client takes a task as an answer.
    pub tasks: bool,
    /// The runtime session that a modern request names.
    pub session: Option<String>,
    /// What a person said to an earlier offer.
    pub approval: Option<approve::Said>,
    /// Whether it was shown every tool, whatever the profile of the process.
    pub every_tool: bool,
    /// Whether it waits as long as a job takes, so that a tool may take a job's time without being one.
    pub waits: bool,
    /// Takes what the call changed, as it was recorded.
    pub recorded: Option<Recorded>,
    /// The step of an editor's undo history that the call's changes share with those of others.
    pub undo_group: Option<String>,
    /// The rules by which its arguments are to be normalized.
    #[cfg(feature = "argument-normalization")]
    pub normalization: Option<String>,
}

/// How dispatch ends.
pub enum Verdict {
    /// With an outcome.
    Done(Outcome),
    /// With a question for a person.
    Ask(Box<approve::Offer>),
    /// With a job; the caller waits for it, or reads it later.
    Job(Box<JobCall>),
}

/// A job that a call started or named.
pub struct JobCall {
    /// The job.
    pub ticket: Ticket,
    /// The tool's name as called, and its canonical name.
    pub names: (String, String),
    /// The way in which it answers.
    pub mode: Mode,
}

/// Everything that a call needs.
pub struct Dispatcher {
    /// Start-up settings.
    pub settings: Settings,
    /// What all calls share.
    pub shared: Shared,
    /// Tokens and offers.
    pub approvals: Approvals,
    /// Jobs.
    pub jobs: Jobs,
    /// The change journal.
    pub journal: Journal,
    /// Held by whoever changes the project.
    pub lane: Lane,
    repeats: Repeats,
    catalog: RwLock<Arc<Catalog>>,
}

impl Dispatcher {
    /// A dispatcher over a catalog.
    pub fn new(settings: Settings, shared: Shared, catalog: Arc<Catalog>) -> Self {
        Dispatcher {
            settings,
            approvals: Approvals::new(settings.confirm_within),
            jobs: Jobs::default(),
            journal: Journal::new(shared.files.clone()),
            lane: Lane::default(),
            repeats: Repeats::default(),
            shared,
            catalog: RwLock::new(catalog),
        }
    }

    /// The catalog now.
    pub fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.catalog.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts another catalog in place for the calls that come; answers the one before.
    pub fn swap_catalog(&self, next: Arc<Catalog>) -> Arc<Catalog> {
        let mut catalog = self.catalog.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *catalog, next)
    }

    /// Takes a call through every step.
    ///
    /// # Errors
    /// `-32602` for a name that this process does not list.
    pub fn dispatch(&self, call: Call) -> Result<Verdict, ProtocolError> {
        let resolved = resolve::resolve(call, &self.catalog())?;
        let listed = profile::check(resolved, &self.catalog(), self.settings.profile)?;
        Ok(self.gate(listed))
    }

    fn gate(&self, listed: profile::Listed) -> Verdict {
        let origin = Origin::of(&listed);
        #[cfg(feature = "argument-normalization")]
        let (listed, normalized) = {
            let mut listed = listed;
            match normalize::apply(&mut listed) {
                Ok(normalized) => (listed, normalized),
                Err(refusal) => {
                    let outcome = origin.outcome(Err(refusal));
                    return Verdict::Done(self.finish(&origin, outcome));
                }
            }
        };
        let verdict = self.finished(&origin, self.gates(listed));
        #[cfg(feature = "argument-normalization")]
        let verdict = normalized.note(verdict);
        verdict
    }

    fn finished(&self, origin: &Origin, verdict: Result<Verdict, Refusal>) -> Verdict {
        match verdict {
            Ok(Verdict::Done(outcome)) => Verdict::Done(self.finish(origin, outcome)),
            Ok(other) => other,
            Err(refusal) => Verdict::Done(self.finish(origin, origin.outcome(Err(refusal)))),
        }
    }

    fn gates(&self, listed: profile::Listed) -> Result<Verdict, Refusal> {
        let keyed = match job_key::take(listed, &self.jobs)? {
            job_key::Step::Go(keyed) => *keyed,
            job_key::Step::Kept(job) => return Ok(Verdict::Job(job)),
        };
        let validated = schema::check(keyed)?;
        if let Some(recovery) = &self.shared.recovery {
            let (desc, call) = (&validated.tool.desc, &validated.call);
            let has_word = call.caller.approval.is_some() || self.settings.yolo;
            protect::before_routing(recovery, desc, &call.arguments, has_word)?;
        }
        let routed = route::choose(validated, &self.shared.routes)?;
        let admitted = kind::check(routed)?;
        match approve::approve(admitted, self)? {
            approve::Step::Go(approved) => run::run(*approved, self),
            approve::Step::Preview(outcome) => Ok(Verdict::Done(outcome)),
            approve::Step::Ask(offer) => Ok(Verdict::Ask(offer)),
        }
    }

    /// Adds what every outcome gets: the floor's remedy and the count of repeats.
    fn finish(&self, origin: &Origin, mut outcome: Outcome) -> Outcome {
        if let Err(refusal) = &mut outcome.body {
            floor::fill(refusal, &origin.names.1);
        }
        self.repeats.note(&origin.key, &mut outcome.body);
        outcome
    }

    /// The outcome of a job, finished like any other.
    pub fn finish_job(&self, job: &JobCall, mut outcome: Outcome) -> Outcome {
        if let Err(refusal) = &mut outcome.body {
            floor::fill(refusal, &job.names.1);
        }
        outcome
    }
}

/// What is kept of a call while its steps consume it.
struct Origin {
    names: (String, String),
    mode: Mode,
    key: String,
}

impl Origin {
    fn of(listed: &profile::Listed) -> Self {
        let (call, tool) = listed.parts();
        let names = (call.name.clone(), tool.desc.name.clone());
        let scope = if call.caller.modern { call.caller.session.as_deref() } else { None };
        let key = format!(
            "{}|{}|{}",
            scope.unwrap_or_default(),
            names.1,
            arguments_digest(&call.arguments, &["confirmation_token"])
        );
        let mode = tool.offline_mode().unwrap_or(Mode::Local);
        Origin { names, mode, key }
    }

    fn outcome(&self, body: Result<crate::answer::Success, Refusal>) -> Outcome {
        let names = self.names.clone();
        Outcome { body, mode: self.mode, meta: Map::new(), names, session: None }
    }
}

/// A digest of arguments that does not depend on the order of members, less the named ones.
pub fn arguments_digest(arguments: &Map<String, Value>, without: &[&str]) -> String {
    let mut text = String::new();
    let kept = arguments.iter().filter(|(name, _)| !without.contains(&name.as_str()));
    canonical(&mut text, kept.map(|(name, value)| (name.as_str(), value)));
    sha256_hex(text.as_bytes())
}

/// A digest of any value, as [`arguments_digest`] makes it.
pub fn value_digest(value: &Value) -> String {
    let mut text = String::new();
    canonical_value(&mut text, value);
    sha256_hex(text.as_bytes())
}

fn canonical<'a>(text: &mut String, members: impl Iterator<Item = (&'a str, &'a Value)>) {
    let mut members: Vec<_> = members.collect();
    members.sort_unstable_by_key(|(name, _)| *name);
    text.push('{');
    for (name, value) in members {
        text.push_str(&Value::from(name).to_string());
        text.push(':');
        canonical_value(text, value);
        text.push(',');
    }
    text.push('}');
}

fn canonical_value(text: &mut String, value: &Value) {
    match value {
        Value::Object(map) => {
            canonical(text, map.iter().map(|(name, value)| (name.as_str(), value)));
        }
        Value::Array(items) => {
            text.push('[');
            for item in items {
                canonical_value(text, item);
                text.push(',');
            }
            text.push(']');
        }
        plain => text.push_str(&plain.to_string()),
    }
}
