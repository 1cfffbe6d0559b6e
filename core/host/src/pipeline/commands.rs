//! The tools of a catalog as commands, and the commands that the Pipeline itself has.
//!
//! A tool keeps its name and its published parameters in their order. What belongs to other ways of calling it,
//! `request_id` and `fields`, is left out; a tool that has to be confirmed gains `confirm` at the end. A name that does
//! nothing is no command.
//!
//! Spec: P-61, commands.

use std::sync::{Arc, Mutex, PoisonError};

use didi_pipeline::command::{Command, Kind, Parameter};
use didi_plugin_api::desc::{Confirmation, Mode, SessionKind};
use serde_json::{Value, json};

use crate::catalog::{Catalog, Tool};

/// Runs many commands as one.
pub const BATCH: &str = "batch";

/// Says how the editor stands.
pub const EDITOR_STATUS: &str = "editor_status";

/// The caller's word for a change.
pub const CONFIRM: &str = "confirm";

/// Arguments of a tool that are no parameters of its command.
const LEFT_OUT: [&str; 2] = ["request_id", "fields"];

/// The package of the host's own commands.
const OWN_PACKAGE: &str = env!("CARGO_PKG_NAME");

/// All commands of one catalog, by name.
pub struct Book {
    catalog: Arc<Catalog>,
    commands: Vec<Command>,
}

impl Book {
    /// The commands of a catalog.
    pub fn of(catalog: Arc<Catalog>) -> Self {
        let tools = catalog.tools().iter().filter(|tool| !tool.desc.is_reserved());
        let mut commands: Vec<Command> = tools.map(|tool| of_tool(tool)).collect();
        commands.extend([batch(), editor_status()]);
        commands.sort_by(|one, other| one.name.cmp(&other.name));
        Book { catalog, commands }
    }

    /// In the order of their names.
    pub fn commands(&self) -> &[Command] {
        &self.commands
    }

    /// A command by its exact name.
    pub fn find(&self, name: &str) -> Option<&Command> {
        let place = self.commands.binary_search_by(|one| one.name.as_str().cmp(name)).ok()?;
        self.commands.get(place)
    }

    /// The tool behind a command; none behind the host's own.
    pub fn tool(&self, name: &str) -> Option<&Arc<Tool>> {
        let is_command = |tool: &&Arc<Tool>| tool.desc.name == name && !tool.desc.is_reserved();
        self.catalog.find(name).filter(is_command)
    }
}

/// The book of the catalog that serves, made anew when another one does.
#[derive(Default)]
pub struct Shelf(Mutex<Option<Arc<Book>>>);

impl Shelf {
    /// The book of this catalog.
    pub fn of(&self, catalog: &Arc<Catalog>) -> Arc<Book> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match kept.as_ref().filter(|book| Arc::ptr_eq(&book.catalog, catalog)) {
            Some(book) => Arc::clone(book),
            None => Arc::clone(kept.insert(Arc::new(Book::of(Arc::clone(catalog))))),
        }
    }
}

fn of_tool(tool: &Tool) -> Command {
    let desc = &tool.desc;
    let mut schema = tool.input_schema.clone();
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for name in LEFT_OUT {
            properties.shift_remove(name);
        }
        if desc.confirmation != Confirmation::Never {
            let about = "Run the change without having looked at its preview.";
            properties.insert(CONFIRM.into(), json!({"type": "boolean", "description": about}));
        }
    }
    let package = if tool.pack() == "host" { OWN_PACKAGE } else { tool.pack() };
    Command {
        name: desc.name.clone(),
        description: desc.description.clone(),
        tags: vec![tag(package, &desc.name)],
        package: package.to_owned(),
        main_thread_required: desc.modes.contains(&Mode::Live),
        runtime_only: !desc.sessions.is_empty() && !desc.sessions.contains(&SessionKind::Editor),
        parameters: parameters(&schema),
        schema,
    }
}

/// The pack, and the area that the tool's name begins with where that is another word.
fn tag(package: &str, name: &str) -> String {
    let pack = package.trim_start_matches("didi-").trim_start_matches("pack-");
    match name.split('_').next().filter(|area| *area != pack) {
        Some(area) => format!("{pack}/{area}"),
        None => pack.to_owned(),
    }
}

fn parameters(schema: &Value) -> Vec<Parameter> {
    let required = |name: &str| {
        schema["required"].as_array().is_some_and(|names| names.iter().any(|one| one == name))
    };
    let properties = schema["properties"].as_object().into_iter().flatten();
    let parameter = |(name, property): (&String, &Value)| Parameter {
        name: name.clone(),
        description: property["description"].as_str().unwrap_or_default().to_owned(),
        kind: kind(name, property),
        required: required(name),
        default: property.get("default").cloned(),
    };
    properties.map(parameter).collect()
}

fn kind(name: &str, property: &Value) -> Kind {
    let words: Option<Vec<String>> = property["enum"]
        .as_array()
        .and_then(|words| words.iter().map(|word| word.as_str().map(ToOwned::to_owned)).collect());
    match (property["type"].as_str(), words) {
        (Some("string"), Some(words)) => Kind::Choice { name: type_name(name), words },
        (Some("string"), None) => Kind::Text,
        (Some("integer"), _) => Kind::Integer,
        (Some("number"), _) => Kind::Number,
        (Some("boolean"), _) => Kind::Boolean,
        (Some("object"), _) => Kind::Object,
        (Some("array"), _) => Kind::List(Box::new(kind(name, &property["items"]))),
        _ => Kind::Any,
    }
}

/// `on_error` as the name of a type: `OnError`.
fn type_name(name: &str) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
    };
    name.split('_').map(|word| -> String { capital(word) }).collect()
}

/// A command of the host's own.
fn own(name: &str, description: &str, tag: &str, schema: Value) -> Command {
    Command {
        name: name.into(),
        description: description.into(),
        tags: vec![tag.into()],
        package: OWN_PACKAGE.into(),
        main_thread_required: false,
        runtime_only: false,
        parameters: parameters(&schema),
        schema,
    }
}

fn editor_status() -> Command {
    let about = "How the attached editor stands: ready, settling or blocked by a dialog, and what it says of itself.";
    own(
        EDITOR_STATUS,
        about,
        "editor",
        json!({"type": "object", "properties": {}, "additionalProperties": false}),
    )
}

fn batch() -> Command {
    use super::batch::{MAX_BUDGET_MS, MAX_OPERATIONS, USUAL_BUDGET_MS};
    let operation = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_-]*$"},
            "command": {"type": "string"},
            "params": {"type": "object"},
        },
        "required": ["command"],
        "additionalProperties": false,
    });
    let about = "Runs 1 to 200 commands in order. A parameter `$id.path` or `$0.path` is a value of an earlier result; with `transactional` changes of the open scene are taken back when one fails.";
    let schema = json!({
        "type": "object",
        "properties": {
            "operations": {"type": "array", "items": operation, "minItems": 1, "maxItems": MAX_OPERATIONS, "description": "`{id?, command, params}` each."},
            "transactional": {"type": "boolean", "default": true, "description": "Take back what was applied when an operation fails."},
            "on_error": {"type": "string", "enum": ["abort", "continue"], "default": "abort", "description": "What comes after a failure; `continue` is not transactional."},
            "dry_run": {"type": "boolean", "default": false, "description": "Check the operations and run none."},
            "result_fields": {"type": "object", "description": "By id or index, the paths of a result to keep."},
            "time_budget_ms": {"type": "integer", "default": USUAL_BUDGET_MS, "minimum": 1, "maximum": MAX_BUDGET_MS, "description": "No operation starts after it."},
        },
        "required": ["operations"],
        "additionalProperties": false,
    });
    own(BATCH, about, "batch", schema)
}

#[cfg(test)]
mod tests;
