//! The editor's list of the project's files.

use godot::{
    classes::{ResourceLoader, ResourceUid},
    prelude::*,
};
use serde_json::{Map, Value};

use crate::waiting;

/// Adds a file that the editor does not list, where its folder is listed; another waits for a scan.
pub(super) fn add(path: &str, entry: &mut Map<String, Value>) {
    let Some(mut files) = waiting::file_system() else { return };
    if !files.get_file_type(path).is_empty() {
        return;
    }
    let folder = path.rsplit_once('/').map_or("res://", |(folder, _)| folder);
    let folder = if folder.ends_with(':') || folder == "res:/" { "res://" } else { folder };
    if files.get_filesystem_path(folder).is_some() {
        files.update_file(path);
        if !files.get_file_type(path).is_empty() {
            listed(path, entry);
        }
    } else {
        entry.insert("index_pending".into(), true.into());
    }
}

/// Looks again at a file that waited for a scan.
pub(super) fn settle(entry: &mut Map<String, Value>) {
    if !entry.contains_key("index_pending") {
        return;
    }
    let path = entry.get("path").and_then(Value::as_str).unwrap_or_default().to_owned();
    let found = waiting::file_system().is_some_and(|files| !files.get_file_type(&path).is_empty());
    if found {
        entry.remove("index_pending");
        listed(&path, entry);
    }
}

fn listed(path: &str, entry: &mut Map<String, Value>) {
    entry.insert("indexed".into(), true.into());
    let id = ResourceLoader::singleton().get_resource_uid(path);
    let uids = ResourceUid::singleton();
    entry.insert("uid_registered".into(), (id >= 0 && uids.has_id(id)).into());
    if id >= 0 {
        entry.insert("uid".into(), uids.id_to_text(id).to_string().into());
    }
}
