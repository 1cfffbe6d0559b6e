//! `blackboard_list_keys`: lists the paths of a board that hold values.
//!
//! Spec: P-51, boards.

use std::collections::BTreeMap;

use didi_plugin_api::prelude::*;

use super::{READ_REFUSALS, default_board, path_of};
use crate::board::{
    Entry,
    store::{self, Found},
    tree,
};

pub(crate) fn tool() -> Tool {
    Tool::new(
        "blackboard_list_keys",
        "Lists the paths of a shared board that hold values, before reading one.",
        Effects::READS,
        run,
    )
    .bounded("max_keys and the 10,000-key cap")
    .output::<Out>()
    .refuses(&READ_REFUSALS)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default = "default_board")]
    #[schemars(length(min = 1, max = 64))]
    board: String,
    /// Only this path and below.
    #[schemars(length(max = 512))]
    prefix: Option<String>,
    #[serde(default = "max_keys")]
    #[schemars(range(min = 1, max = 10_000))]
    max_keys: usize,
    #[serde(default)]
    include_metadata: bool,
}

fn max_keys() -> usize {
    500
}

#[derive(Serialize, JsonSchema)]
struct Out {
    board: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    prefix: Option<String>,
    keys: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(default, schema_with = "crate::answer::object")]
    metadata: Option<BTreeMap<String, Entry>>,
    total: usize,
    returned: usize,
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let prefix = path_of(args.prefix.as_deref(), "prefix")?;
    let Found { board, .. } = store::load(ctx, &args.board)?;
    let mut found = tree::keys(&board.values, &prefix);
    let total = found.len();
    found.truncate(args.max_keys);
    let metadata = args.include_metadata.then(|| {
        let entry = |path| board.entry(path).map(|(_, entry)| entry.clone());
        found.iter().filter_map(|path| Some((path.to_string(), entry(path)?))).collect()
    });
    let keys: Vec<String> = found.iter().map(ToString::to_string).collect();
    let returned = keys.len();
    let prefix = args.prefix.map(|_| prefix.to_string());
    let out = Out { board: args.board, prefix, keys, metadata, total, returned };
    Ok(Answer::of(out)?.truncated(returned < total))
}
