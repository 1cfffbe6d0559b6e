//! The steps of a scenario, and which lists of them prove something.
//!
//! Spec: P-54, running games.

use didi_plugin_api::prelude::*;

/// Frames of one wait, and of all steps together.
const MAX_STEP_FRAMES: u64 = 600;
const MAX_FRAMES: u64 = 3_600;
/// Letters of a label and of a text that is looked for.
const MAX_LABEL: usize = 64;
const MAX_TEXT: usize = 256;
/// Bytes of an expression.
const MAX_EXPRESSION: usize = 4_096;

// What a step does. (A doc comment would be published.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    Wait,
    WaitUntil,
    Press,
    Assert,
    AssertOutput,
    Capture,
}

/// One step. Which members it takes depends on what it does.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    pub(super) kind: Kind,
    #[schemars(length(max = 64))]
    pub(super) label: Option<String>,
    #[schemars(range(min = 1, max = 600))]
    pub(super) frames: Option<u64>,
    #[schemars(length(max = 4096))]
    pub(super) expression: Option<String>,
    #[schemars(length(max = 1024))]
    pub(super) context_node: Option<String>,
    // Without both, the value has to be true.
    pub(super) minimum: Option<f64>,
    pub(super) maximum: Option<f64>,
    #[schemars(length(max = 256))]
    pub(super) action: Option<String>,
    #[schemars(length(max = 256))]
    pub(super) text: Option<String>,
    pub(super) level: Option<OutputLevel>,
    #[serde(default)]
    pub(super) absent: bool,
}

// The least level of output that is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum OutputLevel {
    Debug,
    Info,
    Warning,
    Error,
}

impl Kind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Kind::Wait => "wait",
            Kind::WaitUntil => "wait_until",
            Kind::Press => "press",
            Kind::Assert => "assert",
            Kind::AssertOutput => "assert_output",
            Kind::Capture => "capture",
        }
    }
}

impl Step {
    /// Frames that it can take.
    pub(super) fn most_frames(&self) -> u64 {
        match self.kind {
            Kind::Wait | Kind::WaitUntil | Kind::Press => self.frames.unwrap_or(1),
            Kind::Assert | Kind::AssertOutput | Kind::Capture => 0,
        }
    }

    pub(super) fn is_assertion(&self) -> bool {
        matches!(self.kind, Kind::Assert | Kind::AssertOutput)
    }

    /// Whether the value of an expression is what the step asks for.
    pub(super) fn holds(&self, value: &Value) -> bool {
        if self.minimum.is_none() && self.maximum.is_none() {
            return *value == Value::Bool(true);
        }
        value.as_f64().is_some_and(|number| {
            self.minimum.is_none_or(|least| number >= least)
                && self.maximum.is_none_or(|most| number <= most)
        })
    }
}

/// Refuses steps that can't be taken, and lists that would prove nothing.
pub(super) fn check(steps: &[Step], headless: bool) -> Result<(), Refusal> {
    for (index, step) in steps.iter().enumerate() {
        one(step, headless).map_err(|(member, why)| {
            let message = format!("step {index} (`{}`) {why}", step.kind.as_str());
            let refusal = Refusal::new(codes::INVALID_ARGUMENTS, message)
                .with("index", index)
                .with("member", member);
            if member == "kind" {
                refusal.retry_with(json!({"headless": false}))
            } else {
                refusal.field("steps")
            }
        })?;
    }
    let frames: u64 = steps.iter().map(Step::most_frames).sum();
    if frames > MAX_FRAMES {
        return wrong(format!("the steps take {frames} frames, and at most {MAX_FRAMES} are run"));
    }
    // That nothing was printed is true of a game that did nothing, too.
    let proves =
        |step: &Step| step.kind == Kind::Assert || step.kind == Kind::AssertOutput && !step.absent;
    if !steps.iter().any(proves) {
        return wrong(
            "no step asserts anything that has to be there, so a pass would prove nothing".into(),
        );
    }
    Ok(())
}

fn wrong(message: String) -> Result<(), Refusal> {
    Err(Refusal::invalid("steps", message))
}

/// What is wrong with a step: the member, and the end of a sentence.
fn one(step: &Step, headless: bool) -> Result<(), (&'static str, String)> {
    let too_long = |text: &Option<String>, most: usize| {
        text.as_ref().is_some_and(|text| text.chars().count() > most)
    };
    if too_long(&step.label, MAX_LABEL) {
        return Err(("label", format!("has a label of more than {MAX_LABEL} letters")));
    }
    if too_long(&step.text, MAX_TEXT) {
        return Err(("text", format!("looks for more than {MAX_TEXT} letters")));
    }
    if step.expression.as_ref().is_some_and(|text| text.len() > MAX_EXPRESSION) {
        return Err(("expression", format!("has more than {MAX_EXPRESSION} bytes of expression")));
    }
    if step.frames.is_some_and(|frames| !(1..=MAX_STEP_FRAMES).contains(&frames)) {
        return Err(("frames", format!("does not run 1 to {MAX_STEP_FRAMES} frames")));
    }
    if let (Some(least), Some(most)) = (step.minimum, step.maximum)
        && least > most
    {
        return Err(("minimum", "has a minimum above its maximum".into()));
    }
    let needs = |member: &'static str, present: bool| {
        if present { Ok(()) } else { Err((member, format!("needs `{member}`"))) }
    };
    let given = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.trim().is_empty());
    match step.kind {
        Kind::Wait => needs("frames", step.frames.is_some()),
        Kind::WaitUntil => {
            needs("expression", given(&step.expression))?;
            needs("frames", step.frames.is_some())
        }
        Kind::Press => needs("action", given(&step.action)),
        Kind::Assert => needs("expression", given(&step.expression)),
        Kind::AssertOutput => needs("text", given(&step.text)),
        Kind::Capture if headless => {
            Err(("kind", "takes a picture, and a headless engine draws none".into()))
        }
        Kind::Capture => Ok(()),
    }
}
