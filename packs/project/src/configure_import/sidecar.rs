//! The `.import` file beside an asset: its options, read and changed in place.

use didi_formats::{
    config::ConfigFile,
    variant::{self, Value as Variant, json as literal},
};
use didi_plugin_api::{near, prelude::*};

use super::{HAND_EDITED_METADATA, NO_IMPORT_METADATA, UNPARSEABLE_METADATA, bad};

/// Largest such file that is read, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// Most options of a call, and most names that a refusal lists.
const MAX_OPTIONS: usize = 64;
const MAX_NAMES: usize = 128;

/// The section of the options.
const PARAMS: &str = "params";

/// The words for how a WAV file loops, by their numbers.
const LOOP_MODES: [&str; 5] = ["detect", "disabled", "forward", "ping_pong", "backward"];

/// Options with a least and a most that their type does not tell.
const BOUNDS: [(&str, f64, f64); 4] = [
    ("loop_offset", 0.0, f64::INFINITY),
    ("edit/loop_mode", 0.0, 4.0),
    ("edit/loop_begin", 0.0, f64::INFINITY),
    ("edit/loop_end", -1.0, f64::INFINITY),
];

/// What a call would do to the file as it is.
pub(super) struct Plan {
    pub(super) place: ProjectPath,
    pub(super) importer: String,
    pub(super) uid: Option<String>,
    pub(super) before: Vec<u8>,
    pub(super) after: Vec<u8>,
    /// The options' values before.
    pub(super) previous: Value,
    /// The options' texts after, in the engine's words.
    wanted: Vec<(String, String)>,
}

/// The file's bytes.
pub(super) fn read(ctx: &Ctx<'_>, place: &ProjectPath) -> Result<Vec<u8>, Refusal> {
    ctx.project().read(place, MAX_BYTES)
}

/// Checks the options against the file, and makes the file with them.
pub(super) fn plan(ctx: &Ctx<'_>, asset: &str, options: &Record) -> Result<Plan, Refusal> {
    if options.0.is_empty() || options.0.len() > MAX_OPTIONS {
        let message = format!("1 to {MAX_OPTIONS} options are taken");
        return Err(Refusal::invalid("options", message));
    }
    if !ctx.project().resolve(asset, "asset_path")?.real().is_file() {
        let refusal = Refusal::new(codes::NOT_FOUND, format!("there is no file `{asset}`"));
        return Err(refusal.with("field", "asset_path").floor());
    }
    let place = ctx.project().resolve(&format!("{asset}.import"), "asset_path")?;
    if !place.real().is_file() {
        return Err(Refusal::new(NO_IMPORT_METADATA, format!("`{asset}` was never imported"))
            .next_call_with("asset_reimport", json!({"paths": [asset]}), "imports it"));
    }
    let before = read(ctx, &place)?;
    let file = parse(&before)?;
    let importer = file.text("remap", "importer").filter(|name| !name.is_empty());
    let (Some(importer), true) = (importer, file.sections_named(PARAMS).next().is_some()) else {
        let message = "the file names no importer, or has none of its options";
        return Err(Refusal::new(HAND_EDITED_METADATA, message).next_call_with(
            "asset_reimport",
            json!({"paths": [asset]}),
            "writes them anew",
        ));
    };
    let importer = importer.into_owned();
    let uid = file.text("remap", "uid").map(std::borrow::Cow::into_owned);
    let mut previous = serde_json::Map::new();
    let mut wanted = vec![];
    for (key, value) in &options.0 {
        let Some(raw) = file.get(PARAMS, key) else { return Err(unknown(&file, &importer, key)) };
        let held =
            value_of(raw.text).ok_or_else(|| bad(key, format!("`{key}` holds no plain value")))?;
        wanted.push((key.clone(), text_of(key, value, &held)?));
        previous.insert(key.clone(), json_of(&held));
    }
    let mut after = before.clone();
    for (key, text) in &wanted {
        let edit = parse(&after)?.set(PARAMS, key, text).map_err(|error| {
            Refusal::new(UNPARSEABLE_METADATA, format!("`{key}` can't be written: {error}"))
                .no_remedy("the file has to be mended first")
        })?;
        after = edit.apply(&after);
    }
    Ok(Plan { place, importer, uid, before, after, previous: previous.into(), wanted })
}

impl Plan {
    /// The options' values as asked.
    pub(super) fn wanted_values(&self) -> Value {
        let value = |text: &str| value_of(text).map_or(Value::Null, |value| json_of(&value));
        self.wanted.iter().map(|(key, text)| (key.clone(), value(text))).collect()
    }

    /// The options' values in a later file.
    pub(super) fn values_in(&self, bytes: &[u8]) -> Result<Value, Refusal> {
        let file = parse(bytes)?;
        let value = |key: &str| {
            let raw = file.get(PARAMS, key)?;
            value_of(raw.text).map(|value| json_of(&value))
        };
        Ok(self.wanted.iter().map(|(key, _)| (key.clone(), json!(value(key)))).collect())
    }

    /// Whether a later file has the options as they were before; one that the engine left out is not as asked, either.
    pub(super) fn is_undone_in(&self, bytes: &[u8]) -> bool {
        let is_back = |held: &Value, key: &String| held.is_null() || *held == self.previous[key];
        let held = self.values_in(bytes);
        held.is_ok_and(|held| self.wanted.iter().all(|(key, _)| is_back(&held[key], key)))
    }

    /// Options that a later file does not hold as they were asked.
    pub(super) fn divergences(&self, bytes: &[u8]) -> Result<Vec<Value>, Refusal> {
        let (wanted, held) = (self.wanted_values(), self.values_in(bytes)?);
        let differs = |key: &&String| match (wanted[*key].as_f64(), held[*key].as_f64()) {
            (Some(wanted), Some(held)) => (wanted - held).abs() > f64::EPSILON * wanted.abs(),
            _ => wanted[*key] != held[*key],
        };
        let keys = self.wanted.iter().map(|(key, _)| key);
        Ok(keys
            .filter(differs)
            .map(|key| json!({"key": key, "requested": wanted[key], "observed": held[key]}))
            .collect())
    }
}

fn parse(bytes: &[u8]) -> Result<ConfigFile<'_>, Refusal> {
    ConfigFile::parse(bytes).map_err(|error| {
        Refusal::new(UNPARSEABLE_METADATA, format!("the `.import` file can't be read: {error}"))
            .with("line", error.line)
            .no_remedy("the file has to be mended at the line named, or removed and the asset imported anew")
    })
}

fn unknown(file: &ConfigFile<'_>, importer: &str, key: &str) -> Refusal {
    let mut names: Vec<String> = file
        .sections_named(PARAMS)
        .flat_map(didi_formats::config::ConfigSection::entries)
        .map(|entry| entry.key.clone().into_owned())
        .collect();
    names.sort_unstable();
    names.truncate(MAX_NAMES);
    let nearest = names.iter().min_by_key(|name| near::distance(key, name)).cloned();
    let refusal = bad(key, format!("the importer `{importer}` has no option `{key}`"))
        .with("accepted", json!(names));
    match nearest {
        Some(near) => refusal.with("did_you_mean", near),
        None => refusal,
    }
}

/// The engine's text of a value, of the type that the option has.
fn text_of(key: &str, value: &Value, held: &Variant<'_>) -> Result<String, Refusal> {
    let word = value.as_str().filter(|_| key == "edit/loop_mode");
    let value = match word {
        None => value.clone(),
        Some(word) => {
            LOOP_MODES.iter().position(|mode| *mode == word).map(Value::from).ok_or_else(|| {
                bad(
                    key,
                    format!(
                        "`{key}` is one of {}",
                        LOOP_MODES.map(|mode| format!("`{mode}`")).join(", ")
                    ),
                )
            })?
        }
    };
    let bound = BOUNDS.iter().find(|(name, ..)| *name == key);
    if let Some((_, least, most)) = bound
        && !value.as_f64().is_some_and(|number| (*least..=*most).contains(&number))
    {
        return Err(bad(key, format!("`{key}` is a number from {least} to {most}")));
    }
    let wanted = held.type_name();
    literal::plain_text(&value, Some(wanted).filter(|wanted| *wanted != "Nil"), "\n")
        .map_err(|fault| bad(key, format!("`{key}` is a `{wanted}`: {fault}")))
}

fn value_of(text: &str) -> Option<Variant<'_>> {
    variant::parse(text).ok()
}

/// Plain values as themselves, everything else in the engine's words.
fn json_of(value: &Variant<'_>) -> Value {
    match value {
        Variant::Null => Value::Null,
        Variant::Bool(value) => (*value).into(),
        Variant::Int(value) => (*value).into(),
        Variant::Float(value) => json!(value),
        Variant::String(text) => text.as_ref().into(),
        other => variant::write(other, "\n").into(),
    }
}
