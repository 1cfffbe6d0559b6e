//! `signal_emit`: emits a signal in the editor, its arguments checked against the declaration.
//!
//! Whatever is connected runs, so it is confirmed.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{EDITOR, NODE_CODES, connect, list_connections::check_emitter};

const METHOD: &str = "signal.emit";

/// An argument of another type than the signal's.
const TYPE_MISMATCH: Code = Code::new(400, "signal_emit_argument_type_mismatch");
/// More or fewer arguments than the signal has.
const ARITY_MISMATCH: Code = Code::new(400, "signal_emit_arity_mismatch");
/// More arguments than any signal may be given.
const COUNT_EXCEEDED: Code = Code::new(400, "signal_emit_argument_count_exceeded");
/// Larger arguments than are taken.
const TOO_LARGE: Code = Code::new(413, "signal_emit_arguments_too_large");
/// A type that has no form in JSON.
const UNSUPPORTED: Code = Code::new(400, "unsupported_signal_emit_argument");

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 128))]
    signal_name: String,
    /// Or `target_node`, the older name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    emitter_node: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    target_node: Option<String>,
    /// 8 levels, 64 entries a container, 4096 bytes a text.
    #[serde(default)]
    #[schemars(length(max = 16))]
    arguments: Vec<AnyValue>,
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "signal_emit",
        "Emits a signal of a node of the open scene; runs whatever is connected.",
        Effects::CHANGES,
        EDITOR,
        METHOD,
    )
    .probed(METHOD, |args: &Args| {
        args.emitter_node.as_deref().or(args.target_node.as_deref()).unwrap_or_default()
    })
    .checked(|args: &Args| check_emitter(args.emitter_node.as_ref(), args.target_node.as_ref()))
    .confirm(Confirmation::Always)
    .leaves(&[Work::Save])
    .refuses(NODE_CODES)
    .refuses(&[
        connect::DECLARED_SIGNAL_NOT_FOUND,
        TYPE_MISMATCH,
        ARITY_MISMATCH,
        COUNT_EXCEEDED,
        TOO_LARGE,
        UNSUPPORTED,
    ])
}
