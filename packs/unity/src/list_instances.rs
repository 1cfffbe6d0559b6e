//! `unity_list_instances`: which editors and players can be seen, without asking them.

use didi_plugin_api::{pipeline::Instance, prelude::*};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Those whose process has ended, too.
    #[serde(default)]
    include_ended: bool,
}

#[derive(Serialize)]
struct Out {
    instances: Vec<Instance>,
    instance_count: usize,
}

/// Most instances that the host tells of.
const MAX_INSTANCES: usize = 100;

pub(crate) fn tool() -> Tool {
    Tool::new(
        "unity_list_instances",
        "Lists Unity editors and players, and other Didi servers, on this machine. Use first: the other \
         unity tools take an instance by name.",
        Effects::READS,
        run,
    )
    .bounded("100 instances")
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let mut instances = ctx.pipeline_instances()?;
    let truncated = instances.len() >= MAX_INSTANCES;
    instances.retain(|instance| args.include_ended || instance.process != "gone");
    let instance_count = instances.len();
    Ok(Answer::of(Out { instances, instance_count })?.truncated(truncated))
}
