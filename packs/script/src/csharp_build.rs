//! `csharp_check_build`: builds the C# of the project with the .NET SDK and lists what the compiler says.
//!
//! A real build: it writes `bin`, `obj` and the engine's own build folder, as the editor's does. The program is
//! `dotnet` of the search path.
//!
//! Spec: P-53, scripts.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use didi_plugin_api::prelude::*;

mod report;

/// Most diagnostics listed.
const MAX_DIAGNOSTICS: usize = 1000;
/// Bytes of the build's output that are read.
const OUTPUT_BYTES: usize = 1 << 20;
/// Milliseconds in which the SDK has to say its version.
const VERSION_MS: u64 = 20_000;
/// Longest time limit, in seconds.
const MAX_SECONDS: u64 = 300;
/// The program, looked for on the search path.
const PROGRAM: &str = "dotnet";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// `.sln` or `.csproj`; else the only one at the root.
    #[schemars(length(max = 1024))]
    project_file: Option<String>,
    #[serde(default)]
    configuration: Configuration,
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 1, max = 300))]
    timeout_seconds: u64,
}

fn default_timeout() -> u64 {
    60
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
enum Configuration {
    #[default]
    Debug,
    Release,
}

/// One line of a compiler or of the build itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct Diagnostic {
    severity: &'static str,
    code: String,
    message: String,
    /// `res://` path for a file of the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
}

#[derive(Serialize)]
#[allow(clippy::struct_field_names, reason = "the names of the contract")]
struct Out {
    success: bool,
    project_file: String,
    configuration: String,
    diagnostics: Vec<Diagnostic>,
    diagnostics_count: usize,
    projects_built: BTreeSet<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    timed_out: bool,
    dotnet_executable: &'static str,
    dotnet_version: String,
    output_truncated: bool,
}

pub(crate) fn tool() -> Tool {
    Tool::new(
        "csharp_check_build",
        "Builds the project's C# with dotnet and lists the compiler's errors and warnings. A real build.",
        Effects { open_world: true, ..Effects::READS },
        run,
    )
    .title("C# check build")
    .bounded("1 MiB of output and 1000 diagnostics")
    .job()
    .refuses(&[codes::TOOLCHAIN_UNAVAILABLE, codes::NOT_FOUND, codes::TIMEOUT])
}

fn run(ctx: &Ctx<'_>, args: Args) -> ToolResult {
    let place = project_file(ctx, args.project_file.as_deref())?;
    let version = version(ctx)?;
    ctx.progress(0, 0, "dotnet build");
    let configuration = format!("{:?}", args.configuration);
    let seconds = args.timeout_seconds.clamp(1, MAX_SECONDS);
    let ran = ctx.run_child(&child(arguments(&place, &configuration), seconds * 1000))?;
    if ran.timed_out {
        return Err(timed_out(seconds));
    }
    let root = ctx.project().root().folder().to_owned();
    let said = report::read(&ran, &root);
    let failed = said.found.iter().any(|one| one.severity == "error");
    let diagnostics_count = said.found.len();
    let diagnostics: Vec<Diagnostic> = said.found.into_iter().take(MAX_DIAGNOSTICS).collect();
    let truncated = ran.output_truncated || diagnostics_count > diagnostics.len();
    let out = Out {
        success: ran.exit_code == Some(0) && !failed && !said.built.is_empty(),
        project_file: place.res_path(),
        configuration,
        diagnostics,
        diagnostics_count,
        projects_built: said.built,
        exit_code: ran.exit_code,
        timed_out: false,
        dotnet_executable: PROGRAM,
        dotnet_version: version,
        output_truncated: ran.output_truncated,
    };
    Ok(Answer::of(out)?.truncated(truncated))
}

/// The file that is built: the one that was named, or the only one at the project's root.
fn project_file(ctx: &Ctx<'_>, named: Option<&str>) -> Result<ProjectPath, Refusal> {
    let project = ctx.project();
    let Some(named) = named else {
        let name = only_one(project.root().folder())?;
        return project.resolve(&format!("res://{name}"), "project_file");
    };
    let place = project.resolve(named, "project_file")?;
    let shown = place.res_path();
    if !matches!(place.extension().as_str(), "sln" | "csproj") {
        let message = format!("`{shown}` is neither a `.sln` nor a `.csproj` file");
        return Err(Refusal::invalid("project_file", message));
    }
    if !place.is_file() {
        let message = format!("there is no file `{shown}`");
        return Err(Refusal::new(codes::NOT_FOUND, message).field("project_file"));
    }
    Ok(place)
}

fn only_one(root: &Path) -> Result<String, Refusal> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    let ending = |end: &str| -> Vec<String> {
        let fits = |name: &&String| Path::new(name).extension().is_some_and(|own| own == end);
        names.iter().filter(fits).cloned().collect()
    };
    let solutions = ending("sln");
    let found = if solutions.is_empty() { ending("csproj") } else { solutions };
    match &found[..] {
        [name] => Ok(name.clone()),
        [] => Err(Refusal::new(
            codes::NOT_FOUND,
            "the project's root has no `.sln` and no `.csproj` file; the editor makes them with the first C# script",
        )
        .field("project_file")),
        several => Err(Refusal::new(
            codes::INVALID_ARGUMENTS,
            format!("the project's root has {} files that could be built; name one", several.len()),
        )
        .with("candidates", several.iter().map(|name| format!("res://{name}")).collect::<Vec<_>>())
        .field("project_file")),
    }
}

fn version(ctx: &Ctx<'_>) -> Result<String, Refusal> {
    let ran = ctx.run_child(&child(vec!["--version".into()], VERSION_MS)).map_err(|refusal| {
        if refusal.code == codes::CANCELLED { refusal } else { no_sdk(&refusal.message) }
    })?;
    let said = ran.lines.iter().find(|line| !line.stderr).map(|line| line.text.trim().to_owned());
    match said.filter(|_| ran.exit_code == Some(0)) {
        Some(version) => Ok(version),
        None => Err(no_sdk("`dotnet --version` did not answer, so that no SDK is installed")),
    }
}

fn no_sdk(why: &str) -> Refusal {
    let message = format!("the .NET SDK can't be used: {why}");
    Refusal::new(codes::TOOLCHAIN_UNAVAILABLE, message)
        .no_remedy("no .NET SDK is on the search path of the machine that the server runs on")
}

fn timed_out(seconds: u64) -> Refusal {
    let refusal = Refusal::new(codes::TIMEOUT, format!("the build was stopped after {seconds} s"));
    if seconds < MAX_SECONDS {
        return refusal.retry_with(json!({ "timeout_seconds": MAX_SECONDS }));
    }
    refusal.no_remedy("the longest time limit was not enough; build outside of the server first")
}

fn arguments(place: &ProjectPath, configuration: &str) -> Vec<String> {
    let file = place.real().to_string_lossy().into_owned();
    let fixed = [
        "--nologo",
        "--verbosity",
        "minimal",
        "-nodeReuse:false",
        "-consoleLoggerParameters:NoSummary",
        "-p:GenerateFullPaths=true",
    ];
    let start = ["build".to_owned(), file, "--configuration".into(), configuration.into()];
    start.into_iter().chain(fixed.map(str::to_owned)).collect()
}

fn child(args: Vec<String>, timeout_ms: u64) -> ChildSpec {
    let env = [
        ("DOTNET_CLI_TELEMETRY_OPTOUT", "1"),
        ("DOTNET_NOLOGO", "1"),
        ("DOTNET_CLI_UI_LANGUAGE", "en"),
        ("MSBUILDDISABLENODEREUSE", "1"),
    ];
    ChildSpec {
        program: Some(PathBuf::from(PROGRAM)),
        args,
        env: env.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        folder: None,
        timeout_ms,
        max_output_bytes: OUTPUT_BYTES,
    }
}

#[cfg(test)]
mod tests;
