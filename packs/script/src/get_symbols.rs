//! `script_get_symbols`: what a script declares, in file order.
//!
//! Only declarations are listed: of the script, and of its inner classes with the class they belong to.
//! Variables inside functions, lambdas and text inside strings are none. A text that does not compile still
//! has symbols; the answer then counts the places that could not be read.
//!
//! Spec: P-53, scripts.

use std::ops::ControlFlow;

use didi_gdscript::{
    faults,
    symbols::{self, Kind, Symbol},
};
use didi_plugin_api::prelude::*;

use crate::{source, syntax};

/// Bound of the listed declarations, in bytes of JSON.
const MAX_RESPONSE_BYTES: usize = 8 << 20;
/// Faults counted; more are not told apart.
const MAX_FAULTS: usize = 1000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// This or `source_text`.
    #[schemars(length(max = 1024))]
    file_path: Option<String>,
    #[schemars(length(max = 8_388_608))]
    source_text: Option<String>,
    #[serde(default = "default_max_symbols")]
    #[schemars(range(min = 1, max = 100_000))]
    max_symbols: usize,
}

fn default_max_symbols() -> usize {
    2000
}

// Only `file_path` is promised: the tool list pays for every word of a published schema.
#[derive(Default, Serialize, JsonSchema)]
struct Out {
    file_path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    class_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extends: Option<String>,
    #[schemars(with = "Option<Vec<Entry>>")]
    functions: Vec<Entry>,
    #[schemars(with = "Option<Vec<Entry>>")]
    variables: Vec<Entry>,
    #[schemars(with = "Option<Vec<Entry>>")]
    constants: Vec<Entry>,
    #[schemars(with = "Option<Vec<Entry>>")]
    signals: Vec<Entry>,
    #[schemars(with = "Option<Vec<Entry>>")]
    enums: Vec<Entry>,
    #[schemars(with = "Option<Vec<Entry>>")]
    classes: Vec<Entry>,
    #[schemars(with = "Option<usize>")]
    symbol_count_total: usize,
    #[schemars(with = "Option<usize>")]
    returned_count: usize,
    #[schemars(with = "Option<usize>")]
    max_symbols: usize,
    #[schemars(with = "Option<usize>")]
    max_response_bytes: usize,
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(with = "Option<usize>")]
    syntax_errors: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// One declaration. Members that a kind does not have are left out.
#[derive(Default, Serialize, JsonSchema)]
struct Entry {
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<usize>,
    /// The inner class that it belongs to, `A.B` for one in another.
    #[serde(skip_serializing_if = "String::is_empty")]
    class: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    return_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<Vec<String>>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exported: Option<bool>,
    #[serde(rename = "static", skip_serializing_if = "Option::is_none")]
    is_static: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    members: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extends: Option<String>,
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "script_get_symbols",
        "Lists a GDScript's functions, variables, constants, signals, enums and inner classes. \
         Use before editing or calling a script.",
        Effects::READS,
        run,
    )
    .core()
    .bounded("max_symbols and 8 MiB")
    .output::<Out>()
    .refuses(&[
        codes::NOT_FOUND,
        codes::FORBIDDEN,
        codes::FILE_TOO_LARGE,
        codes::BINARY_OR_INVALID_UTF8,
    ])
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let (file_path, bytes) = source(ctx, &args)?;
    let text = didi_gdscript::text_of(&bytes).ok_or_else(|| source::not_text(&file_path))?;
    let tree = syntax::parse(ctx, text)?;
    let mut list = Listing::new(args.max_symbols);
    symbols::each(tree.root_node(), text, |symbol| {
        list.take(&symbol);
        if ctx.cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    ctx.check()?;
    let head = symbols::head(tree.root_node(), text);
    let truncated = list.out.symbol_count_total > list.out.returned_count;
    let out = Out {
        file_path,
        class_name: head.class_name,
        extends: head.extends,
        max_symbols: args.max_symbols,
        max_response_bytes: MAX_RESPONSE_BYTES,
        syntax_errors: faults::of_tree(&tree, text, MAX_FAULTS).len(),
        ..list.out
    };
    Ok(Answer::of(out)?.truncated(truncated))
}

/// The script's path, empty for a text that was sent, and its bytes.
fn source(ctx: &Ctx<'_>, args: &Args) -> Result<(String, Vec<u8>), Refusal> {
    match (&args.file_path, &args.source_text) {
        (Some(path), None) => {
            let place = source::place(ctx, path)?;
            Ok((place.res_path(), source::read(ctx, &place)?))
        }
        (None, Some(text)) => Ok((String::new(), text.clone().into_bytes())),
        (Some(_), Some(_)) => Err(Refusal::new(
            codes::INVALID_ARGUMENTS,
            "both `file_path` and `source_text` were sent, and exactly one is accepted",
        )
        .field("source_text")),
        (None, None) => Err(source::neither()),
    }
}

/// The declarations seen so far, and the bounds.
struct Listing {
    out: Out,
    max_symbols: usize,
    bytes_left: usize,
}

impl Listing {
    fn new(max_symbols: usize) -> Self {
        Listing { out: Out::default(), max_symbols, bytes_left: MAX_RESPONSE_BYTES }
    }

    fn take(&mut self, symbol: &Symbol<'_, '_>) {
        let entry = entry(symbol);
        match symbol.kind {
            Kind::Script => {}
            Kind::Class => self.keep(entry, |out| &mut out.classes),
            Kind::Function => self.keep(entry, |out| &mut out.functions),
            Kind::Variable => self.keep(entry, |out| &mut out.variables),
            Kind::Constant => self.keep(entry, |out| &mut out.constants),
            Kind::Signal => self.keep(entry, |out| &mut out.signals),
            Kind::Enum => self.keep(entry, |out| &mut out.enums),
        }
    }

    fn keep(&mut self, entry: Entry, of: impl FnOnce(&mut Out) -> &mut Vec<Entry>) {
        self.out.symbol_count_total += 1;
        if self.out.returned_count == self.max_symbols || self.bytes_left == 0 {
            return;
        }
        let size = serde_json::to_vec(&entry).map_or(0, |json| json.len() + 1);
        // Once one does not fit none does, so that what is listed stays a prefix of the file.
        self.bytes_left = self.bytes_left.saturating_sub(size);
        if self.bytes_left == 0 {
            return;
        }
        of(&mut self.out).push(entry);
        self.out.returned_count += 1;
    }
}

fn entry(symbol: &Symbol<'_, '_>) -> Entry {
    let (line, end) = (symbol.line(), symbol.end_line());
    let base = Entry {
        name: symbol.name.to_owned(),
        line,
        end_line: (end > line).then_some(end),
        class: symbol.class.clone(),
        ..Entry::default()
    };
    match symbol.kind {
        Kind::Script => base,
        Kind::Class => Entry { extends: symbol.extends(), ..base },
        Kind::Function => Entry {
            parameters: Some(symbol.parts()),
            return_type: symbol.return_type(),
            is_static: symbol.is_static().then_some(true),
            ..base
        },
        Kind::Variable => Entry {
            kind: symbol.value_type(),
            exported: Some(symbol.is_exported()),
            is_static: symbol.is_static().then_some(true),
            ..base
        },
        Kind::Constant => Entry { kind: symbol.value_type(), value: symbol.value(), ..base },
        Kind::Signal => Entry { arguments: Some(symbol.parts()), ..base },
        Kind::Enum => Entry { members: Some(symbol.parts()), ..base },
    }
}

#[cfg(test)]
mod tests;
