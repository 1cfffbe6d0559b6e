//! The model of one board: values with who wrote them and until when, tasks, and what is remembered of values
//! that are gone. Pure: bytes and a time in, bytes out; `store` reads and writes the file.
//!
//! Lapsed values and leases are taken away when a board is parsed, from the time alone, so that a read sees
//! the same board that the next write stores. Members that this version does not know are kept.
//!
//! Spec: P-51, boards.

use std::collections::BTreeMap;

use didi_plugin_api::prelude::*;
use serde_json::Map;

use self::{path::BoardPath, tasks::Task};

pub(crate) mod patch;
pub(crate) mod path;
pub(crate) mod store;
pub(crate) mod tasks;
pub(crate) mod tree;

#[cfg(test)]
mod tests;

/// The form of the file that this version writes; a higher one is not read.
const FORMAT: u32 = 1;
/// Largest value of one write, in bytes of JSON.
pub(crate) const MAX_VALUE_BYTES: usize = 256 * 1024;
/// Largest board, in bytes of its file.
pub(crate) const MAX_BOARD_BYTES: usize = 4 * 1024 * 1024;
/// Most keys of a board.
const MAX_KEYS: usize = 10_000;
/// Most expiries, and most clears, that are remembered.
const MAX_REMEMBERED: usize = 256;

/// A board.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Board {
    #[serde(skip)]
    pub(crate) name: String,
    #[serde(skip)]
    now_ms: u64,
    format: u32,
    /// Counts the writes.
    pub(crate) revision: u64,
    updated_at_ms: u64,
    pub(crate) values: Value,
    #[serde(default)]
    entries: BTreeMap<String, Entry>,
    #[serde(default)]
    expired: Vec<Expired>,
    #[serde(default)]
    cleared: Vec<Cleared>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) last_board_clear: Option<Cleared>,
    #[serde(default)]
    pub(crate) tasks: Vec<Task>,
    #[serde(default)]
    last_task: u64,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// Who wrote a path, when, and until when it lasts. Recorded as it was said, never verified.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) author: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    pub(crate) updated_at_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expires_at_ms: Option<u64>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// A value that ran out.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Expired {
    path: String,
    #[serde(rename = "expired_at_ms")]
    pub(crate) at_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) author: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// A path that was cleared.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Cleared {
    path: String,
    #[serde(rename = "cleared_at_ms")]
    pub(crate) at_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) author: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// Who writes, as the caller says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Who {
    pub(crate) author: Option<String>,
    pub(crate) reason: Option<String>,
}

/// What is known of a path that holds nothing.
#[derive(Debug)]
pub(crate) enum Gone<'b> {
    Expired(&'b Expired),
    Cleared(&'b Cleared),
    NoRecord,
}

/// What a clear took away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Removed {
    pub(crate) keys: usize,
    pub(crate) tasks: usize,
}

impl Board {
    /// A board that nobody wrote yet.
    pub(crate) fn empty(name: &str, now_ms: u64) -> Self {
        Board {
            name: name.into(),
            now_ms,
            format: FORMAT,
            revision: 0,
            updated_at_ms: 0,
            values: json!({}),
            entries: BTreeMap::new(),
            expired: vec![],
            cleared: vec![],
            last_board_clear: None,
            tasks: vec![],
            last_task: 0,
            other: Map::new(),
        }
    }

    /// Reads a board as it is at `now_ms`; the error is a sentence.
    pub(crate) fn parse(name: &str, bytes: &[u8], now_ms: u64) -> Result<Self, String> {
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        let mut board: Board = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if board.format > FORMAT {
            let found = board.format;
            return Err(format!("it has format {found}, and this version reads up to {FORMAT}"));
        }
        if !board.values.is_object() {
            return Err("`values` is not an object".into());
        }
        board.name = name.into();
        board.now_ms = now_ms;
        board.drop_expired();
        board.free_lapsed_leases();
        Ok(board)
    }

    /// Ends a change: counts it, checks the board's limits and gives the bytes of the file.
    pub(crate) fn seal(&mut self) -> Result<Vec<u8>, Refusal> {
        self.revision += 1;
        let keys = tree::count_keys(&self.values);
        if keys > MAX_KEYS {
            return Err(self.full(format!(
                "the board would have {keys} keys, and at most {MAX_KEYS} are taken"
            )));
        }
        let mut bytes = serde_json::to_vec(self).map_err(|error| self.full(error.to_string()))?;
        bytes.push(b'\n');
        if bytes.len() > MAX_BOARD_BYTES {
            return Err(self.full(format!(
                "the board would have {} bytes, and at most {MAX_BOARD_BYTES} are taken",
                bytes.len()
            )));
        }
        Ok(bytes)
    }

    fn full(&self, message: String) -> Refusal {
        Refusal::new(codes::CONFLICT, message).with("reason_code", "board_full").next_call_with(
            "blackboard_list_keys",
            json!({"board": self.name}),
            "shows what can be cleared with `blackboard_clear`",
        )
    }

    /// The time of a change: the clock's, but always later than that of the change before.
    fn tick(&mut self) -> u64 {
        self.updated_at_ms = self.now_ms.max(self.updated_at_ms + 1);
        self.updated_at_ms
    }

    /// The clock's time for this look at the board.
    pub(crate) fn now_ms(&self) -> u64 {
        self.now_ms
    }

    pub(crate) fn value(&self, path: &BoardPath) -> Option<&Value> {
        tree::get(&self.values, path)
    }

    /// When the value at a path, or anything above that holds it or below it, was last written; 0 when
    /// nothing is there.
    pub(crate) fn stamp(&self, path: &BoardPath) -> u64 {
        if self.value(path).is_none() {
            return 0;
        }
        let own = self.entry(path).map(|(_, entry)| entry.updated_at_ms);
        let below = self.entries_below(path).map(|(_, entry)| entry.updated_at_ms);
        // A file written by hand may have values without entries.
        own.into_iter().chain(below).max().unwrap_or(self.updated_at_ms).max(1)
    }

    /// The entry that covers a path: its own, or that of the nearest container above.
    pub(crate) fn entry(&self, path: &BoardPath) -> Option<(String, &Entry)> {
        (1..=path.parts().len()).rev().find_map(|count| {
            let key = path.prefix(count).to_string();
            self.entries.get(&key).map(|entry| (key, entry))
        })
    }

    fn entries_below(&self, path: &BoardPath) -> impl Iterator<Item = (&String, &Entry)> {
        let start = format!("{path}/");
        let inside = start.clone();
        self.entries.range(start..).take_while(move |(key, _)| key.starts_with(&inside))
    }

    /// The entries that say something about a path: the one that covers it, and those below.
    pub(crate) fn metadata(&self, path: &BoardPath) -> BTreeMap<String, Entry> {
        let covering = self.entry(path).map(|(key, entry)| (key, entry.clone()));
        let below = self.entries_below(path).map(|(key, entry)| (key.clone(), entry.clone()));
        covering.into_iter().chain(below).collect()
    }

    /// Puts a value and records who did; answers what was there. The error is a sentence.
    pub(crate) fn put(
        &mut self,
        path: &BoardPath,
        value: Value,
        who: &Who,
        expires_at_ms: Option<u64>,
    ) -> Result<Option<Value>, String> {
        let before = tree::put(&mut self.values, path, value)?;
        if expires_at_ms.is_some() && self.holder(path) != *path {
            return Err("an item of a list can't expire, only the list".into());
        }
        self.record(path, who, expires_at_ms);
        Ok(before)
    }

    /// Where the metadata of a path is kept.
    fn holder(&self, path: &BoardPath) -> BoardPath {
        path.prefix(tree::parts_before_a_list(&self.values, path))
    }

    /// Records a change of a path that holds a value.
    fn record(&mut self, path: &BoardPath, who: &Who, expires_at_ms: Option<u64>) {
        let holder = self.holder(path);
        if holder == *path {
            self.drop_entries(path);
            self.forget(path);
            let updated_at_ms = self.tick();
            // What lies in something that runs out runs out with it.
            let above = path.parent().and_then(|above| self.earliest_expiry(&above));
            let expires_at_ms = expires_at_ms.into_iter().chain(above).min();
            let Who { author, reason } = who.clone();
            let entry = Entry { author, reason, updated_at_ms, expires_at_ms, ..Entry::default() };
            self.entries.insert(path.to_string(), entry);
        } else {
            self.touch(&holder, who);
        }
    }

    fn earliest_expiry(&self, path: &BoardPath) -> Option<u64> {
        let keys = (1..=path.parts().len()).map(|count| path.prefix(count).to_string());
        keys.filter_map(|key| self.entries.get(&key)?.expires_at_ms).min()
    }

    /// Records that something inside a container changed; until when it lasts stays.
    fn touch(&mut self, path: &BoardPath, who: &Who) {
        let updated_at_ms = self.tick();
        // The board as a whole has its revision: an entry here would cover every path.
        if path.is_board() {
            return;
        }
        let entry = self.entries.entry(path.to_string()).or_default();
        entry.author.clone_from(&who.author);
        entry.reason.clone_from(&who.reason);
        entry.updated_at_ms = updated_at_ms;
    }

    /// Takes a value out and records that its container changed.
    fn take(&mut self, path: &BoardPath, who: &Who) -> Option<Value> {
        let holder = self.holder(path);
        let taken = tree::remove(&mut self.values, path)?;
        if holder == *path {
            self.drop_entries(path);
            self.touch(&path.parent().unwrap_or_default(), who);
        } else {
            self.touch(&holder, who);
        }
        Some(taken)
    }

    /// Clears a path, or with the empty path the whole board, tasks included; `None` when nothing was there.
    pub(crate) fn clear(&mut self, path: &BoardPath, who: &Who) -> Option<Removed> {
        if path.is_board() {
            return self.clear_all(who);
        }
        let taken = self.take(path, who)?;
        self.forget(path);
        let record = self.cleared_now(path, who);
        self.cleared.push(record);
        trim(&mut self.cleared);
        let keys = match &taken {
            Value::Object(map) if map.is_empty() => 1,
            _ => tree::count_keys(&taken),
        };
        Some(Removed { keys, tasks: 0 })
    }

    fn clear_all(&mut self, who: &Who) -> Option<Removed> {
        let removed = Removed { keys: tree::count_keys(&self.values), tasks: self.tasks.len() };
        if removed.keys + removed.tasks == 0 {
            return None;
        }
        self.tick();
        self.values = json!({});
        self.entries.clear();
        self.tasks.clear();
        self.expired.clear();
        self.cleared.clear();
        self.last_board_clear = Some(self.cleared_now(&BoardPath::default(), who));
        Some(removed)
    }

    fn cleared_now(&self, path: &BoardPath, who: &Who) -> Cleared {
        let Who { author, reason } = who.clone();
        let (path, at_ms) = (path.to_string(), self.updated_at_ms);
        Cleared { path, at_ms, author, reason, other: Map::new() }
    }

    /// What is known of a path that holds nothing: the newest record of it or of a container above.
    pub(crate) fn gone(&self, path: &BoardPath) -> Gone<'_> {
        let covers =
            |record: &str| BoardPath::pointer(record).is_ok_and(|record| path.is_in(&record));
        let expired = self.expired.iter().filter(|one| covers(&one.path));
        let expired = expired.max_by_key(|one| one.at_ms);
        let cleared = self.cleared.iter().filter(|one| covers(&one.path));
        let cleared = cleared.chain(&self.last_board_clear).max_by_key(|one| one.at_ms);
        match (expired, cleared) {
            (Some(expired), Some(cleared)) if expired.at_ms < cleared.at_ms => {
                Gone::Cleared(cleared)
            }
            (Some(expired), _) => Gone::Expired(expired),
            (None, Some(cleared)) => Gone::Cleared(cleared),
            (None, None) => Gone::NoRecord,
        }
    }

    fn drop_entries(&mut self, path: &BoardPath) {
        let (own, below) = (path.to_string(), format!("{path}/"));
        self.entries.retain(|key, _| *key != own && !key.starts_with(&below));
    }

    /// Forgets what is remembered of a path that is written again.
    fn forget(&mut self, path: &BoardPath) {
        let (own, below) = (path.to_string(), format!("{path}/"));
        let stays = |record: &str| record != own && !record.starts_with(&below);
        self.expired.retain(|one| stays(&one.path));
        self.cleared.retain(|one| stays(&one.path));
    }

    fn drop_expired(&mut self) {
        let ends = |entry: &Entry| entry.expires_at_ms.filter(|at| *at <= self.now_ms);
        let mut lapsed: Vec<(u64, String)> = self
            .entries
            .iter()
            .filter_map(|(key, entry)| ends(entry).map(|at| (at, key.clone())))
            .collect();
        lapsed.sort();
        for (at_ms, key) in lapsed {
            let Some(entry) = self.entries.remove(&key) else { continue };
            let Ok(path) = BoardPath::pointer(&key) else { continue };
            if tree::remove(&mut self.values, &path).is_some() {
                self.drop_entries(&path);
                let Entry { author, reason, .. } = entry;
                let other = Map::new();
                self.expired.push(Expired { path: key, at_ms, author, reason, other });
            }
        }
        trim(&mut self.expired);
    }
}

/// Refuses a value that is too large or, at its place, too deep; the error is a sentence.
pub(crate) fn check_value(path: &BoardPath, value: &Value) -> Result<(), String> {
    let size = value.to_string().len();
    if size > MAX_VALUE_BYTES {
        return Err(format!("the value has {size} bytes, and at most {MAX_VALUE_BYTES} are taken"));
    }
    check_depth(path, value)
}

/// Refuses a value that would lie too deep; the error is a sentence.
fn check_depth(path: &BoardPath, value: &Value) -> Result<(), String> {
    let depth = path.parts().len() + tree::depth(value);
    if depth > path::MAX_PARTS {
        let most = path::MAX_PARTS;
        return Err(format!(
            "the board would be {depth} levels deep, and at most {most} are taken"
        ));
    }
    Ok(())
}

/// Keeps the newest.
fn trim<T>(remembered: &mut Vec<T>) {
    let excess = remembered.len().saturating_sub(MAX_REMEMBERED);
    remembered.drain(..excess);
}
