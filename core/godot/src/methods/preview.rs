//! Ghosts: wireframe boxes over the editor's views, which show where something would be.
//!
//! They are drawn by the rendering server alone. No node is made and none changes, so no scene could hold them.

pub(crate) mod clear_ghosts;
mod draw;
pub(crate) mod render_ghost;

use std::cell::RefCell;

use godot::{
    classes::{RenderingServer, StandardMaterial3D},
    prelude::*,
};

/// Most boxes at once.
const MAX_SHAPES: usize = 256;

thread_local! {
    static SHOWN: RefCell<Shown> = const { RefCell::new(Shown { batches: vec![], made: 0 }) };
}

/// All ghosts on the screen.
struct Shown {
    batches: Vec<Batch>,
    /// How many batches there have been.
    made: u64,
}

/// The ghosts of one call. Dropped, they are gone.
struct Batch {
    id: String,
    shapes: usize,
    /// What the rendering server holds of them, users before what they use.
    held: Vec<Rid>,
    _material: Option<Gd<StandardMaterial3D>>,
}

impl Drop for Batch {
    fn drop(&mut self) {
        let mut server = RenderingServer::singleton();
        for one in self.held.drain(..) {
            server.free_rid(one);
        }
    }
}

/// Boxes on the screen now.
fn live_shapes() -> usize {
    SHOWN.with_borrow(|shown| shown.batches.iter().map(|batch| batch.shapes).sum())
}

/// Takes one batch or all of them away: how many batches and boxes that were.
fn clear(id: Option<&str>) -> (usize, usize) {
    SHOWN.with_borrow_mut(|shown| {
        let goes = |batch: &Batch| id.is_none_or(|id| batch.id == id);
        let gone: Vec<Batch> = shown.batches.extract_if(.., |batch| goes(batch)).collect();
        (gone.len(), gone.iter().map(|batch| batch.shapes).sum())
    })
}

/// Takes all away when the session ends, while there is still a rendering server.
pub(crate) fn end() {
    clear(None);
}
