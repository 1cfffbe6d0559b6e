//! Unknown identifiers that are no fault of the script.
//!
//! A compiler started for one script knows global classes only from the cache that an import writes, and
//! autoloads not at all. What it then calls an unknown identifier is told apart here.
//!
//! Spec: P-53, scripts.

use std::{
    collections::BTreeMap,
    fs,
    io::Read,
    path::{Path, PathBuf},
};

use didi_formats::config::{ConfigFile, ConfigSection};
use didi_plugin_api::prelude::*;

use super::Diagnostic;

/// The list of global classes that an import writes, below the project.
const CLASS_CACHE: &str = ".godot/global_script_class_cache.cfg";
/// Scripts looked into for a `class_name`.
const MAX_SCRIPTS: usize = 5000;
/// Folders and files visited on the way.
const MAX_ENTRIES: usize = 50_000;
/// Start of a script in which its `class_name` is looked for, in bytes.
const HEAD_BYTES: u64 = 64 << 10;
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
pub(super) fn weigh(ctx: &Ctx<'_>, source: &str, found: &mut [Diagnostic]) {
    let project = ctx.project();
    let mut known = Known::new(project.root(), source);
    let mut excused = false;
    for one in found.iter_mut() {
        let Some(name) = unknown_name(&one.message).map(str::to_owned) else { continue };
        excused |= known.excuse(&name).apply(&name, one);
    }
    for one in found.iter_mut().filter(|one| excused && follows(&one.message)) {
        one.severity = "warning";
        one.note = Some("may follow from the names that are not known yet".into());
    }
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
struct Known<'c> {
    root: &'c Path,
    source: &'c str,
    cache: Option<String>,
    autoloads: Vec<String>,
    /// Scripts of the project, once they were listed.
    heads: Option<Vec<String>>,
    answers: BTreeMap<String, Excuse>,
}

impl<'c> Known<'c> {
    fn new(root: &'c ProjectRoot, source: &'c str) -> Self {
        let root = root.folder();
        let text = |path: &str| {
            let bytes = head_of(&root.join(path), MAX_CONFIG_BYTES)?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        Known {
            root,
            source,
            cache: text(CLASS_CACHE),
            autoloads: text("project.godot").map(|text| autoloads(&text)).unwrap_or_default(),
            heads: None,
            answers: BTreeMap::new(),
        }
    }

    fn excuse(&mut self, name: &str) -> Excuse {
        if let Some(answer) = self.answers.get(name) {
            return *answer;
        }
        let answer = self.look(name);
        self.answers.insert(name.to_owned(), answer);
        answer
    }

    fn look(&mut self, name: &str) -> Excuse {
        if self.autoloads.iter().any(|autoload| autoload == name) {
            return Excuse::Autoload;
        }
        let cached = self.cache.as_ref().map(|cache| lists(cache, name));
        match cached {
            // A class can also come from an extension that is not registered before an import, so that
            // without a cache no name of a class is known to be wrong.
            None if name.starts_with(char::is_uppercase) || self.declared(name) => {
                Excuse::CacheMissing
            }
            Some(false) if self.declared(name) => Excuse::CacheStale,
            _ => Excuse::None,
        }
    }

    fn declared(&mut self, name: &str) -> bool {
        if declares(self.source, name) {
            return true;
        }
        let root = self.root;
        self.heads.get_or_insert_with(|| heads(root)).iter().any(|head| declares(head, name))
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

/// Whether a script declares a global class. Lines are enough: nothing but an annotation stands before it.
pub(super) fn declares(script: &str, name: &str) -> bool {
    script.lines().filter_map(|line| line.split_once("class_name")).any(|(before, after)| {
        let own = before.trim().is_empty() || before.trim_start().starts_with('@');
        let declared = after.trim_start().split(|letter: char| !is_word(letter)).next();
        own && after.starts_with([' ', '\t']) && declared == Some(name)
    })
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The starts of the project's scripts that declare a class.
fn heads(root: &Path) -> Vec<String> {
    let mut found = vec![];
    let mut scripts = 0;
    let mut entries = 0;
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in listing(&folder) {
            entries += 1;
            if entries > MAX_ENTRIES || scripts > MAX_SCRIPTS {
                return found;
            }
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "gd") {
                scripts += 1;
                let head = head_of(&path, HEAD_BYTES).unwrap_or_default();
                let head = String::from_utf8_lossy(&head).into_owned();
                found.extend(head.contains("class_name").then_some(head));
            }
        }
    }
    found
}

/// What the engine would see in a folder: nothing hidden, and nothing beside a `.gdignore`.
fn listing(folder: &Path) -> Vec<PathBuf> {
    if folder.join(".gdignore").exists() {
        return vec![];
    }
    let Ok(entries) = fs::read_dir(folder) else { return vec![] };
    let hidden = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
    };
    entries.flatten().map(|entry| entry.path()).filter(|path| !hidden(path)).collect()
}

fn head_of(path: &Path, max_bytes: u64) -> Option<Vec<u8>> {
    let mut bytes = vec![];
    fs::File::open(path).ok()?.take(max_bytes).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
