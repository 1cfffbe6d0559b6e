//! What a search of text and one of symbols have in common: the files that are read, and the answer as it grows.
//!
//! Spec: P-50, searches.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    ops::ControlFlow,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use didi_plugin_api::prelude::*;
use didi_project::{
    parallel,
    walk::{self, File, Met, Seen},
};

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

/// The search of one file; the error is a sentence.
type OfFile<M> = Result<Searched<M>, String>;

/// A file that is to be searched, and its search where that is done.
type Found<M> = (File, Option<OfFile<M>>);

/// The answer while it grows.
struct Report<M> {
    out: Out<M>,
    max_results: usize,
    truncated: bool,
}

/// Searches the files below a folder and answers with what was found first in order of path.
///
/// `takes` says of an ending whether it can be searched and, if so, whether it was asked for. `look` searches one
/// file: while the folders are still listed, and as far as the bounds and the matches found so far allow.
pub(crate) fn search<M: Serialize + Send>(
    ctx: &Ctx<'_>,
    search: Search,
    start: &ProjectPath,
    max_results: usize,
    takes: impl Fn(&str) -> Option<bool> + Sync,
    look: impl Fn(&File) -> OfFile<M> + Sync,
) -> ToolResult {
    let mut report = Report::new(ctx, search, max_results);
    let mut found = gather(ctx, &mut report, start, takes, &look)?;
    let open = found.iter().position(|(_, searched)| searched.is_none()).unwrap_or(found.len());
    let left: Vec<_> =
        found.split_off(open).into_iter().map(|(file, done)| (file, Mutex::new(done))).collect();
    for (file, searched) in found {
        if searched.is_some_and(|searched| report.take(&file, searched).is_break()) {
            return report.answer();
        }
    }
    parallel::each(
        ctx,
        &left,
        |(file, done)| {
            let done = done.lock().unwrap_or_else(PoisonError::into_inner).take();
            done.unwrap_or_else(|| look(file))
        },
        |(file, _), searched| report.take(file, searched),
    )?;
    report.answer()
}

/// The files within the bounds in order of path, each with its search where that was done on the way.
fn gather<M: Serialize + Send>(
    ctx: &Ctx<'_>,
    report: &mut Report<M>,
    start: &ProjectPath,
    takes: impl Fn(&str) -> Option<bool> + Sync,
    look: impl Fn(&File) -> OfFile<M> + Sync,
) -> Result<Vec<Found<M>>, Refusal> {
    let ahead = Ahead::new(report.max_results);
    let (mut found, mut bytes) = (vec![], 0);
    let met = walk::files_looked_at(
        ctx,
        start,
        |path| takes(&walk::extension(path)) == Some(true),
        |file| ahead.look(file, &look),
        |seen| {
            let (file, searched) = match seen {
                Seen::File(file, searched) if report.wants(&file) => (file, searched),
                Seen::File(..) => return ControlFlow::Continue(()),
                Seen::Passed(path) => {
                    report.passed(&path, &takes);
                    return ControlFlow::Continue(());
                }
            };
            if found.len() == READS.files || bytes + file.size > READS.bytes {
                report.truncated = true;
                return ControlFlow::Break(());
            }
            bytes += file.size;
            found.push((file, searched));
            ControlFlow::Continue(())
        },
    )?;
    report.met(&met);
    Ok(found)
}

/// What is searched while the folders are still listed: no more than one answer can hold.
struct Ahead {
    max_matches: usize,
    matches: AtomicUsize,
    files: AtomicUsize,
    bytes: AtomicU64,
}

impl Ahead {
    fn new(max_results: usize) -> Self {
        let (matches, files, bytes) = Default::default();
        Ahead { max_matches: max_results, matches, files, bytes }
    }

    fn look<M>(&self, file: &File, look: impl Fn(&File) -> OfFile<M>) -> Option<OfFile<M>> {
        if file.size > READS.file_bytes || self.matches.load(Ordering::Relaxed) > self.max_matches {
            return None;
        }
        let files = self.files.fetch_add(1, Ordering::Relaxed);
        let bytes = self.bytes.fetch_add(file.size, Ordering::Relaxed);
        if files >= READS.files || bytes + file.size > READS.bytes {
            return None;
        }
        let searched = look(file);
        let matches = searched.as_ref().map_or(0, |searched| searched.matches.len());
        self.matches.fetch_add(matches, Ordering::Relaxed);
        Some(searched)
    }
}

impl<M: Serialize> Report<M> {
    fn new(ctx: &Ctx<'_>, search: Search, max_results: usize) -> Self {
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

    /// Counts a file that was not asked for, or can't be searched.
    fn passed(&mut self, path: &str, takes: impl Fn(&str) -> Option<bool>) {
        let ending = walk::extension(path);
        if takes(&ending).is_none() {
            self.unsearchable(&ending);
        }
    }

    /// Whether a file is short enough; a longer one is said.
    fn wants(&mut self, file: &File) -> bool {
        if file.size <= READS.file_bytes {
            return true;
        }
        let message = format!("{} bytes, and at most {} are read", file.size, READS.file_bytes);
        self.skip(&file.path, message);
        self.truncated = true;
        false
    }

    /// What the walk met beside the files.
    fn met(&mut self, met: &Met) {
        for path in &met.undecodable {
            self.skip(path, "its name is not UTF-8");
        }
        self.truncated |= met.failed;
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
    fn take(&mut self, file: &File, searched: OfFile<M>) -> ControlFlow<()> {
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

    fn answer(self) -> ToolResult {
        Ok(Answer::of(self.out)?.truncated(self.truncated))
    }
}
