//! Grids of meshes.

pub(crate) mod set_cells;
