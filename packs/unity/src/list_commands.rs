//! `unity_list_commands`: what an instance can be told to do.

use didi_plugin_api::{pipeline::Question, prelude::*};

use crate::ask::{CODES, Cutter, look, refused};

const DEFAULT_LIMIT: u32 = 50;
/// Largest list in one answer, in bytes.
const MAX_LIST_BYTES: usize = 256 * 1024;
/// Largest entry of it that is told whole, in bytes; several of its size fit in a list.
const MAX_ENTRY_BYTES: usize = 32 * 1024;

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
    .bounded("limit commands and 256 KiB a call")
    .refuses(&CODES)
}

/// As many of a list as an answer holds, and one at least; one that is larger by itself is told by its name and size.
fn first(commands: Vec<Value>, cutter: &mut Cutter) -> Vec<Value> {
    let mut left = MAX_LIST_BYTES;
    let fits = commands.into_iter().map(|command| {
        let name = command["name"].as_str().map(|name| cutter.text(name));
        let mut told = cutter.to(MAX_ENTRY_BYTES, command);
        if let (Some(name), Some(members)) = (name, told.as_object_mut()) {
            members.insert("name".into(), name.into());
        }
        told
    });
    let taken = fits.map_while(|command| {
        left = left.checked_sub(command.to_string().len())?;
        Some(command)
    });
    taken.collect()
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
    let Value::Array(commands) = said.body["commands"].take() else { return Err(refused(&said)) };
    let listed = commands.len() as u64;
    let total = said.body["total"].as_u64().unwrap_or(listed);
    let mut cutter = Cutter::default();
    let commands = first(commands, &mut cutter);
    let count = commands.len() as u64;
    let end = u64::from(args.offset) + count;
    // One that holds none in spite of its total would send a client in circles.
    let goes_on = count > 0 && end < total;
    let answer = Answer::of(json!({
        "instance": said.instance.name,
        "commands": commands,
        "count": count,
        "total": total,
        "next_offset": goes_on.then_some(end),
    }))?;
    Ok(answer.truncated(end < total || cutter.has_cut))
}

#[cfg(test)]
mod tests;
