//! The newest pictures, kept so that a later one can be compared with them.

use std::{cell::RefCell, collections::VecDeque, sync::Arc};

/// Most pictures, and most bytes of them all; the newest is kept whatever its size.
const MAX_CAPTURES: usize = 8;
const MAX_BYTES: usize = 96 * 1024 * 1024;

thread_local! {
    static KEPT: RefCell<VecDeque<Arc<Capture>>> = const { RefCell::new(VecDeque::new()) };
}

/// A picture that was taken.
pub(in crate::methods::vision) struct Capture {
    pub(in crate::methods::vision) id: String,
    pub(in crate::methods::vision) width: i32,
    pub(in crate::methods::vision) height: i32,
    /// Row by row, four bytes a pixel.
    pub(in crate::methods::vision) pixels: Vec<u8>,
}

/// Keeps a picture, and lets the oldest go where there are too many.
pub(in crate::methods::vision) fn keep(capture: Capture) -> Arc<Capture> {
    let capture = Arc::new(capture);
    KEPT.with_borrow_mut(|kept| {
        kept.push_back(Arc::clone(&capture));
        let bytes =
            |kept: &VecDeque<Arc<Capture>>| kept.iter().map(|one| one.pixels.len()).sum::<usize>();
        while kept.len() > 1 && (kept.len() > MAX_CAPTURES || bytes(kept) > MAX_BYTES) {
            kept.pop_front();
        }
    });
    capture
}

/// The picture of an id, while it is kept.
pub(in crate::methods::vision) fn find(id: &str) -> Option<Arc<Capture>> {
    KEPT.with_borrow(|kept| kept.iter().find(|one| one.id == id).cloned())
}
