//! Checks of the repository itself: headers, layering, numbers that exist, names that are real.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use didi_tests::repository;

/// Folders of the repository with files of ours.
const FOLDERS: [&str; 5] = ["core", "plugin-api", "packs", "tests", "docs"];

/// Files of ours with one of these endings, by their path in the repository.
fn files(endings: &[&str]) -> Vec<(String, String)> {
    let root = repository();
    let mut found = vec![];
    let mut open: Vec<PathBuf> = FOLDERS.iter().map(|folder| root.join(folder)).collect();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() && entry.file_name() != "target" {
                open.push(path);
            } else if kind.is_file() && has_ending(&path, endings) {
                let name = path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
                if let Ok(text) = fs::read_to_string(&path) {
                    found.push((name, text));
                }
            }
        }
    }
    found.sort();
    found
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    path.extension().is_some_and(|ending| endings.iter().any(|one| ending == *one))
}

fn none(faults: Vec<String>, what: &str) {
    assert!(faults.is_empty(), "{what}:\n{}", faults.join("\n"));
}

#[test]
fn every_source_file_says_what_it_is_for() {
    // Unit tests stand beside the file that says it.
    let tests = |name: &str| name.ends_with("/tests.rs") || name.ends_with("_tests.rs");
    let silent = files(&["rs"])
        .into_iter()
        .filter(|(name, text)| !tests(name) && !text.starts_with("//!"))
        .map(|(name, _)| name)
        .collect();
    none(silent, "files that do not open with `//!`");
}

/// Every `P-n` of a text.
fn numbers(text: &str) -> BTreeSet<u32> {
    let digits = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>();
    text.split("P-").skip(1).filter_map(|rest| digits(rest).parse().ok()).collect()
}

#[test]
fn every_spec_number_is_a_section_of_the_protocol() {
    let protocol = fs::read_to_string(repository().join("docs/protocol.md")).unwrap();
    let headings: String = protocol.lines().filter(|line| line.starts_with("## ")).collect();
    let known = numbers(&headings);
    let mut faults = vec![];
    for (name, text) in files(&["rs"]) {
        for line in text.lines().filter(|line| line.contains("Spec: P-")) {
            for number in numbers(line).difference(&known) {
                faults.push(format!("{name}: P-{number}"));
            }
        }
    }
    none(faults, "section numbers that docs/protocol.md does not have");
}

#[test]
fn no_file_names_a_place_of_one_machine() {
    // Written apart, so that this file does not name them.
    let places = [["/wo", "rk/"], ["/ho", "me/"], ["/Us", "ers/"], ["C:\\Us", "ers"]];
    let mut faults = vec![];
    for (name, text) in files(&["rs", "md", "toml", "json", "txt", "snap", "sh"]) {
        for place in places.map(|parts| parts.concat()) {
            if text.contains(&place) {
                faults.push(format!("{name}: {place}"));
            }
        }
    }
    none(faults, "files that name a place of one machine");
}

/// What a pack may be made of besides the api and our readers: serialisation, parsers, codecs and search.
const PACK_DEPENDENCIES: [&str; 17] = [
    "didi-plugin-api",
    "didi-formats",
    "didi-gdscript",
    "didi-project",
    "grep-matcher",
    "grep-regex",
    "grep-searcher",
    "indexmap",
    "memchr",
    "miniz_oxide",
    "png",
    "roxmltree",
    "schemars",
    "serde",
    "serde_json",
    "tree-sitter",
    "tree-sitter-gdscript",
];

/// Names in one section of a manifest.
fn section(manifest: &str, name: &str) -> BTreeSet<String> {
    let head = format!("[{name}]");
    let lines = manifest.lines().skip_while(|line| line.trim() != head).skip(1);
    lines
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split(['.', '=', ' ']).next())
        .filter(|name| !name.is_empty() && !name.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

#[test]
fn packs_are_made_of_the_api_parsers_and_search_alone() {
    let mut faults = vec![];
    for (name, text) in files(&["toml"]) {
        if !name.starts_with("packs/") || !name.ends_with("Cargo.toml") {
            continue;
        }
        for dependency in section(&text, "dependencies") {
            if !PACK_DEPENDENCIES.contains(&dependency.as_str()) {
                faults.push(format!("{name}: {dependency}"));
            }
        }
    }
    none(faults, "dependencies that a pack may not have");
}

/// Modules of the host that know the protocol.
const PROTOCOL: [&str; 6] = ["front/", "jsonrpc", "mcp/", "serve.rs", "tour", "lib.rs"];

/// What the modules below may use of it, with the reason.
const ALLOWED: [(&str, &str); 3] = [
    // An unknown tool is the client program's fault, which only a protocol error can say.
    ("dispatch/", "jsonrpc::ProtocolError"),
    // What the process was started with, which the control room shows.
    ("builtin/mod.rs", "mcp::Facts"),
    // A replaced pack is told to the clients that listen.
    ("watch.rs", "mcp::Server"),
];

#[test]
fn only_the_protocol_modules_know_the_protocol() {
    let mut faults = vec![];
    for (name, text) in files(&["rs"]) {
        let Some(inner) = name.strip_prefix("core/host/src/") else { continue };
        if PROTOCOL.iter().any(|module| inner.starts_with(module)) || inner.ends_with("tests.rs") {
            continue;
        }
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            let knows = ["jsonrpc::", "mcp::"].iter().any(|module| line.contains(module));
            let allowed =
                |(place, use_): &(&str, &str)| inner.starts_with(place) && line.contains(use_);
            if knows && !ALLOWED.iter().any(allowed) {
                faults.push(format!("{name}: {}", line.trim()));
            }
        }
    }
    none(faults, "modules below the protocol that use it");
}

/// The packages of the workspace, by their folder.
fn packages() -> BTreeSet<String> {
    let manifests = files(&["toml"]).into_iter().filter(|(name, _)| name.ends_with("/Cargo.toml"));
    manifests
        // Fixture packs are no part of the workspace.
        .filter(|(name, _)| {
            !name.starts_with("tests/packs/") && !name.starts_with("tests/fixtures/")
        })
        .filter_map(|(_, text)| {
            let line = text.lines().find(|line| line.starts_with("name = "))?;
            Some(line.trim_start_matches("name = ").trim_matches('"').to_owned())
        })
        .collect()
}

#[test]
fn the_architecture_names_every_crate_and_no_other() {
    let text = fs::read_to_string(repository().join("docs/architecture.md")).unwrap();
    let named = |name: &str| text.contains(&format!("`{name}`"));
    let packages = packages();
    let missing = packages.iter().filter(|name| !named(name)).cloned().collect();
    none(missing, "crates that docs/architecture.md does not name");
    let words = text.split('`').filter(|word| word.starts_with("didi-"));
    let unreal = words.filter(|word| !packages.contains(*word)).map(str::to_owned).collect();
    none(unreal, "crates that docs/architecture.md names and that are not there");
}

#[test]
fn the_table_of_transcripts_is_whole_and_real() {
    let text = fs::read_to_string(repository().join("docs/testing.md")).unwrap();
    let named: BTreeSet<&str> =
        text.split('`').filter(|word| has_ending(Path::new(word), &["txt"])).collect();
    let there: Vec<String> = files(&["txt"])
        .into_iter()
        .filter_map(|(name, _)| name.strip_prefix("tests/fixtures/stdio/").map(str::to_owned))
        .collect();
    let unlisted = there.iter().filter(|name| !named.contains(name.as_str())).cloned().collect();
    none(unlisted, "transcripts that docs/testing.md does not list");
    let unreal = named.iter().filter(|name| !there.iter().any(|one| one == *name));
    none(unreal.map(ToString::to_string).collect(), "transcripts that are not there");
}

#[test]
fn every_transcript_opens_with_what_it_shows() {
    let silent = files(&["txt"])
        .into_iter()
        .filter(|(name, text)| name.starts_with("tests/fixtures/stdio/") && !text.starts_with("# "))
        .map(|(name, _)| name)
        .collect();
    none(silent, "transcripts without a first line that says what holds");
}

#[test]
fn the_tables_name_tests_that_are_there() {
    let text = fs::read_to_string(repository().join("docs/testing.md")).unwrap();
    let is_case = |line: &&str| line.starts_with("| BL-");
    assert!(text.lines().filter(is_case).count() > 40, "the table of cases is there");
    let rows = text.lines().filter(|line| is_case(line) || line.contains(".rs::"));
    let mut faults = vec![];
    for row in rows {
        let tests: Vec<&str> = row.split('`').filter(|word| word.contains(".rs::")).collect();
        let transcripts = row.split('`').any(|word| has_ending(Path::new(word), &["txt"]));
        if tests.is_empty() && !transcripts {
            faults.push(format!("no test: {row}"));
        }
        for test in tests {
            let (file, name) = test.split_once("::").unwrap();
            let source = fs::read_to_string(repository().join(file)).unwrap_or_default();
            let declared = format!("#[test]\nfn {name}() {{");
            if !source.contains(&declared) && !is_property(&source, name) {
                faults.push(test.to_owned());
            }
        }
    }
    none(faults, "tests that docs/testing.md names and that are not there");
}

/// Whether a test stands under more than the usual attribute, or in a macro.
fn is_property(source: &str, name: &str) -> bool {
    let mut lines = source.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim() == "#[test]" {
            let declared = lines.by_ref().find(|line| !line.trim().starts_with(['#', '/']));
            if declared.is_some_and(|line| line.trim().starts_with(&format!("fn {name}("))) {
                return true;
            }
        }
    }
    false
}

/// The rows of docs/testing.md below a header line, by their first cell.
fn rows<'t>(text: &'t str, header: &str) -> Vec<(&'t str, &'t str)> {
    let lines = text.lines().skip_while(|line| !line.starts_with(header)).skip(2);
    let rows = lines.take_while(|line| line.starts_with('|'));
    rows.map(|row| (row.split('`').nth(1).unwrap_or_default(), row)).collect()
}

#[test]
fn the_table_of_live_tools_has_every_one() {
    let text = fs::read_to_string(repository().join("docs/testing.md")).unwrap();
    let rows = rows(&text, "| live tool |");
    let manifest = didi_tests::server::run(&["--dump-tool-manifest"]).out;
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let is_live = |tool: &&serde_json::Value| {
        tool["modes"].as_array().unwrap().iter().any(|mode| mode == "live")
    };
    let live: Vec<_> = manifest["tools"].as_array().unwrap().iter().filter(is_live).collect();
    let name = |tool: &serde_json::Value| tool["name"].as_str().unwrap().to_owned();
    let names: Vec<String> = live.iter().map(|tool| name(tool)).collect();
    assert!(names.len() > 60, "the manifest is read: {names:?}");
    let has_row = |tool: &str| rows.iter().any(|(name, _)| *name == tool);
    let missing = names.into_iter().filter(|it| !has_row(it));
    none(missing.collect(), "live tools that docs/testing.md has no row for");
    let unreal = rows.iter().filter(|(row, _)| !live.iter().any(|tool| name(tool) == *row));
    none(unreal.map(|(row, _)| (*row).to_owned()).collect(), "rows of tools that are not live");
    // That a named test is there is looked at with the other tables.
    let bare = rows.iter().filter(|(_, row)| !row.contains(".rs::") || row.contains("|  |"));
    none(bare.map(|(row, _)| (*row).to_owned()).collect(), "rows without a test or a way to look");
    let calls = |file: &str, tool: &str| {
        let source = fs::read_to_string(repository().join(file)).unwrap_or_default();
        source.contains(&format!("\"{tool}\""))
    };
    let mut silent = vec![];
    for (tool, row) in rows {
        let tests = row.split('`').filter(|word| word.contains(".rs::"));
        let files = tests.filter_map(|test| test.split("::").next());
        silent
            .extend(files.filter(|file| !calls(file, tool)).map(|file| format!("{tool}: {file}")));
    }
    none(silent, "tests that do not call the tool of their row");
}
