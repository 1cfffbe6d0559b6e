//! Export presets as the engine will read them.
//!
//! The engine reads `[preset.0]`, `[preset.1]` and on, and stops at the first number without keys; a preset
//! of a platform that it does not know is passed over. Neither is said anywhere, so it is worked out here.
//! Option values stay in the file: they hold signing keys and passwords.
//!
//! Spec: P-56, exports.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use didi_formats::{
    config::{ConfigFile, ConfigSection},
    document::RawValue,
};
use didi_plugin_api::{near::distance, prelude::*};

pub(crate) const PRESETS_FILE: &str = "res://export_presets.cfg";
/// Largest presets file read, in bytes.
const MAX_PRESETS_BYTES: u64 = 1 << 20;
/// Platforms of an official build.
const PLATFORMS: [&str; 7] =
    ["Android", "iOS", "Linux", "macOS", "visionOS", "Web", "Windows Desktop"];
/// A name of before 4.0 that the engine still takes.
const STILL_READ: &str = "Linux/X11";
/// Names that older engines and people use.
const OTHER_NAMES: [(&str, &str); 8] = [
    ("html5", "Web"),
    ("html", "Web"),
    ("mac osx", "macOS"),
    ("osx", "macOS"),
    ("mac", "macOS"),
    ("windows", "Windows Desktop"),
    ("iphone", "iOS"),
    ("x11", "Linux"),
];

/// One preset of the file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Preset {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) index: Option<u32>,
    pub(crate) name: String,
    pub(crate) platform: String,
    pub(crate) runnable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) export_filter: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) export_path: Option<String>,
    pub(crate) detected: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) not_detected: Option<NotDetected>,
}

/// Why the engine will not see a preset.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct NotDetected {
    pub(crate) reason: Reason,
    pub(crate) detail: String,
    pub(crate) section: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) missing_index: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) did_you_mean: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reason {
    NumberingGap,
    SectionNotRead,
    MisspelledPlatform,
    PlatformNotShipped,
}

// Platforms that a new preset can have, as the arguments of a tool name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum Platform {
    #[serde(rename = "Windows Desktop")]
    Windows,
    Linux,
    #[serde(rename = "macOS")]
    MacOs,
    Android,
    #[serde(rename = "iOS")]
    Ios,
    Web,
    #[serde(rename = "visionOS")]
    VisionOs,
}

impl Platform {
    /// The name in the file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Platform::Windows => "Windows Desktop",
            Platform::Linux => "Linux",
            Platform::MacOs => "macOS",
            Platform::Android => "Android",
            Platform::Ios => "iOS",
            Platform::Web => "Web",
            Platform::VisionOs => "visionOS",
        }
    }
}

/// The presets of a project; `None` without a presets file.
///
/// # Errors
/// `unprocessable` for a file that the engine can't take presets from, with the reason and the line.
pub(crate) fn read(ctx: &Ctx<'_>) -> Result<Option<Vec<Preset>>, Refusal> {
    read_bytes(ctx)?.map(|bytes| parse(&bytes)).transpose()
}

/// The bytes of the presets file; `None` without one.
///
/// # Errors
/// What reading a file refuses.
pub(crate) fn read_bytes(ctx: &Ctx<'_>) -> Result<Option<Vec<u8>>, Refusal> {
    let place = ctx.project().resolve(PRESETS_FILE, "preset")?;
    if !place.is_file() {
        return Ok(None);
    }
    ctx.project().read(&place, MAX_PRESETS_BYTES).map(Some)
}

/// The presets of a file.
///
/// # Errors
/// As [`read`].
pub(crate) fn parse(bytes: &[u8]) -> Result<Vec<Preset>, Refusal> {
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        return Err(unusable(
            "byte_order_mark",
            1,
            bytes,
            "starts with a byte order mark, which hides its first section from the engine",
        ));
    }
    let file = ConfigFile::parse(bytes).map_err(|error| {
        let reason = if is_cut_off(bytes, &error) { "truncated_value" } else { "unloadable_value" };
        unusable(reason, error.line, bytes, &format!("can't be loaded: {}", error.message))
    })?;
    check_layout(&file, bytes)?;
    let presets = presets(&file, bytes)?;
    check_names(&presets, bytes)?;
    Ok(presets)
}

pub(crate) fn unusable(reason: &str, line: u32, bytes: &[u8], why: &str) -> Refusal {
    Refusal::new(codes::UNPROCESSABLE, format!("`{PRESETS_FILE}` {why}, in line {line}"))
        .with("reason", reason)
        .with("line", line)
        .with("declared_preset_sections", declared(bytes))
        .no_remedy("the file has to be mended by hand, or written anew by the editor")
}

/// The preset sections that the lines name, readable or not.
fn declared(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let named = text.lines().filter_map(|line| line.trim().strip_prefix('[')?.strip_suffix(']'));
    named.filter(|name| is_preset_section(name)).take(256).map(str::to_owned).collect()
}

/// Whether the text ends inside a value, rather than holding a wrong one.
fn is_cut_off(bytes: &[u8], error: &didi_formats::FormatError) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let last = text.trim_end().lines().count();
    let unclosed = ["end", "clos", "terminat"].iter().any(|word| error.message.contains(word));
    unclosed || error.line as usize >= last
}

fn check_layout(file: &ConfigFile<'_>, bytes: &[u8]) -> Result<(), Refusal> {
    if let Some(first) = file.top().first() {
        return Err(unusable(
            "key_before_section",
            first.line,
            bytes,
            &format!("has the key `{}` before its first section", first.key),
        ));
    }
    let blank = String::from_utf8_lossy(bytes)
        .lines()
        .all(|line| line.trim().is_empty() || line.trim_start().starts_with(';'));
    let headless = file.sections().iter().all(|section| section.header().is_none());
    if headless && !blank {
        return Err(unusable("no_section_header", 1, bytes, "has text and no section"));
    }
    Ok(())
}

/// `preset.0` and what people mean by it, less the options of one.
fn is_preset_section(name: &str) -> bool {
    let lower = name.trim().to_ascii_lowercase();
    lower.starts_with("preset.") && !lower.ends_with(".options")
}

/// The number that the engine reads a section under.
fn number_of(section: &str) -> Option<u32> {
    let digits = section.strip_prefix("preset.")?;
    let number: u32 = digits.parse().ok()?;
    (number.to_string() == digits).then_some(number)
}

/// All sections of one name: the engine reads them as one, and the last value counts.
struct Merged<'f, 'a>(Vec<&'f ConfigSection<'a>>);

impl<'a> Merged<'_, 'a> {
    fn has_keys(&self) -> bool {
        self.0.iter().any(|section| !section.entries().is_empty())
    }

    fn line(&self) -> u32 {
        self.0.first().map_or(1, |section| section.line())
    }

    fn get(&self, key: &str) -> Option<RawValue<'a>> {
        self.0.iter().rev().find_map(|section| section.get(key))
    }

    fn text(&self, key: &str) -> Option<String> {
        self.get(key)?.as_text().map(Cow::into_owned)
    }
}

fn presets(file: &ConfigFile<'_>, bytes: &[u8]) -> Result<Vec<Preset>, Refusal> {
    let mut sections: BTreeMap<&str, Merged<'_, '_>> = BTreeMap::new();
    for section in file.sections().iter().filter(|section| is_preset_section(section.name())) {
        sections.entry(section.name()).or_insert(Merged(vec![])).0.push(section);
    }
    let with_keys = sections.iter().filter(|(_, section)| section.has_keys());
    let missing_index = first_missing(with_keys.filter_map(|(name, _)| number_of(name)).collect());
    let mut found = vec![];
    for (section, merged) in &sections {
        let number = number_of(section);
        let (Some(name), Some(platform)) = (merged.text("name"), merged.text("platform")) else {
            let why = format!("has a section `{section}` without a name or a platform");
            return Err(unusable("incomplete_preset", merged.line(), bytes, &why));
        };
        let not_detected = why_not(section, number, missing_index, &platform);
        found.push(Preset {
            index: number,
            name,
            platform,
            runnable: merged.get("runnable").is_some_and(|raw| raw.text.trim() == "true"),
            export_filter: merged.text("export_filter"),
            export_path: merged.text("export_path"),
            detected: not_detected.is_none(),
            not_detected,
        });
    }
    // By number, and those without one after them.
    found.sort_by_key(|preset| preset.index.unwrap_or(u32::MAX));
    Ok(found)
}

/// The lowest number that is not among these.
fn first_missing(numbers: BTreeSet<u32>) -> u32 {
    let mut expected = 0;
    for number in numbers {
        if number != expected {
            break;
        }
        expected += 1;
    }
    expected
}

fn why_not(
    section: &str,
    number: Option<u32>,
    missing_index: u32,
    platform: &str,
) -> Option<NotDetected> {
    let base = |reason, detail: String| NotDetected {
        reason,
        detail,
        section: section.to_owned(),
        missing_index: None,
        did_you_mean: None,
    };
    let Some(number) = number else {
        let detail = format!("the engine reads `preset.N` with a plain number, not `{section}`");
        return Some(base(Reason::SectionNotRead, detail));
    };
    if number > missing_index {
        let detail = format!("the engine stops reading at the missing `preset.{missing_index}`");
        let missing_index = Some(missing_index);
        return Some(NotDetected { missing_index, ..base(Reason::NumberingGap, detail) });
    }
    if PLATFORMS.contains(&platform) || platform == STILL_READ {
        return None;
    }
    let shown: String = platform.chars().take(64).collect();
    let Some(meant) = meant(platform) else {
        let detail = format!("no official engine ships the platform `{shown}`");
        return Some(base(Reason::PlatformNotShipped, detail));
    };
    let detail = format!("the engine knows no platform `{shown}`, and one called `{meant}`");
    let did_you_mean = Some(meant.to_owned());
    Some(NotDetected { did_you_mean, ..base(Reason::MisspelledPlatform, detail) })
}

/// The platform that a wrong name stands for.
fn meant(platform: &str) -> Option<&'static str> {
    let lower = platform.trim().to_lowercase();
    let by_name = OTHER_NAMES.iter().find(|(other, _)| *other == lower).map(|(_, name)| *name);
    by_name.or_else(|| {
        let near = |name: &&&str| {
            let distance = distance(&lower, &name.to_lowercase());
            distance <= 2 && distance < name.len().min(lower.len())
        };
        PLATFORMS.iter().find(near).copied()
    })
}

fn check_names(presets: &[Preset], bytes: &[u8]) -> Result<(), Refusal> {
    let mut seen = BTreeMap::new();
    for preset in presets.iter().filter(|preset| preset.detected) {
        if let Some(first) = seen.insert(preset.name.as_str(), preset.index) {
            let shown: String = preset.name.escape_debug().take(120).collect();
            let numbers = [first, preset.index].map(|one| one.unwrap_or_default().to_string());
            return Err(unusable(
                "duplicate_preset_name",
                line_of(bytes, preset.index),
                bytes,
                &format!("names the presets {} alike, `{shown}`", numbers.join(" and ")),
            ));
        }
    }
    Ok(())
}

fn line_of(bytes: &[u8], index: Option<u32>) -> u32 {
    let header = format!("[preset.{}]", index.unwrap_or_default());
    let text = String::from_utf8_lossy(bytes);
    let at = text.lines().position(|line| line.trim() == header).unwrap_or_default();
    u32::try_from(at + 1).unwrap_or(1)
}

#[cfg(test)]
mod tests;
