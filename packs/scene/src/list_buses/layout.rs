//! The bus layout that a start of the project loads, by the engine's own rules (observed on 4.6.3).
//!
//! Spec: P-52, audio buses.

use didi_formats::{
    config::ConfigFile,
    document::ReferenceKind,
    scene::{Scene, SceneKind},
    uid,
    variant::Value as Variant,
};
use didi_plugin_api::prelude::*;

use super::{Bus, MAX_BUSES};
use crate::walk;

const PROJECT_FILE: &str = "res://project.godot";
const DEFAULT_LAYOUT: &str = "res://default_bus_layout.tres";
const FIELD: &str = "project";
/// Largest `project.godot` read, in bytes.
const MAX_SETTINGS_BYTES: u64 = 4 << 20;
/// Largest layout read, in bytes.
const MAX_LAYOUT_BYTES: u64 = 16 << 20;
const MASTER: &str = "Master";

/// The buses of a layout.
pub(super) struct Read {
    /// The first of them.
    pub(super) buses: Vec<Bus>,
    /// All that the engine makes of the layout.
    pub(super) bus_count: usize,
}

impl Read {
    /// What the engine has without a layout.
    pub(super) fn master() -> Self {
        Buses::default().finish()
    }
}

/// The layout's file; `None` when there is none to load.
pub(super) fn find(ctx: &Ctx<'_>) -> Result<Option<ProjectPath>, Refusal> {
    let Some(named) = named(ctx)? else { return Ok(None) };
    let place = match uid::number(&named) {
        Some(number) => by_uid(ctx, number)?,
        None => inside(ctx, &named),
    };
    Ok(place.filter(ProjectPath::is_file))
}

/// The path that the settings give, as a text that may be a uid.
fn named(ctx: &Ctx<'_>) -> Result<Option<String>, Refusal> {
    let project = ctx.project();
    let place = project.resolve(PROJECT_FILE, FIELD)?;
    if !place.is_file() {
        return Ok(Some(DEFAULT_LAYOUT.into()));
    }
    let bytes = project.read(&place, MAX_SETTINGS_BYTES)?;
    let settings = ConfigFile::parse(&bytes).map_err(|error| {
        let message = format!("the engine does not load `{PROJECT_FILE}`: {error}");
        Refusal::new(codes::CONFLICT, message)
            .with("line", error.line)
            .with("column", error.column)
            .no_remedy("the file has to be mended at the line named")
    })?;
    Ok(match settings.text("audio", "buses/default_bus_layout") {
        None => Some(DEFAULT_LAYOUT.into()),
        // Set to nothing is none at all.
        Some(empty) if empty.is_empty() => None,
        Some(set) => Some(set.into_owned()),
    })
}

/// A path inside the project; one without a scheme counts from its root.
fn inside(ctx: &Ctx<'_>, path: &str) -> Option<ProjectPath> {
    let whole = if path.contains("://") { path.to_owned() } else { format!("res://{path}") };
    ctx.project().resolve(&whole, FIELD).ok()
}

/// The resource whose own header holds a uid.
fn by_uid(ctx: &Ctx<'_>, number: u64) -> Result<Option<ProjectPath>, Refusal> {
    walk::by_uid(ctx, "tres", number)
}

/// The buses of a layout, or why the engine does not load it.
pub(super) fn read(ctx: &Ctx<'_>, place: &ProjectPath) -> Result<Result<Read, String>, Refusal> {
    if place.extension() != "tres" {
        let message = format!("`{}` is a binary layout", place.res_path());
        return Err(Refusal::new(codes::UNPROCESSABLE, message)
            .next_call("runtime_list_sessions", "an attached engine reads binary layouts"));
    }
    let bytes = ctx.project().read(place, MAX_LAYOUT_BYTES)?;
    let scene = match Scene::parse(&bytes) {
        Ok(scene) => scene,
        Err(error) => return Ok(Err(error.to_string())),
    };
    if let Some(problem) = problem(&scene) {
        return Ok(Err(problem));
    }
    for resource in scene.ext_resources() {
        if !resolves(ctx, &resource.path, resource.uid.as_deref())? {
            let line = resource.line;
            return Ok(Err(format!("line {line}: `{}` is not there", resource.path)));
        }
    }
    let mut buses = Buses::default();
    for entry in scene.resource_entries() {
        let Some(rest) = entry.key.strip_prefix("bus/") else { continue };
        let mut parts = rest.split('/');
        let index = number_in(parts.next().unwrap_or_default());
        let Ok(index) = usize::try_from(index) else {
            return Ok(Err(format!("line {}: a bus below 0, which ends the engine", entry.line)));
        };
        buses.set(index, parts.next().unwrap_or_default(), entry.raw().parse().ok().as_ref());
    }
    Ok(Ok(buses.finish()))
}

/// What keeps a readable file from being a layout.
fn problem(scene: &Scene<'_>) -> Option<String> {
    let header = scene.header();
    let kind = header.resource_type.as_deref().unwrap_or_default();
    if header.kind != SceneKind::Resource || kind != "AudioBusLayout" {
        return Some("the file is no `AudioBusLayout`".into());
    }
    for reference in scene.document().references() {
        let id = scene.document().text(reference.id).trim_matches('"');
        let known = match reference.kind {
            ReferenceKind::External => scene.ext_resource(id).is_some(),
            ReferenceKind::Internal => scene.sub_resource(id).is_some(),
        };
        if !known {
            return Some(format!("a value refers to `{id}`, which the file does not hold"));
        }
    }
    None
}

fn resolves(ctx: &Ctx<'_>, path: &str, uid: Option<&str>) -> Result<bool, Refusal> {
    if inside(ctx, path).is_some_and(|place| place.is_file()) {
        return Ok(true);
    }
    match uid.and_then(uid::number) {
        Some(number) => Ok(by_uid(ctx, number)?.is_some()),
        None => Ok(false),
    }
}

/// The engine's reading of a number in a path: every digit counts, whatever stands between.
fn number_in(text: &str) -> i64 {
    let mut number: i64 = 0;
    let mut sign = 1;
    for letter in text.chars() {
        match letter.to_digit(10) {
            Some(digit) => number = number.saturating_mul(10).saturating_add(i64::from(digit)),
            None if number == 0 && letter == '-' => sign = -sign,
            None => {}
        }
    }
    number * sign
}

#[derive(Default)]
struct Buses {
    first: Vec<Bus>,
    count: usize,
}

impl Buses {
    fn set(&mut self, index: usize, what: &str, value: Option<&Variant<'_>>) {
        self.count = self.count.max(index.saturating_add(1));
        if index >= MAX_BUSES {
            return;
        }
        while self.first.len() <= index {
            self.first.push(Bus { volume_db: json!(0.0), ..Bus::default() });
        }
        let bus = &mut self.first[index];
        let Some(value) = value else { return };
        match what {
            "name" => bus.name = text_of(value),
            "send" => bus.send = text_of(value),
            "solo" => bus.solo = truth_of(value),
            "mute" => bus.mute = truth_of(value),
            "bypass_fx" => bus.bypass_effects = truth_of(value),
            "volume_db" => bus.volume_db = decibels_of(value),
            _ => {}
        }
    }

    fn finish(mut self) -> Read {
        if self.first.is_empty() {
            self.set(0, "", None);
        }
        // A gap that ends beyond the bound is filled up to it.
        while self.first.len() < self.count.min(MAX_BUSES) {
            self.first.push(Bus { volume_db: json!(0.0), ..Bus::default() });
        }
        for (index, bus) in self.first.iter_mut().enumerate() {
            bus.index = index;
        }
        // The first bus has its name from the engine, whatever the file says.
        self.first[0].name = MASTER.into();
        Read { buses: self.first, bus_count: self.count }
    }
}

/// A value that is no text reads as none.
fn text_of(value: &Variant<'_>) -> String {
    match value {
        Variant::String(text) | Variant::StringName(text) => text.clone().into_owned(),
        _ => String::new(),
    }
}

fn truth_of(value: &Variant<'_>) -> bool {
    match value {
        Variant::Bool(value) => *value,
        Variant::String(text) | Variant::StringName(text) => !text.is_empty(),
        other => other.as_f64().is_some_and(|number| number != 0.0),
    }
}

fn decibels_of(value: &Variant<'_>) -> Value {
    let number = match value {
        Variant::Bool(value) => f64::from(u8::from(*value)),
        other => other.as_f64().unwrap_or(0.0),
    };
    // The engine keeps 32 bits.
    #[allow(clippy::cast_possible_truncation, reason = "as the engine does")]
    let short = number as f32;
    if short.is_finite() { json!(short) } else { json!(short.to_string()) }
}
