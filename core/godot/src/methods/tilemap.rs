//! Layers of tiles.

pub(crate) mod get_used_rect;
pub(crate) mod set_cells;

use didi_wire::BridgeError;
use godot::{classes::TileMapLayer, prelude::*};

use crate::{node_path, refuse};

/// A layer of the edited scene.
pub(super) fn layer(path: &str) -> Result<Gd<TileMapLayer>, BridgeError> {
    let node = node_path::edited(path).map_err(|error| {
        if error.code == 404 { error.with("code", "tilemap_target_not_found") } else { error }
    })?;
    let class = node.get_class();
    node.try_cast::<TileMapLayer>().map_err(|_| {
        let message = format!("`{path}` is a `{class}` and no `TileMapLayer`");
        refuse::conflict("tilemap_target_wrong_type", message).with("field", "tilemap_path")
    })
}
