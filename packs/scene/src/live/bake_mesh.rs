//! `nav_bake_mesh`: bakes the navigation mesh of a region of the open scene.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{codes, edit};

const METHOD: &str = "nav.bakeMesh";

/// The node is no region.
const TARGET_WRONG_TYPE: Code = Code::new(422, "navigation_target_wrong_type");
/// The region has no mesh, which says how it is baked.
const MESH_MISSING: Code = Code::new(409, "navigation_mesh_missing");
/// The geometry leaves nothing to walk on.
const BAKE_EMPTY: Code = Code::new(422, "navigation_bake_empty");
/// The scene changed while the mesh was baked.
const EDITED_SCENE_CHANGED: Code = Code::new(409, "edited_scene_changed");

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 1024))]
    nav_node_path: String,
}

pub(crate) fn tool() -> Tool {
    edit::<Args>(
        "nav_bake_mesh",
        "Bakes the navigation mesh of a NavigationRegion2D or 3D of the open scene. Undoable.",
        Effects::CHANGES,
        METHOD,
        |args| &args.nav_node_path,
    )
    .job()
    .refuses(&[
        codes::SUBRESOURCE_NOT_SAVED,
        codes::TIMEOUT,
        TARGET_WRONG_TYPE,
        MESH_MISSING,
        BAKE_EMPTY,
        EDITED_SCENE_CHANGED,
    ])
}
