//! Work that goes on after its call was answered, looked at once a frame.

use std::{
    cell::{Cell, RefCell},
    sync::Arc,
    time::Instant,
};

use didi_engine::{
    Task,
    detached::{Detached, WorkKind},
};

thread_local! {
    static WORKS: RefCell<Vec<Work>> = const { RefCell::new(Vec::new()) };
    static LOOKING: Cell<bool> = const { Cell::new(false) };
}

struct Work {
    id: String,
    kept_in: Arc<Detached>,
    kind: WorkKind,
    task: Box<dyn Task>,
}

/// Has work go on under a name that was accepted for it.
pub(crate) fn go_on(id: String, kept_in: Arc<Detached>, kind: WorkKind, task: Box<dyn Task>) {
    WORKS.with_borrow_mut(|works| works.push(Work { id, kept_in, kind, task }));
}

/// Whether any work goes on.
pub(crate) fn is_busy() -> bool {
    LOOKING.get() || WORKS.with_borrow(|works| !works.is_empty())
}

/// Looks at all of it. An engine may run frames inside such work, which find nothing to look at.
pub(crate) fn look() {
    let works = WORKS.with_borrow_mut(std::mem::take);
    if works.is_empty() {
        return;
    }
    LOOKING.set(true);
    let mut left: Vec<Work> = works.into_iter().filter_map(Work::look).collect();
    LOOKING.set(false);
    WORKS.with_borrow_mut(|works| works.append(&mut left));
}

impl Work {
    /// The work, if it goes on.
    fn look(mut self) -> Option<Self> {
        if !self.kept_in.is_wanted(&self.id, Instant::now()) {
            self.kept_in.give_up(&self.id, self.kind);
            return None;
        }
        match self.task.poll() {
            None => Some(self),
            Some(end) => {
                self.kept_in.finish(&self.id, end);
                None
            }
        }
    }
}
