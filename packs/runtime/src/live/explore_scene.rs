//! `runtime_explore_scene`: holds the project's own actions on a seeded schedule and tells how probes moved.
//!
//! Spec: P-54, running games.

use didi_plugin_api::{prelude::*, records::Kind};

use super::{GAME, INPUT_QUEUE_FULL};

const METHOD: &str = "runtime.exploreScene";

/// How long nothing may move when the caller names no time, in milliseconds.
const STUCK_MS: u32 = 3000;

/// The game is paused.
const PAUSED: Code = Code::new(409, "paused_game_session");
/// The game is being explored.
const ACTIVE: Code = Code::new(409, "scene_exploration_active");
/// An action could not be pressed.
const PRESS_REFUSED: Code = Code::new(400, "press_refused");

/// What a probe holds.
const PROBE: &[Kind] = &[(
    "",
    &[
        ("expression", Rule::Text(512), true),
        ("context_node", Rule::Text(256), false),
        ("name", Rule::Text(64), false),
    ],
)];

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 8), inner(length(min = 1, max = 128)))]
    actions: Vec<String>,
    /// `{expression, context_node, name}`.
    #[schemars(length(min = 1, max = 4))]
    probes: Vec<Record>,
    #[serde(default = "five_seconds")]
    #[schemars(range(min = 250, max = 60_000))]
    duration_ms: u32,
    #[serde(default = "quarter")]
    #[schemars(range(min = 16, max = 10_000))]
    action_hold_ms: u32,
    #[schemars(range(min = 100, max = 60_000), extend("default" = STUCK_MS))]
    stuck_ms: Option<u32>,
    #[serde(default = "thousandth")]
    #[schemars(extend("minimum" = 0))]
    movement_epsilon: f64,
    #[serde(default = "didi_plugin_api::schema::yes")]
    pause_on_stuck: bool,
    #[serde(default = "didi_plugin_api::schema::yes")]
    stop_on_engine_error: bool,
    #[serde(default = "one")]
    seed: u64,
}

fn five_seconds() -> u32 {
    5000
}

fn quarter() -> u32 {
    250
}

fn thousandth() -> f64 {
    0.001
}

fn one() -> u64 {
    1
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "runtime_explore_scene",
        "Presses the project's actions on a seeded schedule and tells whether the probed values moved.",
        Effects::CHANGES,
        run,
    )
    .core()
    .modes(&[Mode::Live])
    .live(GAME, &[METHOD])
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::NOT_FOUND,
        codes::SESSION_KIND_REJECTED,
        INPUT_QUEUE_FULL,
        PAUSED,
        ACTIVE,
        PRESS_REFUSED,
    ])
}

fn run(ctx: &Ctx<'_>, mut args: Args) -> ToolResult {
    check(&args)?;
    // The usual time fits a shorter window, too; one that was named has to.
    args.stuck_ms = Some(args.stuck_ms.unwrap_or(STUCK_MS.min(args.duration_ms)));
    ctx.answer_of_engine(METHOD, args)
}

fn check(args: &Args) -> Result<(), Refusal> {
    records::check("probes", "", PROBE, &args.probes)?;
    let twice = |place: usize| args.actions[..place].contains(&args.actions[place]);
    if let Some(place) = (0..args.actions.len()).find(|place| twice(*place)) {
        let message = format!("the action `{}` is named twice", args.actions[place]);
        return Err(Refusal::invalid("actions", message));
    }
    if args.stuck_ms.is_some_and(|stuck_ms| stuck_ms > args.duration_ms) {
        return Err(Refusal::invalid("stuck_ms", "`stuck_ms` can't be more than `duration_ms`"));
    }
    Ok(())
}
