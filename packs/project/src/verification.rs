//! Checks proposed files in a copy of the project, by the real engine, before anything is written.
//!
//! The copy lies in the call's scratch folder and has the work that no commit holds yet. Each check runs twice,
//! before and after the files are put in, so that what was wrong before is not held against them.
//!
//! Spec: P-50, proposed changes.
#![allow(clippy::disallowed_methods, reason = "writes into the scratch folder of its own call")]

use std::{
    collections::BTreeMap,
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use didi_plugin_api::{
    ctx::{ChildReport, ChildSpec, Expect},
    digest::sha256_hex,
    prelude::*,
};
use didi_project::walk::{self, File};

/// Longest proposed file, in bytes.
const MAX_CONTENT_BYTES: usize = 1024 * 1024;
/// Largest file that a proposal replaces, in bytes.
const MAX_REPLACED_BYTES: u64 = 64 * 1024 * 1024;
/// What a copy has at most.
const MAX_COPY_BYTES: u64 = 4 * 1024 * 1024 * 1024;
const MAX_COPY_FILES: usize = 100_000;
/// Scripts that are loaded besides the proposed ones.
const MAX_SCRIPTS: usize = 5_000;
/// Error lines of one check, and bytes of one detail.
const MAX_ERRORS: usize = 32;
const MAX_DETAIL_BYTES: usize = 4_096;
/// Output kept of one run, in bytes.
const MAX_OUTPUT_BYTES: usize = 4 * 1024 * 1024;
/// Folders of `.godot` that a copy does not need.
const LEFT_OF_CACHE: [&str; 3] = ["editor", "shader_cache", "mono"];
/// Printed before each file that the loading script loads, and after one that it could not.
const BEGIN: &str = "DIDI_BEGIN ";
const FAILED: &str = "DIDI_FAILED ";

pub(crate) const REFUSALS: [Code; 8] = [
    codes::INVALID_ARGUMENTS,
    codes::NOT_FOUND,
    codes::FORBIDDEN,
    codes::FILE_TOO_LARGE,
    codes::ENGINE_UNAVAILABLE,
    codes::ENGINE_REFUSED,
    codes::TIMEOUT,
    codes::CONFLICT,
];

/// Proposed files and how they are checked.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Proposed {
    #[schemars(length(min = 7, max = 1024))]
    pub(crate) path: String,
    #[schemars(length(max = 1_048_576))]
    pub(crate) content: String,
}

/// What to check.
pub(crate) struct Proposal<'a> {
    pub(crate) changes: &'a [Proposed],
    pub(crate) run_scene: Option<&'a str>,
    pub(crate) run_frames: u32,
    pub(crate) timeout_seconds: u64,
}

/// A proposed file, checked against the project.
pub(crate) struct Checked<'a> {
    pub(crate) path: String,
    pub(crate) content: &'a str,
    /// The file that is there now.
    pub(crate) before: Option<Vec<u8>>,
}

impl Checked<'_> {
    pub(crate) fn expect(&self) -> Expect {
        self.before.as_ref().map_or(Expect::Absent, |bytes| Expect::Sha256(sha256_hex(bytes)))
    }
}

/// One file's verdict.
#[derive(Debug, Serialize)]
struct Verdict {
    path: String,
    ok: bool,
    detail: String,
    truncated: bool,
}

#[derive(Debug, Serialize)]
struct SceneRun {
    ran: bool,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    frames: u32,
    timed_out: bool,
    errors: Vec<String>,
    errors_truncated: bool,
}

/// The verdict on a proposal.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) all_ok: bool,
    scripts: Vec<Verdict>,
    /// Scenes, resources and shaders among the proposed files.
    resources: Vec<Verdict>,
    /// What the engine says of other files, and did not say before.
    project_errors: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scene_run: Option<SceneRun>,
    engine_version: String,
    copied_files: usize,
    copied_bytes: u64,
    /// The copy has the work that is not committed, too.
    carried_uncommitted: bool,
    links_left_out: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_checked: Vec<String>,
    limitations: [&'static str; 2],
    #[serde(skip)]
    pub(crate) truncated: bool,
}

const LIMITATIONS: [&str; 2] = [
    "C# is not built; csharp_check_build does that",
    "links and folders that the engine ignores are not in the copy",
];

/// Checks the proposed files against the project, without an engine.
pub(crate) fn check<'a>(
    ctx: &Ctx<'_>,
    proposal: &Proposal<'a>,
) -> Result<Vec<Checked<'a>>, Refusal> {
    let mut checked: Vec<Checked<'a>> = vec![];
    for change in proposal.changes {
        let place = ctx.project().resolve(&change.path, "changes")?;
        let path = place.res_path();
        let first = path.trim_start_matches("res://").split('/').next().unwrap_or_default();
        if [".git", ".godot", ".didi"].contains(&first.to_ascii_lowercase().as_str()) {
            let message = format!("`{path}` lies in `{first}`, which tools do not write");
            return Err(Refusal::invalid("changes", message));
        }
        if path == "res://" || place.is_dir() {
            return Err(Refusal::invalid("changes", format!("`{path}` is a folder")));
        }
        if change.content.len() > MAX_CONTENT_BYTES {
            let size = change.content.len();
            let message = format!(
                "`{path}` would have {size} bytes, and at most {MAX_CONTENT_BYTES} are taken"
            );
            return Err(Refusal::invalid("changes", message));
        }
        if checked.iter().any(|one| one.path.to_lowercase() == path.to_lowercase()) {
            return Err(Refusal::invalid("changes", format!("`{path}` is named twice")));
        }
        let before = if place.is_file() { Some(place.read(MAX_REPLACED_BYTES)?) } else { None };
        checked.push(Checked { path, content: &change.content, before });
    }
    if let Some(scene) = proposal.run_scene {
        let place = ctx.project().resolve(scene, "run_scene")?;
        let path = place.res_path();
        if !matches!(place.extension().as_str(), "tscn" | "scn") {
            return Err(Refusal::invalid("run_scene", format!("`{path}` is no .tscn or .scn")));
        }
        if !place.is_file() && !checked.iter().any(|one| one.path == path) {
            return Err(
                Refusal::new(codes::NOT_FOUND, format!("no scene `{path}`")).field("run_scene")
            );
        }
    }
    Ok(checked)
}

/// Copies the project, puts the files in and asks the engine.
pub(crate) fn verify(
    ctx: &Ctx<'_>,
    proposal: &Proposal<'_>,
    checked: &[Checked<'_>],
) -> Result<Report, Refusal> {
    let engine_version = ctx.engine()?.version;
    let scratch = ctx.scratch_folder()?;
    let mut bench = Bench {
        ctx,
        project: scratch.join("project"),
        scratch,
        ends_at_ms: ctx.now_ms().saturating_add(proposal.timeout_seconds.clamp(1, 600) * 1_000),
        copied_files: 0,
        copied_bytes: 0,
        links: 0,
        scripts: vec![],
    };
    bench.copy()?;
    let loaded = bench.loaded(checked);
    ctx.progress(1, 4, "the copy as it is");
    bench.import()?;
    let before = bench.load(&loaded)?;
    let scene_before = match proposal.run_scene {
        Some(scene) if bench.place(scene).is_file() => {
            Some(bench.run_scene(scene, proposal.run_frames)?)
        }
        _ => None,
    };
    ctx.progress(2, 4, "the copy with the changes");
    for change in checked {
        bench.put(&change.path, change.content.as_bytes())?;
    }
    bench.import()?;
    let after = bench.load(&loaded)?;
    ctx.progress(3, 4, "checking scripts");
    let mut report = Report {
        all_ok: false,
        scripts: vec![],
        resources: vec![],
        project_errors: vec![],
        scene_run: None,
        engine_version,
        copied_files: bench.copied_files,
        copied_bytes: bench.copied_bytes,
        carried_uncommitted: true,
        links_left_out: bench.links,
        not_checked: vec![],
        limitations: LIMITATIONS,
        truncated: false,
    };
    for change in checked {
        bench.judge(&change.path, &after, &mut report)?;
    }
    let (fresh, cut) = fresh_errors(&before, &after, checked);
    report.project_errors = fresh;
    report.truncated |= cut;
    if let Some(scene) = proposal.run_scene {
        let ran = bench.run_scene(scene, proposal.run_frames)?;
        report.scene_run = Some(scene_verdict(&ran, scene_before.as_ref(), proposal.run_frames));
    }
    let scene_ok = report.scene_run.as_ref().is_none_or(|run| run.ok);
    report.truncated |= report.scene_run.as_ref().is_some_and(|run| run.errors_truncated);
    report.all_ok = scene_ok
        && report.project_errors.is_empty()
        && report.scripts.iter().chain(&report.resources).all(|one| one.ok);
    Ok(report)
}

/// The copy and what runs in it.
struct Bench<'c, 'h> {
    ctx: &'c Ctx<'h>,
    scratch: PathBuf,
    project: PathBuf,
    ends_at_ms: u64,
    copied_files: usize,
    copied_bytes: u64,
    links: usize,
    /// `res://` paths of all scripts of the project.
    scripts: Vec<String>,
}

/// Error lines by the file whose loading gave them.
type Loaded = BTreeMap<String, Load>;

#[derive(Debug, Default)]
struct Load {
    failed: bool,
    errors: Vec<String>,
}

fn broke(what: &str, error: &std::io::Error) -> Refusal {
    Refusal::new(codes::ENGINE_REFUSED, format!("{what}: {error}"))
        .no_remedy("the system's temporary folder can't be used for the copy")
}

impl Bench<'_, '_> {
    fn place(&self, path: &str) -> PathBuf {
        self.project.join(path.trim_start_matches("res://"))
    }

    fn put(&self, path: &str, bytes: &[u8]) -> Result<(), Refusal> {
        let place = self.place(path);
        let folder = place.parent().unwrap_or(&self.project);
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&place, bytes))
            .map_err(|error| broke("the copy can't be written", &error))
    }

    fn copy(&mut self) -> Result<(), Refusal> {
        let root = self.ctx.project().resolve("res://", "project")?;
        let mut files: Vec<File> = vec![];
        let mut bytes = 0_u64;
        let mut full = false;
        let mut take = |file: File| {
            bytes += file.size;
            full |= files.len() >= MAX_COPY_FILES || bytes > MAX_COPY_BYTES;
            files.push(file);
            if full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let met = walk::engine_files(self.ctx, &root, &mut take)?;
        if let Ok(cache) = self.ctx.project().resolve("res://.godot", "project")
            && cache.is_dir()
        {
            walk::all_files(self.ctx, &cache, |file| {
                let inner = file.path.trim_start_matches("res://.godot/");
                if LEFT_OF_CACHE.iter().any(|left| inner.split('/').next() == Some(left)) {
                    return ControlFlow::Continue(());
                }
                take(file)
            })?;
        }
        if full {
            let message = format!(
                "the project has more than {MAX_COPY_FILES} files or {MAX_COPY_BYTES} bytes, and is not copied"
            );
            return Err(Refusal::new(codes::FILE_TOO_LARGE, message)
                .no_remedy("a project of that size is checked in the editor"));
        }
        self.links = met.links;
        for (index, file) in files.iter().enumerate() {
            if index % 64 == 0 {
                self.ctx.check()?;
            }
            let target = self.place(&file.path);
            let folder = target.parent().unwrap_or(&self.project);
            fs::create_dir_all(folder)
                .and_then(|()| fs::copy(&file.real, &target))
                .map_err(|error| broke(&format!("`{}` can't be copied", file.path), &error))?;
        }
        self.scripts = files
            .iter()
            .filter(|file| file.extension() == "gd")
            .map(|file| file.path.clone())
            .take(MAX_SCRIPTS)
            .collect();
        (self.copied_files, self.copied_bytes) = (files.len(), bytes);
        Ok(())
    }

    /// What the loading script loads: all scripts, and the proposed files that are resources.
    fn loaded(&self, checked: &[Checked<'_>]) -> Vec<String> {
        let mut loaded = self.scripts.clone();
        for change in checked {
            let known = loaded.contains(&change.path);
            if !known && matches!(kind_of(&change.path), Some(Kind::Script | Kind::Resource)) {
                loaded.push(change.path.clone());
            }
        }
        loaded
    }

    /// Runs the engine in the copy until its end or the call's.
    fn engine(&self, args: &[&str]) -> Result<ChildReport, Refusal> {
        self.ctx.check()?;
        let left_ms = self.ends_at_ms.saturating_sub(self.ctx.now_ms());
        if left_ms == 0 {
            return Err(late());
        }
        let home = self.scratch.join("home");
        fs::create_dir_all(&home).map_err(|error| broke("no folder can be made", &error))?;
        let home = home.to_string_lossy().into_owned();
        // What the project stores for its player must not reach the real place.
        let places =
            ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "APPDATA", "LOCALAPPDATA"];
        let mut line = vec!["--headless".to_owned(), "--path".into()];
        line.push(self.project.to_string_lossy().into_owned());
        line.extend(args.iter().map(|arg| (*arg).to_owned()));
        self.ctx.run_child(&ChildSpec {
            program: None,
            args: line,
            env: places.iter().map(|name| ((*name).to_owned(), home.clone())).collect(),
            folder: Some(self.project.clone()),
            timeout_ms: left_ms,
            max_output_bytes: MAX_OUTPUT_BYTES,
        })
    }

    fn import(&self) -> Result<(), Refusal> {
        let report = self.engine(&["--import"])?;
        if report.timed_out { Err(late()) } else { Ok(()) }
    }

    /// Loads files one after the other in one process.
    fn load(&self, paths: &[String]) -> Result<Loaded, Refusal> {
        let list = serde_json::to_string(paths).unwrap_or_default();
        let script = format!(
            "extends SceneTree\nfunc _initialize() -> void:\n\tfor path: String in {list}:\n\
             \t\tif not FileAccess.file_exists(path):\n\t\t\tcontinue\n\
             \t\tprinterr(\"{BEGIN}\" + path)\n\
             \t\tif ResourceLoader.load(path) == null:\n\t\t\tprinterr(\"{FAILED}\" + path)\n\
             \tprinterr(\"{BEGIN}\")\n\tquit()\n"
        );
        let file = self.scratch.join("load_all.gd");
        fs::write(&file, script).map_err(|error| broke("the copy can't be written", &error))?;
        let report = self.engine(&["-s", &file.to_string_lossy()])?;
        if report.timed_out {
            return Err(late());
        }
        let mut loaded = Loaded::new();
        let mut at = String::new();
        let mut part: Vec<&str> = vec![];
        for line in report.lines.iter().filter(|line| line.stderr) {
            if let Some(path) = line.text.strip_prefix(BEGIN) {
                loaded.entry(std::mem::take(&mut at)).or_default().errors.extend(errors(&part));
                part.clear();
                path.clone_into(&mut at);
            } else if let Some(path) = line.text.strip_prefix(FAILED) {
                loaded.entry(path.to_owned()).or_default().failed = true;
            } else {
                part.push(&line.text);
            }
        }
        loaded.entry(at).or_default().errors.extend(errors(&part));
        Ok(loaded)
    }

    fn judge(&self, path: &str, after: &Loaded, report: &mut Report) -> Result<(), Refusal> {
        let load = after.get(path);
        match kind_of(path) {
            Some(Kind::Script) => {
                let ran = self.engine(&["--check-only", "--script", path])?;
                if ran.timed_out {
                    return Err(late());
                }
                let text: Vec<&str> = ran.lines.iter().map(|line| line.text.as_str()).collect();
                let errors = errors(&text);
                let ok = ran.exit_code == Some(0) && !load.is_some_and(|load| load.failed);
                report.scripts.push(verdict(path, ok, &errors));
            }
            Some(Kind::Resource) => {
                let none = vec![];
                let errors = load.map_or(&none, |load| &load.errors);
                let ok = load.is_some_and(|load| !load.failed) && errors.is_empty();
                report.resources.push(verdict(path, ok, errors));
            }
            None => report.not_checked.push(path.to_owned()),
        }
        let cut = |list: &[Verdict]| list.last().is_some_and(|last| last.truncated);
        report.truncated |= cut(&report.scripts) || cut(&report.resources);
        Ok(())
    }

    fn run_scene(&self, scene: &str, frames: u32) -> Result<ChildReport, Refusal> {
        let frames = frames.clamp(1, 6_000).to_string();
        self.engine(&["--fixed-fps", "60", "--quit-after", &frames, scene])
    }
}

fn late() -> Refusal {
    Refusal::new(codes::TIMEOUT, "the checks did not end within `timeout_seconds`")
        .field("timeout_seconds")
}

/// What the engine can say of a file.
enum Kind {
    Script,
    Resource,
}

fn kind_of(path: &str) -> Option<Kind> {
    let ending = Path::new(path).extension()?.to_str()?.to_lowercase();
    match ending.as_str() {
        "gd" => Some(Kind::Script),
        "tscn" | "tres" | "gdshader" | "gdshaderinc" => Some(Kind::Resource),
        _ => None,
    }
}

/// Error lines of an output, each with the place that follows it.
fn errors(lines: &[&str]) -> Vec<String> {
    let mut found: Vec<String> = vec![];
    for (index, line) in lines.iter().enumerate() {
        let line = line.trim();
        if !line.contains("ERROR: ") && !line.contains("Parse Error: ") {
            continue;
        }
        let at =
            lines.get(index + 1).map(|next| next.trim()).filter(|next| next.starts_with("at: "));
        let whole = at.map_or_else(|| line.to_owned(), |at| format!("{line} {at}"));
        if !found.contains(&whole) {
            found.push(whole);
        }
    }
    found
}

/// An error without what changes from run to run: line numbers and addresses.
fn lasting(error: &str) -> String {
    error.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}

fn verdict(path: &str, ok: bool, errors: &[String]) -> Verdict {
    let mut truncated = errors.len() > MAX_ERRORS;
    let mut detail = errors.iter().take(MAX_ERRORS).cloned().collect::<Vec<_>>().join("\n");
    if detail.len() > MAX_DETAIL_BYTES {
        let end = (0..=MAX_DETAIL_BYTES).rfind(|end| detail.is_char_boundary(*end)).unwrap_or(0);
        detail.truncate(end);
        truncated = true;
    }
    Verdict { path: path.to_owned(), ok, detail, truncated }
}

/// Errors of other files that were not there before, and whether some were left out.
fn fresh_errors(before: &Loaded, after: &Loaded, checked: &[Checked<'_>]) -> (Vec<String>, bool) {
    let known: Vec<String> =
        before.values().flat_map(|load| &load.errors).map(|error| lasting(error)).collect();
    let mut fresh = vec![];
    for (path, load) in after {
        let proposed = checked.iter().any(|one| one.path == *path);
        for error in &load.errors {
            let error_is_of_proposed =
                proposed || checked.iter().any(|one| error.contains(&format!("{}:", one.path)));
            if !error_is_of_proposed && !known.contains(&lasting(error)) && !fresh.contains(error) {
                fresh.push(error.clone());
            }
        }
        let failed_before = before.get(path).is_some_and(|load| load.failed);
        if load.failed && !failed_before && !proposed {
            fresh.push(format!("`{path}` can't be loaded any more"));
        }
    }
    let cut = fresh.len() > MAX_ERRORS;
    fresh.truncate(MAX_ERRORS);
    (fresh, cut)
}

fn scene_verdict(ran: &ChildReport, before: Option<&ChildReport>, frames: u32) -> SceneRun {
    let lines = |report: &ChildReport| -> Vec<String> {
        let text: Vec<&str> = report.lines.iter().map(|line| line.text.as_str()).collect();
        errors(&text)
    };
    let known: Vec<String> =
        before.map(lines).unwrap_or_default().iter().map(|error| lasting(error)).collect();
    let mut errors = lines(ran);
    errors.retain(|error| !known.contains(&lasting(error)));
    let errors_truncated = errors.len() > MAX_ERRORS;
    errors.truncate(MAX_ERRORS);
    SceneRun {
        ran: true,
        ok: ran.exit_code == Some(0) && !ran.timed_out && errors.is_empty(),
        exit_code: ran.exit_code,
        frames,
        timed_out: ran.timed_out,
        errors,
        errors_truncated,
    }
}
