//! Signals that nothing uses, and connections that lead nowhere.
//!
//! Spec: P-50, the audit.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
};

use didi_formats::{
    scene::{Lookup, Scene},
    variant::Value as Variant,
};
use didi_plugin_api::prelude::*;
use didi_project::{parallel, walk::File};

use crate::{
    code::{self, Dialect},
    references::{Format, folder_of},
    scan::{self, Project, READS},
};

/// Longest chain of scripts that extend each other.
const MAX_BASES: usize = 64;

#[derive(Debug, Serialize)]
pub(super) struct DeadSignal {
    path: String,
    line: u32,
    signal: String,
}

#[derive(Debug, Serialize)]
pub(super) struct BrokenConnection {
    scene: String,
    line: u32,
    signal: String,
    from: String,
    to: String,
    method: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    script: Option<String>,
    detail: &'static str,
}

#[derive(Default)]
pub(super) struct Found {
    pub(super) dead: Vec<DeadSignal>,
    pub(super) broken: Vec<BrokenConnection>,
}

/// What a script declares and names.
#[derive(Default)]
struct Script {
    signals: Vec<(String, u32)>,
    methods: BTreeSet<String>,
    class: Option<String>,
    /// A path or a class.
    base: Option<String>,
    words: BTreeSet<String>,
}

pub(super) fn find(ctx: &Ctx<'_>, project: &Project) -> Result<Found, Refusal> {
    let mut scripts: BTreeMap<&str, Script> = BTreeMap::new();
    let mut words = BTreeSet::new();
    let mut scenes: Vec<&File> = vec![];
    parallel::each(
        ctx,
        &project.files.texts,
        |file| match Format::of(&file.path) {
            Some(Format::Code(dialect @ (Dialect::Gdscript | Dialect::Csharp))) => {
                let bytes = scan::read(file, READS.file_bytes).ok()?;
                Some(script(std::str::from_utf8(&bytes).ok()?, dialect))
            }
            _ => None,
        },
        |file, script| {
            if file.extension() == "tscn" {
                scenes.push(file);
            }
            if let Some(mut script) = script {
                words.append(&mut script.words);
                if file.extension() == "gd" {
                    scripts.insert(&file.path, script);
                }
            }
            ControlFlow::Continue(())
        },
    )?;
    let classes: BTreeMap<String, &str> =
        scripts.iter().filter_map(|(path, script)| Some((script.class.clone()?, *path))).collect();
    let mut found = Found::default();
    for file in scenes {
        ctx.check()?;
        let Ok(bytes) = scan::read(file, READS.file_bytes) else { continue };
        let Ok(scene) = Scene::parse(&bytes) else { continue };
        for connection in scene.connections() {
            words.insert(connection.signal.clone().into_owned());
            let Some((detail, script)) = fault(project, &scripts, &classes, &scene, connection)
            else {
                continue;
            };
            found.broken.push(BrokenConnection {
                scene: file.path.clone(),
                line: connection.line,
                signal: connection.signal.clone().into_owned(),
                from: connection.from.clone().unwrap_or_default().into_owned(),
                to: connection.to.clone().unwrap_or_default().into_owned(),
                method: connection.method.clone().into_owned(),
                script,
                detail,
            });
        }
    }
    for (path, script) in &scripts {
        for (signal, line) in &script.signals {
            if !words.contains(signal) {
                let path = (*path).to_owned();
                found.dead.push(DeadSignal { path, line: *line, signal: signal.clone() });
            }
        }
    }
    Ok(found)
}

fn script(source: &str, dialect: Dialect) -> Script {
    let mut found = Script::default();
    let tokens = code::tokens(source, dialect);
    let (mut line, mut at) = (1, 0);
    for (index, token) in tokens.iter().enumerate() {
        let text = &source[token.inner.clone()];
        let before = index.checked_sub(1).map(|before| &tokens[before]);
        let after = |word: &str| before.is_some_and(|before| before.is_word(source, word));
        match token.kind {
            code::Kind::Word if after("signal") => {
                let passed = &source.as_bytes()[at..token.span.start];
                line += u32::try_from(memchr::memchr_iter(b'\n', passed).count()).unwrap_or(0);
                at = token.span.start;
                found.signals.push((text.to_owned(), line));
            }
            code::Kind::Word if after("func") => {
                found.methods.insert(text.to_owned());
            }
            code::Kind::Word if after("class_name") => found.class = Some(text.to_owned()),
            code::Kind::Word | code::Kind::Text(_) if after("extends") && found.base.is_none() => {
                found.base = Some(text.to_owned());
            }
            code::Kind::Word | code::Kind::Text(_) => {
                found.words.insert(text.to_owned());
            }
            _ => {}
        }
    }
    found
}

/// What is wrong with a connection, and the script that was looked at.
fn fault(
    project: &Project,
    scripts: &BTreeMap<&str, Script>,
    classes: &BTreeMap<String, &str>,
    scene: &Scene<'_>,
    connection: &didi_formats::scene::Connection<'_>,
) -> Option<(&'static str, Option<String>)> {
    if connection.from_node == Lookup::Missing {
        return Some(("the emitting node is not in the scene", None));
    }
    let to = match connection.to_node {
        Lookup::Missing => return Some(("the receiving node is not in the scene", None)),
        Lookup::Inside(_) => return None,
        Lookup::Node(to) => &scene.nodes()[to],
    };
    // What an instance or an inherited scene brings along is not read here.
    if to.type_name.is_none() || !connection.method.starts_with('_') {
        return None;
    }
    let Some(value) = to.property("script") else {
        return Some(("the receiving node has no script", None));
    };
    let Ok(Variant::ExtResource(id)) = value.parse() else { return None };
    let external = scene.ext_resource(&id)?;
    let by_uid = external.uid.as_deref().and_then(|uid| project.resolve(uid));
    let path = by_uid.unwrap_or(&external.path);
    let mut at = path.to_owned();
    for _ in 0..MAX_BASES {
        let script = scripts.get(at.as_str())?;
        if script.methods.contains(&*connection.method) {
            return None;
        }
        let Some(base) = &script.base else { break };
        at = match classes.get(base) {
            Some(path) => (*path).to_owned(),
            None if base.contains("://") => project.resolve(base)?.to_owned(),
            None if base.contains('.') => {
                format!("{}/{base}", folder_of(&at).trim_end_matches('/'))
            }
            // An engine class; its own private methods are no targets of a scene.
            None => break,
        };
    }
    Some(("the script does not declare the method", Some(path.to_owned())))
}
