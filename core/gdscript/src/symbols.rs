//! What a script declares, in file order.
//!
//! Only declarations count: of the script, and of its inner classes with the class they belong to. Variables
//! inside functions, lambdas and text inside strings are none. A text that does not compile still has symbols.
//!
//! Spec: P-53, scripts.

use std::ops::ControlFlow;

use crate::{Node, annotation_names, of};

/// Longest piece of source quoted for one value or parameter, in characters.
const MAX_QUOTED_CHARS: usize = 240;

/// What a declaration declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The script itself, by `class_name`.
    Script,
    /// An inner class.
    Class,
    /// A function or a constructor.
    Function,
    /// A member variable.
    Variable,
    /// A constant.
    Constant,
    /// A signal.
    Signal,
    /// An enum, which may have no name.
    Enum,
}

/// One declaration, and the node that it stands in.
pub struct Symbol<'n, 't> {
    /// What it declares.
    pub kind: Kind,
    /// Its name; empty for an enum without one.
    pub name: &'t str,
    /// The inner class that it belongs to, `A.B` for one in another; empty for the script's own.
    pub class: String,
    /// The declaration. Annotations on lines above it are siblings of it.
    pub node: Node<'n>,
    text: &'t str,
    exported_above: bool,
}

impl<'n> Symbol<'n, '_> {
    fn name_node(&self) -> Option<Node<'n>> {
        self.node.child_by_field_name("name")
    }

    /// The name with its class: `Inner.name`.
    pub fn path(&self) -> String {
        match self.class.as_str() {
            "" => self.name.to_owned(),
            class => format!("{class}.{}", self.name),
        }
    }

    /// First byte of the name, or of the declaration where it has none.
    pub fn at(&self) -> usize {
        self.name_node().unwrap_or(self.node).start_byte()
    }

    /// Line of the name, from 1.
    pub fn line(&self) -> usize {
        self.name_node().unwrap_or(self.node).start_position().row + 1
    }

    /// Column of the name, from 1, in characters.
    pub fn column(&self) -> usize {
        let at = self.at();
        let start = self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        self.text[start..at].chars().count() + 1
    }

    /// The last line with something on it: a body's node ends at the start of the line below it.
    pub fn end_line(&self) -> usize {
        let own = of(self.node, self.text);
        let blank = &own[own.trim_end().len()..];
        self.node.end_position().row + 1 - blank.matches('\n').count()
    }

    /// The parts of a function's or a signal's parameter list, or of an enum's body.
    pub fn parts(&self) -> Vec<String> {
        let field = if self.kind == Kind::Enum { "body" } else { "parameters" };
        let Some(list) = self.node.child_by_field_name(field) else { return vec![] };
        let mut cursor = list.walk();
        list.named_children(&mut cursor)
            .filter(|part| !part.is_extra() && !part.is_error())
            .map(|part| quoted(of(part, self.text)))
            .collect()
    }

    /// The return type of a function.
    pub fn return_type(&self) -> Option<String> {
        self.field("return_type")
    }

    /// The type of a variable or a constant, where it is written down.
    pub fn value_type(&self) -> Option<String> {
        self.field("type").filter(|kind| !kind.starts_with(':'))
    }

    /// The value of a constant as it stands in the text, cut where it is long.
    pub fn value(&self) -> Option<String> {
        self.node.child_by_field_name("value").map(|value| cut(of(value, self.text)))
    }

    /// What an inner class extends.
    pub fn extends(&self) -> Option<String> {
        self.node.child_by_field_name("extends").map(|base| base_of(base, self.text))
    }

    /// Whether it is declared `static`.
    pub fn is_static(&self) -> bool {
        let mut cursor = self.node.walk();
        self.node.named_children(&mut cursor).any(|child| child.kind() == "static_keyword")
    }

    /// Whether a variable is exported, on its own line or on one above it.
    pub fn is_exported(&self) -> bool {
        let mut cursor = self.node.walk();
        self.exported_above
            || self.node.kind() == "export_variable_statement"
            || self.node.named_children(&mut cursor).any(|child| exports(child, self.text))
    }

    fn field(&self, name: &str) -> Option<String> {
        self.node.child_by_field_name(name).map(|child| quoted(of(child, self.text)))
    }
}

/// What a script says about itself.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Head {
    /// Its global name.
    pub class_name: Option<String>,
    /// Its base: a class, or a quoted path.
    pub extends: Option<String>,
}

/// The script's own name and base.
pub fn head(root: Node<'_>, text: &str) -> Head {
    let mut head = Head::default();
    let mut cursor = root.walk();
    for node in root.named_children(&mut cursor) {
        let mut base = None;
        if node.kind() == "class_name_statement" {
            head.class_name = node.child_by_field_name("name").map(|name| of(name, text).into());
            base = node.child_by_field_name("extends");
        } else if node.kind() == "extends_statement" {
            base = Some(node);
        }
        if let Some(base) = base {
            head.extends = Some(base_of(base, text));
        }
    }
    head
}

/// A node still to be visited.
struct Scope<'n> {
    node: Node<'n>,
    class: String,
    exported_above: bool,
}

/// Hands every declaration over in file order, until `take` breaks.
///
/// A list of its own in place of recursion: classes nest as deep as the text likes.
pub fn each<'n, 't>(
    root: Node<'n>,
    text: &'t str,
    mut take: impl FnMut(Symbol<'n, 't>) -> ControlFlow<()>,
) {
    let mut open = vec![Scope { node: root, class: String::new(), exported_above: false }];
    while let Some(Scope { node, class, exported_above }) = open.pop() {
        let inside = match node.kind() {
            "source" | "class_body" | "ERROR" => class.clone(),
            "class_definition" => {
                inner(&class, node.child_by_field_name("name").map_or("", |name| of(name, text)))
            }
            _ => String::new(),
        };
        if let Some(kind) = kind_of(node) {
            let name = match node.kind() {
                "constructor_definition" => "_init",
                _ => node.child_by_field_name("name").map_or("", |name| of(name, text)),
            };
            if take(Symbol { kind, name, class, node, text, exported_above }).is_break() {
                return;
            }
        }
        if matches!(node.kind(), "source" | "class_body" | "class_definition" | "ERROR") {
            let from = open.len();
            children(node, &inside, text, &mut open);
            open[from..].reverse();
        }
    }
}

fn kind_of(node: Node<'_>) -> Option<Kind> {
    Some(match node.kind() {
        "class_name_statement" => Kind::Script,
        "class_definition" => Kind::Class,
        "function_definition" | "constructor_definition" => Kind::Function,
        "variable_statement" | "export_variable_statement" | "onready_variable_statement" => {
            Kind::Variable
        }
        "const_statement" => Kind::Constant,
        "signal_statement" => Kind::Signal,
        "enum_definition" => Kind::Enum,
        _ => return None,
    })
}

fn children<'n>(node: Node<'n>, class: &str, text: &str, open: &mut Vec<Scope<'n>>) {
    let mut exported_above = false;
    let mut cursor = node.walk();
    for node in node.named_children(&mut cursor) {
        match node.kind() {
            "comment" => {}
            "annotation" => exported_above |= exports(node, text),
            _ => {
                open.push(Scope { node, class: class.to_owned(), exported_above });
                exported_above = false;
            }
        }
    }
}

/// The path of a class in a class. Deep nesting does not make it longer without end.
fn inner(class: &str, name: &str) -> String {
    match class.len() {
        0 => name.to_owned(),
        1..=MAX_QUOTED_CHARS => format!("{class}.{name}"),
        _ => class.to_owned(),
    }
}

/// `@export` in all its forms. `@export_group` and its kin head the inspector and export nothing.
fn exports(node: Node<'_>, text: &str) -> bool {
    annotation_names(node, text).iter().any(|name| name.starts_with("export") && !is_head(name))
}

/// Whether an annotation stands for itself and belongs to no declaration.
pub fn is_head(annotation: &str) -> bool {
    [
        "tool",
        "icon",
        "static_unload",
        "export_group",
        "export_subgroup",
        "export_category",
        "warning_ignore_start",
        "warning_ignore_restore",
    ]
    .contains(&annotation)
}

fn base_of(node: Node<'_>, text: &str) -> String {
    quoted(of(node, text)).trim_start_matches("extends").trim().to_owned()
}

/// A piece of source on one line, cut where it is long.
fn quoted(source: &str) -> String {
    let lines: Vec<&str> = source.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    cut(&lines.join(" "))
}

fn cut(source: &str) -> String {
    match source.char_indices().nth(MAX_QUOTED_CHARS) {
        Some((end, _)) => format!("{}...", &source[..end]),
        None => source.to_owned(),
    }
}

#[cfg(test)]
mod tests;
