//! `project_search_text`: finds literal text in the project's text formats, file by file in order of path.
//!
//! Each occurrence is a match. Files are read whole, searched on several threads and taken in order, so that
//! the answer does not depend on how many there are.
//!
//! Spec: P-50, search.

use std::cell::RefCell;

use didi_plugin_api::prelude::*;
use didi_project::walk::{self, File};
use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};

use crate::{
    scan::{self, READS},
    searching::{self, Out, Search, Searched},
};

#[cfg(test)]
mod tests;

/// Longest preview, in bytes.
const MAX_PREVIEW_BYTES: usize = 1_024;
/// Bytes of a long line that are shown before the match.
const BYTES_BEFORE: usize = 256;
/// Largest buffer that a thread keeps, in bytes.
const MAX_BUFFER_BYTES: usize = 256 * 1024;
/// Most matches of one call.
const MAX_RESULTS: usize = 500;

pub(crate) fn tool() -> Tool {
    Tool::new(
        "project_search_text",
        "Finds literal text in scripts, scenes, resources, shaders and settings of the project.",
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
    #[schemars(length(min = 1, max = 10), extend("uniqueItems" = true))]
    extensions: Option<Vec<Extension>>,
    #[serde(default)]
    whole_word: bool,
}

fn root() -> String {
    "res://".into()
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

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let start = walk::folder(ctx, &args.search_path, "search_path")?;
    let matcher = matcher(&args)?;
    let max_results = args.max_results.clamp(1, MAX_RESULTS);
    let wanted = args.extensions.as_deref();
    let takes = |ending: &str| {
        let extension = Extension::of(ending)?;
        Some(wanted.is_none_or(|wanted| wanted.contains(&extension)))
    };
    let look = |file: &File| search(file, &matcher, max_results + 1);
    searching::search(ctx, Search::Text, &start, max_results, takes, look)
}

fn matcher(args: &Args) -> Result<RegexMatcher, Refusal> {
    if args.query.is_empty() {
        return Err(Refusal::invalid("query", "`query` is empty"));
    }
    if args.query.contains(['\n', '\r']) {
        return Err(Refusal::invalid(
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
        .map_err(|error| {
            Refusal::invalid("query", format!("`query` can't be searched for: {error}"))
        })
}

thread_local! {
    /// What a thread reads its files into, one after the other.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(vec![]) };
}

/// Reads and searches one file; the error is a sentence.
fn search(
    file: &File,
    matcher: &RegexMatcher,
    max_matches: usize,
) -> Result<Searched<Match>, String> {
    BUFFER.with_borrow_mut(|bytes| {
        let searched = scan::read_into(file, READS.file_bytes, bytes)
            .and_then(|()| search_bytes(&file.path, bytes, matcher, max_matches));
        // A thread that stays keeps no more than most files need.
        if bytes.capacity() > MAX_BUFFER_BYTES {
            *bytes = vec![];
        }
        searched
    })
}

fn search_bytes(
    path: &str,
    bytes: &[u8],
    matcher: &RegexMatcher,
    max_matches: usize,
) -> Result<Searched<Match>, String> {
    let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    if std::str::from_utf8(text).is_err() {
        return Err("it is not UTF-8 text".into());
    }
    // Most files have no match, and a searcher of lines sets up more than the whole look costs.
    let unmatched = |error| format!("it can't be searched: {error}");
    if !matcher.is_match(text).map_err(unmatched)? {
        return Ok(Searched { bytes: bytes.len() as u64, matches: vec![], cut: false });
    }
    let mut searcher: Searcher = SearcherBuilder::new()
        .binary_detection(BinaryDetection::none())
        .bom_sniffing(false)
        .line_number(true)
        .build();
    let mut collector = Collector { path, matcher, max_matches, found: vec![], cut: false };
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
