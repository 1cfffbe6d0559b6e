//! `GDScript` as text: bytes in, values out.
//!
//! [`parse`] gives the syntax tree, [`faults`] what is wrong with it, [`symbols`] what it declares, and
//! [`lines`] how its lines hang together, which decides where indentation counts. The grammar reads what people
//! write, not what a compiler accepts: it recovers from anything, so a tree always comes back.
//!
//! Spec: P-53, scripts.

use std::{borrow::Cow, ops::ControlFlow};

pub use tree_sitter::{Node, Tree};
use tree_sitter::{ParseOptions, ParseState, Parser};

pub mod faults;
pub mod head;
pub mod lines;
pub mod symbols;

/// The byte order mark that a script may begin with.
pub const BOM: &str = "\u{FEFF}";

/// The text without a byte order mark, or `None` for bytes that are no script.
pub fn text_of(bytes: &[u8]) -> Option<&str> {
    let bytes = bytes.strip_prefix(BOM.as_bytes()).unwrap_or(bytes);
    std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// The syntax tree of a script, or `None` when `cancelled` said so on the way.
///
/// # Panics
/// When the grammar and the parser are not built for one another.
pub fn parse(text: &str, cancelled: &dyn Fn() -> bool) -> Option<Tree> {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_gdscript::LANGUAGE.into())
        .expect("the grammar and the parser are built for one another");
    let mut watch = |_: &ParseState| {
        if cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let letters = ascii_letters(text);
    let bytes = letters.as_bytes();
    parser.parse_with_options(
        &mut |at, _| bytes.get(at..).unwrap_or_default(),
        None,
        Some(ParseOptions::new().progress_callback(&mut watch)),
    )
}

/// The text with every letter an ASCII one, byte for byte: names may have any letter, and the grammar knows
/// only these. Ranges of the tree fit the text itself.
fn ascii_letters(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return text.into();
    }
    let mut letters = String::with_capacity(text.len());
    for letter in text.chars() {
        if !letter.is_ascii() && letter.is_alphanumeric() {
            letters.extend(std::iter::repeat_n('x', letter.len_utf8()));
        } else {
            letters.push(letter);
        }
    }
    letters.into()
}

/// The text of a node.
pub fn of<'t>(node: Node<'_>, text: &'t str) -> &'t str {
    text.get(node.byte_range()).unwrap_or_default()
}

/// The names in an `annotation` or `annotations` node; none for any other.
pub fn annotation_names<'t>(node: Node<'_>, text: &'t str) -> Vec<&'t str> {
    let name = |one: Node<'_>| one.named_child(0).map(|name| of(name, text));
    match node.kind() {
        "annotation" => name(node).into_iter().collect(),
        "annotations" => {
            let mut cursor = node.walk();
            node.named_children(&mut cursor).filter_map(name).collect()
        }
        _ => vec![],
    }
}

#[cfg(test)]
mod tests;
