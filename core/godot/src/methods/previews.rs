//! What a change would land on: its own checks run, what is there now is read, and nothing changes.

use didi_engine::Answer;
use didi_wire::BridgeError;
use serde::Deserialize;
use serde_json::json;

use super::{Context, Run, anim, project, scene, script, signal, tilemap};
use crate::params::Params;

/// A change that is previewed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mutation {
    method: String,
    #[serde(default)]
    params: Params,
}

type Preview = fn(&Context, &Params) -> Answer;

/// Methods that read their target in a function of its own, sorted by name; each [`Run::Change`] reads it, too.
const PREVIEWS: &[(&str, Preview)] = &[
    ("anim.addLibrary", anim::add_library::preview),
    ("project.setAutoload", project::set_autoload::preview),
    ("project.setInputAction", project::set_input_action::preview),
    ("project.setSetting", project::set_setting::preview),
    ("scene.addToGroup", scene::add_to_group::preview),
    ("scene.create", scene::create::preview),
    ("scene.instantiateNode", scene::instantiate_node::preview),
    ("scene.open", scene::open::preview),
    ("scene.packBranch", scene::pack_branch::preview),
    ("scene.removeNode", scene::remove_node::preview),
    ("scene.setProperty", scene::set_property::preview),
    ("script.attachToNode", script::attach_to_node::preview),
    ("signal.connect", signal::connect::preview),
    ("tilemap.setCells", tilemap::set_cells::preview),
];

/// Checks a change and reads its target.
///
/// # Errors
/// What the change itself would be refused with; `not_implemented` (501) for one that has no preview.
pub(crate) fn read(context: &Context, mutation: &Mutation) -> Answer {
    let name = mutation.method.as_str();
    if let Some(Run::Change(plan)) = super::find(name) {
        let before = plan(context, &mutation.params)?.preview();
        return Ok(json!({ "status": "success", "method": name, "before": before }));
    }
    let Ok(at) = PREVIEWS.binary_search_by_key(&name, |(method, _)| method) else {
        let message = format!("`{name}` has no preview");
        return Err(BridgeError::new(501, "not_implemented", message));
    };
    let before = PREVIEWS[at].1(context, &mutation.params)?;
    Ok(json!({ "status": "success", "method": name, "before": before }))
}

#[cfg(test)]
mod tests {
    use super::PREVIEWS;

    #[test]
    fn the_table_is_sorted() {
        assert!(PREVIEWS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
