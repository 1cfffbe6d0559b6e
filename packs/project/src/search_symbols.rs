//! `project_search_symbols`: finds declarations of `GDScript` and C# by name, file by file in order of path.
//!
//! `GDScript` is read by its grammar, C# by its words and brackets, and scripts inside scenes and resources as
//! the scripts that they are. Uses of a name, comments and strings are no declarations. A file that does not hold
//! the query at all is not parsed.
//!
//! Spec: P-50, search.

use std::{collections::BTreeSet, ops::ControlFlow};

use didi_plugin_api::prelude::*;
use didi_project::{
    parallel,
    walk::{self, File},
};

use crate::{
    refuse::invalid,
    scan::{self, READS},
};

mod builtin;
mod csharp;
mod gdscript;

/// Longest preview, in bytes.
const MAX_PREVIEW_BYTES: usize = 1_024;
/// Most matches of one call.
const MAX_RESULTS: usize = 500;
/// Most problems that are listed.
const MAX_DIAGNOSTICS: usize = 20;
/// Most endings that are listed.
const MAX_EXTENSIONS: usize = 64;

pub(crate) fn tool() -> Tool {
    Tool::new(
        "project_search_symbols",
        "Finds declarations by name in GDScript and C#.",
        Effects::READS,
        run,
    )
    .core()
    .bounded("max_results; 4 MiB a file, 64 MiB, 10,000 files; previews 1024 bytes")
    .output::<Out>()
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
    #[serde(default = "yes")]
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

fn yes() -> bool {
    true
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

#[derive(Debug, Serialize)]
struct Diagnostic {
    path: String,
    message: String,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
struct Out {
    matches: Vec<Match>,
    #[schemars(default)]
    search_kind: &'static str,
    #[schemars(default)]
    lexical: bool,
    #[schemars(default)]
    scanned_files: usize,
    #[schemars(default)]
    scanned_bytes: u64,
    #[schemars(default)]
    skipped_files: usize,
    #[schemars(default)]
    unsearchable_files: usize,
    #[schemars(default, with = "Vec<String>")]
    unsearchable_extensions: BTreeSet<String>,
    #[schemars(default, schema_with = "crate::answer::objects")]
    diagnostics: Vec<Diagnostic>,
    #[schemars(default)]
    project_root: String,
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let start = walk::folder(ctx, &args.search_path, "search_path")?;
    if args.query.is_empty() || args.query.contains(char::is_whitespace) {
        return Err(invalid(
            "query",
            "`query` is no part of a name, which has letters and no blanks",
        ));
    }
    let wanted = Wanted::new(&args);
    let mut report = Report::new(ctx, args.max_results.clamp(1, MAX_RESULTS));
    let candidates = candidates(ctx, &start, args.extensions.as_deref(), &mut report)?;
    parallel::each(
        ctx,
        &candidates,
        |file| search(file, &wanted),
        |file, searched| report.take(file, searched),
    )?;
    Ok(Answer::of(report.out)?.truncated(report.truncated))
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

/// The files that are read, as far as the bounds go.
fn candidates(
    ctx: &Ctx<'_>,
    start: &ProjectPath,
    wanted: Option<&[Extension]>,
    report: &mut Report,
) -> Result<Vec<File>, Refusal> {
    let (mut found, mut bytes) = (vec![], 0);
    let met = walk::files(ctx, start, |file| {
        let ending = file.extension();
        let Some(extension) = Extension::of(&ending) else {
            report.unsearchable(ending);
            return ControlFlow::Continue(());
        };
        if wanted.is_some_and(|wanted| !wanted.contains(&extension)) {
            return ControlFlow::Continue(());
        }
        if file.size > READS.file_bytes {
            let message = format!("{} bytes, and at most {} are read", file.size, READS.file_bytes);
            report.skip(&file.path, message);
            report.truncated = true;
            return ControlFlow::Continue(());
        }
        if found.len() == READS.files || bytes + file.size > READS.bytes {
            report.truncated = true;
            return ControlFlow::Break(());
        }
        bytes += file.size;
        found.push(file);
        ControlFlow::Continue(())
    })?;
    for path in &met.undecodable {
        report.skip(path, "its name is not UTF-8".into());
    }
    report.truncated |= met.failed;
    Ok(found)
}

/// What the search of one file gave.
struct Searched {
    bytes: u64,
    matches: Vec<Match>,
    /// Whether a preview was cut.
    cut: bool,
}

/// Searches one file; the error is a sentence.
fn search(file: &File, wanted: &Wanted) -> Result<Searched, String> {
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

/// The answer while it grows.
struct Report {
    out: Out,
    max_results: usize,
    truncated: bool,
}

impl Report {
    fn new(ctx: &Ctx<'_>, max_results: usize) -> Self {
        let project_root = ctx.project().root().folder().to_string_lossy().into_owned();
        let out = Out { search_kind: "symbols", lexical: true, project_root, ..Out::default() };
        Report { out, max_results, truncated: false }
    }

    fn unsearchable(&mut self, ending: String) {
        self.out.unsearchable_files += 1;
        if !ending.is_empty() && self.out.unsearchable_extensions.len() < MAX_EXTENSIONS {
            self.out.unsearchable_extensions.insert(format!(".{ending}"));
        }
    }

    fn skip(&mut self, path: &str, message: String) {
        self.out.skipped_files += 1;
        if self.out.diagnostics.len() < MAX_DIAGNOSTICS {
            self.out.diagnostics.push(Diagnostic { path: path.into(), message });
        }
    }

    fn take(&mut self, file: &File, searched: Result<Searched, String>) -> ControlFlow<()> {
        let searched = match searched {
            Ok(searched) => searched,
            Err(why) => {
                self.skip(&file.path, why);
                return ControlFlow::Continue(());
            }
        };
        self.out.scanned_files += 1;
        self.out.scanned_bytes += searched.bytes;
        self.truncated |= searched.cut;
        self.out.matches.extend(searched.matches);
        if self.out.matches.len() <= self.max_results {
            return ControlFlow::Continue(());
        }
        self.out.matches.truncate(self.max_results);
        self.truncated = true;
        ControlFlow::Break(())
    }
}

#[cfg(test)]
mod tests;
