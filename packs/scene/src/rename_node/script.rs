//! Paths in scripts that name the renamed node: `$A/B`, `%B`, `get_node("A/B")`, `^"A/B"`.
//!
//! A path counts from the node that has the script. Where several nodes have it and do not agree, the place
//! is told and left.
//!
//! Spec: P-52, scenes.

use didi_formats::{document::Span, edit::Splice};
use didi_gdscript::Node;

use super::Place;

/// Functions of a node whose first argument is a node path.
const CALLS: [&str; 5] =
    ["get_node", "get_node_or_null", "has_node", "get_node_and_resource", "NodePath"];

/// A path in a script.
pub(super) struct Literal {
    start: usize,
    end: usize,
    line: usize,
    spelled: String,
    path: String,
    form: Form,
}

/// How a path is spelled.
enum Form {
    /// `$A/B` or `%B`.
    Bare(char),
    /// `$"A/B"`.
    Quoted,
    /// A string, with what stands in front of its quote.
    Text(&'static str),
}

/// The paths of a script.
pub(super) fn literals(text: &str, cancelled: &dyn Fn() -> bool) -> Vec<Literal> {
    let Some(tree) = didi_gdscript::parse(text, cancelled) else { return vec![] };
    let mut found = vec![];
    let mut next = vec![tree.root_node()];
    while let Some(node) = next.pop() {
        found.extend(literal(node, text));
        let mut walk = node.walk();
        next.extend(node.children(&mut walk));
    }
    found.sort_by_key(|literal| literal.start);
    found
}

fn literal(node: Node<'_>, text: &str) -> Option<Literal> {
    let spelled = &text[node.byte_range()];
    let made = |path: &str, form| {
        Some(Literal {
            start: node.start_byte(),
            end: node.end_byte(),
            line: node.start_position().row + 1,
            spelled: spelled.to_owned(),
            path: path.to_owned(),
            form,
        })
    };
    match node.kind() {
        "get_node" if spelled.starts_with("$\"") => {
            made(spelled.get(2..spelled.len().checked_sub(1)?)?, Form::Quoted)
        }
        // `%B` is a path by itself; its sign belongs to the path.
        "get_node" if spelled.starts_with('%') => made(spelled, Form::Bare('%')),
        "get_node" => made(spelled.strip_prefix('$')?, Form::Bare('$')),
        "node_path" => made(spelled.get(2..spelled.len().checked_sub(1)?)?, Form::Text("^")),
        "string" if is_path_argument(node, text) => {
            made(spelled.get(1..spelled.len().checked_sub(1)?)?, Form::Text(""))
        }
        _ => None,
    }
}

/// Whether a string is the first argument of a call of this very node's that takes a path.
fn is_path_argument(node: Node<'_>, text: &str) -> bool {
    let Some(arguments) = node.parent().filter(|parent| parent.kind() == "arguments") else {
        return false;
    };
    if arguments.named_child(0) != Some(node) {
        return false;
    }
    let Some(call) = arguments.parent() else { return false };
    let name = call.named_child(0).map(|name| &text[name.byte_range()]);
    if !name.is_some_and(|name| CALLS.contains(&name)) {
        return false;
    }
    match call.kind() {
        "call" => true,
        // `self.get_node("A")` counts from here, `other.get_node("A")` does not.
        "attribute_call" => {
            call.prev_named_sibling().is_some_and(|before| &text[before.byte_range()] == "self")
        }
        _ => false,
    }
}

impl Literal {
    /// The path as it is read.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// The place, as it is to be spelled.
    pub(super) fn place(&self, renamed: &str) -> Place {
        Place {
            line: self.line,
            kind: "script_path".into(),
            before: self.spelled.clone(),
            after: self.spell(renamed),
        }
    }

    /// The change of this place.
    pub(super) fn splice(&self, renamed: &str) -> Splice {
        let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let span = Span { start: number(self.start), end: number(self.end) };
        Splice { span, text: self.spell(renamed) }
    }

    fn spell(&self, path: &str) -> String {
        let plain = |letter: char| letter.is_alphanumeric() || "_/%".contains(letter);
        match self.form {
            Form::Bare(sign) if path.chars().all(plain) => {
                if sign == '%' {
                    path.to_owned()
                } else {
                    format!("${path}")
                }
            }
            Form::Bare(_) | Form::Quoted => format!("$\"{path}\""),
            Form::Text(before) => format!("{before}\"{path}\""),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::literals;

    #[test]
    fn paths_of_a_script_are_found_and_spelled_again() {
        let text = "var a = $A/B\nvar b = $\"S x/B\"\nvar c = %B\nfunc f():\n\tget_node(\"A/B\").hide()\n\tself.has_node(^\"A\")\n\tother.get_node(\"A/B\")\n\tvar s = \"A/B\" # $A/B\n";
        let found = literals(text, &|| false);
        let paths: Vec<_> = found.iter().map(super::Literal::path).collect();
        assert_eq!(paths, ["A/B", "S x/B", "%B", "A/B", "A"]);
        let spelled: Vec<_> = found.iter().map(|one| one.place("A/Two words").after).collect();
        assert_eq!(spelled[0], "$\"A/Two words\"");
        assert_eq!(spelled[3], "\"A/Two words\"");
        assert_eq!(spelled[4], "^\"A/Two words\"");
        assert_eq!(found[0].place("A/New").after, "$A/New");
        assert_eq!(found[2].place("%New").after, "%New");
    }
}
