//! `tilemap_set_cells`: writes and erases cells of a layer of tiles as one step.
//!
//! Spec: P-52, scenes.

use didi_plugin_api::{prelude::*, records::Kind};

use super::{codes, edit, get_used_rect};

const METHOD: &str = "tilemap.setCells";

/// Farthest cell from the middle, and farthest tile of an atlas.
const FAR: i64 = 1_048_576;

/// There is no such cell's tile.
const TILE_NOT_FOUND: Code = Code::new(404, "tilemap_tile_not_found");
/// Two entries name one cell.
const DUPLICATE_COORDINATE: Code = Code::new(409, "duplicate_tilemap_coordinate");
/// The layer has no tiles to write.
const NO_TILESET: Code = Code::new(409, "tilemap_layer_has_no_tileset");

/// What an entry holds.
const CELL: &[Kind] = &[(
    "",
    &[
        ("coords", Rule::Cell(-FAR, FAR), false),
        ("position", Rule::Cell(-FAR, FAR), false),
        ("source_id", Rule::Whole(0, 2_147_483_647), false),
        ("atlas_coords", Rule::Cell(0, FAR), false),
        ("alternative_tile", Rule::Whole(0, 65_535), false),
        ("erase", Rule::Flag, false),
    ],
)];

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 1024))]
    tilemap_path: String,
    /// `{coords: [x, y], source_id, atlas_coords: [x, y], alternative_tile}` or `{coords, erase: true}`.
    #[schemars(length(min = 1, max = 256))]
    cells: Vec<Record>,
}

pub(crate) fn tool() -> Tool {
    edit::<Args>(
        "tilemap_set_cells",
        "Writes or erases cells of a TileMapLayer in the open scene as one undo step.",
        Effects::CHANGES,
        METHOD,
        |args| &args.tilemap_path,
    )
    .core()
    .checked(check)
    .refuses(&[
        codes::UNKNOWN_OUTCOME,
        get_used_rect::TARGET_NOT_FOUND,
        get_used_rect::TARGET_WRONG_TYPE,
        TILE_NOT_FOUND,
        DUPLICATE_COORDINATE,
        NO_TILESET,
    ])
}

fn check(args: &Args) -> Result<(), Refusal> {
    records::check("cells", "", CELL, &args.cells)?;
    for (place, Record(cell)) in args.cells.iter().enumerate() {
        let named = |name: &str| cell.contains_key(name);
        if named("coords") == named("position") {
            let message = format!("`cells[{place}]`: one of `coords` and `position` is needed");
            return Err(Refusal::invalid("cells", message));
        }
        let erases = cell.get("erase") == Some(&Value::Bool(true));
        let writes = named("source_id") && named("atlas_coords");
        if !erases && !writes {
            let message = format!(
                "`cells[{place}]`: `source_id` and `atlas_coords` are needed, or `erase: true`"
            );
            return Err(Refusal::invalid("cells", message));
        }
    }
    Ok(())
}
