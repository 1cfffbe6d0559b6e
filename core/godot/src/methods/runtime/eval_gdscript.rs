//! `runtime.evalGdscript`: the value of a read-only expression about one node.

use std::time::{Duration, Instant};

use didi_engine::{Answer, sandbox};
use serde::Deserialize;
use serde_json::json;

use crate::{
    expression, json,
    methods::Context,
    node_path,
    params::{self, Params},
    refuse,
};

/// Longest time, in milliseconds.
const MAX_TIMEOUT_MS: u64 = 5000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    expression: String,
    #[serde(default = "root")]
    context_node: String,
    #[serde(default = "second")]
    timeout_ms: u64,
}

fn root() -> String {
    "/root".into()
}

fn second() -> u64 {
    1000
}

pub(crate) fn run(context: &Context, params: &Params) -> Answer {
    let args: Args = params::read(params)?;
    if !(1..=MAX_TIMEOUT_MS).contains(&args.timeout_ms) {
        return Err(refuse::invalid("timeout_ms", format!("1 to {MAX_TIMEOUT_MS} are taken")));
    }
    let (began, limit) = (Instant::now(), Duration::from_millis(args.timeout_ms));
    let node = node_path::any(context.kind, &args.context_node)?;
    let mut prepared = expression::prepare(&args.expression)?;
    expression::check_time(began, limit)?;
    let value = prepared.evaluate(&node)?;
    expression::check_time(began, limit)?;
    let told = expression::told(&value)?;
    expression::check_time(began, limit)?;
    Ok(json!({
        "value": told,
        "value_type": json::type_name(value.get_type()),
        "context_node": node_path::of(context.kind, &node),
        "elapsed_ms": u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        "timeout_ms": args.timeout_ms,
        "read_only": true,
        "sandbox_profile": sandbox::PROFILE,
        "session_kind": context.kind.as_str(),
    }))
}
