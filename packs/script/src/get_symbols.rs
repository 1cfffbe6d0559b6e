//! `script_get_symbols`: what a script declares, in file order.
//!
//! Only declarations are listed: of the script, and of its inner classes with the class they belong to.
//! Variables inside functions, lambdas and text inside strings are none. A text that does not compile still
//! has symbols; the answer then counts the places that could not be read.
//!
//! Spec: P-53, scripts.

use didi_plugin_api::prelude::*;
use tree_sitter::Node;

use crate::syntax;

/// Largest script read, in bytes.
const MAX_SCRIPT_BYTES: u64 = 8 << 20;
/// Bound of the listed declarations, in bytes of JSON.
const MAX_RESPONSE_BYTES: usize = 8 << 20;
/// Longest piece of source quoted for one value or parameter, in characters.
const MAX_QUOTED_CHARS: usize = 240;
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
    let text = syntax::text_of(&bytes).ok_or_else(|| not_text(&file_path))?;
    let tree = syntax::parse(ctx, text)?;
    let mut list = Listing::new(text, args.max_symbols);
    list.walk(ctx, tree.root_node())?;
    let truncated = list.out.symbol_count_total > list.out.returned_count;
    let out = Out {
        file_path,
        max_symbols: args.max_symbols,
        max_response_bytes: MAX_RESPONSE_BYTES,
        syntax_errors: syntax::faults(&tree, text, MAX_FAULTS).len(),
        ..list.out
    };
    Ok(Answer::of(out)?.truncated(truncated))
}

/// The script's path, empty for a text that was sent, and its bytes.
fn source(ctx: &Ctx<'_>, args: &Args) -> Result<(String, Vec<u8>), Refusal> {
    match (&args.file_path, &args.source_text) {
        (Some(path), None) => {
            let place = ctx.project().resolve(path, "file_path")?;
            if place.extension() != "gd" {
                let message = format!("`{}` is not a `.gd` script", place.res_path());
                return Err(Refusal::new(codes::INVALID_ARGUMENTS, message).field("file_path"));
            }
            Ok((place.res_path(), ctx.project().read(&place, MAX_SCRIPT_BYTES)?))
        }
        (None, Some(text)) => Ok((String::new(), text.clone().into_bytes())),
        (Some(_), Some(_)) => Err(Refusal::new(
            codes::INVALID_ARGUMENTS,
            "both `file_path` and `source_text` were sent, and exactly one is accepted",
        )
        .field("source_text")),
        (None, None) => Err(Refusal::new(
            codes::INVALID_ARGUMENTS,
            "neither `file_path` nor `source_text` was sent, and exactly one is needed",
        )
        .field("file_path")),
    }
}

fn not_text(file_path: &str) -> Refusal {
    let (field, what) = if file_path.is_empty() {
        ("source_text", "the text sent")
    } else {
        ("file_path", file_path)
    };
    let message = format!("`{what}` is not UTF-8 text without NUL, which scripts have to be");
    Refusal::new(codes::BINARY_OR_INVALID_UTF8, message).field(field)
}

/// The declarations seen so far, and the bounds.
struct Listing<'t> {
    text: &'t str,
    out: Out,
    max_symbols: usize,
    bytes_left: usize,
}

/// A node still to be visited.
struct Scope<'n> {
    node: Node<'n>,
    /// The class that it belongs to.
    class: String,
    /// Whether an annotation on a line above it exports it.
    exported_above: bool,
}

impl<'t> Listing<'t> {
    fn new(text: &'t str, max_symbols: usize) -> Self {
        Listing { text, out: Out::default(), max_symbols, bytes_left: MAX_RESPONSE_BYTES }
    }

    /// Visits every declaration in file order. A list of its own in place of recursion: classes nest as
    /// deep as the text likes.
    fn walk(&mut self, ctx: &Ctx<'_>, root: Node<'_>) -> Result<(), Refusal> {
        let mut open = vec![Scope { node: root, class: String::new(), exported_above: false }];
        while let Some(scope) = open.pop() {
            ctx.check()?;
            if let Some(class) = self.visit(&scope) {
                let from = open.len();
                self.open(scope.node, &class, &mut open);
                open[from..].reverse();
            }
        }
        Ok(())
    }

    /// Lists what is inside a node, with the annotations that stand on lines of their own above it.
    fn open<'n>(&self, node: Node<'n>, class: &str, open: &mut Vec<Scope<'n>>) {
        let mut exported_above = false;
        let mut cursor = node.walk();
        for node in node.named_children(&mut cursor) {
            match node.kind() {
                "comment" => {}
                "annotation" => exported_above |= self.exports(node),
                _ => {
                    open.push(Scope { node, class: class.to_owned(), exported_above });
                    exported_above = false;
                }
            }
        }
    }

    /// Takes a declaration up. Answers the class of what is inside, where declarations can be inside.
    fn visit(&mut self, scope: &Scope<'_>) -> Option<String> {
        let (node, class) = (scope.node, scope.class.as_str());
        match node.kind() {
            "source" | "class_body" | "ERROR" => return Some(class.into()),
            "class_definition" => return Some(self.class(node, class)),
            "class_name_statement" => self.class_name(node),
            "extends_statement" if class.is_empty() => self.extends(node),
            "function_definition" | "constructor_definition" => self.function(node, class),
            "variable_statement" | "export_variable_statement" | "onready_variable_statement" => {
                self.variable(node, class, scope.exported_above);
            }
            "const_statement" => {
                let entry = Entry {
                    kind: self.field(node, "type").filter(|kind| !kind.starts_with(':')),
                    value: node
                        .child_by_field_name("value")
                        .map(|value| cut(syntax::of(value, self.text))),
                    ..self.entry(node, class)
                };
                self.keep(entry, |out| &mut out.constants);
            }
            "signal_statement" => {
                let arguments = Some(self.list(node, "parameters"));
                let entry = Entry { arguments, ..self.entry(node, class) };
                self.keep(entry, |out| &mut out.signals);
            }
            "enum_definition" => {
                let entry =
                    Entry { members: Some(self.list(node, "body")), ..self.entry(node, class) };
                self.keep(entry, |out| &mut out.enums);
            }
            _ => {}
        }
        None
    }

    fn class(&mut self, node: Node<'_>, class: &str) -> String {
        let entry = self.entry(node, class);
        let path = match class.len() {
            0 => entry.name.clone(),
            1..=MAX_QUOTED_CHARS => format!("{class}.{}", entry.name),
            _ => class.to_owned(),
        };
        let extends = node.child_by_field_name("extends").map(|base| self.base_of(base));
        self.keep(Entry { extends, ..entry }, |out| &mut out.classes);
        path
    }

    fn class_name(&mut self, node: Node<'_>) {
        self.out.class_name = self.field(node, "name");
        if let Some(base) = node.child_by_field_name("extends") {
            self.extends(base);
        }
    }

    fn extends(&mut self, node: Node<'_>) {
        self.out.extends = Some(self.base_of(node));
    }

    fn base_of(&self, node: Node<'_>) -> String {
        let base = quoted(syntax::of(node, self.text));
        base.trim_start_matches("extends").trim().to_owned()
    }

    fn function(&mut self, node: Node<'_>, class: &str) {
        let entry = self.entry(node, class);
        let entry = Entry {
            name: if node.kind() == "constructor_definition" { "_init".into() } else { entry.name },
            parameters: Some(self.list(node, "parameters")),
            return_type: self.field(node, "return_type"),
            is_static: has_static(node).then_some(true),
            ..entry
        };
        self.keep(entry, |out| &mut out.functions);
    }

    fn variable(&mut self, node: Node<'_>, class: &str, exported_above: bool) {
        let mut cursor = node.walk();
        let exported = exported_above
            || node.kind() == "export_variable_statement"
            || node.named_children(&mut cursor).any(|child| self.exports(child));
        let entry = Entry {
            kind: self.field(node, "type").filter(|kind| !kind.starts_with(':')),
            exported: Some(exported),
            is_static: has_static(node).then_some(true),
            ..self.entry(node, class)
        };
        self.keep(entry, |out| &mut out.variables);
    }

    /// `@export` in all its forms. `@export_group` and its kin head the inspector and export nothing.
    fn exports(&self, node: Node<'_>) -> bool {
        let heads = ["export_group", "export_subgroup", "export_category"];
        let names = syntax::annotation_names(node, self.text);
        names.iter().any(|name| name.starts_with("export") && !heads.contains(name))
    }

    fn entry(&self, node: Node<'_>, class: &str) -> Entry {
        let name = node.child_by_field_name("name");
        let at = name.unwrap_or(node).start_position().row + 1;
        let end = last_line(node, self.text);
        Entry {
            name: name.map(|name| syntax::of(name, self.text).to_owned()).unwrap_or_default(),
            line: at,
            end_line: (end > at).then_some(end),
            class: class.to_owned(),
            ..Entry::default()
        }
    }

    fn field(&self, node: Node<'_>, name: &str) -> Option<String> {
        node.child_by_field_name(name).map(|child| quoted(syntax::of(child, self.text)))
    }

    /// The named parts of a field, such as the parameters of a function, less comments.
    fn list(&self, node: Node<'_>, field: &str) -> Vec<String> {
        let Some(list) = node.child_by_field_name(field) else { return vec![] };
        let mut cursor = list.walk();
        list.named_children(&mut cursor)
            .filter(|part| !part.is_extra() && !part.is_error())
            .map(|part| quoted(syntax::of(part, self.text)))
            .collect()
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

fn has_static(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).any(|child| child.kind() == "static_keyword")
}

/// The last line with something on it: a body's node ends at the start of the line below it.
fn last_line(node: Node<'_>, text: &str) -> usize {
    let own = syntax::of(node, text);
    let blank = &own[own.trim_end().len()..];
    node.end_position().row + 1 - blank.matches('\n').count()
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
