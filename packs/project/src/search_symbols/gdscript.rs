//! The declarations of a `GDScript` text.
//!
//! Spec: P-50, search.

use std::ops::ControlFlow;

use didi_gdscript::symbols::{self, Kind as Symbol};

use super::{Declared, Kind};

/// All declarations with a name, in file order.
pub(super) fn declarations(text: &str) -> Vec<Declared> {
    let mut found = vec![];
    let Some(tree) = didi_gdscript::parse(text, &|| false) else { return found };
    symbols::each(tree.root_node(), text, |symbol| {
        let kind = match symbol.kind {
            Symbol::Script | Symbol::Class => Kind::Class,
            Symbol::Function => Kind::Function,
            Symbol::Variable => Kind::Variable,
            Symbol::Constant => Kind::Constant,
            Symbol::Signal => Kind::Signal,
            Symbol::Enum => Kind::Enum,
        };
        if !symbol.name.is_empty() {
            found.push(Declared { kind, name: symbol.name.to_owned(), at: symbol.at() });
        }
        ControlFlow::Continue(())
    });
    found
}
