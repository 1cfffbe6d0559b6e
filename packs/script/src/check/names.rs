//! Unknown identifiers that are no fault of the script.
//!
//! A compiler started for one script knows global classes only from the cache that an import writes, and
//! autoloads not at all. What it then calls an unknown identifier is told apart here.
//!
//! Spec: P-53, scripts.

use std::collections::{BTreeMap, BTreeSet};

use didi_formats::config::{ConfigFile, ConfigSection};
use didi_plugin_api::prelude::*;

use super::Diagnostic;
use crate::scripts;

/// The list of global classes that an import writes, below the project.
const CLASS_CACHE: &str = ".godot/global_script_class_cache.cfg";
/// Largest settings file and cache read, in bytes.
const MAX_CONFIG_BYTES: u64 = 4 << 20;

/// Why a name is not known to a compiler that was started for one script.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Excuse {
    CacheMissing,
    CacheStale,
    Autoload,
    None,
}

/// Turns errors about names that only an import, or the running game, makes known into warnings.
pub(super) fn weigh(ctx: &Ctx<'_>, source: &str, found: &mut [Diagnostic]) -> Result<(), Refusal> {
    let mut known = Known::new(ctx, source);
    let mut excused = false;
    for one in found.iter_mut() {
        let Some(name) = unknown_name(&one.message).map(str::to_owned) else { continue };
        excused |= known.excuse(&name)?.apply(&name, one);
    }
    for one in found.iter_mut().filter(|one| excused && follows(&one.message)) {
        one.severity = "warning";
        one.note = Some("may follow from the names that are not known yet".into());
    }
    Ok(())
}

/// The name in the engine's messages about one that it does not know.
fn unknown_name(message: &str) -> Option<&str> {
    if let Some(name) = message.strip_prefix("Identifier not found: ") {
        return Some(name.trim());
    }
    let starts = ["Identifier \"", "Could not find type \"", "Could not find base class \""];
    let rest = starts.iter().find_map(|start| message.strip_prefix(start))?;
    rest.split('"').next()
}

/// Whether an error can be the consequence of an unknown name.
fn follows(message: &str) -> bool {
    message.starts_with("Cannot infer the type of")
}

impl Excuse {
    fn apply(self, name: &str, one: &mut Diagnostic) -> bool {
        let (rule, message, note) = match self {
            Excuse::None => return false,
            Excuse::CacheMissing => (
                "class_cache_missing",
                format!("class cache missing, run an import: `{name}` can't be told before it"),
                "an import writes the list of global classes; the engine said: ",
            ),
            Excuse::CacheStale => (
                "class_cache_stale",
                format!("class cache out of date, run an import: it does not list `{name}` yet"),
                "a script of the project declares this class; the engine said: ",
            ),
            Excuse::Autoload => (
                "autoload_not_loaded",
                format!("`{name}` is an autoload, which exists only in the running game"),
                "the check of one script loads no autoloads; the engine said: ",
            ),
        };
        one.note = Some(format!("{note}{}", one.message));
        one.severity = "warning";
        one.rule = rule;
        one.message = message;
        true
    }
}

/// What the project says about names, read when it is first asked for.
struct Known<'c, 'h> {
    ctx: &'c Ctx<'h>,
    source: &'c str,
    cache: Option<String>,
    autoloads: Vec<String>,
    /// Classes that the project's scripts declare, once they were listed.
    classes: Option<BTreeSet<String>>,
    answers: BTreeMap<String, Excuse>,
}

impl<'c, 'h> Known<'c, 'h> {
    fn new(ctx: &'c Ctx<'h>, source: &'c str) -> Self {
        let project = ctx.project();
        let root = project.root().folder();
        let text = |path: &str| {
            let bytes = scripts::head_of(&root.join(path), MAX_CONFIG_BYTES)?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        Known {
            ctx,
            source,
            cache: text(CLASS_CACHE),
            autoloads: text("project.godot").map(|text| autoloads(&text)).unwrap_or_default(),
            classes: None,
            answers: BTreeMap::new(),
        }
    }

    fn excuse(&mut self, name: &str) -> Result<Excuse, Refusal> {
        if let Some(answer) = self.answers.get(name) {
            return Ok(*answer);
        }
        let answer = self.look(name)?;
        self.answers.insert(name.to_owned(), answer);
        Ok(answer)
    }

    fn look(&mut self, name: &str) -> Result<Excuse, Refusal> {
        if self.autoloads.iter().any(|autoload| autoload == name) {
            return Ok(Excuse::Autoload);
        }
        let cached = self.cache.as_ref().map(|cache| lists(cache, name));
        Ok(match cached {
            // A class can also come from an extension that is not registered before an import, so that
            // without a cache no name of a class is known to be wrong.
            None if name.starts_with(char::is_uppercase) || self.declared(name)? => {
                Excuse::CacheMissing
            }
            Some(false) if self.declared(name)? => Excuse::CacheStale,
            _ => Excuse::None,
        })
    }

    fn declared(&mut self, name: &str) -> Result<bool, Refusal> {
        if scripts::declares(self.source, name) {
            return Ok(true);
        }
        if self.classes.is_none() {
            let classes = scripts::classes(self.ctx)?;
            self.classes = Some(classes.into_iter().map(|(_, name)| name).collect());
        }
        Ok(self.classes.as_ref().is_some_and(|classes| classes.contains(name)))
    }
}

fn autoloads(project: &str) -> Vec<String> {
    let Ok(file) = ConfigFile::parse(project.as_bytes()) else { return vec![] };
    let entries = file.sections_named("autoload").flat_map(ConfigSection::entries);
    entries.map(|entry| entry.key.to_string()).collect()
}

fn lists(cache: &str, name: &str) -> bool {
    cache.contains(&format!("\"class\": &\"{name}\""))
}
