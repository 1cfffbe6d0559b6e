//! The command line and the environment, read once and nowhere else.
//!
//! Options are judged first: a bad one ends with exit code 2 and `error:` and `hint:` on standard error,
//! before a project is looked at.
//!
//! Spec: P-38, the command line.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{
    ArgMatches, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum,
    parser::ValueSource,
};
use didi_plugin_api::desc::Profile;
use didi_wire::session_dir::{self, SessionDir, Surroundings};

pub mod client;

use crate::{
    engine::Places,
    loader::{Folder, pins::Pins},
    log::LogLevel,
    page::Shown,
    pipeline,
};

/// An MCP server for Godot projects, and a host of tool packs.
#[derive(Debug, Parser)]
#[command(name = "didi", version, about, disable_help_subcommand = true)]
pub struct Cli {
    /// What to do; without a word, serve.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Print the whole tool surface as JSON and end.
    #[arg(long)]
    pub dump_tool_manifest: bool,
    #[command(flatten)]
    pub options: Options,
}

/// What the program can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve one project over standard input and output (the default).
    Serve,
    /// Show what Didi does, on a temporary copy of a sample project.
    Try,
    /// Make a project ready: the addon, the clients' configuration, a guide for the model.
    Setup(SetupOptions),
    /// Find what keeps a project's set-up from working.
    Doctor(DoctorOptions),
    /// Run a command of an instance that speaks the Unity Pipeline, or of the project here; without a name, list them.
    #[command(visible_aliases = ["cmd", "req", "request"])]
    Command(Box<client::CommandOptions>),
    /// Look after a detached command.
    Job(client::JobOptions),
    /// Whether instances are ready.
    Status(client::StatusOptions),
    /// The instances that can be seen, without asking them.
    List(client::ListOptions),
    /// Look at tool packs, check them, pin them.
    Packs {
        #[command(subcommand)]
        command: PacksCommand,
    },
    /// The tools as commands over HTTP on this machine, in the protocol of the Unity Pipeline.
    Pipeline {
        #[command(subcommand)]
        command: PipelineCommand,
    },
}

/// What can be done with the Pipeline.
#[derive(Debug, Subcommand)]
pub enum PipelineCommand {
    /// Serve one project until this process is ended.
    Serve {
        /// The port; without it the first that is free of 7800 to 7849.
        #[arg(long, value_name = "PORT")]
        port: Option<u16>,
    },
}

/// What can be done with packs.
#[derive(Debug, Subcommand)]
pub enum PacksCommand {
    /// List every pack file and what became of it.
    List {
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Put one file through every gate, the trial load included.
    Check {
        /// The pack's file.
        file: PathBuf,
    },
    /// Write the digests of the served packs as a pin list, for --packs-lock.
    Pin {
        /// Where to; standard output without it.
        #[arg(long, short)]
        output: Option<PathBuf>,
    },
    /// Map the engine's extension in this process.
    #[command(hide = true)]
    TryAddon {
        /// The library.
        file: PathBuf,
    },
    /// Load a private copy in this process and write its descriptor down.
    #[command(hide = true)]
    Trial {
        /// The pack's name.
        pack: String,
        /// The plugin-api version of its stamp.
        api: String,
        /// The private copy.
        copy: PathBuf,
        /// Where the descriptor goes.
        document: PathBuf,
    },
}

/// Options of `didi setup`. The project comes from the command line alone.
#[derive(Debug, Args)]
pub struct SetupOptions {
    /// Which clients to configure; repeatable, or with commas. Without it, all.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "CLIENT")]
    pub client: Vec<ClientOption>,
    /// The exact Godot executable to start, and to name to the clients.
    #[arg(long, value_name = "FILE")]
    pub godot: Option<PathBuf>,
    /// Start a headless editor on the project, unless one is there, and leave it running.
    #[arg(long)]
    pub headless: bool,
    /// Wait until an editor of the project answers.
    #[arg(long)]
    pub wait: bool,
    /// How long to wait, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout: u64,
    /// Replace a newer or a foreign addon as well.
    #[arg(long)]
    pub replace_addon: bool,
    /// Write no guide for the model.
    #[arg(long)]
    pub no_agent_guide: bool,
    /// The addon's library, or its folder, in place of the one beside this program.
    #[arg(long, value_name = "PATH")]
    pub addon: Option<PathBuf>,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// Options of `didi doctor`. The project comes from the command line alone.
#[derive(Debug, Args)]
pub struct DoctorOptions {
    /// The exact Godot executable to look at.
    #[arg(long, value_name = "FILE")]
    pub godot: Option<PathBuf>,
    /// The addon's library, or its folder, in place of the one beside this program.
    #[arg(long, value_name = "PATH")]
    pub addon: Option<PathBuf>,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// A client on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ClientOption {
    /// Claude Code, `.mcp.json`.
    ClaudeCode,
    /// Cursor, `.cursor/mcp.json`.
    Cursor,
    /// VS Code, `.vscode/mcp.json`.
    Vscode,
    /// Codex, `.codex/config.toml`.
    Codex,
    /// Every one of these.
    All,
}

/// Options of serving; they stand before or after the command.
#[derive(Debug, Args)]
pub struct Options {
    /// Folder of the Godot project.
    #[arg(short, long, global = true, env = "DIDI_PROJECT_ROOT", value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// Which tools are listed; fixed for the process.
    #[arg(long, global = true, value_enum, default_value = "full")]
    pub tools: ToolsOption,
    /// Lines on standard error.
    #[arg(
        long,
        global = true,
        value_enum,
        ignore_case = true,
        default_value = "INFO",
        env = "DIDI_LOG_LEVEL"
    )]
    pub log_level: LogLevel,
    /// A folder of packs, searched before the others; repeatable.
    #[arg(long, global = true, value_name = "DIR")]
    pub packs: Vec<PathBuf>,
    /// Folders of packs, as in PATH, searched after --packs.
    #[arg(long, global = true, hide = true, env = "DIDI_PACKS", value_name = "DIRS")]
    pub packs_path: Option<OsString>,
    /// Load only packs whose digest is on this list.
    #[arg(long, global = true, value_name = "FILE")]
    pub packs_lock: Option<PathBuf>,
    /// Take replaced packs up without a restart.
    #[arg(long, global = true)]
    pub watch_packs: bool,
    /// Where private copies of packs are kept.
    #[arg(long, global = true, env = "DIDI_PACK_CACHE", value_name = "DIR")]
    pub pack_cache: Option<PathBuf>,
    /// Send the session descriptor on every live answer, or once a route.
    #[arg(long, global = true, value_enum, default_value = "every")]
    pub session_descriptor: HowOften,
    /// Send the text copy of structured answers, or leave it out for every client.
    #[arg(long, global = true, value_enum, default_value = "every")]
    pub text_copy: HowOften,
    /// Who is told of the control room's page.
    #[arg(long, global = true, value_enum, default_value = "auto")]
    pub ui_app: UiApp,
    /// Serve the tools as Pipeline commands, too, beside standard input and output.
    #[arg(long, global = true)]
    pub pipeline: bool,
    /// The Pipeline's port; without it the first that is free of 7800 to 7849.
    #[arg(long, global = true, value_name = "PORT")]
    pub pipeline_port: Option<u16>,
    /// Write the Pipeline's descriptor to Library/Pipeline as well, where Unity's own tool looks.
    #[arg(long, global = true)]
    pub unity_layout: bool,
    /// Let pages without an origin (sandboxed frames) call the Pipeline; they still need its token.
    #[arg(long, global = true)]
    pub allow_browser_clients: bool,
    /// Run changes without confirmation. Visible to every client.
    #[arg(long, global = true)]
    pub yolo: bool,
    /// The same, by environment.
    #[arg(long, global = true, hide = true, env = "DIDI_YOLO", value_name = "0|1")]
    pub yolo_env: Option<String>,
    /// How long a confirmation may take, in seconds.
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=120))]
    pub confirm_within: u64,
    /// Work on a copy of the project, in a headless editor of the server's own: this Godot.
    #[arg(long, global = true, value_name = "GODOT")]
    pub managed_editor: Option<PathBuf>,
    /// A new folder for that copy and its checkpoints.
    #[arg(long, global = true, value_name = "NEW_DIR")]
    pub recovery_workspace: Option<PathBuf>,
    /// How long that editor may take to come to rest, in seconds; a first import of a large project needs more.
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(5..=900))]
    pub managed_ready_within: u64,
    /// The exact Godot executable to use.
    #[arg(long, global = true, hide = true, env = "GODOT_BIN", value_name = "FILE")]
    pub godot_bin: Option<PathBuf>,
    /// A folder with Godot executables.
    #[arg(long, global = true, hide = true, env = "GODOT_PATH", value_name = "DIR")]
    pub godot_path: Option<PathBuf>,
    /// Where engines publish their sessions.
    #[arg(long, global = true, hide = true, env = "DIDI_SESSION_DIR", value_name = "DIR")]
    pub session_dir: Option<PathBuf>,
}

/// A tool profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ToolsOption {
    /// The tools that a session usually needs.
    Core,
    /// Every tool, and the older names.
    Full,
}

/// Who is told of the control room's page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum UiApp {
    /// Clients that declare that they show pages.
    Auto,
    /// Every client.
    Always,
    /// Nobody; reading it is refused, too.
    Off,
}

/// How often something that repeats itself is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HowOften {
    /// Every time.
    Every,
    /// Once, or not where it repeats.
    Once,
}

/// A command line that can't be used: what is wrong, and the way out.
#[derive(Debug)]
pub struct Usage {
    /// One sentence.
    pub error: String,
    /// One sentence.
    pub hint: String,
}

impl Usage {
    fn new(error: impl Into<String>, hint: &str) -> Self {
        Usage { error: error.into(), hint: hint.into() }
    }
}

/// Reads the command line.
///
/// # Errors
/// What clap refuses; `Ok(Err(text))` is help or a version, for standard output.
pub fn parse() -> Result<Result<Cli, String>, Usage> {
    use clap::error::ErrorKind;
    match Cli::command().try_get_matches() {
        Ok(matches) => Cli::from_arg_matches(&matches)
            .map_err(|error| usage_of(&error))
            .and_then(|cli| only_by_word(cli, &matches))
            .map(Ok),
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(Err(error.to_string())),
            _ => Err(usage_of(&error)),
        },
    }
}

/// What writes into a project, or judges it, is told which one in its own line.
fn only_by_word(cli: Cli, matches: &ArgMatches) -> Result<Cli, Usage> {
    if !matches!(cli.command, Some(Command::Setup(_) | Command::Doctor(_))) {
        return Ok(cli);
    }
    let matches = matches.subcommand().map_or(matches, |(_, inner)| inner);
    if matches.value_source("project") == Some(ValueSource::CommandLine) {
        return Ok(cli);
    }
    let hint =
        "name the folder that holds project.godot with --project; the environment does not count";
    Err(Usage::new("no project is named", hint))
}

/// clap's own words, in the form that all errors here have.
fn usage_of(error: &clap::Error) -> Usage {
    let text = error.render().to_string();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or("the command line can't be used");
    let first = first.strip_prefix("error: ").unwrap_or(first);
    let more: Vec<_> = lines
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"))
        .map(|line| line.trim_start_matches("tip: ").to_owned())
        .collect();
    let hint =
        if more.is_empty() { "`didi --help` lists the options".into() } else { more.join(" ") };
    Usage { error: first.to_owned(), hint }
}

impl Options {
    /// The profile.
    pub fn profile(&self) -> Profile {
        match self.tools {
            ToolsOption::Core => Profile::Core,
            ToolsOption::Full => Profile::Full,
        }
    }

    /// Who is told of the control room's page.
    pub fn page(&self) -> Shown {
        match self.ui_app {
            UiApp::Auto => Shown::ToDeclared,
            UiApp::Always => Shown::Always,
            UiApp::Off => Shown::Never,
        }
    }

    /// Whether confirmations are skipped.
    pub fn skips_confirmations(&self) -> bool {
        self.yolo || self.yolo_env.as_deref().is_some_and(|value| value == "1" || value == "true")
    }

    /// The engine and the workspace of managed recovery.
    ///
    /// # Errors
    /// When one is named without the other.
    pub fn managed(&self) -> Result<Option<(&Path, &Path)>, Usage> {
        match (&self.managed_editor, &self.recovery_workspace) {
            (Some(editor), Some(workspace)) => Ok(Some((editor, workspace))),
            (None, None) => Ok(None),
            _ => Err(Usage::new(
                "`--managed-editor` and `--recovery-workspace` go together",
                "give both, or neither",
            )),
        }
    }

    /// How the Pipeline is served.
    pub fn pipeline_wish(&self) -> pipeline::serve::Wish {
        pipeline::serve::Wish {
            port: self.pipeline_port,
            unity_layout: self.unity_layout,
            allow_browser_clients: self.allow_browser_clients,
        }
    }

    /// How long a confirmation may take.
    pub fn confirm_within(&self) -> Duration {
        Duration::from_secs(self.confirm_within)
    }

    /// The project's folder, canonical.
    ///
    /// # Errors
    /// When none is named, or it is no Godot project.
    pub fn project_root(&self) -> Result<PathBuf, Usage> {
        const HINT: &str =
            "name the folder that holds project.godot with --project or DIDI_PROJECT_ROOT";
        let Some(project) = &self.project else {
            return Err(Usage::new("no project is named", HINT));
        };
        let root = project
            .canonicalize()
            .map_err(|error| Usage::new(format!("`{}`: {error}", project.display()), HINT))?;
        if !root.join("project.godot").is_file() {
            let error = format!("`{}` holds no project.godot", project.display());
            return Err(Usage::new(error, HINT));
        }
        Ok(root)
    }

    /// The folders of packs in search order.
    ///
    /// # Errors
    /// When a folder that was named is not there.
    pub fn pack_folders(&self) -> Result<Vec<Folder>, Usage> {
        const HINT: &str = "name a folder that holds packs";
        let mut folders = vec![];
        let named = self.packs.iter().cloned();
        let listed = self.packs_path.iter().flat_map(env::split_paths);
        for path in named.chain(listed) {
            if !path.is_dir() {
                return Err(Usage::new(format!("`{}` is not a folder", path.display()), HINT));
            }
            folders.push(Folder { path, shared: false });
        }
        if let Some(own) = env::current_exe().ok().as_deref().and_then(Path::parent) {
            folders.push(Folder { path: own.join("packs"), shared: false });
            folders.push(Folder { path: own.to_owned(), shared: true });
        }
        Ok(folders)
    }

    /// The options about packs, as another process of this program takes them.
    pub fn pack_arguments(&self) -> Vec<String> {
        let named = |name: &str, path: &PathBuf| [name.to_owned(), path.display().to_string()];
        let mut arguments: Vec<String> =
            self.packs.iter().flat_map(|folder| named("--packs", folder)).collect();
        arguments.extend(self.packs_lock.iter().flat_map(|file| named("--packs-lock", file)));
        arguments.extend(self.pack_cache.iter().flat_map(|folder| named("--pack-cache", folder)));
        arguments
    }

    /// The pin list.
    ///
    /// # Errors
    /// When it can't be read.
    pub fn pins(&self) -> Result<Option<Pins>, Usage> {
        let Some(file) = &self.packs_lock else { return Ok(None) };
        Pins::read(file)
            .map(Some)
            .map_err(|error| Usage::new(error, "`didi packs pin --output FILE` writes a pin list"))
    }

    /// Where private copies of packs are kept.
    pub fn cache_folder(&self) -> PathBuf {
        self.pack_cache.clone().unwrap_or_else(|| user_cache().join("didi").join("packs"))
    }

    /// Where to look for instances of the Pipeline. The list of Unity's Hub need not be there.
    pub fn pipelines(&self) -> pipeline::client::find::Places {
        pipeline::client::find::Places { sessions: self.session_folder(), hub: hub_list() }
    }

    /// Where engines publish their sessions.
    pub fn session_folder(&self) -> SessionDir {
        session_dir::locate(&Surroundings {
            session_dir: self.session_dir.clone().map(PathBuf::into_os_string),
            runtime_dir: variable("XDG_RUNTIME_DIR"),
            temp: env::temp_dir(),
        })
    }

    /// Where to look for an engine.
    pub fn engine_places(&self) -> Places {
        Places {
            exact: self.godot_bin.clone(),
            folder: self.godot_path.clone(),
            search: variable("PATH").iter().flat_map(env::split_paths).collect(),
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "this module is where the environment is read")]
fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// The user's own folder.
fn home() -> Option<PathBuf> {
    variable("HOME").or_else(|| variable("USERPROFILE")).map(PathBuf::from)
}

/// Where Unity's Hub keeps its list of projects.
fn hub_list() -> Option<PathBuf> {
    let folder = if cfg!(windows) {
        variable("APPDATA").map(|roaming| PathBuf::from(roaming).join("UnityHub"))
    } else if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library/Application Support/UnityHub"))
    } else {
        let config = variable("XDG_CONFIG_HOME").map(PathBuf::from).filter(|it| it.is_absolute());
        config
            .or_else(|| home().map(|home| home.join(".config")))
            .map(|config| config.join("unityhub"))
    };
    folder.map(|folder| folder.join("projects-v1.json"))
}

fn user_cache() -> PathBuf {
    let folder = if cfg!(windows) {
        variable("LOCALAPPDATA").map(PathBuf::from)
    } else if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library/Caches"))
    } else {
        variable("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .or_else(|| home().map(|home| home.join(".cache")))
    };
    folder.unwrap_or_else(env::temp_dir)
}
