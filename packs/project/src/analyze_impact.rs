//! `project_analyze_impact`: where a file, uid, node or name is named, before it is changed.
//!
//! Spec: P-50, references.

use std::{collections::BTreeMap, ops::ControlFlow};

use didi_formats::{
    config::ConfigFile,
    document::{Document, ItemKind, Layout},
    uid,
    variant::{self, Value as Variant},
};
use didi_plugin_api::prelude::*;
use didi_project::{
    facts::{self, Trust},
    parallel,
    walk::File,
    words::Words,
};
use memchr::memmem::{self, Finder};

use crate::{
    code::Dialect,
    names::{self, Kind, Wanted},
    references::{Format, Reference},
    scan::{self, Files, Limits, READS},
    settings::SETTINGS,
};

#[cfg(test)]
mod tests;

const LIMITATIONS: [&str; 3] = [
    "text that is put together while the game runs is not seen",
    "a name is matched as a word; which object it belongs to is not resolved",
    "binary scenes and resources (.scn, .res) are not read",
];

pub(crate) fn tool() -> Tool {
    Tool::new(
        "project_analyze_impact",
        "Traces where a res:// path, uid, node path or identifier is named in scenes, settings and code.",
        Effects::READS,
        run,
    )
    .core()
    .bounded("max_impacts and scan limits: 4 MiB a file, 64 MiB, 10,000 files")
    .refuses(&[codes::INVALID_ARGUMENTS])
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// File or folder, uid://, node path (`$A/B`, `%Name`) or identifier.
    #[schemars(length(min = 1, max = 256))]
    target: String,
    #[serde(default = "max_impacts")]
    #[schemars(range(min = 1, max = 5000))]
    max_impacts: usize,
}

pub(crate) fn max_impacts() -> usize {
    500
}

/// A place that a change of the target touches.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Impact {
    pub(crate) path: String,
    pub(crate) line: u32,
    pub(crate) kind: &'static str,
    pub(crate) detail: String,
}

#[derive(Debug, Default, Serialize)]
struct Out {
    target: String,
    resolved_kind: String,
    target_exists: Option<bool>,
    /// The file of a uid.
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_path: Option<String>,
    impacts: Vec<Impact>,
    impact_count: usize,
    counts_by_kind: BTreeMap<&'static str, usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    declared_in: Option<Vec<Impact>>,
    limitations: Vec<&'static str>,
    scanned_files: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unread_files: Vec<String>,
}

/// Names of unread files that are listed.
const MAX_UNREAD: usize = 20;

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let target = args.target.trim();
    let mut traced = if uid::is_uid(target) {
        by_uid(ctx, target)?
    } else if target.starts_with("res://") {
        let place = ctx.project().resolve(target, "target")?;
        by_path(ctx, &place.res_path(), None)?
    } else if target.contains("://") {
        return Err(Refusal::invalid(
            "target",
            format!("`{target}` is neither a `res://` path nor a uid"),
        ));
    } else if names::is_identifier(target) {
        by_name(ctx, Wanted::Word(target))?
    } else {
        let node = names::plain_node_path(target);
        let node_like = !node.is_empty()
            && !node.starts_with('/')
            && (target.starts_with(['$', '%']) || node.contains('/') || node != target);
        if !node_like {
            let message = format!("`{target}` is no `res://` path, uid, node path or identifier");
            return Err(Refusal::invalid("target", message));
        }
        by_name(ctx, Wanted::Node(node))?
    };
    traced.out.target.clone_from(&args.target);
    traced.out.limitations = LIMITATIONS.to_vec();
    let mut impacts = traced.impacts;
    impacts.sort();
    impacts.dedup();
    for impact in &impacts {
        *traced.out.counts_by_kind.entry(impact.kind).or_default() += 1;
    }
    let max = args.max_impacts.clamp(1, 5000);
    let cut = impacts.len() > max;
    traced.out.impact_count = impacts.len();
    impacts.truncate(max);
    traced.out.impacts = impacts;
    traced.out.unread_files = traced.unread.into_iter().take(MAX_UNREAD).collect();
    Ok(Answer::of(traced.out)?.truncated(traced.truncated || cut))
}

#[derive(Default)]
struct Traced {
    out: Out,
    impacts: Vec<Impact>,
    unread: Vec<String>,
    truncated: bool,
}

fn by_uid(ctx: &Ctx<'_>, target: &str) -> Result<Traced, Refusal> {
    let project = scan::project(ctx, &READS, &scan::Wanted::None)?;
    let owner = project.resolve(target).map(ToOwned::to_owned);
    let mut traced = by_path(ctx, owner.as_deref().unwrap_or_default(), uid::number(target))?;
    traced.out.resolved_kind = "uid".into();
    traced.out.target_exists = None;
    traced.out.resolved_path = owner;
    Ok(traced)
}

/// Traces a file, a folder with all below it, or a path where nothing is.
fn by_path(ctx: &Ctx<'_>, path: &str, number: Option<u64>) -> Result<Traced, Refusal> {
    let name = path.rsplit('/').next().unwrap_or_default();
    // In a string of code a quote in the name is escaped.
    let needle = name.split('\'').max_by_key(|part| part.len()).unwrap_or_default();
    let finder = Finder::new(needle);
    let place = ctx.project().root().resolve(if path.is_empty() { "res://" } else { path });
    let is_folder = !path.is_empty() && place.as_ref().is_ok_and(ProjectPath::is_dir);
    let mut numbers: Vec<u64> = number.into_iter().collect();
    if let Ok(place) = place {
        let uid = File::at(&place).as_ref().and_then(facts::uid_of);
        numbers.extend(uid.as_deref().and_then(uid::number));
    }
    let maybe = |words: &Words| {
        !path.is_empty() && words.may_hold(needle)
            || is_folder && words.may_hold("uid")
            || numbers.iter().any(|number| words.may_hold_uid(*number))
    };
    let surely = |bytes: &[u8]| {
        !path.is_empty() && finder.find(bytes).is_some()
            || is_folder && memmem::find(bytes, b"uid://").is_some()
            || !numbers.is_empty() && holds_uid(bytes, &numbers)
    };
    let project = scan::project(ctx, &READS, &scan::Wanted::Where(&maybe, &surely))?;
    let below = format!("{}/", path.trim_end_matches('/'));
    let mut traced = Traced::default();
    for (at, references) in &project.references {
        let file = &project.files.texts[*at];
        // What a file's own sidecar says of it moves along with it.
        let own = file.path.strip_suffix(".import") == Some(path);
        let hits: Vec<&Reference> = references
            .iter()
            .filter(|reference| match uid::number(&reference.target) {
                Some(_) if is_folder => project
                    .resolve(&reference.target)
                    .is_some_and(|to| uid::number(to).is_none() && to.starts_with(&below)),
                Some(found) => numbers.contains(&found),
                None if path.is_empty() => false,
                None => {
                    reference.target == path || is_folder && reference.target.starts_with(&below)
                }
            })
            .collect();
        if own || is_folder && file.path.starts_with(&below) || hits.is_empty() {
            continue;
        }
        for hit in &hits {
            traced.impacts.push(Impact {
                path: file.path.clone(),
                line: hit.line,
                kind: hit.kind.impact(),
                detail: format!("{}: {}", hit.detail, hit.target),
            });
        }
        if Format::of(&file.path) == Some(Format::Tagged) {
            attachments(file, &hits, &mut traced.impacts);
        }
    }
    let exists = project.exists(path) || is_folder;
    traced.out.target_exists = Some(exists);
    traced.out.resolved_kind = if is_folder {
        "folder"
    } else if exists {
        "file"
    } else {
        "missing_file"
    }
    .into();
    traced.out.scanned_files = project.files.texts.len();
    traced.unread = unread(&project.files, &project.broken);
    traced.truncated = project.files.truncated;
    if !path.is_empty() && !is_folder {
        by_its_names(ctx, &project.files, path, &mut traced)?;
    }
    Ok(traced)
}

/// Whether one of the uids stands in a file, however it is spelled.
fn holds_uid(bytes: &[u8], numbers: &[u64]) -> bool {
    memmem::find_iter(bytes, b"uid://").any(|at| {
        let digits = &bytes[at + "uid://".len()..];
        let end = digits.iter().position(|byte| !byte.is_ascii_alphanumeric());
        let text = &bytes[at..at + "uid://".len() + end.unwrap_or(digits.len())];
        let number = std::str::from_utf8(text).ok().and_then(uid::number);
        number.is_some_and(|number| numbers.contains(&number))
    })
}

fn unread(files: &Files, broken: &[(String, String)]) -> Vec<String> {
    files.skipped.iter().chain(broken).map(|(path, why)| format!("{path}: {why}")).collect()
}

/// Nodes and resources of a file whose script is one of the references.
fn attachments(file: &File, hits: &[&Reference], impacts: &mut Vec<Impact>) {
    let Ok(bytes) = scan::read(file, READS.file_bytes) else { return };
    let Ok(document) = Document::parse_as(&bytes, Layout::Tagged) else { return };
    let mut ids = vec![];
    let mut holder = String::new();
    let mut lines = Lines { bytes: &bytes, at: 0, line: 1 };
    for item in document.items() {
        match &item.kind {
            ItemKind::Section(section) => {
                let range = item.span.range();
                if document.text(section.name) == "ext_resource" {
                    let hit = hits.iter().any(|hit| range.contains(&hit.span.start));
                    if hit && document.attribute(section, "type") == Some("\"Script\"") {
                        ids.extend(
                            document.attribute(section, "id").map(|id| id.trim_matches('"')),
                        );
                    }
                }
                let name = document.attribute(section, "name").unwrap_or_default();
                holder = format!("{} {}", document.text(section.name), name.trim_matches('"'));
            }
            ItemKind::Property(property) if document.text(property.key) == "script" => {
                let Ok(Variant::ExtResource(id)) = variant::parse(document.text(property.value))
                else {
                    continue;
                };
                if ids.contains(&&*id) {
                    impacts.push(Impact {
                        path: file.path.clone(),
                        line: lines.of(property.key.range().start),
                        kind: "script_attachment",
                        detail: holder.trim().to_owned(),
                    });
                }
            }
            _ => {}
        }
    }
}

/// Lines of ascending places.
struct Lines<'b> {
    bytes: &'b [u8],
    at: usize,
    line: u32,
}

impl Lines<'_> {
    fn of(&mut self, at: usize) -> u32 {
        let passed = memchr::memchr_iter(b'\n', &self.bytes[self.at..at]).count();
        self.line += u32::try_from(passed).unwrap_or(0);
        self.at = at;
        self.line
    }
}

/// Code that reaches a script by its class name, or by the name of its autoload.
fn by_its_names(
    ctx: &Ctx<'_>,
    files: &Files,
    path: &str,
    traced: &mut Traced,
) -> Result<(), Refusal> {
    let mut wanted: Vec<(String, &str)> = vec![];
    if let Some(at) =
        files.find(path).filter(|_| Format::of(path) == Some(Format::Code(Dialect::Gdscript)))
    {
        let class = facts::read(&files.all[at]).class_name;
        wanted.extend(class.map(|name| (name, "class")));
    }
    if let Some(at) = files.find(SETTINGS)
        && let Ok(bytes) = scan::read(&files.all[at], READS.file_bytes)
    {
        wanted.extend(autoloads_of(&bytes, path).into_iter().map(|name| (name, "autoload")));
    }
    for (name, what) in wanted {
        let found = places(ctx, files, &READS, Wanted::Word(&name))?;
        for (file, place) in found.places {
            if place.kind == Kind::Code && file != path {
                traced.impacts.push(Impact {
                    path: file,
                    line: place.line,
                    kind: "code_reference",
                    detail: format!("{what} `{name}`"),
                });
            }
        }
    }
    Ok(())
}

fn autoloads_of(bytes: &[u8], path: &str) -> Vec<String> {
    let Ok(config) = ConfigFile::parse(bytes) else { return vec![] };
    let entries =
        config.sections_named("autoload").flat_map(didi_formats::config::ConfigSection::entries);
    entries
        .filter(|entry| {
            entry.raw().as_text().is_some_and(|text| text.trim_start_matches('*') == path)
        })
        .map(|entry| entry.key.to_string())
        .collect()
}

/// Places of a name in all files.
pub(crate) struct Places {
    pub(crate) places: Vec<(String, names::Place)>,
    /// Files that can't be understood though they hold the name.
    pub(crate) broken: Vec<(String, String)>,
}

/// The listed files that can hold a text; all of them where nothing kept is believed.
fn candidates<'f>(
    ctx: &Ctx<'_>,
    files: &'f Files,
    limits: &Limits,
    text: &str,
) -> Result<Vec<&'f File>, Refusal> {
    if limits.trust == Trust::Files {
        return Ok(files.texts.iter().collect());
    }
    let words = scan::words_of(ctx, files, limits)?;
    let may_hold = files.texts.iter().zip(words).filter(|(_, words)| words.may_hold(text));
    Ok(may_hold.map(|(file, _)| file).collect())
}

/// Looks for a name in the files that were listed within these limits.
pub(crate) fn places(
    ctx: &Ctx<'_>,
    files: &Files,
    limits: &Limits,
    wanted: Wanted<'_>,
) -> Result<Places, Refusal> {
    let (Wanted::Word(needle) | Wanted::Node(needle)) = wanted;
    let finder = Finder::new(needle);
    let mut found = Places { places: vec![], broken: vec![] };
    let candidates = candidates(ctx, files, limits, needle)?;
    parallel::each(
        ctx,
        &candidates,
        |file| {
            let bytes = scan::read(file, limits.file_bytes)?;
            if finder.find(&bytes).is_none() {
                return Ok(vec![]);
            }
            names::of_file(&file.path, &bytes, wanted)
        },
        |file, places| {
            match places {
                Ok(places) => {
                    found.places.extend(places.into_iter().map(|place| (file.path.clone(), place)));
                }
                Err(why) => found.broken.push((file.path.clone(), why)),
            }
            ControlFlow::Continue(())
        },
    )?;
    Ok(found)
}

fn by_name(ctx: &Ctx<'_>, wanted: Wanted<'_>) -> Result<Traced, Refusal> {
    let files = scan::list(ctx, &READS)?;
    let found = places(ctx, &files, &READS, wanted)?;
    let mut traced = Traced::default();
    let mut declared = vec![];
    for (path, place) in found.places {
        let impact =
            Impact { path, line: place.line, kind: place.kind.impact(), detail: place.detail };
        match place.kind {
            Kind::Declared(_) => declared.push(impact),
            // The entry that makes a name known is where it is declared, and a place that changes, too.
            Kind::Autoload | Kind::Setting => {
                declared.push(impact.clone());
                traced.impacts.push(impact);
            }
            _ => traced.impacts.push(impact),
        }
    }
    traced.out.resolved_kind = match (wanted, declared.first()) {
        (Wanted::Node(_), _) => "node_path".into(),
        (_, Some(first)) => match first.kind {
            "project_setting" => "input_action".into(),
            kind => kind.into(),
        },
        (_, None) => "identifier".into(),
    };
    traced.out.target_exists = Some(!declared.is_empty());
    traced.out.declared_in = Some(declared);
    traced.out.scanned_files = files.texts.len();
    traced.unread = unread(&files, &found.broken);
    traced.truncated = files.truncated;
    Ok(traced)
}
