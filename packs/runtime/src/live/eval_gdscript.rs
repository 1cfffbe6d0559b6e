//! `eval_gdscript`: the value of a read-only expression about one node.
//!
//! Spec: P-54, running games.

use didi_plugin_api::prelude::*;

use super::BOTH;

const METHOD: &str = "runtime.evalGdscript";

/// Longest expression, in bytes.
const MAX_BYTES: usize = 2048;

/// The text is no expression.
const PARSE_FAILED: Code = Code::new(422, "expression_parse_failed");
/// The engine could not evaluate it.
const EXECUTION_FAILED: Code = Code::new(422, "expression_execution_failed");
/// It says more than a read-only expression may.
const UNSAFE: Code = Code::new(403, "unsafe_expression");
/// It took too long, or its value has no JSON form.
const REQUEST_FAILED: Code = Code::new(408, "request_failed");

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 2048))]
    expression: String,
    /// What `node` is; the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    context_node: Option<String>,
    #[serde(default = "second")]
    #[schemars(range(min = 1, max = 5000))]
    timeout_ms: u32,
}

fn second() -> u32 {
    1000
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "eval_gdscript",
        "Evaluates a read-only expression about `node`, such as node.get(\"position\"); no project code runs.",
        Effects::READS,
        BOTH,
        METHOD,
    )
    .core()
    .checked(check)
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::NOT_FOUND,
        codes::FORBIDDEN,
        codes::RESPONSE_TOO_LARGE,
        PARSE_FAILED,
        EXECUTION_FAILED,
        UNSAFE,
        REQUEST_FAILED,
    ])
}

fn check(args: &Args) -> Result<(), Refusal> {
    if args.expression.len() > MAX_BYTES {
        return Err(Refusal::invalid(
            "expression",
            format!("an expression has at most {MAX_BYTES} bytes"),
        ));
    }
    Ok(())
}
