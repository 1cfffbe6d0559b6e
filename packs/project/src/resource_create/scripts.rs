//! The project's own resource classes: scripts with a `class_name`, what they extend and export.
//!
//! Read line by line, not compiled: a declaration is taken as it stands. Enough to say which file a class
//! name means and which names its script declares; what a value has to be is known only where the
//! declaration names a built-in type.
//!
//! Spec: P-50, the project's files.

use std::{collections::BTreeMap, ops::ControlFlow};

use didi_plugin_api::prelude::*;

use super::classes::Classes;
use didi_project::{
    facts::{self, Trust},
    walk,
};

/// Largest script that is looked into, in bytes.
const MAX_SCRIPT_BYTES: u64 = 1024 * 1024;
/// Most scripts that are looked into.
const MAX_SCRIPTS: usize = 10_000;

/// A script that names a class.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    pub(crate) path: String,
    /// What it extends: an engine class, another class name, or a path.
    extends: String,
    /// Exported names, with the type where the declaration says one.
    exports: Vec<(String, Option<String>)>,
}

/// A script class, resolved down to the engine.
pub(crate) struct Resolved {
    pub(crate) path: String,
    /// The engine class at the bottom.
    pub(crate) engine_type: String,
    /// Exported names of the script and those that it extends.
    pub(crate) exports: BTreeMap<String, Option<String>>,
}

/// All scripts of the project that name a class.
pub(crate) fn scripts(ctx: &Ctx<'_>) -> Result<BTreeMap<String, Script>, Refusal> {
    let start = ctx.project().resolve("res://", "resource_type")?;
    let mut found = vec![];
    walk::files(ctx, &start, |file| {
        if file.extension() == "gd" && file.size <= MAX_SCRIPT_BYTES {
            found.push(file);
        }
        if found.len() < MAX_SCRIPTS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    let mut scripts = BTreeMap::new();
    let facts = facts::facts(ctx, &found, Trust::Kept)?;
    let named = found.into_iter().zip(facts).filter(|(_, facts)| facts.class_name.is_some());
    for (file, _) in named {
        let place = ctx.project().resolve(&file.path, "resource_type")?;
        let Ok(bytes) = ctx.project().read(&place, MAX_SCRIPT_BYTES) else { continue };
        if let Some((name, script)) = read(&String::from_utf8_lossy(&bytes), &file.path) {
            scripts.entry(name).or_insert(script);
        }
    }
    Ok(scripts)
}

/// Follows a class name down to the engine class; `None` when the way is not known.
pub(crate) fn resolve(
    name: &str,
    scripts: &BTreeMap<String, Script>,
    classes: &Classes,
) -> Option<Resolved> {
    let first = scripts.get(name)?;
    let mut exports = BTreeMap::new();
    let mut at = first;
    // A chain that is longer goes in a circle.
    for _ in 0..=scripts.len() {
        for (name, kind) in &at.exports {
            exports.entry(name.clone()).or_insert_with(|| kind.clone());
        }
        if classes.get(&at.extends).is_some() {
            let engine_type = at.extends.clone();
            return Some(Resolved { path: first.path.clone(), engine_type, exports });
        }
        at = scripts.get(&at.extends)?;
    }
    None
}

fn read(text: &str, path: &str) -> Option<(String, Script)> {
    let (mut name, mut extends, mut exports) = (None, None, vec![]);
    let mut exported = false;
    for line in text.trim_start_matches('\u{feff}').lines() {
        let line = line.split('#').next().unwrap_or("").trim_end();
        if let Some(rest) = line.strip_prefix("class_name ") {
            let mut words = rest.split([' ', ',']).filter(|word| !word.is_empty());
            name = words.next().map(str::to_owned);
            if words.next() == Some("extends") {
                extends = words.next().map(str::to_owned);
            }
        } else if let Some(rest) = line.strip_prefix("extends ") {
            extends = rest.split_whitespace().next().map(str::to_owned);
        }
        let annotated = line.starts_with("@export")
            && !line.starts_with("@export_group")
            && !line.starts_with("@export_category")
            && !line.starts_with("@export_subgroup");
        let declared = line.find("var ").filter(|at| *at == 0 || line[..*at].ends_with(' '));
        if let Some(at) = declared.filter(|_| annotated || (exported && line.starts_with("var "))) {
            exports.extend(variable(&line[at + 4..]));
        }
        exported = (annotated && declared.is_none()) || (exported && line.trim().is_empty());
    }
    let extends = extends.unwrap_or_else(|| "RefCounted".into());
    Some((name?, Script { path: path.into(), extends, exports }))
}

/// `name: Type = value`, of which the type counts when a built-in one is named.
fn variable(rest: &str) -> Option<(String, Option<String>)> {
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let (name, rest) = rest.split_at(end.unwrap_or(rest.len()));
    let kind = rest.trim_start().strip_prefix(':').map(str::trim_start);
    let kind = kind.filter(|kind| !kind.starts_with('='));
    let kind = kind.map(|kind| {
        let end = kind.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
        kind[..end.unwrap_or(kind.len())].to_owned()
    });
    let plain = |kind: &String| {
        didi_formats::variant::json::knows(kind) && kind != "Array" && kind != "Dictionary"
    };
    (!name.is_empty()).then(|| (name.to_owned(), kind.filter(plain)))
}

#[cfg(test)]
mod tests {
    use super::{read, variable};

    #[test]
    fn a_script_is_read_by_its_declarations() {
        let text = "@tool\nclass_name Item extends Thing # x\n\n@export var hp := 1\n@export_range(0, 5)\n\
            var speed: float = 1.0\nvar hidden = 2\n@export var tex: Texture2D\n@export_group(\"x\")\nvar no\n";
        let (name, script) = read(text, "res://item.gd").unwrap();
        assert_eq!((name.as_str(), script.extends.as_str()), ("Item", "Thing"));
        let names: Vec<_> =
            script.exports.iter().map(|(name, kind)| (&**name, kind.as_deref())).collect();
        assert_eq!(names, [("hp", None), ("speed", Some("float")), ("tex", None)]);
        assert!(read("extends Resource\n", "res://a.gd").is_none());
        assert_eq!(variable("größe: int"), Some(("größe".into(), Some("int".into()))));
    }
}
