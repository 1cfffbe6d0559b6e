//! `audio.addBus`: one more bus at the end of the layout, and a wait for the editor to write it.
//!
//! The editor writes the layout a moment after it has changed, from its own panel. How long that takes is its own
//! matter, so a bus that is not in the file in time is said to be so, and is there all the same.

use std::{
    fs,
    time::{Duration, Instant, SystemTime},
};

use didi_engine::Answer;
use didi_wire::BridgeError;
use godot::{
    classes::{
        AudioBusLayout, AudioServer, EditorInterface, FileAccess, ProjectSettings, ResourceLoader,
        resource_loader::CacheMode,
    },
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    change::{Change, Planned},
    methods::{Begun, Context, audio},
    params::{self, Params},
    refuse,
    waiting::Until,
};

/// How long the editor is waited for.
const LIMIT: Duration = Duration::from_secs(5);

/// Where a project says which layout its games load.
const SETTING: &str = "audio/buses/default_bus_layout";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    name: String,
    #[serde(default = "master")]
    send: String,
    #[serde(flatten)]
    levels: audio::Levels,
}

fn master() -> String {
    "Master".into()
}

pub(crate) fn plan(_context: &Context, params: &Params) -> Planned {
    let args: Args = params::read(params)?;
    let blank = args.name.trim() != args.name || args.name.is_empty();
    if blank || args.name.chars().any(char::is_control) {
        let message = "a bus's name has no blank at its ends and no control character";
        return Err(refuse::invalid("name", message));
    }
    if args.send == args.name {
        let error = refuse::invalid("send", "a bus does not feed itself");
        return Err(error.with("retry_with", json!({ "send": "Master" })));
    }
    args.levels.check()?;
    let names = names();
    check_name(&args.name, &names)?;
    check_send(&args.send, &names)?;
    let before = json!({ "bus_count": names.len(), "exists": false });
    Ok(Change::later(before, move |_| make(args)))
}

fn names() -> Vec<String> {
    let server = AudioServer::singleton();
    (0..server.get_bus_count()).map(|at| server.get_bus_name(at).to_string()).collect()
}

fn check_name(name: &str, names: &[String]) -> Result<(), BridgeError> {
    let lower = name.to_lowercase();
    let Some(there) = names.iter().find(|one| one.to_lowercase() == lower) else { return Ok(()) };
    let error = if there == name {
        refuse::conflict("bus_name_in_use", format!("there is a bus `{name}` already"))
    } else {
        let message = format!("`{name}` differs from the bus `{there}` in case alone");
        refuse::conflict("bus_name_differs_only_in_case", message).with("existing", there.as_str())
    };
    let reason = "sets the bus there is";
    Err(refuse::next_call(error, "audio_configure_bus", json!({ "bus": there }), reason))
}

fn check_send(send: &str, names: &[String]) -> Result<(), BridgeError> {
    if names.iter().any(|name| name == send) {
        return Ok(());
    }
    let lower = send.to_lowercase();
    let near = names.iter().find(|name| name.to_lowercase() == lower);
    let message = format!("there is no bus `{send}` to feed");
    let mut error = BridgeError::new(404, "send_bus_not_found", message)
        .with("field", "send")
        .with("buses", json!(names));
    if let Some(near) = near {
        error = error.with("did_you_mean", near.as_str());
    }
    Err(error)
}

fn make(args: Args) -> Begun {
    let mut layout = Layout::find();
    let mut server = AudioServer::singleton();
    server.add_bus();
    let index = server.get_bus_count() - 1;
    server.set_bus_name(index, &args.name);
    let stored = server.get_bus_name(index).to_string();
    if stored != args.name {
        server.remove_bus(index);
        let message = format!("the engine calls such a bus `{stored}`");
        let error = refuse::conflict("bus_name_changed_by_engine", message);
        return Err(error.with("field", "name").with("stored_as", stored));
    }
    server.set_bus_send(index, &args.send);
    args.levels.set(index);
    let end = Instant::now() + LIMIT;
    Ok(Until::boxed(LIMIT * 2, late, move || {
        let written = layout.has(&args.name);
        (written || Instant::now() >= end).then(|| told(&args.name, index, &layout.path, written))
    }))
}

fn told(name: &str, index: i32, path: &str, written: bool) -> Answer {
    let count = AudioServer::singleton().get_bus_count();
    let note = "the editor had not written the layout in time; it does so a moment after a change";
    let read_only = FileAccess::file_exists(path) && FileAccess::get_read_only_attribute(path);
    let adopted: Vec<Value> = (0..count)
        .map(audio::bus)
        .filter(|bus| bus["send"] == name && bus["index"] != index)
        .map(|bus| bus["name"].clone())
        .collect();
    let bus = audio::bus(index);
    Ok(json!({
        "bus": { "index": index, "name": name, "send": bus["send"] },
        "after": bus,
        "bus_count": count,
        "adopted_sends": adopted,
        "layout_written": written,
        "layout_note": (!written).then_some(note),
        "layout_path": path,
        "layout_read_only": read_only,
        "panel_refreshed": panel_shows(count),
        "undo_redo_registered": false,
        "limitation": "undo does not take it back; the editor's audio panel does",
    }))
}

/// The layout that a game of the project loads, and that the editor begins with.
struct Layout {
    path: String,
    /// The state of the file that was looked into last.
    seen: Option<(SystemTime, u64)>,
}

impl Layout {
    /// The layout as it is now, whatever it holds.
    fn find() -> Self {
        let path = ProjectSettings::singleton().get_setting(SETTING).stringify().to_string();
        let path = if path.is_empty() { "res://default_bus_layout.tres".into() } else { path };
        let mut layout = Layout { path, seen: None };
        layout.seen = layout.state();
        layout
    }

    fn state(&self) -> Option<(SystemTime, u64)> {
        let file = ProjectSettings::singleton().globalize_path(&self.path).to_string();
        let about = fs::metadata(file).ok()?;
        Some((about.modified().ok()?, about.len()))
    }

    /// Whether the file has the bus by now, past every cache. It is loaded only where it has changed.
    fn has(&mut self, name: &str) -> bool {
        let state = self.state();
        if state.is_none() || state == self.seen {
            return false;
        }
        self.seen = state;
        let mut loader = ResourceLoader::singleton();
        let loaded = loader.load_ex(&self.path).cache_mode(CacheMode::IGNORE).done();
        let layout = loaded.and_then(|layout| layout.try_cast::<AudioBusLayout>().ok());
        let Some(layout) = layout else { return false };
        let names = layout.get_property_list();
        names.iter_shared().any(|property| {
            let property = property.get("name").unwrap_or_default().stringify().to_string();
            property.ends_with("/name") && layout.get(&property).stringify() == name
        })
    }
}

/// Whether the editor's own panel has a strip for each bus.
fn panel_shows(count: i32) -> Option<bool> {
    let base = EditorInterface::singleton().get_base_control()?;
    let strips = base.find_children_ex("*").type_("EditorAudioBus").owned(false).done();
    Some(i32::try_from(strips.len()).is_ok_and(|strips| strips == count))
}

fn late() -> BridgeError {
    refuse::engine("layout_not_read", "the layout could not be looked at in time")
}
