//! `project_search_symbols`: finds declarations of `GDScript` and C# by name, file by file in order of path.
//!
//! `GDScript` is read by its grammar, C# by its words and brackets, and scripts inside scenes and resources as
//! the scripts that they are. Uses of a name, comments and strings are no declarations. A file that does not hold
//! the query at all is not parsed.
//!
//! Spec: P-50, search.

use didi_plugin_api::prelude::*;
use didi_project::walk::{self, File};

use crate::{
    scan::{self, READS},
    searching::{self, Out, Search, Searched},
};

mod builtin;
mod csharp;
mod gdscript;

/// Longest preview, in bytes.
const MAX_PREVIEW_BYTES: usize = 1_024;
/// Most matches of one call.
const MAX_RESULTS: usize = 500;

pub(crate) fn tool() -> Tool {
    Tool::new(
        "project_search_symbols",
        "Finds declarations by name in GDScript and C#.",
        Effects::READS,
        run,
    )
    .core()
    .bounded("max_results; 4 MiB a file, 64 MiB, 10,000 files; previews 1024 bytes")
    .output::<Out<Match>>()
    .refuses(&[codes::INVALID_ARGUMENTS, codes::NOT_FOUND])
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[schemars(length(min = 1, max = 256))]
    query: String,
    #[serde(default = "root")]
    #[schemars(length(min = 6, max = 1024))]
    search_path: String,
    #[serde(default = "didi_plugin_api::schema::yes")]
    case_sensitive: bool,
    #[serde(default = "max_results")]
    #[schemars(range(min = 1, max = 500))]
    max_results: usize,
    #[schemars(length(min = 1, max = 4), extend("uniqueItems" = true))]
    extensions: Option<Vec<Extension>>,
    #[serde(default, rename = "match")]
    how: How,
    #[schemars(length(min = 1, max = 6), extend("uniqueItems" = true))]
    kinds: Option<Vec<Kind>>,
}

fn root() -> String {
    "res://".into()
}

fn max_results() -> usize {
    100
}

// Files that can hold declarations. (A doc comment would be published.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
enum Extension {
    #[serde(rename = ".gd")]
    Gd,
    #[serde(rename = ".cs")]
    Cs,
    #[serde(rename = ".tscn")]
    Tscn,
    #[serde(rename = ".tres")]
    Tres,
}

impl Extension {
    fn of(ending: &str) -> Option<Self> {
        Some(match ending {
            "gd" => Extension::Gd,
            "cs" => Extension::Cs,
            "tscn" => Extension::Tscn,
            "tres" => Extension::Tres,
            _ => return None,
        })
    }
}

#[derive(Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum How {
    Exact,
    #[default]
    Prefix,
    Contains,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Class,
    Function,
    Signal,
    Variable,
    Constant,
    Enum,
}

/// A declaration: what, by which name, and where in the text that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Declared {
    kind: Kind,
    name: String,
    /// First byte of the name.
    at: usize,
}

// A field with a schema default is not published as required, which saves a reader's bytes.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(default)]
struct Match {
    path: String,
    line: usize,
    column: usize,
    kind: &'static str,
    name: String,
    language: &'static str,
    preview: String,
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let start = walk::folder(ctx, &args.search_path, "search_path")?;
    if args.query.is_empty() || args.query.contains(char::is_whitespace) {
        return Err(Refusal::invalid(
            "query",
            "`query` is no part of a name, which has letters and no blanks",
        ));
    }
    let wanted = Wanted::new(&args);
    let max_results = args.max_results.clamp(1, MAX_RESULTS);
    let asked = args.extensions.as_deref();
    let takes = |ending: &str| {
        let extension = Extension::of(ending)?;
        Some(asked.is_none_or(|asked| asked.contains(&extension)))
    };
    let look = |file: &File| search(file, &wanted);
    searching::search(ctx, Search::Symbols, &start, max_results, takes, look)
}

/// What is looked for.
struct Wanted {
    /// In lower case unless case counts.
    query: String,
    case_sensitive: bool,
    how: How,
    kinds: Option<Vec<Kind>>,
}

impl Wanted {
    fn new(args: &Args) -> Self {
        let query =
            if args.case_sensitive { args.query.clone() } else { args.query.to_lowercase() };
        Wanted {
            query,
            case_sensitive: args.case_sensitive,
            how: args.how,
            kinds: args.kinds.clone(),
        }
    }

    fn may_be_in(&self, text: &str) -> bool {
        if self.case_sensitive {
            return memchr::memmem::find(text.as_bytes(), self.query.as_bytes()).is_some();
        }
        text.to_lowercase().contains(&self.query)
    }

    fn takes(&self, declared: &Declared) -> bool {
        let lower;
        let name = if self.case_sensitive {
            &declared.name
        } else {
            lower = declared.name.to_lowercase();
            &lower
        };
        let named = match self.how {
            How::Exact => *name == self.query,
            How::Prefix => name.starts_with(&self.query),
            How::Contains => name.contains(&self.query),
        };
        named && self.kinds.as_ref().is_none_or(|kinds| kinds.contains(&declared.kind))
    }
}

/// Searches one file; the error is a sentence.
fn search(file: &File, wanted: &Wanted) -> Result<Searched<Match>, String> {
    let bytes = scan::read(file, READS.file_bytes)?;
    let mut searched = Searched { bytes: bytes.len() as u64, matches: vec![], cut: false };
    let Some(text) = didi_gdscript::text_of(&bytes) else {
        return Err("it is not UTF-8 text without NUL".into());
    };
    if !wanted.may_be_in(text) {
        return Ok(searched);
    }
    let (language, declared) = match Extension::of(&file.extension()) {
        Some(Extension::Cs) => ("csharp", csharp::declarations(text)),
        Some(Extension::Tscn | Extension::Tres) => ("gdscript", builtin::declarations(text)),
        _ => ("gdscript", gdscript::declarations(text)),
    };
    for one in declared.into_iter().filter(|one| wanted.takes(one)) {
        let start = text[..one.at].rfind('\n').map_or(0, |newline| newline + 1);
        let line = text[start..].lines().next().unwrap_or_default();
        let preview = whole_characters(line.trim(), MAX_PREVIEW_BYTES);
        searched.cut |= preview.len() < line.trim().len();
        searched.matches.push(Match {
            path: file.path.clone(),
            line: text[..start].matches('\n').count() + 1,
            column: text[start..one.at].chars().count() + 1,
            kind: word(one.kind),
            name: one.name,
            language,
            preview: preview.into(),
        });
    }
    Ok(searched)
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Class => "class",
        Kind::Function => "function",
        Kind::Signal => "signal",
        Kind::Variable => "variable",
        Kind::Constant => "constant",
        Kind::Enum => "enum",
    }
}

fn whole_characters(line: &str, max_bytes: usize) -> &str {
    let end = (0..=max_bytes.min(line.len())).rfind(|end| line.is_char_boundary(*end));
    &line[..end.unwrap_or(0)]
}
