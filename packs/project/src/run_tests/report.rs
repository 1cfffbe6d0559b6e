//! The `JUnit` report that both frameworks write, each in its own dialect.
//!
//! Counts are taken from the tests themselves and not from the sums that the report claims.
//!
//! Spec: P-50, test runs.

use std::{
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
};

use roxmltree::{Document, Node};
use serde::Serialize;

/// Largest report that is read, in bytes.
const MAX_REPORT_BYTES: u64 = 16 << 20;
/// Characters of one message.
const MAX_MESSAGE_CHARS: usize = 2_000;
const FILE_NAME: &str = "results.xml";

/// Why there is no report to judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    Missing,
    Unreadable(String),
}

#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) counts: Counts,
    pub(super) tests: Vec<Test>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(super) struct Counts {
    pub(super) total: usize,
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) errors: usize,
    pub(super) skipped: usize,
    pub(super) no_assertions: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Passed,
    Failed,
    Error,
    Skipped,
    NoAssertions,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Test {
    pub(super) suite: String,
    pub(super) name: String,
    pub(super) status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<u32>,
    /// Where the suite's names say that its script lies.
    #[serde(skip)]
    pub(super) named_file: Option<String>,
}

impl Test {
    pub(super) fn passed(&self) -> bool {
        self.status == Status::Passed
    }

    pub(super) fn stops_a_pass(&self) -> bool {
        matches!(self.status, Status::Failed | Status::Error)
    }

    pub(super) fn full_name(&self) -> String {
        format!("{}::{}", self.suite, self.name)
    }
}

/// Reads the report at a path, or the one that lies below it.
pub(super) fn read(place: &Path) -> Result<Report, Fault> {
    let file = find(place).ok_or(Fault::Missing)?;
    let unreadable = |why: String| Fault::Unreadable(why);
    let mut bytes = vec![];
    let opened = File::open(file).map_err(|error| unreadable(error.to_string()))?;
    opened
        .take(MAX_REPORT_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(error.to_string()))?;
    if bytes.len() as u64 > MAX_REPORT_BYTES {
        return Err(unreadable(format!("it is larger than {MAX_REPORT_BYTES} bytes")));
    }
    parse(&String::from_utf8_lossy(&bytes)).map_err(unreadable)
}

/// gdUnit4 makes a folder `report_<n>` for each run.
fn find(place: &Path) -> Option<PathBuf> {
    if place.is_file() {
        return Some(place.to_owned());
    }
    let mut folders: Vec<PathBuf> =
        place.read_dir().ok()?.flatten().map(|entry| entry.path()).collect();
    folders.push(place.to_owned());
    folders.sort();
    folders.iter().rev().map(|folder| folder.join(FILE_NAME)).find(|file| file.is_file())
}

fn parse(text: &str) -> Result<Report, String> {
    // Messages of tests may hold colour codes, which XML does not have.
    let text: String = text.chars().map(|one| if is_xml(one) { one } else { ' ' }).collect();
    let document = Document::parse(text.trim_start_matches('\u{feff}').trim_start())
        .map_err(|error| error.to_string())?;
    let root = document.root_element();
    if !matches!(root.tag_name().name(), "testsuites" | "testsuite") {
        return Err(format!(
            "it begins with `{}` and not with test suites",
            root.tag_name().name()
        ));
    }
    let mut report = Report::default();
    for case in root.descendants().filter(|node| node.has_tag_name("testcase")) {
        let test = test_of(case);
        report.counts.add(test.status);
        report.tests.push(test);
    }
    Ok(report)
}

fn is_xml(one: char) -> bool {
    matches!(one, '\t' | '\n' | '\r') || (one >= ' ' && !matches!(one, '\u{fffe}' | '\u{ffff}'))
}

impl Counts {
    fn add(&mut self, status: Status) {
        self.total += 1;
        *match status {
            Status::Passed => &mut self.passed,
            Status::Failed => &mut self.failed,
            Status::Error => &mut self.errors,
            Status::Skipped => &mut self.skipped,
            Status::NoAssertions => &mut self.no_assertions,
        } += 1;
    }
}

fn test_of(case: Node<'_, '_>) -> Test {
    let child = |name: &str| case.children().find(|node| node.has_tag_name(name));
    let verdicts =
        [("error", Status::Error), ("failure", Status::Failed), ("skipped", Status::Skipped)];
    let found = verdicts.iter().find_map(|(name, status)| Some((child(name)?, *status)));
    let (note, status) = match found {
        Some((note, status)) => (Some(note), status),
        None => (None, bare_status(case)),
    };
    let suite = case.ancestors().find(|node| node.has_tag_name("testsuite"));
    let suite_name = suite.and_then(|suite| suite.attribute("name")).unwrap_or_default();
    let class = case.attribute("classname").unwrap_or(suite_name);
    let head = note.and_then(|note| note.attribute("message")).unwrap_or_default();
    let body: String = note
        .map(|note| note.descendants().filter_map(|one| text_of(one)).collect())
        .unwrap_or_default();
    let place = place_in(head);
    let file = place
        .map(|(file, _)| file.to_owned())
        .or_else(|| script_of(class))
        .or_else(|| script_of(suite_name));
    let line = place.map(|(_, line)| line).or_else(|| line_in(&body));
    Test {
        suite: if suite_name.is_empty() { class } else { suite_name }.to_owned(),
        name: case.attribute("name").unwrap_or_default().to_owned(),
        status,
        message: note.map(|_| message_of(head, &body)),
        file,
        line,
        named_file: suite.and_then(named_file),
    }
}

fn text_of<'a>(node: Node<'a, '_>) -> Option<&'a str> {
    if node.is_text() { node.text() } else { None }
}

/// A test without a note beneath it: GUT says in attributes how it ended.
fn bare_status(case: Node<'_, '_>) -> Status {
    let said = case.attribute("status").unwrap_or("pass").replace(['_', ' '], "");
    match said.as_str() {
        "fail" | "failed" => Status::Failed,
        "error" => Status::Error,
        "pending" | "skipped" | "skip" | "notrun" => Status::Skipped,
        "noasserts" | "noassertions" | "risky" => Status::NoAssertions,
        _ if case.attribute("assertions") == Some("0") => Status::NoAssertions,
        _ => Status::Passed,
    }
}

fn message_of(head: &str, body: &str) -> String {
    let text = if body.trim().is_empty() { head } else { body };
    text.trim().chars().take(MAX_MESSAGE_CHARS).collect()
}

/// `FAILED: res://test/a_test.gd:12`, as gdUnit4 heads a failure.
fn place_in(head: &str) -> Option<(&str, u32)> {
    let at = head.find("res://")?;
    let (file, line) = head[at..].rsplit_once(':')?;
    Some((file, line.trim().parse().ok()?))
}

/// `at line 12`, as GUT ends a failure.
fn line_in(body: &str) -> Option<u32> {
    const BEFORE: &str = "at line ";
    let rest = &body[body.find(BEFORE)? + BEFORE.len()..];
    let end = rest.find(|one: char| !one.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// GUT names a suite by its script, with `res://` or without, and a class inside of one after another dot.
fn script_of(class: &str) -> Option<String> {
    let end = class.find(".gd").map(|at| at + ".gd".len())?;
    let next = class[end..].chars().next();
    let whole = next.is_none_or(|next| next == '.');
    whole.then(|| format!("res://{}", class[..end].trim_start_matches("res://")))
}

/// gdUnit4 gives the folder as a package.
fn named_file(suite: Node<'_, '_>) -> Option<String> {
    let (package, name) = (suite.attribute("package")?, suite.attribute("name")?);
    let folder = package.trim_start_matches("res://").trim_matches('/');
    let inner = format!("{folder}/{name}.gd");
    Some(format!("res://{}", inner.trim_start_matches('/')))
}

#[cfg(test)]
mod tests;
