//! `gridmap_set_cells`: places and clears items of a grid as one step.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::{prelude::*, records::Kind};

use super::{codes, edit};

const METHOD: &str = "gridmap.setCells";

/// Farthest cell from the middle.
const FAR: i64 = 1_048_576;

/// The path leads to no node.
const TARGET_NOT_FOUND: Code = Code::new(404, "gridmap_target_not_found");
/// The node is no grid.
const TARGET_WRONG_TYPE: Code = Code::new(409, "gridmap_target_wrong_type");
/// Two entries name one cell.
const DUPLICATE_POSITION: Code = Code::new(409, "duplicate_gridmap_position");
/// The grid's library has no such item.
const ITEM_NOT_FOUND: Code = Code::new(404, "gridmap_item_not_found");

/// What an entry holds.
const CELL: &[Kind] = &[(
    "",
    &[
        ("position", Rule::Cell3(-FAR, FAR), false),
        ("coords", Rule::Cell3(-FAR, FAR), false),
        ("item", Rule::Whole(-1, 2_147_483_647), true),
        ("orientation", Rule::Whole(0, 23), false),
    ],
)];

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 1024))]
    gridmap_path: String,
    /// `{position: [x, y, z], item, orientation 0..23}`; item -1 clears.
    #[schemars(length(min = 1, max = 256))]
    cells: Vec<Record>,
}

pub(crate) fn tool() -> Tool {
    edit::<Args>(
        "gridmap_set_cells",
        "Places or clears items of a GridMap in the open scene as one undo step.",
        Effects::CHANGES,
        METHOD,
        |args| &args.gridmap_path,
    )
    .checked(check)
    .refuses(&[
        codes::UNKNOWN_OUTCOME,
        TARGET_NOT_FOUND,
        TARGET_WRONG_TYPE,
        DUPLICATE_POSITION,
        ITEM_NOT_FOUND,
    ])
}

fn check(args: &Args) -> Result<(), Refusal> {
    records::check("cells", "", CELL, &args.cells)?;
    for (place, Record(cell)) in args.cells.iter().enumerate() {
        if cell.contains_key("position") == cell.contains_key("coords") {
            let message = format!("`cells[{place}]`: one of `position` and `coords` is needed");
            return Err(Refusal::invalid("cells", message));
        }
        let turned = cell.get("orientation").is_some_and(|way| *way != 0);
        if cell["item"] == -1 && turned {
            let message = format!("`cells[{place}]`: an empty cell is not turned");
            return Err(Refusal::invalid("cells", message));
        }
    }
    Ok(())
}
