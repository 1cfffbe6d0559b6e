//! `project_list_resources`: the project's files with type, uid and the files that they name.
//!
//! Spec: P-50, the project's files.

use didi_plugin_api::prelude::*;
use didi_project::walk;

use crate::index::{self, Indexed};

#[cfg(test)]
mod tests;

pub(crate) fn tool() -> Tool {
    Tool::new(
        "project_list_resources",
        "Lists the project's files with type, uid and dependencies. Use it to find a path.",
        Effects::READS,
        run,
    )
    .core()
    .legacy("query_project_resources")
    .bounded("the 20,000-file index and a walk that stops on an error")
    .output::<Out>()
    .refuses(&[codes::INVALID_ARGUMENTS, codes::NOT_FOUND])
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default = "root")]
    #[schemars(length(max = 1024))]
    search_path: String,
    #[schemars(length(max = 256))]
    type_filter: Option<String>,
    #[schemars(length(max = 256))]
    fuzzy_query: Option<String>,
    #[serde(default = "didi_plugin_api::schema::yes")]
    include_uid: bool,
}

fn root() -> String {
    "res://".into()
}

#[derive(Serialize, JsonSchema)]
struct Out {
    resources: Vec<Indexed>,
    #[schemars(default)]
    total_found: usize,
    #[schemars(default)]
    undecodable_path_count: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    undecodable_paths: Vec<String>,
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let start = walk::folder(ctx, &args.search_path, "search_path")?;
    let query = args.fuzzy_query.map(|query| query.to_lowercase()).unwrap_or_default();
    let words: Vec<&str> = query.split_whitespace().collect();
    let mut listing = index::list(ctx, &start, args.include_uid, |file| {
        let path = file.path.trim_start_matches("res://").to_lowercase();
        words.iter().all(|word| letters_in_order(&path, word))
    })?;
    if let Some(filter) = args.type_filter.map(|filter| filter.to_lowercase()) {
        listing.files.retain(|file| has_type(file, &filter));
    }
    // Those that hold the words as they are come first; the order of the paths stays inside each half.
    listing.files.sort_by_key(|file| {
        let path = file.path.to_lowercase();
        !words.iter().all(|word| path.contains(word))
    });
    let out = Out {
        total_found: listing.files.len(),
        resources: listing.files,
        undecodable_path_count: listing.met.undecodable_count,
        undecodable_paths: listing.met.undecodable,
    };
    Ok(Answer::of(out)?.truncated(listing.truncated))
}

fn has_type(file: &Indexed, filter: &str) -> bool {
    let holds = |kind: &str| kind.to_lowercase().contains(filter);
    holds(file.kind) || file.resource_type.as_deref().is_some_and(holds)
}

fn letters_in_order(path: &str, word: &str) -> bool {
    let mut letters = path.chars();
    word.chars().all(|wanted| letters.any(|letter| letter == wanted))
}
