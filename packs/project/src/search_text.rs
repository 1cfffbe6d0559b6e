//! `project_search_text`: finds literal text in the project's text formats, file by file in order of path.
//!
//! Each occurrence is a match. Files are read whole, searched on several threads and taken in order, so that
//! the answer does not depend on how many there are.
//!
//! Spec: P-50, search.

use std::{collections::BTreeSet, fs, io::Read, ops::ControlFlow};

use didi_plugin_api::prelude::*;
use didi_project::{
    parallel,
    walk::{self, File},
};
use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};

use crate::refuse::invalid;

#[cfg(test)]
mod tests;

/// Largest file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;
/// Bytes that one call reads.
const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// Files that one call reads.
const MAX_FILES: usize = 10_000;
/// Longest preview, in bytes.
const MAX_PREVIEW_BYTES: usize = 1_024;
/// Bytes of a long line that are shown before the match.
const BYTES_BEFORE: usize = 256;
/// Most matches of one call.
const MAX_RESULTS: usize = 500;
/// Most problems that are listed.
const MAX_DIAGNOSTICS: usize = 20;
/// Most endings that are listed.
const MAX_EXTENSIONS: usize = 64;

pub(crate) fn tool() -> Tool {
    Tool::new(
        "project_search_text",
        "Finds literal text in scripts, scenes, resources, shaders and settings of the project.",
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
    #[schemars(length(min = 1, max = 10), extend("uniqueItems" = true))]
    extensions: Option<Vec<Extension>>,
    #[serde(default)]
    whole_word: bool,
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

// The text formats. (A doc comment would be published.)
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
    #[serde(rename = ".gdshader")]
    Gdshader,
    #[serde(rename = ".gdshaderinc")]
    Gdshaderinc,
    #[serde(rename = ".godot")]
    Godot,
    #[serde(rename = ".cfg")]
    Cfg,
    #[serde(rename = ".json")]
    Json,
    #[serde(rename = ".import")]
    Import,
}

impl Extension {
    fn of(ending: &str) -> Option<Self> {
        Some(match ending {
            "gd" => Extension::Gd,
            "cs" => Extension::Cs,
            "tscn" => Extension::Tscn,
            "tres" => Extension::Tres,
            "gdshader" => Extension::Gdshader,
            "gdshaderinc" => Extension::Gdshaderinc,
            "godot" => Extension::Godot,
            "cfg" => Extension::Cfg,
            "json" => Extension::Json,
            "import" => Extension::Import,
            _ => return None,
        })
    }
}

// A field with a schema default is not published as required, which saves a reader's bytes.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(default)]
struct Match {
    path: String,
    line: u64,
    column: usize,
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
    let matcher = matcher(&args)?;
    let max_results = args.max_results.clamp(1, MAX_RESULTS);
    let mut report = Report::new(ctx, max_results);
    let candidates = candidates(ctx, &start, args.extensions.as_deref(), &mut report)?;
    parallel::each(
        ctx,
        &candidates,
        |file| search(file, &matcher, max_results + 1),
        |file, searched| report.take(file, searched),
    )?;
    Ok(Answer::of(report.out)?.truncated(report.truncated))
}

fn matcher(args: &Args) -> Result<RegexMatcher, Refusal> {
    if args.query.is_empty() {
        return Err(invalid("query", "`query` is empty"));
    }
    if args.query.contains(['\n', '\r']) {
        return Err(invalid(
            "query",
            "`query` holds a line break, and lines are searched one by one",
        ));
    }
    RegexMatcherBuilder::new()
        .fixed_strings(true)
        .case_insensitive(!args.case_sensitive)
        .word(args.whole_word)
        .line_terminator(Some(b'\n'))
        .build(&args.query)
        .map_err(|error| invalid("query", format!("`query` can't be searched for: {error}")))
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
        if file.size > MAX_FILE_BYTES {
            let message = format!("{} bytes, and at most {MAX_FILE_BYTES} are read", file.size);
            report.skip(&file.path, message);
            report.truncated = true;
            return ControlFlow::Continue(());
        }
        if found.len() == MAX_FILES || bytes + file.size > MAX_BYTES {
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
fn search(file: &File, matcher: &RegexMatcher, max_matches: usize) -> Result<Searched, String> {
    let mut bytes = vec![];
    let opened =
        fs::File::open(&file.real).map_err(|error| format!("it can't be read: {error}"))?;
    opened
        .take(MAX_FILE_BYTES)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("it can't be read: {error}"))?;
    let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    if std::str::from_utf8(text).is_err() {
        return Err("it is not UTF-8 text".into());
    }
    let mut searcher: Searcher = SearcherBuilder::new()
        .binary_detection(BinaryDetection::none())
        .bom_sniffing(false)
        .line_number(true)
        .build();
    let mut collector =
        Collector { path: &file.path, matcher, max_matches, found: vec![], cut: false };
    searcher
        .search_slice(matcher, text, &mut collector)
        .map_err(|error| format!("it can't be searched: {error}"))?;
    let Collector { found: matches, cut, .. } = collector;
    Ok(Searched { bytes: bytes.len() as u64, matches, cut })
}

/// Takes the occurrences out of the lines that match.
struct Collector<'c> {
    path: &'c str,
    matcher: &'c RegexMatcher,
    max_matches: usize,
    found: Vec<Match>,
    cut: bool,
}

impl Sink for Collector<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, line: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        let number = line.line_number().unwrap_or(0);
        // The file was checked to be UTF-8, and a line is a part of it between line breaks.
        let text = std::str::from_utf8(line.bytes()).map_err(std::io::Error::other)?;
        let text = text.trim_end_matches(['\n', '\r']);
        self.matcher.find_iter(text.as_bytes(), |at| {
            let (preview, cut) = preview(text, at.start());
            self.cut |= cut;
            self.found.push(Match {
                path: self.path.into(),
                line: number,
                column: text[..at.start()].chars().count() + 1,
                preview,
            });
            self.found.len() < self.max_matches
        })?;
        Ok(self.found.len() < self.max_matches)
    }
}

/// The line, or the part of a long one around a match, and whether it was cut.
fn preview(line: &str, at: usize) -> (String, bool) {
    if line.len() <= MAX_PREVIEW_BYTES {
        return (line.into(), false);
    }
    let start = at.saturating_sub(BYTES_BEFORE).min(line.len() - MAX_PREVIEW_BYTES);
    let start = (start..=at).find(|start| line.is_char_boundary(*start)).unwrap_or(at);
    let end = start + MAX_PREVIEW_BYTES;
    let end = (start..=end.min(line.len())).rfind(|end| line.is_char_boundary(*end));
    (line[start..end.unwrap_or(start)].into(), true)
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
        let out = Out { search_kind: "text", project_root, ..Out::default() };
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
