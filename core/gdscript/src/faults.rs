//! What a syntax tree says is wrong with a script.
//!
//! A few valid forms are read as faults by the grammar; those that are known are left out here.
//!
//! Spec: P-53, scripts.

use crate::{Node, Tree, annotation_names, of};

/// One place that the grammar could not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// From 1.
    pub line: usize,
    /// From 1, in bytes of the line.
    pub column: usize,
    /// What is there.
    pub message: String,
}

/// The faults of a tree in file order, at most `limit` of them.
pub fn of_tree(tree: &Tree, text: &str, limit: usize) -> Vec<Fault> {
    let mut found = vec![];
    let mut open = vec![(tree.root_node(), false)];
    while let Some((node, abstract_above)) = open.pop() {
        if found.len() == limit {
            break;
        }
        if let Some(message) = fault_at(node, text, abstract_above) {
            let place = node.start_position();
            found.push(Fault { line: place.row + 1, column: place.column + 1, message });
            // What stands inside a fault is a consequence of it.
            continue;
        }
        if node.has_error() || may_hold_functions(node) {
            let from = open.len();
            open_children(node, text, &mut open);
            open[from..].reverse();
        }
    }
    found
}

/// Lists the children of a node, each with whether `@abstract` stands on a line of its own above it.
fn open_children<'n>(node: Node<'n>, text: &str, open: &mut Vec<(Node<'n>, bool)>) {
    let mut above = false;
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        match child.kind() {
            "comment" => {}
            "annotation" => above |= annotation_names(child, text).contains(&"abstract"),
            _ => {
                open.push((child, above));
                above = false;
            }
        }
    }
}

fn may_hold_functions(node: Node<'_>) -> bool {
    matches!(node.kind(), "source" | "class_body" | "class_definition")
}

fn fault_at(node: Node<'_>, text: &str, abstract_above: bool) -> Option<String> {
    if node.is_missing() {
        return Some(format!("`{}` is missing here", node.kind()));
    }
    if node.is_error() && !is_valid_after_all(node, text) {
        let shown: String = of(node, text).lines().next().unwrap_or("").chars().take(60).collect();
        return Some(format!("`{}` does not fit here", shown.trim()));
    }
    let lacks_body = node.kind() == "function_definition"
        && node.child_by_field_name("body").is_none()
        && !abstract_above
        && !is_abstract(node, text);
    lacks_body.then(|| "a function without `:` and a body, which only `@abstract` allows".into())
}

/// Two forms that the engine compiles and the grammar does not know: `{ "key" = value }`, and a whole
/// statement with its own `:` on the line of a function's head.
fn is_valid_after_all(node: Node<'_>, text: &str) -> bool {
    let own = of(node, text);
    match node.parent().map(|parent| parent.kind()) {
        Some("dictionary") => own.starts_with('=') && !own.starts_with("=="),
        Some("function_definition") => {
            own.ends_with(':')
                && ["if ", "for ", "while ", "match "].iter().any(|word| own.starts_with(word))
        }
        _ => false,
    }
}

fn is_abstract(node: Node<'_>, text: &str) -> bool {
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .any(|child| annotation_names(child, text).contains(&"abstract"))
}

#[cfg(test)]
mod tests;
