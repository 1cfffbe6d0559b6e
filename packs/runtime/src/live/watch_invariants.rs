//! `runtime_watch_invariants`: looks at conditions in every frame of a window of time.
//!
//! Spec: P-54, running games.

use didi_plugin_api::{prelude::*, records::Kind};

use super::GAME;

const METHOD: &str = "runtime.watchInvariants";

/// The game is being watched.
const WATCH_ACTIVE: Code = Code::new(409, "invariant_watch_active");

const NAME: (&str, Rule, bool) = ("name", Rule::Text(64), false);
const MINIMUM: (&str, Rule, bool) =
    ("minimum", Rule::Number(f64::NEG_INFINITY, f64::INFINITY), false);
const MAXIMUM: (&str, Rule, bool) =
    ("maximum", Rule::Number(f64::NEG_INFINITY, f64::INFINITY), false);

/// What a condition of each kind holds.
const INVARIANTS: &[Kind] = &[
    ("performance_between", &[NAME, ("metric", Rule::Text(64), true), MINIMUM, MAXIMUM]),
    (
        "expression_between",
        &[
            NAME,
            ("expression", Rule::Text(512), true),
            ("context_node", Rule::Text(256), false),
            MINIMUM,
            MAXIMUM,
        ],
    ),
    ("no_engine_errors", &[NAME]),
];

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// By `kind`: `performance_between {metric, minimum, maximum}`,
    /// `expression_between {expression, context_node, minimum, maximum}`, `no_engine_errors`; each with a `name`.
    #[schemars(length(min = 1, max = 8))]
    invariants: Vec<Record>,
    #[serde(default = "two_seconds")]
    #[schemars(range(min = 1, max = 30_000))]
    duration_ms: u32,
    #[serde(default = "didi_plugin_api::schema::yes")]
    pause_on_violation: bool,
}

fn two_seconds() -> u32 {
    2000
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "runtime_watch_invariants",
        "Watches conditions in every frame of the running game and pauses it where one breaks.",
        Effects::CHANGES,
        GAME,
        METHOD,
    )
    .core()
    .checked(check)
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::NOT_FOUND,
        codes::SESSION_KIND_REJECTED,
        WATCH_ACTIVE,
    ])
}

fn check(args: &Args) -> Result<(), Refusal> {
    records::check("invariants", "kind", INVARIANTS, &args.invariants)?;
    for (place, Record(one)) in args.invariants.iter().enumerate() {
        let bounded = one.contains_key("minimum") || one.contains_key("maximum");
        if !bounded && one["kind"] != "no_engine_errors" {
            let message = format!("`invariants[{place}]`: `minimum` or `maximum` is needed");
            return Err(Refusal::invalid("invariants", message));
        }
    }
    Ok(())
}
