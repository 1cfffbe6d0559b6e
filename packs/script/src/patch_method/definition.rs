//! The new definition as it was sent: checked to declare the one thing asked for, and indented like its file.
//!
//! Spec: P-53, scripts.

use std::ops::ControlFlow;

use didi_gdscript::{
    lines::{self, Kind as LineKind, Line, Style},
    symbols::{self, Kind},
};
use didi_plugin_api::prelude::*;

use super::pieces::{self, Pieces};
use crate::syntax;

/// A definition in the file's style of indentation, at no level, its lines ended by `\n`.
pub(super) struct Definition {
    pub(super) text: String,
    pub(super) pieces: Pieces,
    /// Whether a function has a body.
    pub(super) has_body: bool,
}

fn unusable(message: impl Into<String>) -> Refusal {
    Refusal::invalid("new_definition", message)
}

/// Reads the definition of `name`. `style` is the file's, where it has one.
pub(super) fn read(
    ctx: &Ctx<'_>,
    sent: &str,
    kind: Kind,
    name: &str,
    style: Option<Style>,
) -> Result<Definition, Refusal> {
    let sent = didi_gdscript::text_of(sent.as_bytes())
        .ok_or_else(|| unusable("`new_definition` holds a NUL character"))?
        .replace("\r\n", "\n");
    let text = indented(trimmed(&sent), style)?;
    let tree = syntax::parse(ctx, &text)?;
    let mut found = vec![];
    symbols::each(tree.root_node(), &text, |symbol| {
        if symbol.class.is_empty() {
            found.push(symbol);
        }
        ControlFlow::Continue(())
    });
    let declared: Vec<String> =
        found.iter().map(|one| format!("{} `{}`", word(one.kind), one.name)).collect();
    let wanted = format!("{} `{name}`", word(kind));
    let [symbol] = &found[..] else {
        let what = if found.is_empty() { "nothing".into() } else { declared.join(", ") };
        return Err(unusable(format!("`new_definition` declares {what}, and not just {wanted}")));
    };
    if symbol.kind != kind || symbol.name != name {
        let what = declared.join("");
        return Err(unusable(format!("`new_definition` declares {what}, and not {wanted}")));
    }
    let pieces = pieces::of(symbol.node, kind, &text, &lines::of(&text));
    let has_body = symbol.node.child_by_field_name("body").is_some();
    Ok(Definition { text, pieces, has_body })
}

/// The word for a kind, as `symbol_type` has it.
pub(super) fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Script => "class_name",
        Kind::Class => "class",
        Kind::Function => "function",
        Kind::Variable => "variable",
        Kind::Constant => "constant",
        Kind::Signal => "signal",
        Kind::Enum => "enum",
    }
}

/// The text without blank lines around it.
fn trimmed(sent: &str) -> &str {
    let sent = sent.trim_end();
    let blank = sent.len() - sent.trim_start().len();
    let start = sent[..blank].rfind('\n').map_or(0, |newline| newline + 1);
    &sent[start..]
}

/// The text in a style, its first statement at no level.
fn indented(sent: &str, style: Option<Style>) -> Result<String, Refusal> {
    let lines = lines::of(sent);
    let own = lines::style(sent, &lines).map_err(|line| {
        unusable(format!("line {line} of `new_definition` is not indented like the lines above it"))
    })?;
    let Some(own) = own else { return Ok(sent.into()) };
    let style = style.unwrap_or(own);
    let levels_of = |line: &Line| own.measure(space_of(sent, line)).0;
    let mut statements = lines.iter().filter(|line| line.kind == LineKind::Statement);
    let base = statements.next().map_or(0, levels_of);
    if statements.any(|line| levels_of(line) < base) {
        return Err(unusable("a line of `new_definition` stands left of its first one"));
    }
    // Copied from inside a class, the first line often comes without the white space that the others keep.
    let statements = lines.iter().filter(|line| line.kind == LineKind::Statement);
    let inner = statements.map(levels_of).filter(|levels| *levels > base).min();
    let extra = inner.map_or(0, |inner| inner - base - 1);
    let level = |levels: usize| {
        if levels > base { (levels - base).saturating_sub(extra).max(1) } else { 0 }
    };
    let mut text = String::with_capacity(sent.len());
    for line in &lines {
        let rest = &sent[line.range.start + line.indent..line.range.end];
        match line.kind {
            LineKind::Blank => {}
            LineKind::InString => text.push_str(&sent[line.range.clone()]),
            LineKind::Statement | LineKind::Comment | LineKind::Continued => {
                let (levels, more) = own.measure(space_of(sent, line));
                text.push_str(&style.levels(level(levels)));
                // Only where a statement goes on may white space be no whole level.
                let more = if line.kind == LineKind::Continued { more } else { 0 };
                text.push_str(&" ".repeat(more));
                text.push_str(rest);
            }
        }
        if line.next > line.range.end {
            text.push('\n');
        }
    }
    Ok(text)
}

fn space_of<'t>(text: &'t str, line: &Line) -> &'t str {
    &text[line.range.start..line.range.start + line.indent]
}

/// A piece of the definition, every line but the first moved to where `base` is.
pub(super) fn moved(piece: &str, base: &str) -> String {
    let mut text = String::with_capacity(piece.len());
    for (number, line) in lines::of(piece).iter().enumerate() {
        let moves = number > 0 && !matches!(line.kind, LineKind::Blank | LineKind::InString);
        text.push_str(if moves { base } else { "" });
        text.push_str(&piece[line.range.start..line.next]);
    }
    text
}
