//! `tilemap.setCells`: writes and erases cells as one step of the undo history.

use std::collections::BTreeMap;

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::{
    classes::{TileMapLayer, TileSet, TileSetAtlasSource},
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    change::{Change, Planned},
    edit::{self, Edit, owned},
    methods::{Context, tilemap},
    node_path,
    params::{self, Params},
    refuse,
};

/// Most cells of one call.
const MAX_CELLS: usize = 256;

/// Farthest cell from the middle.
const MAX_COORDINATE: i32 = 1_048_576;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    tilemap_path: String,
    cells: Vec<Cell>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cell {
    #[serde(alias = "position")]
    coords: Place,
    source_id: Option<i32>,
    atlas_coords: Option<Place>,
    #[serde(default)]
    alternative_tile: u16,
    #[serde(default)]
    erase: bool,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(untagged)]
enum Place {
    Pair([i32; 2]),
    Members { x: i32, y: i32 },
}

impl From<Place> for Vector2i {
    fn from(place: Place) -> Self {
        match place {
            Place::Pair([x, y]) | Place::Members { x, y } => Vector2i::new(x, y),
        }
    }
}

/// What a cell holds.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Tile {
    source: i32,
    atlas: Vector2i,
    alternative: i32,
}

const EMPTY: Tile = Tile { source: -1, atlas: Vector2i { x: -1, y: -1 }, alternative: -1 };

/// Cells that can be written.
struct Ready {
    args: Args,
    root: Gd<Node>,
    layer: Gd<TileMapLayer>,
    planned: Vec<(Vector2i, Tile)>,
}

pub(crate) fn plan(_context: &Context, params: &Params) -> Planned {
    let args: Args = params::read(params)?;
    if !(1..=MAX_CELLS).contains(&args.cells.len()) {
        return Err(refuse::invalid("cells", format!("1 to {MAX_CELLS} cells are taken")));
    }
    let root = node_path::edited_root()?;
    let layer = tilemap::layer(&args.tilemap_path)?;
    owned::check(&root, &layer.clone().upcast())?;
    let planned = cells(&args.cells, &layer)?;
    let before = json!({ "cells": held(&layer, &planned) });
    let ready = Ready { args, root, layer, planned };
    Ok(Change::now(before, move |_| make(&ready)))
}

fn make(ready: &Ready) -> Answer {
    let Ready { args, root, layer, planned } = ready;
    let registered = commit(root, layer, planned)?;
    let mut answer = edit::done(json!({
        "tilemap_path": args.tilemap_path,
        "cells": held(layer, planned),
    }));
    answer["undo_redo_registered"] = registered.into();
    Ok(answer)
}

/// What the cells hold now.
fn held(layer: &Gd<TileMapLayer>, planned: &[(Vector2i, Tile)]) -> Vec<Value> {
    planned.iter().map(|(at, _)| told(*at, tile(layer, *at))).collect()
}

/// Every cell with what it is to hold, checked whole.
fn cells(cells: &[Cell], layer: &Gd<TileMapLayer>) -> Result<Vec<(Vector2i, Tile)>, BridgeError> {
    let mut seen: BTreeMap<(i32, i32), usize> = BTreeMap::new();
    let mut planned = vec![];
    for (index, cell) in cells.iter().enumerate() {
        let at: Vector2i = cell.coords.into();
        if at.x.abs().max(at.y.abs()) > MAX_COORDINATE {
            let message = format!("cell {index} is farther out than {MAX_COORDINATE}");
            return Err(refuse::invalid("cells", message));
        }
        if let Some(first) = seen.insert((at.x, at.y), index) {
            let message = format!("cells {first} and {index} are at the same place");
            return Err(
                refuse::conflict("duplicate_tilemap_coordinate", message).with("field", "cells")
            );
        }
        planned.push((at, wanted(cell, index, layer)?));
    }
    Ok(planned)
}

fn wanted(cell: &Cell, index: usize, layer: &Gd<TileMapLayer>) -> Result<Tile, BridgeError> {
    if cell.erase {
        return Ok(EMPTY);
    }
    let (Some(source), Some(atlas)) = (cell.source_id, cell.atlas_coords) else {
        let message = format!("cell {index} needs `source_id` and `atlas_coords`, or `erase`");
        return Err(refuse::invalid("cells", message));
    };
    let Some(tiles) = layer.get_tile_set() else {
        let message = "the layer has no tile set";
        let error = refuse::conflict("tilemap_layer_has_no_tileset", message);
        let arguments = json!({ "property_name": "tile_set" });
        return Err(refuse::next_call(error, "scene_set_property", arguments, "gives it one"));
    };
    let tile = Tile { source, atlas: atlas.into(), alternative: cell.alternative_tile.into() };
    if has_tile(&tiles, tile) {
        return Ok(tile);
    }
    let message = format!("cell {index}: the tile set has no such tile");
    Err(BridgeError::new(404, "tilemap_tile_not_found", message).with("field", "cells"))
}

fn has_tile(tiles: &Gd<TileSet>, tile: Tile) -> bool {
    if !tiles.has_source(tile.source) {
        return false;
    }
    let source = tiles.get_source(tile.source);
    source.is_some_and(|source| match source.try_cast::<TileSetAtlasSource>() {
        Ok(atlas) => {
            atlas.has_tile(tile.atlas) && atlas.has_alternative_tile(tile.atlas, tile.alternative)
        }
        Err(source) => source.has_tile(tile.atlas),
    })
}

fn tile(layer: &Gd<TileMapLayer>, at: Vector2i) -> Tile {
    Tile {
        source: layer.get_cell_source_id(at),
        atlas: layer.get_cell_atlas_coords(at),
        alternative: layer.get_cell_alternative_tile(at),
    }
}

/// One action of what differs; a batch that changes nothing makes no history.
fn commit(
    root: &Gd<Node>,
    layer: &Gd<TileMapLayer>,
    planned: &[(Vector2i, Tile)],
) -> Result<bool, BridgeError> {
    let object: Gd<Object> = layer.clone().upcast();
    let differ: Vec<_> =
        planned.iter().filter(|(at, wanted)| tile(layer, *at) != *wanted).collect();
    if differ.is_empty() {
        return Ok(false);
    }
    let mut action = Edit::begin(&format!("Set {} cells", differ.len()), root)?;
    for (at, wanted) in differ {
        action.does(&object, "set_cell", &args(*at, *wanted));
        action.undoes(&object, "set_cell", &args(*at, tile(layer, *at)));
    }
    action.commit();
    Ok(true)
}

fn args(at: Vector2i, tile: Tile) -> [Variant; 4] {
    [
        at.to_variant(),
        tile.source.to_variant(),
        tile.atlas.to_variant(),
        tile.alternative.max(0).to_variant(),
    ]
}

fn told(at: Vector2i, tile: Tile) -> Value {
    let coords = json!({ "x": at.x, "y": at.y });
    if tile.source < 0 {
        return json!({ "coords": coords, "erased": true });
    }
    json!({
        "coords": coords,
        "source_id": tile.source,
        "atlas_coords": { "x": tile.atlas.x, "y": tile.atlas.y },
        "alternative_tile": tile.alternative,
    })
}
