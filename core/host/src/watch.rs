//! `--watch-packs`: takes replaced packs up while the process serves.
//!
//! The folders are looked at in an interval. A change is acted on when the files have been still for one
//! interval, so a half-copied file is not taken up. Running calls end on the pack that they began with.
//!
//! Spec: P-39, updating packs.

use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    sync::Arc,
    thread,
    time::{Duration, SystemTime},
};

use crate::{
    dispatch::Dispatcher,
    mcp::Server,
    serve::{Parts, report},
};

/// How often the folders are looked at.
const INTERVAL: Duration = Duration::from_millis(250);

type Look = BTreeMap<PathBuf, (u64, Option<SystemTime>)>;

/// Watches for as long as the process lives.
pub fn watch(parts: &Parts, dispatcher: &Arc<Dispatcher>, server: &Arc<Server>) {
    let mut taken = look(parts);
    let mut before = taken.clone();
    loop {
        thread::sleep(INTERVAL);
        let now = look(parts);
        let still = now == before;
        before = now;
        if still && before != taken {
            taken = before.clone();
            take_up(parts, dispatcher, server);
        }
    }
}

fn look(parts: &Parts) -> Look {
    let files = parts.loader.files().into_iter().map(|(_, file)| file);
    let stamp = |file: PathBuf| {
        let found = fs::metadata(&file).ok()?;
        Some((file, (found.len(), found.modified().ok())))
    };
    files.filter_map(stamp).collect()
}

fn take_up(parts: &Parts, dispatcher: &Arc<Dispatcher>, server: &Arc<Server>) {
    let next = Arc::new(parts.catalog());
    report(next.rows());
    let before = dispatcher.swap_catalog(Arc::clone(&next));
    let tools = !before.same_tools(&next);
    let resources = !before.same_resources(&next);
    tracing::info!(tools_changed = tools, "packs were taken up anew");
    server.lists_changed(tools, resources);
}
