//! The tasks of a board: who does what, under a lease that lapses by itself, and what waits on what.
//!
//! A lease is the only proof of who works on a task: without a live one nobody reports on it.
//!
//! Spec: P-51, tasks.

use std::collections::BTreeSet;

use didi_plugin_api::prelude::*;
use serde_json::Map;

use super::Board;

/// Most tasks of a board.
const MAX_TASKS: usize = 2_000;
/// Most tasks that one task waits on.
pub(crate) const MAX_DEPENDENCIES: usize = 64;
/// Most labels of a task.
pub(crate) const MAX_TAGS: usize = 16;
/// Most notes of a task.
const MAX_NOTES: usize = 100;
/// Longest id of a task, in characters.
const MAX_ID_CHARS: usize = 128;

// Where a task stands. (A doc comment would be published.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Blocked,
    Pending,
    InProgress,
    NeedsReview,
    Completed,
    Failed,
}

impl Status {
    fn words(self) -> &'static str {
        match self {
            Status::Blocked => "blocked",
            Status::Pending => "pending",
            Status::InProgress => "in progress",
            Status::NeedsReview => "waiting for a review",
            Status::Completed => "completed",
            Status::Failed => "failed",
        }
    }
}

/// A task as it is stored and shown.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Task {
    #[serde(rename = "task_id")]
    pub(crate) id: String,
    pub(crate) title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    pub(crate) status: Status,
    #[serde(default)]
    pub(crate) priority: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) assigned_to: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) author: Option<String>,
    #[serde(default)]
    pub(crate) dependencies: Vec<String>,
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) progress: Option<u8>,
    #[serde(default)]
    #[schemars(schema_with = "crate::answer::objects")]
    pub(crate) notes: Vec<Note>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "crate::answer::object")]
    pub(crate) lease: Option<Lease>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "crate::answer::any")]
    pub(crate) artifacts: Option<Value>,
    pub(crate) created_at_ms: u64,
    pub(crate) updated_at_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) completed_by: Option<String>,
    #[serde(flatten)]
    #[schemars(skip)]
    other: Map<String, Value>,
}

/// Something that was said about a task.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Note {
    at_ms: u64,
    agent_id: String,
    text: String,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// Who works on a task, and until when.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Lease {
    pub(crate) agent_id: String,
    pub(crate) expires_at_ms: u64,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// What a new task is made of.
#[derive(Debug, Clone, Default)]
pub(crate) struct NewTask {
    pub(crate) task_id: Option<String>,
    pub(crate) title: String,
    pub(crate) description: Option<String>,
    pub(crate) assigned_to: Option<String>,
    pub(crate) author: Option<String>,
    pub(crate) dependencies: Vec<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) priority: i32,
}

/// What a holder reports.
#[derive(Debug, Clone, Default)]
pub(crate) struct Report {
    pub(crate) progress: Option<u8>,
    pub(crate) note: Option<String>,
    pub(crate) status: Option<Status>,
    pub(crate) renew_ms: Option<u64>,
}

/// What a claim gave.
#[derive(Debug)]
pub(crate) enum Claim {
    /// The task with this id.
    Taken(String),
    Nothing {
        reason_code: &'static str,
        reason: &'static str,
    },
}

impl Board {
    pub(crate) fn task(&self, id: &str) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == id)
    }

    /// Adds a task and answers its id.
    pub(crate) fn create_task(&mut self, new: NewTask) -> Result<String, Refusal> {
        if self.tasks.len() >= MAX_TASKS {
            return Err(self
                .full(format!("the board has {MAX_TASKS} tasks already, and no more are taken")));
        }
        let task_id = self.new_id(new.task_id)?;
        let dependencies = without_repeats(new.dependencies);
        self.check_dependencies(&task_id, &dependencies)?;
        let status =
            if self.all_completed(&dependencies) { Status::Pending } else { Status::Blocked };
        let now = self.tick();
        self.tasks.push(Task {
            id: task_id.clone(),
            title: new.title,
            description: new.description,
            status,
            priority: new.priority,
            assigned_to: new.assigned_to,
            author: new.author,
            dependencies,
            tags: without_repeats(new.tags),
            progress: None,
            notes: vec![],
            lease: None,
            artifacts: None,
            created_at_ms: now,
            updated_at_ms: now,
            completed_by: None,
            other: Map::new(),
        });
        Ok(task_id)
    }

    fn new_id(&mut self, wanted: Option<String>) -> Result<String, Refusal> {
        let Some(id) = wanted else { return Ok(self.next_id()) };
        if id.is_empty() || id.chars().count() > MAX_ID_CHARS {
            let message = format!("`task_id` has to have 1 to {MAX_ID_CHARS} characters");
            return Err(Refusal::invalid("task_id", message));
        }
        if self.task(&id).is_some() {
            let message = format!("the board has a task `{id}` already");
            return Err(Refusal::new(codes::CONFLICT, message)
                .with("reason_code", "task_id_taken")
                .field("task_id"));
        }
        Ok(id)
    }

    fn next_id(&mut self) -> String {
        loop {
            self.last_task += 1;
            let id = format!("TASK-{}", self.last_task);
            if self.task(&id).is_none() {
                return id;
            }
        }
    }

    fn check_dependencies(&self, id: &str, dependencies: &[String]) -> Result<(), Refusal> {
        if dependencies.iter().any(|other| other == id) {
            return Err(Refusal::invalid("dependencies", format!("`{id}` can't wait on itself")));
        }
        let unknown: Vec<&str> = dependencies
            .iter()
            .map(String::as_str)
            .filter(|other| self.task(other).is_none())
            .collect();
        if !unknown.is_empty() {
            let message = format!(
                "the board has no task `{}`; a task waits on tasks that exist",
                unknown.join("`, `")
            );
            return Err(Refusal::new(codes::INVALID_ARGUMENTS, message)
                .with("unknown", unknown)
                .field("dependencies"));
        }
        if self.waits_on(dependencies, id) {
            let message =
                format!("one of these tasks waits on `{id}`, so none of them could begin");
            return Err(Refusal::invalid("dependencies", message));
        }
        Ok(())
    }

    /// Whether one of `from` waits on `id`, over any number of steps. A board written by hand can name
    /// tasks that do not exist yet.
    fn waits_on(&self, from: &[String], id: &str) -> bool {
        let mut seen = BTreeSet::new();
        let mut open: Vec<&str> = from.iter().map(String::as_str).collect();
        while let Some(next) = open.pop() {
            if next == id {
                return true;
            }
            if seen.insert(next) {
                let task = self.task(next);
                open.extend(task.iter().flat_map(|task| &task.dependencies).map(String::as_str));
            }
        }
        false
    }

    fn all_completed(&self, dependencies: &[String]) -> bool {
        dependencies
            .iter()
            .all(|id| self.task(id).is_some_and(|task| task.status == Status::Completed))
    }

    /// Leases a named task, or the next one that is ready: this agent's before others', then by priority,
    /// then the oldest.
    pub(crate) fn claim(
        &mut self,
        agent_id: &str,
        wanted: Option<&str>,
        tag: Option<&str>,
        lease_ms: u64,
    ) -> Result<Claim, Refusal> {
        let at = match wanted {
            Some(id) => self.claimable(id, agent_id, tag)?,
            None => match self.next_ready(agent_id, tag) {
                Some(at) => at,
                None => return Ok(self.nothing_ready(tag)),
            },
        };
        let now = self.tick();
        let expires_at_ms = self.now_ms() + lease_ms;
        let task = &mut self.tasks[at];
        task.status = Status::InProgress;
        task.lease = Some(Lease { agent_id: agent_id.into(), expires_at_ms, other: Map::new() });
        task.updated_at_ms = now;
        Ok(Claim::Taken(task.id.clone()))
    }

    fn next_ready(&self, agent_id: &str, tag: Option<&str>) -> Option<usize> {
        let ready = self.tasks.iter().enumerate().filter(|(_, task)| {
            task.status == Status::Pending && tag.is_none_or(|tag| task.has_tag(tag))
        });
        let rank = |(at, task): &(usize, &Task)| {
            let for_another = task.assigned_to.as_deref().is_some_and(|other| other != agent_id);
            (for_another, -i64::from(task.priority), *at)
        };
        ready.min_by_key(rank).map(|(at, _)| at)
    }

    fn claimable(&self, id: &str, agent_id: &str, tag: Option<&str>) -> Result<usize, Refusal> {
        let at = self.find(id)?;
        let task = &self.tasks[at];
        if let Some(tag) = tag.filter(|tag| !task.has_tag(tag)) {
            return Err(Refusal::invalid("tag", format!("`{id}` does not carry the tag `{tag}`")));
        }
        match task.status {
            Status::Pending | Status::NeedsReview | Status::Failed => Ok(at),
            Status::InProgress if task.held_by(agent_id) => Ok(at),
            Status::InProgress => Err(self.already_leased(task)),
            Status::Completed => Err(self.in_the_way(task, "already_completed", "is completed")),
            Status::Blocked => {
                Err(self.in_the_way(task, "blocked", "waits on tasks that are not completed"))
            }
        }
    }

    fn nothing_ready(&self, tag: Option<&str>) -> Claim {
        let fits = |task: &&Task| tag.is_none_or(|tag| task.has_tag(tag));
        let open: Vec<Status> = self
            .tasks
            .iter()
            .filter(fits)
            .map(|task| task.status)
            .filter(|status| *status != Status::Completed)
            .collect();
        let all = |wanted: Status| open.iter().all(|status| *status == wanted);
        let (reason_code, reason) = if !self.tasks.iter().any(|task| fits(&task)) {
            ("no_tasks", "no task fits")
        } else if open.is_empty() {
            ("no_ready_task", "every task that fits is completed")
        } else if all(Status::InProgress) {
            ("all_leased", "every open task that fits is leased")
        } else if all(Status::Blocked) {
            ("all_blocked", "every open task that fits waits on others")
        } else {
            ("no_ready_task", "the open tasks that fit are leased, blocked, failed or in review")
        };
        Claim::Nothing { reason_code, reason }
    }

    /// Records what the holder of a task says about it.
    pub(crate) fn report(
        &mut self,
        id: &str,
        agent_id: &str,
        report: &Report,
    ) -> Result<(), Refusal> {
        if report.status.is_some() && report.renew_ms.is_some() {
            let message = "`renew_lease_seconds` can't go with `status`, which ends the lease";
            return Err(Refusal::invalid("renew_lease_seconds", message));
        }
        let at = self.held(id, agent_id)?;
        if report.note.is_some() && self.tasks[at].notes.len() >= MAX_NOTES {
            let message = format!("`{id}` has {MAX_NOTES} notes already, and no more are taken");
            return Err(Refusal::new(codes::CONFLICT, message)
                .with("reason_code", "notes_full")
                .field("note"));
        }
        let (now, clock) = (self.tick(), self.now_ms());
        let task = &mut self.tasks[at];
        task.updated_at_ms = now;
        task.progress = report.progress.or(task.progress);
        if let Some(text) = &report.note {
            let (agent_id, text) = (agent_id.into(), text.clone());
            task.notes.push(Note { at_ms: clock, agent_id, text, other: Map::new() });
        }
        if let (Some(lease), Some(renew_ms)) = (&mut task.lease, report.renew_ms) {
            lease.expires_at_ms = clock + renew_ms;
        }
        if let Some(status) = report.status {
            task.status = status;
            task.lease = None;
        }
        Ok(())
    }

    /// Completes a task and answers the ids that can begin now.
    pub(crate) fn complete(
        &mut self,
        id: &str,
        agent_id: &str,
        artifacts: Option<Value>,
    ) -> Result<Vec<String>, Refusal> {
        let at = self.held(id, agent_id)?;
        let now = self.tick();
        let task = &mut self.tasks[at];
        task.status = Status::Completed;
        task.lease = None;
        task.artifacts = artifacts.or(task.artifacts.take());
        task.completed_by = Some(agent_id.into());
        task.updated_at_ms = now;
        Ok(self.release(id, now))
    }

    fn release(&mut self, id: &str, now: u64) -> Vec<String> {
        let ready: Vec<usize> = self
            .tasks
            .iter()
            .enumerate()
            .filter(|(_, task)| {
                task.status == Status::Blocked && task.dependencies.iter().any(|other| other == id)
            })
            .filter(|(_, task)| self.all_completed(&task.dependencies))
            .map(|(at, _)| at)
            .collect();
        let mut released = vec![];
        for at in ready {
            let task = &mut self.tasks[at];
            task.status = Status::Pending;
            task.updated_at_ms = now;
            released.push(task.id.clone());
        }
        released
    }

    fn held(&self, id: &str, agent_id: &str) -> Result<usize, Refusal> {
        let at = self.find(id)?;
        let task = &self.tasks[at];
        if task.held_by(agent_id) {
            return Ok(at);
        }
        if task.status == Status::Completed {
            return Err(self.in_the_way(task, "already_completed", "is completed"));
        }
        let state = match &task.lease {
            Some(lease) => format!("`{}` holds it", lease.agent_id),
            None => format!("it is {}, and nobody holds it", task.status.words()),
        };
        let message = format!("`{agent_id}` has no live lease on `{id}`: {state}");
        Err(Refusal::new(codes::CONFLICT, message)
            .with("reason_code", "lease_not_held")
            .with("status", json!(task.status))
            .next_call_with(
                "blackboard_task_claim",
                json!({"board": self.name, "task_id": id, "agent_id": agent_id}),
                "a lease is needed to report on a task",
            ))
    }

    fn find(&self, id: &str) -> Result<usize, Refusal> {
        self.tasks.iter().position(|task| task.id == id).ok_or_else(|| {
            let message = format!("the board `{}` has no task `{id}`", self.name);
            Refusal::new(codes::NOT_FOUND, message).next_call_with(
                "blackboard_task_list",
                json!({"board": self.name}),
                "lists the board's tasks",
            )
        })
    }

    fn already_leased(&self, task: &Task) -> Refusal {
        let (holder, until) = match &task.lease {
            Some(lease) => (lease.agent_id.as_str(), lease.expires_at_ms),
            None => ("nobody", self.now_ms()),
        };
        let message = format!("`{}` is leased to `{holder}`", task.id);
        Refusal::new(codes::CONFLICT, message)
            .with("reason_code", "already_leased")
            .with("leased_to", holder)
            .with("lease_expires_at_ms", until)
            .retry_after_ms(until.saturating_sub(self.now_ms()))
    }

    fn in_the_way(&self, task: &Task, reason_code: &str, state: &str) -> Refusal {
        Refusal::new(codes::CONFLICT, format!("`{}` {state}", task.id))
            .with("reason_code", reason_code)
            .with("status", json!(task.status))
            .next_call_with(
                "blackboard_task_list",
                json!({"board": self.name}),
                "shows the state of every task",
            )
    }

    /// Makes tasks whose lease ran out claimable again.
    pub(super) fn free_lapsed_leases(&mut self) {
        let now_ms = self.now_ms();
        for task in &mut self.tasks {
            let live = task.lease.as_ref().is_some_and(|lease| lease.expires_at_ms > now_ms);
            if task.status == Status::InProgress && !live {
                task.status = Status::Pending;
                task.lease = None;
            }
        }
    }
}

impl Task {
    pub(crate) fn has_tag(&self, tag: &str) -> bool {
        self.tags.iter().any(|own| own == tag)
    }

    /// Whether the task is suggested to an agent or held by it.
    pub(crate) fn concerns(&self, agent_id: &str) -> bool {
        self.assigned_to.as_deref() == Some(agent_id) || self.held_by(agent_id)
    }

    fn held_by(&self, agent_id: &str) -> bool {
        self.lease.as_ref().is_some_and(|lease| lease.agent_id == agent_id)
    }
}

fn without_repeats(names: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    names.into_iter().filter(|name| seen.insert(name.clone())).collect()
}
