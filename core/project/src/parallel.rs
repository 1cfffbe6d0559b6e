//! Work on many files at once, in batches, with the results in order.
//!
//! The results do not depend on the number of threads: a batch is cut by count, and its results are taken one
//! after the other. Between batches the caller may give up.
//!
//! Spec: P-50, the project's files.

use std::{
    num::NonZero,
    ops::ControlFlow,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use didi_plugin_api::prelude::*;

/// Items of the first batch. Each batch is twice as long as the one before, up to a bound: a caller who wants little
/// gets it soon, and one who wants all waits for few threads to start.
const FIRST_BATCH: usize = 128;
const LONGEST_BATCH: usize = 4_096;
/// Most threads.
const MAX_THREADS: usize = 4;
/// Fewer items than this are not worth a thread.
const MIN_ITEMS: usize = 16;

/// Runs `work` on all items and hands the results to `take` in order, until it breaks.
pub fn each<'i, T: Sync, R: Send>(
    ctx: &Ctx<'_>,
    items: &'i [T],
    work: impl Fn(&T) -> R + Sync,
    mut take: impl FnMut(&'i T, R) -> ControlFlow<()>,
) -> Result<(), Refusal> {
    let (mut rest, mut length) = (items, FIRST_BATCH);
    while !rest.is_empty() {
        ctx.check()?;
        let (batch, later) = rest.split_at(length.min(rest.len()));
        for (item, result) in batch.iter().zip(run(batch, &work)) {
            if take(item, result).is_break() {
                return Ok(());
            }
        }
        (rest, length) = (later, (length * 2).min(LONGEST_BATCH));
    }
    Ok(())
}

/// Threads that one call works with.
pub fn threads() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS)
}

fn run<T: Sync, R: Send>(batch: &[T], work: &(impl Fn(&T) -> R + Sync)) -> Vec<R> {
    let threads = threads();
    if threads == 1 || batch.len() < MIN_ITEMS {
        return batch.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = vec![];
        while let Some((at, item)) = claim(batch, &next) {
            done.push((at, work(item)));
        }
        done
    };
    let mut done: Vec<(usize, R)> = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(worker)).collect();
        let mut done = worker();
        for other in others {
            match other.join() {
                Ok(part) => done.extend(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

fn claim<'b, T>(batch: &'b [T], next: &AtomicUsize) -> Option<(usize, &'b T)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    batch.get(at).map(|item| (at, item))
}
