//! `scene.getGroupMembers`: the nodes of the edited scene that are in a group.

use std::collections::BTreeSet;

use didi_engine::Answer;
use serde::Deserialize;
use serde_json::json;

use super::groups;
use crate::{
    methods::Context,
    node_path,
    params::{self, Params},
};

/// Most groups told beside it.
const MAX_KNOWN: usize = 128;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    group: String,
}

pub(crate) fn run(_context: &Context, params: &Params) -> Answer {
    let Args { group } = params::read(params)?;
    let root = node_path::edited_root()?;
    let (mut members, mut known) = (vec![], BTreeSet::new());
    let mut open = vec![root.clone()];
    while let Some(node) = open.pop() {
        if node.is_in_group(group.as_str()) {
            members.push(node_path::in_scene(&root, &node));
        }
        known.extend(groups::of(&node));
        let children: Vec<_> = node.get_children().iter_shared().collect();
        open.extend(children.into_iter().rev());
    }
    let truncated = known.len() > MAX_KNOWN;
    Ok(json!({
        "status": "success",
        "group": group,
        "group_exists": !members.is_empty(),
        "members": members,
        "known_groups": known.into_iter().take(MAX_KNOWN).collect::<Vec<_>>(),
        "known_groups_truncated": truncated,
        "truncated": truncated,
    }))
}
