//! `gridmap.setCells`: writes and clears cells of a grid as one step of the undo history.

use std::collections::BTreeMap;

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::{classes::GridMap, prelude::*};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    change::{Change, Planned},
    edit::{self, Edit, owned},
    methods::Context,
    node_path,
    params::{self, Params},
    refuse,
};

const MAX_CELLS: usize = 256;

/// Farthest cell from the middle.
const MAX_COORDINATE: i32 = 1_048_576;

/// Ways in which an item may be turned.
const MAX_ORIENTATION: i32 = 23;

/// The item of an empty cell.
const EMPTY: i32 = -1;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    gridmap_path: String,
    cells: Vec<Cell>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cell {
    #[serde(alias = "coords")]
    position: Place,
    item: i32,
    #[serde(default)]
    orientation: i32,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(untagged)]
enum Place {
    Triple([i32; 3]),
    Members { x: i32, y: i32, z: i32 },
}

impl From<Place> for Vector3i {
    fn from(place: Place) -> Self {
        match place {
            Place::Triple([x, y, z]) | Place::Members { x, y, z } => Vector3i::new(x, y, z),
        }
    }
}

/// A place, its item and how that is turned.
type Placed = (Vector3i, i32, i32);

pub(crate) fn plan(_context: &Context, params: &Params) -> Planned {
    let args: Args = params::read(params)?;
    let root = node_path::edited_root()?;
    let grid = grid(&args.gridmap_path)?;
    owned::check(&root, &grid.clone().upcast())?;
    let planned = cells(&args.cells, &grid)?;
    let before: Vec<Value> = planned.iter().map(|(at, ..)| told(&grid, *at)).collect();
    let path = args.gridmap_path;
    Ok(Change::now(json!({ "cells": before }), move |_| make(&path, &root, &grid, &planned)))
}

fn make(path: &str, root: &Gd<Node>, grid: &Gd<GridMap>, planned: &[Placed]) -> Answer {
    let registered = commit(root, grid, planned)?;
    let cells: Vec<Value> = planned.iter().map(|(at, ..)| told(grid, *at)).collect();
    let mut answer = edit::done(json!({ "gridmap_path": path, "cells": cells }));
    answer["undo_redo_registered"] = registered.into();
    Ok(answer)
}

fn grid(path: &str) -> Result<Gd<GridMap>, BridgeError> {
    let node = node_path::edited(path).map_err(|error| {
        if error.code == 404 { error.with("code", "gridmap_target_not_found") } else { error }
    })?;
    let class = node.get_class();
    node.try_cast::<GridMap>().map_err(|_| {
        let message = format!("`{path}` is a `{class}` and no `GridMap`");
        refuse::conflict("gridmap_target_wrong_type", message).with("field", "gridmap_path")
    })
}

fn cells(cells: &[Cell], grid: &Gd<GridMap>) -> Result<Vec<Placed>, BridgeError> {
    if !(1..=MAX_CELLS).contains(&cells.len()) {
        return Err(refuse::invalid("cells", format!("1 to {MAX_CELLS} cells are taken")));
    }
    let items = grid.get_mesh_library().map(|library| library.get_item_list()).unwrap_or_default();
    let mut seen: BTreeMap<[i32; 3], usize> = BTreeMap::new();
    let mut planned = vec![];
    for (index, cell) in cells.iter().enumerate() {
        let at: Vector3i = cell.position.into();
        check(cell, at, index)?;
        if let Some(first) = seen.insert(at.to_array(), index) {
            let message = format!("cells {first} and {index} are at the same place");
            let error = refuse::conflict("duplicate_gridmap_position", message);
            return Err(error.with("field", "cells"));
        }
        if cell.item != EMPTY && !items.as_slice().contains(&cell.item) {
            let message = format!("cell {index}: the mesh library has no item {}", cell.item);
            let error = BridgeError::new(404, "gridmap_item_not_found", message);
            return Err(error.with("field", "cells"));
        }
        planned.push((at, cell.item, cell.orientation));
    }
    Ok(planned)
}

fn check(cell: &Cell, at: Vector3i, index: usize) -> Result<(), BridgeError> {
    let far = at.to_array().iter().any(|one| one.abs() > MAX_COORDINATE);
    let turned = !(0..=MAX_ORIENTATION).contains(&cell.orientation);
    let cleared_and_turned = cell.item == EMPTY && cell.orientation != 0;
    if far || turned || cell.item < EMPTY || cleared_and_turned {
        let message = format!(
            "cell {index}: a place within {MAX_COORDINATE}, an item from -1 on and a way of 0 to \
             {MAX_ORIENTATION} to turn it are taken; an empty cell is not turned"
        );
        return Err(refuse::invalid("cells", message));
    }
    Ok(())
}

/// One action of what differs; a batch that changes nothing makes no history.
fn commit(root: &Gd<Node>, grid: &Gd<GridMap>, planned: &[Placed]) -> Result<bool, BridgeError> {
    let now = |at: Vector3i| (at, grid.get_cell_item(at), turned(grid, at));
    let differ: Vec<&Placed> = planned.iter().filter(|cell| now(cell.0) != **cell).collect();
    if differ.is_empty() {
        return Ok(false);
    }
    let object: Gd<Object> = grid.clone().upcast();
    let args = |(at, item, way): Placed| [at.to_variant(), item.to_variant(), way.to_variant()];
    let mut action = Edit::begin(&format!("Set {} cells", differ.len()), root)?;
    for cell in differ {
        action.does(&object, "set_cell_item", &args(*cell));
        action.undoes(&object, "set_cell_item", &args(now(cell.0)));
    }
    action.commit();
    Ok(true)
}

/// How the item of a cell is turned; not at all where there is none.
fn turned(grid: &Gd<GridMap>, at: Vector3i) -> i32 {
    grid.get_cell_item_orientation(at).max(0)
}

fn told(grid: &Gd<GridMap>, at: Vector3i) -> Value {
    json!({
        "position": { "x": at.x, "y": at.y, "z": at.z },
        "item": grid.get_cell_item(at),
        "orientation": turned(grid, at),
    })
}
