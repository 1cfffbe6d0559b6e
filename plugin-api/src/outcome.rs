//! What a handler gives back: an answer with its facts, or the state of a target.
//!
//! A handler says facts; the host turns them into `follow_up`, `truncated` and provenance, alike for every
//! pack.
//!
//! Spec: P-25, answers.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json, value::RawValue};

use crate::{
    digest::sha256_hex,
    project_path::ProjectPath,
    refusal::{Refusal, codes},
};

/// Largest file that a preview reads, in bytes.
pub const MAX_TARGET_BYTES: u64 = 256 * 1024 * 1024;

/// The result of a handler.
pub type ToolResult = Result<Answer, Refusal>;

/// Something that an answer says beside its data, from which the host derives what is left to do.
///
/// Each is published in the answer under its own name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fact {
    /// `scene_saved`: whether the edited scene is on disk. `false` leaves a save.
    SceneSaved(bool),
    /// `requires_editor_restart`: whether an attached editor has to be restarted to see it.
    RequiresEditorRestart(bool),
    /// `written_to`: a settings file that was written while no editor was attached.
    WrittenTo(String),
    /// `editor_reloaded`: whether an editor took the written file up.
    EditorReloaded(bool),
}

/// A successful answer.
#[derive(Debug, Serialize, Deserialize)]
pub struct Answer {
    /// The answer's own members: a JSON object, serialised once and passed on as it is.
    pub data: Box<RawValue>,
    /// What the host derives follow-ups from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
    /// Whether a bound cut the answer short. `None` in tools that declare no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
}

impl Answer {
    /// An answer of `data`, which has to serialise to a JSON object.
    ///
    /// # Errors
    /// `internal_error` when it does not.
    pub fn of(data: impl Serialize) -> ToolResult {
        let raw =
            serde_json::value::to_raw_value(&data).map_err(|error| fault(&error.to_string()))?;
        if raw.get().starts_with('{') {
            return Ok(Answer { data: raw, facts: vec![], truncated: None });
        }
        Err(fault("an answer has to be a JSON object"))
    }

    /// An answer of what an engine said: the members that are facts become facts, the rest is the data.
    ///
    /// `truncated` is taken over where the engine says it.
    ///
    /// # Errors
    /// `internal_error` when it is no JSON object.
    pub fn of_engine(result: Value) -> ToolResult {
        let Value::Object(mut members) = result else {
            return Err(fault("an engine's answer has to be a JSON object"));
        };
        let mut take = |name: &str| members.shift_remove(name).and_then(|value| value.as_bool());
        let saved = take("scene_saved").map(Fact::SceneSaved);
        let restart = take("requires_editor_restart").map(Fact::RequiresEditorRestart);
        let truncated = take("truncated");
        let mut answer = Self::of(members)?;
        answer.facts.extend([saved, restart].into_iter().flatten());
        answer.truncated = truncated;
        Ok(answer)
    }

    /// Says that a bounded read was, or was not, cut short.
    #[must_use]
    pub fn truncated(mut self, truncated: bool) -> Self {
        self.truncated = Some(truncated);
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn fact(mut self, fact: Fact) -> Self {
        self.facts.push(fact);
        self
    }
}

pub(crate) fn fault(message: &str) -> Refusal {
    Refusal::new(codes::INTERNAL_ERROR, message).no_remedy("the server is at fault, not the call")
}

/// What a preview found where the change would land.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Target {
    /// The subject of the change: a file, a setting, a board path. Not the arguments.
    pub subject: String,
    /// What is there now. The confirmation token is bound to it.
    pub before: Value,
    /// Whether something is there that the change would replace.
    pub exists: bool,
    /// Whether `before` is state that the change alters, or only a proof that the target resolves.
    #[serde(default)]
    pub resolved_only: bool,
    /// What the change would put there, where the tool can say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
    /// What the preview worked out, for the same call's run: see [`crate::ctx::Ctx::plan`]. Neither shown nor
    /// bound; since 1.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Box<RawValue>>,
}

impl Target {
    /// A target whose present state was read.
    pub fn read(subject: impl Into<String>, exists: bool, before: Value) -> Self {
        Target {
            subject: subject.into(),
            before,
            exists,
            resolved_only: false,
            after: None,
            plan: None,
        }
    }

    /// A file as a target: whether it is there, its size and its digest.
    ///
    /// # Errors
    /// What [`ProjectPath::read`] refuses of a file that is there.
    pub fn file(place: &ProjectPath) -> Result<Self, Refusal> {
        let shown = place.res_path();
        if !place.real().exists() {
            return Ok(Target::read(shown, false, json!({"exists": false})));
        }
        let bytes = place.read(MAX_TARGET_BYTES)?;
        let digest = sha256_hex(&bytes);
        let before = json!({"exists": true, "size_bytes": bytes.len(), "sha256": digest});
        Ok(Target::read(shown, true, before))
    }

    /// Adds what the change would put there.
    #[must_use]
    pub fn after(mut self, after: Value) -> Self {
        self.after = Some(after);
        self
    }

    /// Hands what was worked out on to the run of the same call, which need not do it again.
    ///
    /// # Errors
    /// `internal_error` for a plan that is no JSON.
    pub fn planned(mut self, plan: &impl Serialize) -> Result<Self, Refusal> {
        self.plan =
            Some(serde_json::value::to_raw_value(plan).map_err(|error| fault(&error.to_string()))?);
        Ok(self)
    }
}

#[cfg(test)]
mod tests;
