//! `unity_list_commands`: what an instance can be told to do.

use didi_plugin_api::{pipeline::Question, prelude::*};

use crate::ask::{CODES, look};

const DEFAULT_LIMIT: u32 = 50;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Name or folder; else the only one that runs.
    #[schemars(length(max = 1024))]
    instance: Option<String>,
    /// In name, description or tag.
    #[schemars(length(max = 256))]
    query: Option<String>,
    /// A tag with all below it, such as `assets`.
    #[schemars(length(max = 256))]
    tag: Option<String>,
    /// With parameters; else names and descriptions.
    #[serde(default)]
    full: bool,
    #[serde(default)]
    offset: u32,
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 200))]
    limit: u32,
}

fn default_limit() -> u32 {
    DEFAULT_LIMIT
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "unity_list_commands",
        "Lists the commands of a Unity instance. Browse first, then ask with full for the parameters of the few \
         that you will run.",
        Effects::READS,
        run,
    )
    .bounded("limit commands a call")
    .refuses(&CODES)
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let detail = if args.full { "full" } else { "compact" };
    let mut query = vec![
        ("detail".to_owned(), detail.to_owned()),
        ("offset".into(), args.offset.to_string()),
        ("limit".into(), args.limit.to_string()),
    ];
    for (name, value) in [("query", args.query), ("tag", args.tag)] {
        query.extend(value.map(|value| (name.to_owned(), value)));
    }
    let mut said = look(ctx, args.instance.as_deref(), Question::Commands { query })?;
    let count = said.body["count"].as_u64().unwrap_or_default();
    let total = said.body["total"].as_u64().unwrap_or(count);
    let end = u64::from(args.offset) + count;
    Ok(Answer::of(json!({
        "instance": said.instance.name,
        "commands": said.body["commands"].take(),
        "count": count,
        "total": total,
        "next_offset": (end < total).then_some(end),
    }))?
    .truncated(end < total))
}
