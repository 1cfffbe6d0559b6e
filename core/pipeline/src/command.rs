//! A command as it is listed: its name, what it is about, and its parameters in the order in which a command
//! line fills them.
//!
//! The order is part of the wire: moving a parameter changes what a positional value means.
//!
//! Spec: P-61, commands.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

/// One command.
#[derive(Debug, Clone)]
pub struct Command {
    /// The name by which it is called; compared exactly.
    pub name: String,
    /// One paragraph.
    pub description: String,
    /// Paths of topics, such as `scene` or `assets/import`.
    pub tags: Vec<String>,
    /// The package that brings it.
    pub package: String,
    /// Whether it needs an engine's main thread, so that a busy engine refuses it.
    pub main_thread_required: bool,
    /// Whether it makes sense in a running game only.
    pub runtime_only: bool,
    /// In declaration order.
    pub parameters: Vec<Parameter>,
    /// A JSON schema of the parameters as one object.
    pub schema: Value,
}

/// One parameter of a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Compared without case, and with `-` and `_` as one letter.
    pub name: String,
    /// One sentence.
    pub description: String,
    /// What it takes.
    pub kind: Kind,
    /// Whether a call without it is refused.
    pub required: bool,
    /// What counts when it is left out; absent when nothing is said about that.
    pub default: Option<Value>,
}

/// What a parameter takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// A whole number of 64 bits.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// One of these words.
    Choice {
        /// The name of the type.
        name: String,
        /// The words, compared without case.
        words: Vec<String>,
    },
    /// A list of one kind.
    List(Box<Kind>),
    /// A JSON object.
    Object,
    /// Any JSON value; a token is read as what it looks like.
    Any,
}

impl Kind {
    /// The name of the type on the wire, as the protocol's first host has it.
    pub fn type_name(&self) -> Cow<'_, str> {
        match self {
            Kind::Text => "String".into(),
            Kind::Integer => "Int64".into(),
            Kind::Number => "Double".into(),
            Kind::Boolean => "Boolean".into(),
            Kind::Choice { name, .. } => name.as_str().into(),
            Kind::List(of) => format!("{}[]", of.type_name()).into(),
            Kind::Object => "JObject".into(),
            Kind::Any => "Object".into(),
        }
    }
}

/// How much of a command is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Name, description, tags, package.
    Compact,
    /// All of it.
    Full,
}

impl Command {
    /// The entry in a list of commands.
    pub fn entry(&self, detail: Detail) -> Value {
        let mut entry = Map::new();
        entry.insert("name".into(), self.name.clone().into());
        entry.insert("description".into(), self.description.clone().into());
        entry.insert("tags".into(), self.tags.clone().into());
        entry.insert("package".into(), self.package.clone().into());
        if detail == Detail::Full {
            entry.insert("mainThreadRequired".into(), self.main_thread_required.into());
            entry.insert("runtimeOnly".into(), self.runtime_only.into());
            entry.insert(
                "parameters".into(),
                self.parameters.iter().map(Parameter::entry).collect(),
            );
            entry.insert("schema".into(), self.schema.clone());
        }
        Value::Object(entry)
    }

    /// The entry beside an argument error: enough to print how the command is used.
    pub fn usage(&self) -> Value {
        let mut entry = self.entry(Detail::Full);
        if let Some(entry) = entry.as_object_mut() {
            entry.shift_remove("schema");
        }
        entry
    }

    /// A parameter by its name in any spelling.
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| same_name(&parameter.name, name))
    }
}

impl Parameter {
    fn entry(&self) -> Value {
        json!({
            "name": self.name,
            "description": self.description,
            "type": self.kind.type_name(),
            "required": self.required,
            "defaultValue": self.default,
        })
    }
}

/// Whether two spellings name one parameter: case does not count, and `-` is `_`.
pub fn same_name(one: &str, other: &str) -> bool {
    let plain = |letter: u8| if letter == b'-' { b'_' } else { letter.to_ascii_lowercase() };
    one.bytes().map(plain).eq(other.bytes().map(plain))
}
