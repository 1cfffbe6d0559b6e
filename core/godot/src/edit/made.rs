//! Which of the steps that were made here stand, whoever takes them back or makes them again.
//!
//! A history counts its steps, so one that was taken back and the one made in its place have the same number, and often
//! the same name. Each step therefore has a serial number of its own, and calls back when it is made and taken back.

use std::{cell::RefCell, collections::HashMap, ops::RangeInclusive};

use godot::{classes::UndoRedo, prelude::*};

use super::watch::{Beside, Held};

/// Most ranges that are told of one history.
const MAX_RANGES: usize = 64;

/// Most histories that are remembered; those of scenes that were closed are never asked for again.
const MAX_HISTORIES: usize = 256;

thread_local! {
    static HISTORIES: RefCell<HashMap<i32, Steps>> = RefCell::new(HashMap::new());
    /// The nodes of the step that is being undone.
    static LOOKED: RefCell<Vec<(Held, Beside)>> = const { RefCell::new(vec![]) };
    static HEARER: RefCell<Option<Gd<DidiSteps>>> = const { RefCell::new(None) };
}

/// The steps of one history, oldest first.
#[derive(Default)]
struct Steps {
    /// The history itself, which goes with the tab of its scene.
    history: Option<InstanceId>,
    last: i64,
    kept: Vec<Kept>,
}

/// A step that stands, or can be made again.
struct Kept {
    serial: i64,
    stands: bool,
    /// What it changed beside what it was to change.
    beside: Vec<Beside>,
}

/// Hears of a step. The history holds on to it.
#[derive(GodotClass)]
#[class(tool, init, base = RefCounted)]
struct DidiSteps {
    base: Base<RefCounted>,
}

#[godot_api]
impl DidiSteps {
    /// A step is about to be undone.
    #[func]
    #[allow(clippy::unused_self, reason = "a history calls a method")]
    fn look(&self, history: i32, serial: i64) {
        let beside = HISTORIES
            .with_borrow(|all| all.get(&history)?.find(serial).map(|step| step.beside.clone()));
        LOOKED.set(beside.into_iter().flatten().map(|one| (one.look(), one)).collect());
    }

    /// A step was made or undone.
    #[func]
    #[allow(clippy::unused_self, reason = "a history calls a method")]
    fn mark(&self, history: i32, serial: i64, stands: bool) {
        HISTORIES.with_borrow_mut(|all| {
            if let Some(steps) = all.get_mut(&history) {
                steps.mark(serial, stands);
            }
        });
        for (looked, beside) in LOOKED.take() {
            beside.restore(looked);
        }
    }
}

impl Steps {
    fn begin(&mut self) -> i64 {
        self.last += 1;
        self.last
    }

    /// A new step: what could be made again before it, can't any more.
    fn add(&mut self, serial: i64, beside: Vec<Beside>) {
        // Of one history those are the newest.
        while self.kept.pop_if(|step| !step.stands).is_some() {}
        self.kept.push(Kept { serial, stands: true, beside });
    }

    fn mark(&mut self, serial: i64, stands: bool) {
        if let Ok(at) = self.kept.binary_search_by_key(&serial, |step| step.serial) {
            self.kept[at].stands = stands;
        }
    }

    fn find(&self, serial: i64) -> Option<&Kept> {
        let at = self.kept.binary_search_by_key(&serial, |step| step.serial).ok()?;
        self.kept.get(at)
    }

    fn stands(&self, serial: i64) -> bool {
        self.find(serial).is_some_and(|step| step.stands)
    }

    /// The serials that stand, newest range first.
    fn ranges(&self) -> Vec<RangeInclusive<i64>> {
        let mut ranges: Vec<RangeInclusive<i64>> = vec![];
        for step in self.kept.iter().rev().filter(|step| step.stands) {
            let newest = ranges.last_mut().filter(|range| *range.start() == step.serial + 1);
            if let Some(range) = newest {
                *range = step.serial..=*range.end();
            } else if ranges.len() == MAX_RANGES {
                break;
            } else {
                ranges.push(step.serial..=step.serial);
            }
        }
        ranges
    }
}

/// Gives a step that is begun in a history its serial.
pub(super) fn begin(id: i32, history: &Gd<UndoRedo>) -> i64 {
    HISTORIES.with_borrow_mut(|all| {
        if all.len() >= MAX_HISTORIES {
            let oldest = all.keys().min().copied();
            oldest.filter(|oldest| *oldest != id).and_then(|oldest| all.remove(&oldest));
        }
        let steps = all.entry(id).or_default();
        steps.history = Some(history.instance_id());
        steps.begin()
    })
}

/// Adds to the action that is being put together in a history that it is heard of, at the end of its undo.
pub(super) fn hear(id: i32, serial: i64, history: &mut Gd<UndoRedo>) {
    let told = |stands: bool| {
        let args = [id.to_variant(), serial.to_variant(), stands.to_variant()];
        hearer().callable("mark").bind(&args)
    };
    history.add_do_method(&told(true));
    history.add_undo_method(&told(false));
}

/// Adds to it that its nodes are looked at, at the begin of its undo.
pub(super) fn look(id: i32, serial: i64, history: &mut Gd<UndoRedo>) {
    let args = [id.to_variant(), serial.to_variant()];
    history.add_undo_method(&hearer().callable("look").bind(&args));
}

fn hearer() -> Gd<DidiSteps> {
    HEARER.with_borrow_mut(|hearer| hearer.get_or_insert_with(DidiSteps::new_gd).clone())
}

/// The action was made, and changed this beside what it was to change.
pub(super) fn add(id: i32, serial: i64, beside: Vec<Beside>) {
    HISTORIES.with_borrow_mut(|all| all.entry(id).or_default().add(serial, beside));
}

/// Whether a step stands. A history's own number of it does not tell.
pub(crate) fn stands(id: i32, serial: i64) -> bool {
    HISTORIES.with_borrow(|all| all.get(&id).is_some_and(|steps| steps.stands(serial)))
}

/// Whether a history in which steps were made is no more.
pub(crate) fn is_gone(id: i32) -> bool {
    let history = HISTORIES.with_borrow(|all| all.get(&id).and_then(|steps| steps.history));
    history.is_some_and(|history| Gd::<UndoRedo>::try_from_instance_id(history).is_err())
}

/// The serial of the newest step that was begun.
pub(super) fn last(id: i32) -> Option<i64> {
    HISTORIES.with_borrow(|all| all.get(&id).map(|steps| steps.last).filter(|last| *last > 0))
}

/// The serials of the steps that stand, in ranges, newest first.
pub(super) fn ranges(id: i32) -> Vec<RangeInclusive<i64>> {
    HISTORIES.with_borrow(|all| all.get(&id).map(Steps::ranges).unwrap_or_default())
}

/// Forgets them all, at the session's end.
pub(crate) fn forget() {
    HISTORIES.take();
    LOOKED.take();
    drop(HEARER.take());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_in_the_place_of_another_is_not_that_one() {
        let mut steps = Steps::default();
        let make = |steps: &mut Steps| {
            let serial = steps.begin();
            steps.add(serial, vec![]);
            serial
        };
        let [first, second] = [make(&mut steps), make(&mut steps)];
        assert_eq!(steps.ranges(), [1..=2]);
        steps.mark(second, false);
        assert!(steps.stands(first) && !steps.stands(second));
        steps.mark(second, true);
        assert!(steps.stands(second), "made again");
        steps.mark(second, false);
        let third = make(&mut steps);
        assert_eq!(steps.kept.len(), 2, "what can't be made again is not kept");
        steps.mark(second, true);
        assert!(!steps.stands(second) && steps.stands(third), "it can't be made again");
        assert_eq!(steps.ranges(), [3..=3, 1..=1]);
    }
}
