//! The two test frameworks: where they lie, what they run, and how they are told.
//!
//! Spec: P-50, test runs.
#![allow(clippy::disallowed_methods, reason = "writes into the scratch folder of its own call")]

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use didi_plugin_api::prelude::*;

use super::{OUTPUT_BYTES, Wanted};

const GUT: &str = "res://addons/gut/gut_cmdln.gd";
const GDUNIT4: &str = "res://addons/gdUnit4/bin/GdUnitCmdTool.gd";
/// GUT's own settings, which name its folders.
pub(super) const GUT_CONFIG: &str = "res://.gutconfig.json";
const DEFAULT_FOLDER: &str = "res://test";
/// Largest settings file of GUT, in bytes.
const MAX_CONFIG_BYTES: u64 = 1 << 20;

/// A framework that the project has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Framework {
    Gut,
    Gdunit4,
}

impl Framework {
    fn runner(self) -> &'static str {
        match self {
            Framework::Gut => GUT,
            Framework::Gdunit4 => GDUNIT4,
        }
    }

    /// The folder of its own scripts.
    pub(super) fn folder(self) -> &'static str {
        match self {
            Framework::Gut => "res://addons/gut/",
            Framework::Gdunit4 => "res://addons/gdUnit4/",
        }
    }

    /// Exit codes of a run in which all tests passed. gdUnit4 says 101 for mere warnings.
    pub(super) fn passes_with(self) -> &'static [i32] {
        match self {
            Framework::Gut => &[0],
            Framework::Gdunit4 => &[0, 101],
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Framework::Gut => "gut",
            Framework::Gdunit4 => "gdunit4",
        }
    }
}

/// A place of tests.
pub(super) struct TestPath {
    pub(super) path: String,
    pub(super) place: ProjectPath,
}

/// A run that is ready to start.
pub(super) struct Plan {
    pub(super) child: ChildSpec,
    /// The report, or the folder below which it will lie.
    pub(super) report: PathBuf,
}

pub(super) fn detect(ctx: &Ctx<'_>, wanted: Wanted) -> Result<Framework, Refusal> {
    let has = |one: Framework| {
        ctx.project().resolve(one.runner(), "framework").is_ok_and(|place| place.is_file())
    };
    let both = [Framework::Gut, Framework::Gdunit4];
    let wanted: &[Framework] = match wanted {
        Wanted::Auto => &both,
        Wanted::Gut => &both[..1],
        Wanted::Gdunit4 => &both[1..],
    };
    if let Some(found) = wanted.iter().find(|one| has(**one)) {
        return Ok(*found);
    }
    let looked_for: Vec<_> = wanted.iter().map(|one| format!("`{}`", one.runner())).collect();
    let message = format!("the project has no {}", looked_for.join(" and no "));
    let refusal = Refusal::new(codes::NOT_FOUND, message).with("field", "framework");
    Err(match both.iter().find(|one| has(**one)) {
        Some(other) => refusal.retry_with(json!({ "framework": other.as_str() })),
        None => refusal.no_remedy("a test framework has to be installed in `res://addons` first"),
    })
}

/// The places that are run.
pub(super) fn paths(
    ctx: &Ctx<'_>,
    framework: Framework,
    asked: &[String],
) -> Result<Vec<TestPath>, Refusal> {
    let mut wanted = asked.to_vec();
    if wanted.is_empty() && framework == Framework::Gut {
        wanted = config(ctx).map(|config| dirs_of(&config)).unwrap_or_default();
    }
    if wanted.is_empty() {
        wanted.push(DEFAULT_FOLDER.into());
    }
    let mut found: Vec<TestPath> = vec![];
    for path in wanted {
        let place = ctx.project().resolve(&path, "paths")?;
        let path = place.res_path();
        let script = place.extension() == "gd" && place.is_file();
        if !script && !place.is_dir() {
            let message = format!("no folder and no `.gd` file `{path}` in the project");
            // Nothing was asked for, and nothing is where tests are looked for.
            let code = if asked.is_empty() { super::NO_TESTS } else { codes::NOT_FOUND };
            return Err(Refusal::new(code, message).field("paths"));
        }
        if framework == Framework::Gut && path.contains(',') {
            let message = format!("`{path}` holds a comma, with which GUT parts paths");
            return Err(Refusal::invalid("paths", message));
        }
        if found.iter().all(|one| one.path != path) {
            found.push(TestPath { path, place });
        }
    }
    Ok(found)
}

fn config(ctx: &Ctx<'_>) -> Option<Value> {
    let place = ctx.project().root().resolve(GUT_CONFIG).ok()?;
    serde_json::from_slice(&place.read(MAX_CONFIG_BYTES).ok()?).ok()
}

fn dirs_of(config: &Value) -> Vec<String> {
    let dirs = config["dirs"].as_array().into_iter().flatten();
    dirs.filter_map(|dir| dir.as_str().map(str::to_owned)).collect()
}

/// The command line of a run.
pub(super) fn command(
    ctx: &Ctx<'_>,
    framework: Framework,
    paths: &[TestPath],
    timeout_seconds: u64,
) -> Result<Plan, Refusal> {
    let scratch = ctx.scratch_folder()?;
    let project = ctx.project().root().folder().to_string_lossy().into_owned();
    let mut args: Vec<String> = vec!["--headless".into(), "--path".into(), project, "-s".into()];
    args.push(framework.runner().into());
    let report = match framework {
        Framework::Gut => {
            let report = scratch.join("results.xml");
            args.push("-gexit".into());
            args.extend(gut_paths(ctx, paths)?);
            args.push(format!("-gjunit_xml_file={}", report.to_string_lossy()));
            report
        }
        Framework::Gdunit4 => {
            let folder = scratch.join("reports");
            make(fs::create_dir_all(&folder))?;
            args.push("--ignoreHeadlessMode".into());
            args.extend(paths.iter().flat_map(|one| ["-a".to_owned(), one.path.clone()]));
            args.extend(["-rd".into(), from_project(ctx, &folder)]);
            args.extend(["-rc".into(), "1".into()]);
            folder
        }
    };
    let child = ChildSpec {
        program: None,
        args,
        env: vec![],
        folder: None,
        timeout_ms: timeout_seconds * 1000,
        max_output_bytes: OUTPUT_BYTES,
    };
    Ok(Plan { child, report })
}

/// A place outside of the project as a `res://` path that climbs: gdUnit4 takes every path for one of the
/// project, an absolute one, too.
fn from_project(ctx: &Ctx<'_>, place: &Path) -> String {
    let inside = |one: &Component<'_>| matches!(one, Component::Normal(_));
    let project = ctx.project();
    let climbs = project.root().folder().components().filter(inside).count();
    let parts = place.components().filter(inside).map(|one| one.as_os_str().to_string_lossy());
    format!("res://{}{}", "../".repeat(climbs), parts.collect::<Vec<_>>().join("/"))
}

fn gut_paths(ctx: &Ctx<'_>, paths: &[TestPath]) -> Result<Vec<String>, Refusal> {
    let (folders, scripts): (Vec<&TestPath>, Vec<&TestPath>) =
        paths.iter().partition(|one| one.place.is_dir());
    let joined = |paths: &[&TestPath]| {
        paths.iter().map(|one| one.path.as_str()).collect::<Vec<_>>().join(",")
    };
    let mut args = vec![];
    if !folders.is_empty() {
        args.push(format!("-gdir={}", joined(&folders)));
        args.push("-ginclude_subdirs".into());
    }
    if !scripts.is_empty() {
        args.push(format!("-gtest={}", joined(&scripts)));
    }
    if folders.is_empty()
        && let Some(mut config) = config(ctx)
        && !dirs_of(&config).is_empty()
    {
        // Its folders would be run beside the scripts that were asked for.
        config["dirs"] = json!([]);
        let file = ctx.scratch_folder()?.join("gutconfig.json");
        make(fs::write(&file, config.to_string()))?;
        args.push(format!("-gconfig={}", file.to_string_lossy()));
    }
    Ok(args)
}

fn make(made: std::io::Result<()>) -> Result<(), Refusal> {
    made.map_err(|error| {
        let message = format!("the scratch folder can't be written: {error}");
        Refusal::new(codes::INTERNAL_ERROR, message).no_remedy("the system has no room for it")
    })
}
