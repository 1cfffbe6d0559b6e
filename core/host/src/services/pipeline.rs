//! Instances of the Unity Pipeline for packs: a name goes in, a status and a body come out.
//!
//! Port and token stay here. Only the protocol's own endpoints are reached, and what may change something is
//! reached by tools alone that declare running something beyond the project, and never in a preview. A request
//! is sent once; whether to ask again is the caller's to say.
//!
//! This process is no instance to itself: a command that came in over it would wait for the very call that
//! sent it.
//!
//! Spec: P-72, instances for packs.

use std::{collections::BTreeMap, path::Path, time::Duration};

use didi_plugin_api::{
    pipeline::{Instance, MAX_TIMEOUT_MS, Outcome, Question, Reply, Request},
    refusal::{Refusal, codes},
};
use serde_json::{Map, Value, json};

use super::{Services, cancelled};
use crate::{
    pipeline::client::{
        Answer, Ask, Client, EXEC, Failure, JOB_CANCEL,
        find::{self, Found, NotFound, Wanted},
    },
    source, text,
};

/// Most instances that are told of.
const MAX_INSTANCES: usize = 100;

impl Services {
    /// The instances that can be seen.
    pub(super) fn pipeline_instances(&self) -> Vec<Instance> {
        self.seen().into_iter().map(|(name, found)| shown(name, &found)).collect()
    }

    /// Asks an instance.
    pub(super) fn pipeline_request(&self, request: &Request) -> Result<Reply, Refusal> {
        let (name, found) = self.instance(request.instance.as_deref())?;
        let instance = shown(name, &found);
        let client = Client::new(&found, &self.cancel).map_err(|error| {
            Refusal::new(codes::INTERNAL_ERROR, format!("no connection can be made: {error}"))
                .no_remedy("the system has no room for another socket")
        })?;
        let limit = Duration::from_millis(request.timeout_ms.clamp(1, MAX_TIMEOUT_MS));
        let deadline = source::now() + limit;
        let mut watch = |said: &Value| self.pass_on(&said["progress"]);
        let runs = matches!(request.question, Question::Exec { .. });
        let changes = runs || matches!(request.question, Question::JobCancel { .. });
        let watch: Option<&mut dyn FnMut(&Value)> =
            if runs && self.progress.is_some() { Some(&mut watch) } else { None };
        let ended = client.once_watched(ask(&request.question), deadline, watch);
        Ok(Reply { instance, outcome: self.told(ended, changes)? })
    }

    /// How a request ended. What came back is told although the caller gave up meanwhile, and what may have changed
    /// something is never told as stopped.
    fn told(&self, ended: Result<Answer, Failure>, changes: bool) -> Result<Outcome, Refusal> {
        match ended {
            Err(failure) if self.cancel.is_raised() && !(changes && failure.may_have_run()) => {
                Err(cancelled())
            }
            ended => Ok(outcome(ended)),
        }
    }

    /// Whether a tool may ask this.
    pub(super) fn may_ask(&self, question: &Question) -> bool {
        match question {
            Question::Exec { .. } | Question::JobCancel { .. } => self.may_run,
            Question::Status
            | Question::EditorStatus
            | Question::Dialog
            | Question::Progress
            | Question::TestStatus
            | Question::Commands { .. }
            | Question::Job { .. } => true,
        }
    }

    /// What can be seen, by name, with what runs in front. A name that several have goes with the folder; one whose
    /// process has ended takes none from one that runs.
    fn seen(&self) -> Vec<(String, Found)> {
        let mut found = find::list(&self.shared.pipelines, &self.cancel);
        found.retain(|it| it.descriptor.pid != std::process::id());
        let (mut found, ended): (Vec<_>, Vec<_>) = found.into_iter().partition(Found::runs);
        found.extend(ended);
        found.truncate(MAX_INSTANCES);
        let (mut running, mut all) = (BTreeMap::new(), BTreeMap::new());
        for one in &found {
            *all.entry(one.descriptor.name()).or_insert(0_usize) += 1;
            *running.entry(one.descriptor.name()).or_insert(0_usize) += usize::from(one.runs());
        }
        let named = found.into_iter().map(|one| {
            let name = one.descriptor.name();
            let same = if one.runs() { &running } else { &all };
            let name = if same[&name] > 1 { with_folder(&one) } else { name };
            (name, one)
        });
        named.collect()
    }

    fn instance(&self, wanted: Option<&str>) -> Result<(String, Found), Refusal> {
        let Some(wanted) = wanted else { return self.only() };
        // A folder says where to look, so the rest of the machine is looked at only where nobody is there.
        let missing = match self.by_folder(wanted) {
            Ok(found) => return Ok(found),
            Err(missing) => missing,
        };
        let mut seen = self.seen();
        let is_meant = |(name, found): &(String, Found)| {
            name == wanted || found.descriptor.folder() == Path::new(wanted)
        };
        if let Some(place) = seen.iter().position(is_meant) {
            return Ok(seen.swap_remove(place));
        }
        seen.retain(|(_, found)| found.runs() && found.descriptor.name() == wanted);
        let message = format!("{} instances are called `{}`", seen.len(), text::clip(wanted));
        if seen.is_empty() { Err(missing) } else { Err(several(message, &seen)) }
    }

    /// The only one that runs.
    fn only(&self) -> Result<(String, Found), Refusal> {
        let mut seen = self.seen();
        seen.retain(|(_, found)| found.runs());
        match seen.len() {
            0 => Err(nobody("no instance runs that can be seen from here")),
            1 => Ok(seen.remove(0)),
            count => Err(several(format!("{count} instances run, and none is named"), &seen)),
        }
    }

    /// One that runs, by the folder of its project or player.
    fn by_folder(&self, wanted: &str) -> Result<(String, Found), Refusal> {
        let folder = Path::new(wanted);
        let missing = || nobody(&format!("no instance is called `{}`", text::clip(wanted)));
        if !folder.is_absolute() || !folder.exists() {
            return Err(missing());
        }
        let places = [Wanted::Project(folder.into()), Wanted::PlayerPath(folder.into())];
        let mut last = missing();
        for place in &places {
            match find::find(place, &self.shared.pipelines, &self.cancel) {
                Ok(found) if found.descriptor.pid == std::process::id() => {}
                Ok(found) => return Ok((found.descriptor.name(), found)),
                Err(NotFound::Nothing { .. } | NotFound::Ambiguous(_)) => {}
                Err(why @ (NotFound::Denied { .. } | NotFound::Unreadable { .. })) => {
                    last = Refusal::new(codes::FORBIDDEN, why.to_string()).field("instance");
                }
            }
        }
        Err(last)
    }

    /// Tells a waiting client what an instance reports of a command.
    fn pass_on(&self, progress: &Value) {
        let Some(tell) = &self.progress else { return };
        let count = |name: &str| progress[name].as_u64().unwrap_or_default();
        let texts = ["title", "info"].map(|name| progress[name].as_str().unwrap_or_default());
        let note = texts.iter().filter(|it| !it.is_empty()).copied().collect::<Vec<_>>();
        if progress.is_object() {
            tell(count("current"), count("total"), &note.join(": "));
        }
    }
}

fn nobody(message: &str) -> Refusal {
    Refusal::new(codes::NOT_FOUND, message)
        .next_call("unity_list_instances", "shows the instances that can be seen")
}

fn several(message: String, seen: &[(String, Found)]) -> Refusal {
    let told = |(name, found): &(String, Found)| {
        let folder = found.descriptor.folder().to_string_lossy();
        json!({"instance": name, "folder": folder})
    };
    let candidates: Vec<Value> = seen.iter().map(told).collect();
    Refusal::new(codes::CONFLICT, message).with("candidates", candidates).field("instance")
}

fn with_folder(found: &Found) -> String {
    format!("{} ({})", found.descriptor.name(), found.descriptor.folder().display())
}

fn shown(name: String, found: &Found) -> Instance {
    let descriptor = &found.descriptor;
    Instance {
        name,
        kind: descriptor.instance.kind().into(),
        folder: descriptor.folder().to_string_lossy().into_owned(),
        version: descriptor.engine_version.clone(),
        pid: descriptor.pid,
        process: found.process.as_str().into(),
        capabilities: descriptor.capabilities.clone(),
        info: descriptor.info.clone(),
        started_at: descriptor.started_at.clone(),
        last_heartbeat: descriptor.last_heartbeat.clone(),
    }
}

fn ask(question: &Question) -> Ask {
    let escaped = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    match question {
        Question::Status => Ask::get("/api/status"),
        Question::EditorStatus => Ask::get("/api/editor_status"),
        Question::Dialog => Ask::get("/api/dialog"),
        Question::Progress => Ask::get("/api/progress"),
        Question::TestStatus => Ask::get("/api/test-status"),
        Question::Commands { query } => {
            let mut text = form_urlencoded::Serializer::new(String::new());
            text.extend_pairs(query);
            Ask::get(format!("/api/commands?{}", text.finish()))
        }
        Question::Job { id } => Ask::get(format!("/api/job?id={}", escaped(id))),
        Question::JobCancel { id } => {
            Ask::Post { path: JOB_CANCEL, body: json!({"id": id}).to_string().into_bytes() }
        }
        Question::Exec { body } => Ask::Post { path: EXEC, body: bytes(body) },
    }
}

fn bytes(body: &Map<String, Value>) -> Vec<u8> {
    // A map of JSON values has nothing that JSON could not take.
    serde_json::to_vec(body).unwrap_or_default()
}

fn outcome(ended: Result<Answer, Failure>) -> Outcome {
    let failure = match ended {
        Ok(answer) => {
            let body = answer.json().unwrap_or_else(|_| {
                Value::String(String::from_utf8_lossy(&answer.body).into_owned())
            });
            return Outcome::Answered { status: answer.status, body };
        }
        Err(failure) => failure,
    };
    let message = failure.to_string();
    let why = match &failure {
        Failure::Refused(_) => "refused",
        Failure::Denied(_) => "denied",
        Failure::Dead { .. } => "dead",
        Failure::Unanswered(_) => "closed",
        Failure::TimedOut { .. } => "timed_out",
        Failure::BadAnswer(_) => "bad_answer",
        Failure::Cancelled { .. } => "cancelled",
    };
    let why = why.to_owned();
    if failure.may_have_run() {
        Outcome::Unknown { why, message }
    } else {
        Outcome::NotSent { why, message }
    }
}

#[cfg(test)]
mod tests;
