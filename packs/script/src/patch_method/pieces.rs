//! The parts of a declaration: comments above it, annotations, and the declaration itself.
//!
//! Spec: P-53, scripts.

use std::ops::Range;

use didi_gdscript::{
    Node, annotation_names,
    lines::{Kind as LineKind, Line},
    symbols::{self, Kind},
};

/// Where the parts of a declaration are in its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pieces {
    /// Comment lines that belong to it, each without its white space and line end.
    pub(super) docs: Vec<Range<usize>>,
    /// Annotations that belong to it.
    pub(super) annotations: Vec<Range<usize>>,
    /// The declaration without either.
    pub(super) core: Range<usize>,
    /// White space before it, when nothing else stands before it on its line.
    pub(super) base: Option<Range<usize>>,
    /// Whether other code follows on the last line.
    pub(super) shares_end: bool,
}

impl Pieces {
    /// Where the first part begins.
    pub(super) fn start(&self) -> usize {
        let first = self.docs.iter().chain(&self.annotations).map(|range| range.start).min();
        first.unwrap_or(self.core.start).min(self.core.start)
    }
}

/// The parts of a declaration.
pub(super) fn of(node: Node<'_>, kind: Kind, text: &str, lines: &[Line]) -> Pieces {
    let (mut annotations, core_start) = own_annotations(node);
    annotations.splice(0..0, annotations_above(node, text));
    let first = annotations.first().map_or(core_start, |range| range.start).min(core_start);
    let head = line_at(lines, first);
    let base = text[lines[head].range.start..first].trim().is_empty();
    let core_line = line_at(lines, core_start);
    let end = match kind {
        Kind::Function | Kind::Class if base => lines[block_end(lines, core_line)].range.end,
        _ => node.end_byte(),
    };
    let core = core_start..core_start + text[core_start..end].trim_end().len();
    let rest = &text[core.end..lines[line_at(lines, core.end.saturating_sub(1))].range.end];
    let rest = rest.trim_start().trim_start_matches(';').trim_start();
    Pieces {
        docs: if base { docs(lines, head, core_line, text) } else { vec![] },
        shares_end: !rest.is_empty() && !rest.starts_with('#'),
        base: base.then_some(lines[head].range.start..first),
        annotations,
        core,
    }
}

/// Annotations inside a declaration's node, and where the declaration goes on behind them.
fn own_annotations(node: Node<'_>) -> (Vec<Range<usize>>, usize) {
    let mut found = vec![];
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        match child.kind() {
            "annotations" => {
                let mut inner = child.walk();
                found.extend(child.named_children(&mut inner).map(|one| one.byte_range()));
            }
            "annotation" => found.push(child.byte_range()),
            "comment" => {}
            _ => return (found, child.start_byte()),
        }
    }
    (found, node.start_byte())
}

/// Annotations on lines of their own above a declaration.
fn annotations_above(node: Node<'_>, text: &str) -> Vec<Range<usize>> {
    let mut found = vec![];
    let mut next = node.prev_named_sibling();
    while let Some(sibling) = next {
        match sibling.kind() {
            "annotation"
                if !annotation_names(sibling, text).iter().any(|name| symbols::is_head(name)) =>
            {
                found.push(sibling.byte_range());
            }
            "comment" => {}
            _ => break,
        }
        next = sibling.prev_named_sibling();
    }
    found.reverse();
    found
}

/// Comments between the annotations and the declaration, and those right above.
fn docs(lines: &[Line], head: usize, core_line: usize, text: &str) -> Vec<Range<usize>> {
    let is_doc = |line: &&Line| {
        let own = &text[line.range.start + line.indent..line.range.end];
        line.kind == LineKind::Comment
            && !own.starts_with("#region")
            && !own.starts_with("#endregion")
    };
    let trimmed = |line: &Line| line.range.start + line.indent..line.range.end;
    let mut found: Vec<_> = lines[..head].iter().rev().take_while(is_doc).map(trimmed).collect();
    found.reverse();
    found.extend(lines[head..core_line].iter().filter(is_doc).map(trimmed));
    found
}

/// The line of a byte.
pub(super) fn line_at(lines: &[Line], at: usize) -> usize {
    lines.partition_point(|line| line.next <= at).min(lines.len().saturating_sub(1))
}

/// The last line of a block that begins at `first`: lines that go on, and everything further right.
pub(super) fn block_end(lines: &[Line], first: usize) -> usize {
    let base = lines[first].indent;
    let mut last = first;
    for (number, line) in lines.iter().enumerate().skip(first + 1) {
        match line.kind {
            LineKind::Blank => {}
            LineKind::Comment if line.indent <= base => {}
            LineKind::Statement if line.indent <= base => break,
            LineKind::Continued | LineKind::InString | LineKind::Comment | LineKind::Statement => {
                last = number;
            }
        }
    }
    last
}
