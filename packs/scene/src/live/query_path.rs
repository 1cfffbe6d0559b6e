//! `nav_query_path`: a path over the navigation map that is there.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::prelude::*;

use super::{
    BOTH, codes,
    space::{Point, check_pair, first_layer},
};

/// The world has no navigation map in use.
const NO_NAVIGATION_MAP: Code = Code::new(409, "no_navigation_map");

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    start_point: Point,
    end_point: Point,
    #[serde(default = "first_layer")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    navigation_layers: u32,
    #[serde(default = "didi_plugin_api::schema::yes")]
    optimize: bool,
}

pub(crate) fn tool() -> Tool {
    Tool::of_engine::<Args>(
        "nav_query_path",
        "Asks the navigation map for a path between two points, and whether it gets there.",
        Effects::READS,
        BOTH,
        "nav.queryPath",
    )
    .bounded("256 points and 256 KiB")
    .checked(|args: &Args| {
        check_pair(["start_point", "end_point"], [args.start_point, args.end_point])
    })
    .refuses(&[
        codes::INVALID_ARGUMENTS,
        codes::NOT_CONNECTED,
        codes::NO_EDITED_SCENE,
        NO_NAVIGATION_MAP,
    ])
}
