//! What a search of text and one of symbols have in common: the files that are read, and the answer as it grows.
//!
//! Spec: P-50, searches.

use std::{borrow::Cow, collections::BTreeSet, ops::ControlFlow};

use didi_plugin_api::prelude::*;
use didi_project::walk::{self, File};

use crate::scan::READS;

/// Most problems that are listed.
const MAX_DIAGNOSTICS: usize = 20;
/// Most endings that are listed.
const MAX_EXTENSIONS: usize = 64;

/// A file that was not read, and why.
#[derive(Debug, Serialize)]
pub(crate) struct Diagnostic {
    path: String,
    message: String,
}

/// The answer of a search.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Out")]
pub(crate) struct Out<M> {
    matches: Vec<M>,
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

/// What the search of one file gave.
pub(crate) struct Searched<M> {
    pub(crate) bytes: u64,
    pub(crate) matches: Vec<M>,
    /// Whether a preview was cut.
    pub(crate) cut: bool,
}

/// Which of the two searches it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Search {
    Text,
    Symbols,
}

/// The answer while it grows.
pub(crate) struct Report<M> {
    out: Out<M>,
    max_results: usize,
    truncated: bool,
}

impl<M: Serialize> Report<M> {
    pub(crate) fn new(ctx: &Ctx<'_>, search: Search, max_results: usize) -> Self {
        let out = Out {
            matches: vec![],
            search_kind: match search {
                Search::Text => "text",
                Search::Symbols => "symbols",
            },
            lexical: search == Search::Symbols,
            scanned_files: 0,
            scanned_bytes: 0,
            skipped_files: 0,
            unsearchable_files: 0,
            unsearchable_extensions: BTreeSet::new(),
            diagnostics: vec![],
            project_root: ctx.project().root().folder().to_string_lossy().into_owned(),
        };
        Report { out, max_results, truncated: false }
    }

    /// The files below a folder that are read, as far as the bounds go; `takes` says of an ending whether it can
    /// be searched and, if so, whether it was asked for.
    pub(crate) fn candidates(
        &mut self,
        ctx: &Ctx<'_>,
        start: &ProjectPath,
        takes: impl Fn(&str) -> Option<bool>,
    ) -> Result<Vec<File>, Refusal> {
        let (mut found, mut bytes) = (vec![], 0);
        let met = walk::files(ctx, start, |file| {
            let ending = file.extension();
            match takes(&ending) {
                Some(true) => {}
                Some(false) => return ControlFlow::Continue(()),
                None => {
                    self.unsearchable(&ending);
                    return ControlFlow::Continue(());
                }
            }
            if file.size > READS.file_bytes {
                let message =
                    format!("{} bytes, and at most {} are read", file.size, READS.file_bytes);
                self.skip(&file.path, message);
                self.truncated = true;
                return ControlFlow::Continue(());
            }
            if found.len() == READS.files || bytes + file.size > READS.bytes {
                self.truncated = true;
                return ControlFlow::Break(());
            }
            bytes += file.size;
            found.push(file);
            ControlFlow::Continue(())
        })?;
        for path in &met.undecodable {
            self.skip(path, "its name is not UTF-8");
        }
        self.truncated |= met.failed;
        Ok(found)
    }

    fn unsearchable(&mut self, ending: &str) {
        self.out.unsearchable_files += 1;
        if !ending.is_empty() && self.out.unsearchable_extensions.len() < MAX_EXTENSIONS {
            self.out.unsearchable_extensions.insert(format!(".{ending}"));
        }
    }

    fn skip(&mut self, path: &str, message: impl Into<Cow<'static, str>>) {
        self.out.skipped_files += 1;
        if self.out.diagnostics.len() < MAX_DIAGNOSTICS {
            let message = message.into().into_owned();
            self.out.diagnostics.push(Diagnostic { path: path.into(), message });
        }
    }

    /// Takes what one file gave; breaks when there is room for no more.
    pub(crate) fn take(
        &mut self,
        file: &File,
        searched: Result<Searched<M>, String>,
    ) -> ControlFlow<()> {
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

    pub(crate) fn answer(self) -> ToolResult {
        Ok(Answer::of(self.out)?.truncated(self.truncated))
    }
}
