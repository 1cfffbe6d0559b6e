//! The one edit that puts a definition in place of another, or at the end of its class.
//!
//! Everything outside of the edit's range keeps its bytes.
//!
//! Spec: P-53, scripts.

use std::ops::{ControlFlow, Range};

use didi_gdscript::{
    Tree,
    lines::{self, Kind as LineKind, Line},
    symbols::{self, Kind, Symbol},
};
use didi_plugin_api::prelude::*;

use super::{
    Args,
    definition::{self, Definition, moved, word},
    pieces::{self, Pieces},
};
use crate::syntax;

/// Names listed in a refusal.
const MAX_LISTED: usize = 40;

/// What to do to a text.
pub(super) struct Edit {
    /// What is replaced; empty for an insertion.
    pub(super) range: Range<usize>,
    /// What comes there.
    pub(super) text: String,
    /// The bytes of the definition that is there now, with its comments and annotations.
    pub(super) present: Option<Range<usize>>,
}

/// Plans the edit of a text without a byte order mark.
pub(super) fn plan(ctx: &Ctx<'_>, text: &str, args: &Args) -> Result<Edit, Refusal> {
    let kind = args.symbol_type.kind();
    let (class, name) = match args.method_name.rsplit_once('.') {
        Some((class, name)) => (Some(class), name),
        None => (None, args.method_name.as_str()),
    };
    let tree = syntax::parse(ctx, text)?;
    let lines = lines::of(text);
    // A file whose own lines do not agree has no style to follow.
    let style = lines::style(text, &lines).unwrap_or(None);
    let new = definition::read(ctx, &args.new_definition, kind, name, style)?;
    let script = Script { text, lines, crlf: uses_crlf(text) };
    let named = named(&tree, text, class, name);
    let mut same: Vec<&Symbol<'_, '_>> = named.iter().filter(|one| one.kind == kind).collect();
    if class.is_none() && args.create_if_missing && same.iter().all(|one| !one.class.is_empty()) {
        // What is to be created without a class is the script's own.
        same.clear();
    }
    match same[..] {
        [symbol] => script.replace(symbol, &new),
        [] => {
            let class = class.unwrap_or_default();
            if let Some(other) = named.iter().find(|one| one.kind != kind && one.class == class) {
                return Err(other_kind(other, kind));
            }
            if !args.create_if_missing {
                return Err(missing(&tree, text, args));
            }
            script.insert(&tree, class, &new)
        }
        _ => Err(ambiguous(&same, &args.method_name)),
    }
}

/// Whether most lines end in CRLF.
fn uses_crlf(text: &str) -> bool {
    let all = text.matches('\n').count();
    all > 0 && text.matches("\r\n").count() * 2 >= all
}

fn named<'n, 't>(
    tree: &'n Tree,
    text: &'t str,
    class: Option<&str>,
    name: &str,
) -> Vec<Symbol<'n, 't>> {
    let mut found = vec![];
    symbols::each(tree.root_node(), text, |symbol| {
        let here = class.is_none_or(|class| class == symbol.class);
        if here && symbol.name == name && symbol.kind != Kind::Script {
            found.push(symbol);
        }
        ControlFlow::Continue(())
    });
    found
}

fn other_kind(found: &Symbol<'_, '_>, wanted: Kind) -> Refusal {
    let message = format!(
        "`{}` in line {} is a {}, and not a {}",
        found.path(),
        found.line(),
        word(found.kind),
        word(wanted)
    );
    Refusal::new(codes::INVALID_ARGUMENTS, message)
        .retry_with(json!({ "symbol_type": word(found.kind) }))
}

fn missing(tree: &Tree, text: &str, args: &Args) -> Refusal {
    let kind = args.symbol_type.kind();
    let mut there = vec![];
    symbols::each(tree.root_node(), text, |symbol| {
        if symbol.kind == kind && there.len() < MAX_LISTED {
            there.push(symbol.path());
        }
        ControlFlow::Continue(())
    });
    let message = format!("the script declares no {} `{}`", word(kind), args.method_name);
    Refusal::new(codes::NOT_FOUND, message)
        .with("declared", there)
        .retry_with(json!({ "create_if_missing": true }))
}

fn ambiguous(found: &[&Symbol<'_, '_>], name: &str) -> Refusal {
    let places: Vec<Value> = found
        .iter()
        .take(MAX_LISTED)
        .map(|one| {
            let scope = if one.class.is_empty() { "the script" } else { &one.class };
            let send = if one.class.is_empty() { format!(".{name}") } else { one.path() };
            json!({ "scope": scope, "line": one.line(), "method_name": send })
        })
        .collect();
    let message = format!("`{name}` is declared {} times; name the scope with it", found.len());
    Refusal::new(codes::INVALID_ARGUMENTS, message).with("candidates", places).field("method_name")
}

/// The text that is edited.
struct Script<'t> {
    text: &'t str,
    lines: Vec<Line>,
    crlf: bool,
}

impl Script<'_> {
    fn replace(&self, symbol: &Symbol<'_, '_>, new: &Definition) -> Result<Edit, Refusal> {
        let old = pieces::of(symbol.node, symbol.kind, self.text, &self.lines);
        let base = old.base.clone().map_or("", |range| &self.text[range]);
        let (start, text) = composed(self.text, &old, new, base);
        let several = text.contains('\n');
        if several && (old.base.is_none() || old.shares_end) {
            let message = format!(
                "`{}` in line {} shares its line with other code, where a definition of one line fits; \
                 replace what surrounds it",
                symbol.path(),
                symbol.line()
            );
            return Err(Refusal::invalid("new_definition", message));
        }
        let line = self.text[..old.start()].rfind('\n').map_or(0, |newline| newline + 1);
        let from = if old.base.is_some() { line } else { old.start() };
        let present = Some(from..old.core.end);
        Ok(self.edit(start..old.core.end, &text, present))
    }

    fn insert(&self, tree: &Tree, class: &str, new: &Definition) -> Result<Edit, Refusal> {
        if class.is_empty() {
            return Ok(self.append(new));
        }
        let mut holder = None;
        symbols::each(tree.root_node(), self.text, |symbol| {
            let found = symbol.kind == Kind::Class && symbol.path() == class;
            if found {
                holder = Some(pieces::of(symbol.node, Kind::Class, self.text, &self.lines));
            }
            if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let Some(holder) = holder else {
            let message = format!("the script declares no class `{class}`");
            return Err(Refusal::new(codes::NOT_FOUND, message).field("method_name"));
        };
        let head = pieces::line_at(&self.lines, holder.core.start);
        let last = pieces::block_end(&self.lines, head);
        let member = self.lines[head + 1..=last]
            .iter()
            .find(|line| line.kind == LineKind::Statement && line.indent > self.lines[head].indent);
        let (Some(member), true) = (member, holder.base.is_some()) else {
            let message =
                format!("the class `{class}` has its body on one line; replace it as a whole");
            return Err(Refusal::new(codes::INVALID_ARGUMENTS, message)
                .retry_with(json!({ "symbol_type": "class", "method_name": class })));
        };
        let base = &self.text[member.range.start..member.range.start + member.indent];
        let at = self.lines[last].range.end;
        let text = format!("\n\n{base}{}", moved(&new.text, base));
        Ok(self.edit(at..at, &text, None))
    }

    /// At the end of the script, one line end away from what is there.
    fn append(&self, new: &Definition) -> Edit {
        let at = self.text.len();
        let ended = self.text.is_empty() || self.text.ends_with('\n');
        let apart = self.text.is_empty()
            || self.lines.last().is_some_and(|line| line.kind == LineKind::Blank);
        let lead = if apart { "" } else { "\n" };
        let tail = if ended { "\n" } else { "" };
        self.edit(at..at, &format!("{lead}{}{tail}", new.text), None)
    }

    fn edit(&self, range: Range<usize>, text: &str, present: Option<Range<usize>>) -> Edit {
        let text = if self.crlf { text.replace('\n', "\r\n") } else { text.to_owned() };
        Edit { range, text, present }
    }
}

/// What will stand in place of a declaration, its lines ended by `\n`, and where it begins to differ.
///
/// Comments and annotations are taken from the new definition where it has some; else they stay.
fn composed(text: &str, old: &Pieces, new: &Definition, base: &str) -> (usize, String) {
    let own = &new.pieces;
    let core = moved(&new.text[own.core.clone()], base);
    // A function with a body is not abstract, whatever stood there.
    let kept: Vec<Range<usize>> = (old.annotations.iter())
        .filter(|range| !(new.has_body && text[(*range).clone()].starts_with("@abstract")))
        .cloned()
        .collect();
    let keeps_annotations = own.annotations.is_empty() && kept.len() == old.annotations.len();
    if own.docs.is_empty() && keeps_annotations {
        return (old.core.start, core);
    }
    let mut whole = String::new();
    let (docs, of) =
        if own.docs.is_empty() { (&old.docs, text) } else { (&own.docs, new.text.as_str()) };
    for doc in docs {
        whole.push_str(&of[doc.clone()]);
        whole.push('\n');
        whole.push_str(base);
    }
    let new_ones = !own.annotations.is_empty();
    let (annotations, of, behind) = if new_ones {
        (&own.annotations, new.text.as_str(), own.core.start)
    } else {
        (&kept, text, old.core.start)
    };
    for (number, one) in annotations.iter().enumerate() {
        let piece = &of[one.clone()];
        whole.push_str(&if new_ones { moved(piece, base) } else { piece.replace("\r\n", "\n") });
        let next = annotations.get(number + 1).map_or(behind, |next| next.start);
        if of[one.end..next].contains('\n') {
            whole.push('\n');
            whole.push_str(base);
        } else {
            whole.push(' ');
        }
    }
    (old.start(), whole + &core)
}
