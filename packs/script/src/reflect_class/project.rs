//! A class that a script of the project declares by `class_name`.
//!
//! Spec: P-53, scripts.

use std::ops::ControlFlow;

use didi_gdscript::symbols::{self, Kind, Symbol};
use didi_plugin_api::prelude::*;
use serde_json::Map;

use crate::{scripts, source, syntax};

/// A script that declares a class.
pub(super) struct Script {
    pub(super) path: String,
    pub(super) extends: Option<String>,
    pub(super) is_abstract: bool,
    pub(super) description: String,
    pub(super) members: Map<String, Value>,
}

/// The names that the project's scripts declare.
pub(super) fn names(ctx: &Ctx<'_>) -> Result<Vec<String>, Refusal> {
    Ok(scripts::classes(ctx)?.into_iter().map(|(_, name)| name).collect())
}

/// The script of a class: by its `class_name`, or by its quoted path as `extends` has it.
pub(super) fn find(ctx: &Ctx<'_>, name: &str) -> Result<Option<Script>, Refusal> {
    let project = ctx.project();
    let quoted = name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let path = match quoted {
        Some(path) => Some(path.to_owned()).filter(|path| path.starts_with("res://")),
        None => by_name(ctx, name)?,
    };
    let place = path.and_then(|path| project.resolve(&path, "class_name").ok());
    let Some(place) = place.filter(ProjectPath::is_file) else { return Ok(None) };
    let bytes = project.read(&place, source::MAX_SCRIPT_BYTES)?;
    let Some(text) = didi_gdscript::text_of(&bytes) else { return Ok(None) };
    let tree = syntax::parse(ctx, text)?;
    let head = symbols::head(tree.root_node(), text);
    let mut members = Members::default();
    let mut is_abstract = false;
    symbols::each(tree.root_node(), text, |symbol| {
        if symbol.kind == Kind::Script {
            is_abstract |= didi_gdscript::of(symbol.node, text).starts_with("@abstract");
        } else if symbol.class.is_empty() {
            members.take(&symbol);
        }
        ControlFlow::Continue(())
    });
    Ok(Some(Script {
        path: place.res_path(),
        // A script that extends nothing extends this.
        extends: Some(head.extends.unwrap_or_else(|| "RefCounted".into())),
        is_abstract: is_abstract || text.starts_with("@abstract"),
        description: description(text),
        members: members.into_sections(),
    }))
}

fn by_name(ctx: &Ctx<'_>, name: &str) -> Result<Option<String>, Refusal> {
    let found = scripts::classes(ctx)?.into_iter().find(|(_, class)| class == name);
    Ok(found.map(|(file, _)| file.path))
}

/// The documentation comment of a script: `##` lines before its first member, those of the member excepted.
fn description(text: &str) -> String {
    let mut words: Vec<&str> = vec![];
    for line in text.lines() {
        let line = line.trim();
        if let Some(comment) = line.strip_prefix("##") {
            words.push(comment.trim());
        } else if !words.is_empty() {
            let member =
                ["var ", "func ", "signal ", "const ", "enum ", "static ", "@export", "class "];
            if member.iter().any(|start| line.starts_with(start)) {
                return String::new();
            }
            break;
        } else if !is_head(line) {
            break;
        }
    }
    words.join("\n")
}

/// Whether a line stands at the head of a script, before its documentation.
fn is_head(line: &str) -> bool {
    let starts = ["@", "#", "class_name", "extends"];
    line.is_empty() || starts.iter().any(|start| line.starts_with(start))
}

#[derive(Default)]
struct Members {
    methods: Map<String, Value>,
    properties: Map<String, Value>,
    signals: Map<String, Value>,
    enums: Map<String, Value>,
    constants: Map<String, Value>,
}

impl Members {
    fn take(&mut self, symbol: &Symbol<'_, '_>) {
        let name = symbol.name.to_owned();
        let mut entry = Map::from_iter([("line".to_owned(), symbol.line().into())]);
        let of = match symbol.kind {
            Kind::Script | Kind::Class => return,
            Kind::Function => {
                entry.insert("args".into(), symbol.parts().into());
                if let Some(returns) = symbol.return_type() {
                    entry.insert("returns".into(), returns.into());
                }
                &mut self.methods
            }
            Kind::Variable => {
                if let Some(kind) = symbol.value_type() {
                    entry.insert("type".into(), kind.into());
                }
                if symbol.is_exported() {
                    entry.insert("exported".into(), true.into());
                }
                &mut self.properties
            }
            Kind::Signal => {
                entry.insert("args".into(), symbol.parts().into());
                &mut self.signals
            }
            Kind::Enum => {
                entry.insert("members".into(), symbol.parts().into());
                &mut self.enums
            }
            Kind::Constant => {
                self.constants.insert(name, symbol.value().into());
                return;
            }
        };
        if symbol.is_static() {
            entry.insert("static".into(), true.into());
        }
        of.insert(name, entry.into());
    }

    fn into_sections(mut self) -> Map<String, Value> {
        if !self.constants.is_empty() {
            self.enums.insert("constants".into(), json!({ "values": self.constants }));
        }
        let sections = [
            ("methods", self.methods),
            ("properties", self.properties),
            ("signals", self.signals),
            ("enums", self.enums),
        ];
        sections.into_iter().map(|(name, all)| (name.to_owned(), all.into())).collect()
    }
}
