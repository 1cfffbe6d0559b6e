//! `--watch-packs`: takes replaced packs up while the process serves.
//!
//! The folders are looked at in an interval. A change is acted on when the files have been still for one
//! interval, so a half-copied file is not taken up. Running calls end on the pack that they began with.
//!
//! Spec: P-39, updating packs.

use std::{
    collections::BTreeMap,
    fs::{self, Metadata},
    path::PathBuf,
    sync::Arc,
    thread,
    time::{Duration, SystemTime},
};

use crate::{
    dispatch::Dispatcher,
    serve::{Parts, report},
};

/// How often the folders are looked at.
const INTERVAL: Duration = Duration::from_millis(250);

/// Size, time of the last write, and what tells two files of one name apart.
pub type Sight = (u64, Option<SystemTime>, [u64; 3]);

/// The pack files as they lay there at one moment.
pub type Look = BTreeMap<PathBuf, Sight>;

/// Watches for as long as the process lives. `taken` was seen before the packs were taken up, so that a change
/// in between is not lost; `changed` is told whether the tools and the resources are others.
pub fn watch(
    parts: &Parts,
    dispatcher: &Arc<Dispatcher>,
    changed: impl Fn(bool, bool),
    mut taken: Look,
) {
    let mut before = taken.clone();
    loop {
        thread::sleep(INTERVAL);
        let now = look(parts);
        let still = now == before;
        before = now;
        if still && before != taken {
            taken = before.clone();
            take_up(parts, dispatcher, &changed);
        }
    }
}

/// Looks at the pack files.
pub fn look(parts: &Parts) -> Look {
    let files = parts.loader.files().into_iter().map(|(_, file)| file);
    let stamp = |file: PathBuf| {
        let found = fs::metadata(&file).ok()?;
        Some((file, (found.len(), found.modified().ok(), identity(&found))))
    };
    files.filter_map(stamp).collect()
}

/// A file may come with another's size and time; a mended mode changes neither.
#[cfg(unix)]
fn identity(found: &Metadata) -> [u64; 3] {
    use std::os::unix::fs::MetadataExt;
    [found.ino(), found.ctime().cast_unsigned(), found.ctime_nsec().cast_unsigned()]
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> [u64; 3] {
    [0; 3]
}

fn take_up(parts: &Parts, dispatcher: &Arc<Dispatcher>, changed: &impl Fn(bool, bool)) {
    let next = Arc::new(parts.catalog());
    report(next.rows());
    let before = dispatcher.swap_catalog(Arc::clone(&next));
    let tools = !before.same_tools(&next);
    let resources = !before.same_resources(&next);
    tracing::info!(tools_changed = tools, "packs were taken up anew");
    changed(tools, resources);
}
