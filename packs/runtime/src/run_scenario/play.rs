//! Playing the steps of a scenario on a paused game.
//!
//! Spec: P-54, running games.

use didi_plugin_api::prelude::*;
use serde_json::Map;

use super::{
    Assertions, Failure,
    steps::{Kind, OutputLevel, Step},
};

/// Frames that one call of the engine steps.
const FRAMES_A_CALL: u64 = 60;
/// Records of the engine's output that are read at once.
const RECORDS: u64 = 500;

/// How a step went.
#[derive(Clone, Default, Serialize)]
pub(super) struct StepOut {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    outcome: &'static str,
    frames: u64,
    at_frame: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value_type: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    matched: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    capture: Option<Value>,
}

/// How a run went.
pub(super) struct Played {
    pub(super) steps: Vec<StepOut>,
    pub(super) failure: Option<Failure>,
    /// Whether it ended by something else than an assertion.
    pub(super) broke_off: bool,
    pub(super) frames: u64,
    pub(super) started_paused: bool,
    pub(super) frames_before_pause: Value,
}

impl Played {
    /// A game that published no session.
    pub(super) fn not_started(steps: &[Step], ended: Option<&ChildReport>) -> Self {
        let last = ended.and_then(|ended| {
            let said = ended.lines.iter().rev().find(|line| line.text.contains("ERROR"));
            Some(said.or(ended.lines.last())?.text.clone())
        });
        let hint = "is the addon in the project, and did its library load?";
        let message = match last {
            Some(last) => format!("the game opened no session ({hint}); it last said: {last}"),
            None => format!("the game opened no session: {hint}"),
        };
        Played {
            steps: steps.iter().map(not_run).collect(),
            failure: Some(failure("start", "no_session", message, None)),
            broke_off: true,
            frames: 0,
            started_paused: false,
            frames_before_pause: Value::Null,
        }
    }

    pub(super) fn verdict(&self) -> &'static str {
        match (&self.failure, self.broke_off) {
            (None, _) => "pass",
            (Some(_), false) => "fail",
            (Some(_), true) => "error",
        }
    }

    pub(super) fn summary(&self) -> String {
        let frames = self.frames;
        match &self.failure {
            None => format!("every step was done and every assertion held, in {frames} frames"),
            Some(failure) => match failure.step {
                Some(step) => format!("step {step}: {}", failure.message),
                None => failure.message.clone(),
            },
        }
    }

    pub(super) fn assertions(&self, steps: &[Step]) -> Assertions {
        let mut counts = Assertions::default();
        let judged = steps.iter().zip(&self.steps).filter(|(step, _)| step.is_assertion());
        for (_, out) in judged {
            counts.total += 1;
            match out.outcome {
                "held" => counts.held += 1,
                "failed" => counts.failed += 1,
                _ => counts.not_run += 1,
            }
        }
        counts
    }
}

fn failure(
    stage: &'static str,
    reason: &'static str,
    message: String,
    cause: Option<Value>,
) -> Failure {
    Failure { stage, reason, message, step: None, kind: None, cause }
}

fn not_run(step: &Step) -> StepOut {
    StepOut {
        kind: step.kind.as_str(),
        label: step.label.clone(),
        outcome: "not_run",
        ..StepOut::default()
    }
}

/// Plays the steps until one fails or the time is over.
pub(super) fn play(ctx: &Ctx<'_>, session: &str, steps: &[Step], deadline_ms: u64) -> Played {
    let mut player = Player { ctx, session, deadline_ms, frames: 0 };
    let mut played = Played {
        steps: steps.iter().map(not_run).collect(),
        failure: None,
        broke_off: false,
        frames: 0,
        started_paused: false,
        frames_before_pause: Value::Null,
    };
    match player.see_paused() {
        Ok(()) => played.started_paused = true,
        Err(why) => {
            (played.failure, played.broke_off) = (Some(*why.failure), true);
            return played;
        }
    }
    for (index, step) in steps.iter().enumerate() {
        ctx.progress(index as u64, steps.len() as u64, step.kind.as_str());
        let out = &mut played.steps[index];
        let before = player.frames;
        let went = player.step(step, out);
        out.frames = player.frames - before;
        out.at_frame = player.frames;
        if let Err(why) = went {
            out.outcome = if why.broke_off { "error" } else { "failed" };
            let failed =
                Failure { step: Some(index), kind: Some(step.kind.as_str()), ..*why.failure };
            (played.failure, played.broke_off) = (Some(failed), why.broke_off);
            break;
        }
    }
    played.frames = player.frames;
    played
}

/// Why a step ended the run.
struct Stop {
    failure: Box<Failure>,
    broke_off: bool,
}

impl Stop {
    fn failed(reason: &'static str, message: String) -> Self {
        Stop { failure: Box::new(failure("step", reason, message, None)), broke_off: false }
    }

    fn broke(reason: &'static str, message: String) -> Self {
        Stop { failure: Box::new(failure("step", reason, message, None)), broke_off: true }
    }

    fn refused(refusal: Refusal) -> Self {
        let cause = json!({"code": refusal.code.name, "data": *refusal.data});
        let failure = failure("step", "engine_refused", refusal.message, Some(cause));
        Stop { failure: Box::new(failure), broke_off: true }
    }
}

struct Player<'c, 'h> {
    ctx: &'c Ctx<'h>,
    session: &'c str,
    deadline_ms: u64,
    frames: u64,
}

impl Player<'_, '_> {
    fn call(&self, method: &str, params: Value) -> Result<Value, Stop> {
        if self.ctx.now_ms() >= self.deadline_ms {
            return Err(Stop::broke("timeout", "the time for the run is over".into()));
        }
        let Value::Object(params) = params else { return Ok(Value::Null) };
        let call = GameCall {
            session_id: self.session.into(),
            method: method.into(),
            params,
            timeout_ms: 0,
        };
        self.ctx.call_game(&call).map_err(Stop::refused)
    }

    /// The game stands still from its first frame; one that does not is paused now.
    fn see_paused(&self) -> Result<(), Stop> {
        let answer = self.call("runtime.setPaused", json!({"paused": true}))?;
        if answer["paused"] == true {
            return Ok(());
        }
        Err(Stop::broke("not_paused", "the game could not be paused".into()))
    }

    fn step(&mut self, step: &Step, out: &mut StepOut) -> Result<(), Stop> {
        match step.kind {
            Kind::Wait => self.run(step.frames.unwrap_or(1))?,
            Kind::WaitUntil => self.wait_until(step, out)?,
            Kind::Press => self.press(step)?,
            Kind::Assert => return self.assert(step, out),
            Kind::AssertOutput => return self.assert_output(step, out),
            Kind::Capture => self.capture(out)?,
        }
        out.outcome = "done";
        Ok(())
    }

    fn run(&mut self, frames: u64) -> Result<(), Stop> {
        let mut left = frames;
        while left > 0 {
            let now = left.min(FRAMES_A_CALL);
            self.call("runtime.step", json!({ "frames": now }))?;
            self.frames += now;
            left -= now;
        }
        Ok(())
    }

    fn evaluate(&self, step: &Step, out: &mut StepOut) -> Result<bool, Stop> {
        let mut params = Map::new();
        params.insert("expression".into(), step.expression.clone().into());
        if let Some(node) = &step.context_node {
            params.insert("context_node".into(), node.clone().into());
        }
        let answer = self.call("runtime.evalGdscript", Value::Object(params))?;
        let holds = step.holds(&answer["value"]);
        out.value = Some(answer["value"].clone());
        out.value_type = Some(answer["value_type"].clone());
        Ok(holds)
    }

    fn wait_until(&mut self, step: &Step, out: &mut StepOut) -> Result<(), Stop> {
        let most = step.frames.unwrap_or(1);
        for _ in 0..most {
            if self.evaluate(step, out)? {
                return Ok(());
            }
            self.run(1)?;
        }
        if self.evaluate(step, out)? {
            return Ok(());
        }
        let last = shown(out.value.as_ref());
        Err(Stop::failed("not_reached", format!("not within {most} frames; the value is {last}")))
    }

    fn press(&mut self, step: &Step) -> Result<(), Stop> {
        let action = step.action.clone().unwrap_or_default();
        let event = |pressed: bool| {
            let event = json!({"type": "action", "action_name": action, "pressed": pressed});
            json!({"events": [event], "paused_delivery": "hold"})
        };
        self.call("runtime.injectInput", event(true))?;
        self.run(step.frames.unwrap_or(1))?;
        self.call("runtime.injectInput", event(false))?;
        Ok(())
    }

    fn assert(&self, step: &Step, out: &mut StepOut) -> Result<(), Stop> {
        if self.evaluate(step, out)? {
            out.outcome = "held";
            return Ok(());
        }
        let expression = step.expression.as_deref().unwrap_or_default();
        let wanted = match (step.minimum, step.maximum) {
            (None, None) => "true".to_owned(),
            (Some(least), None) => format!("{least} or more"),
            (None, Some(most)) => format!("{most} or less"),
            (Some(least), Some(most)) => format!("{least} to {most}"),
        };
        let value = shown(out.value.as_ref());
        Err(Stop::failed("not_held", format!("`{expression}` is {value}, and not {wanted}")))
    }

    fn assert_output(&self, step: &Step, out: &mut StepOut) -> Result<(), Stop> {
        let text = step.text.as_deref().unwrap_or_default();
        let found = self.printed(text, step.level)?;
        out.matched.clone_from(&found);
        match (found, step.absent) {
            (Some(_), false) | (None, true) => {
                out.outcome = "held";
                Ok(())
            }
            (None, false) => {
                Err(Stop::failed("not_printed", format!("`{text}` was not printed so far")))
            }
            (Some(line), true) => Err(Stop::failed("printed", format!("it was printed: {line}"))),
        }
    }

    /// The first line of output since the start that holds a text.
    fn printed(&self, text: &str, level: Option<OutputLevel>) -> Result<Option<String>, Stop> {
        let mut cursor = 0;
        loop {
            let mut params = json!({"cursor": cursor, "limit": RECORDS});
            if let Some(level) = level {
                params["minimum_level"] = json!(level);
            }
            let page = self.call("runtime.getOutput", params)?;
            let records = page["records"].as_array().cloned().unwrap_or_default();
            let lines = records.iter().filter_map(|record| record["message"].as_str());
            if let Some(line) = lines.into_iter().find(|line| line.contains(text)) {
                return Ok(Some(line.to_owned()));
            }
            let next = page["next_cursor"].as_u64().unwrap_or(cursor);
            if page["has_more"] != true || next <= cursor {
                return Ok(None);
            }
            cursor = next;
        }
    }

    fn capture(&self, out: &mut StepOut) -> Result<(), Stop> {
        // The picture itself becomes a part of the answer on its way through the host.
        out.capture = Some(self.call("vision.captureViewport", json!({}))?);
        Ok(())
    }
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "nothing".into(), Value::to_string)
}
