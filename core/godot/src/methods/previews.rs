//! What a change would land on: its first half runs, so what is there now is read, and nothing changes.

use didi_engine::Answer;
use didi_wire::BridgeError;
use serde::Deserialize;
use serde_json::json;

use super::{Context, Run};
use crate::params::Params;

/// A change that is previewed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mutation {
    method: String,
    #[serde(default)]
    params: Params,
}

/// Checks a change and reads its target.
///
/// # Errors
/// What the change itself would be refused with; `not_implemented` (501) for one that has no preview.
pub(crate) fn read(context: &Context, mutation: &Mutation) -> Answer {
    let name = mutation.method.as_str();
    let Some(Run::Change(plan)) = super::find(name) else {
        let message = format!("`{name}` has no preview");
        return Err(BridgeError::new(501, "not_implemented", message));
    };
    let before = plan(context, &mutation.params)?.preview();
    Ok(json!({ "status": "success", "method": name, "before": before }))
}
