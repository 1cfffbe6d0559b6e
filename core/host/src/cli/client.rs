//! Options of the Pipeline's client: `didi command`, `job`, `status`, `list`.
//!
//! Options of ours stand before the command's name. Everything after it is the command's own, so that no
//! parameter can be mistaken for an option, whatever a later version adds.
//!
//! Spec: P-71, the client on the command line.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Subcommand, ValueEnum};

/// Which instance is meant; without any of them the one around the working folder, else the only one.
#[derive(Debug, Clone, Default, Args)]
pub struct TargetOptions {
    /// The editor or server of this project.
    #[arg(long, value_name = "DIR")]
    pub project_path: Option<PathBuf>,
    /// A player, by the name of its process; `*` stands for anything.
    #[arg(long, value_name = "NAME", conflicts_with = "project_path")]
    pub runtime: Option<String>,
    /// A player, by its folder, its bundle, its program or its descriptor.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["project_path", "runtime"])]
    pub runtime_path: Option<PathBuf>,
}

/// How results are printed.
#[derive(Debug, Clone, Default, Args)]
pub struct OutputOptions {
    /// For people on a terminal, tab-separated elsewhere, unless one is named.
    #[arg(long, value_enum, env = "DIDI_FORMAT", value_name = "FORMAT")]
    pub format: Option<Format>,
    /// The same as --format json.
    #[arg(long)]
    pub json: bool,
    /// No warnings and no progress on standard error.
    #[arg(long, short)]
    pub quiet: bool,
}

/// The form of what is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Texts and tables.
    Human,
    /// Tab-separated lines.
    Tsv,
    /// One document.
    Json,
    /// One document a line: progress, then the result.
    Ndjson,
}

/// Options of `didi command`.
#[derive(Debug, Clone, Args)]
pub struct CommandOptions {
    #[command(flatten)]
    pub target: TargetOptions,
    #[command(flatten)]
    pub output: OutputOptions,
    /// How long it may take in all, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: u64,
    /// Print the result alone, as JSON.
    #[arg(long, conflicts_with = "detach")]
    pub result_only: bool,
    /// Run it as a job and print the job's id.
    #[arg(long)]
    pub detach: bool,
    /// A result that says that it failed is a failure.
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    pub listing: ListingOptions,
    /// The command's name, then its arguments as they are. Without a name the commands are listed.
    #[arg(value_name = "NAME [ARGS]", trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}

/// Options of the list of commands; they go with no name.
#[derive(Debug, Clone, Default, Args)]
pub struct ListingOptions {
    /// List: the tags with their counts.
    #[arg(long, conflicts_with = "detail")]
    pub tags: bool,
    /// List: how much of each command, `compact` or `full`.
    #[arg(long, value_name = "DETAIL")]
    pub detail: Option<String>,
    /// List: what is in the name, the description or a tag.
    #[arg(long, value_name = "TEXT")]
    pub query: Option<String>,
    /// List: this tag and what is below it.
    #[arg(long, value_name = "TAG")]
    pub tag: Option<String>,
    /// List: `flat`, `package` or `tag`.
    #[arg(long = "group_by", alias = "group-by", value_name = "HOW")]
    pub group_by: Option<String>,
    /// List: by `name` or `package`.
    #[arg(long, value_name = "HOW")]
    pub sort: Option<String>,
    /// List: `asc` or `desc`.
    #[arg(long, value_name = "ORDER")]
    pub order: Option<String>,
    /// List: how many to pass over.
    #[arg(long, value_name = "COUNT")]
    pub offset: Option<u64>,
    /// List: how many at the most.
    #[arg(long, value_name = "COUNT")]
    pub limit: Option<u64>,
}

/// Options of `didi job`.
#[derive(Debug, Clone, Args)]
pub struct JobOptions {
    /// What to do with it.
    #[command(subcommand)]
    pub command: JobCommand,
}

/// What can be done with a job.
#[derive(Debug, Clone, Subcommand)]
pub enum JobCommand {
    /// Where it stands.
    Status(OneJob),
    /// Waits for its end.
    Wait(OneJob),
    /// Asks it to stop.
    Cancel(OneJob),
}

/// A job, and how it is looked at.
#[derive(Debug, Clone, Args)]
pub struct OneJob {
    /// Its id.
    pub id: String,
    #[command(flatten)]
    pub target: TargetOptions,
    #[command(flatten)]
    pub output: OutputOptions,
    /// How long it may take, in seconds; 0 is without end.
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(0..=604_800))]
    pub timeout: u64,
    /// Milliseconds between two looks.
    #[arg(long, value_name = "MS", default_value_t = 500, value_parser = clap::value_parser!(u64).range(50..=60_000))]
    pub poll_interval: u64,
    /// A result that says that it failed is a failure.
    #[arg(long)]
    pub strict: bool,
}

/// Options of `didi status`.
#[derive(Debug, Clone, Args)]
pub struct StatusOptions {
    /// The editor or server of this project.
    #[arg(long, value_name = "DIR")]
    pub project_path: Option<PathBuf>,
    /// The instance on this port.
    #[arg(long)]
    pub port: Option<u16>,
    /// Wait until every one that is meant is ready.
    #[arg(long)]
    pub until_ready: bool,
    /// How long to wait, in seconds (default 300); with --until-ready alone.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: Option<u64>,
    #[command(flatten)]
    pub output: OutputOptions,
}

/// Options of `didi list`.
#[derive(Debug, Clone, Args)]
pub struct ListOptions {
    #[command(flatten)]
    pub output: OutputOptions,
}

impl CommandOptions {
    /// How long it may take in all.
    pub fn limit(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }
}

impl ListingOptions {
    /// The first of them that is given, for a command line on which none has a meaning.
    pub fn first_given(&self) -> Option<&'static str> {
        let given = [
            (self.tags, "--tags"),
            (self.detail.is_some(), "--detail"),
            (self.query.is_some(), "--query"),
            (self.tag.is_some(), "--tag"),
            (self.group_by.is_some(), "--group_by"),
            (self.sort.is_some(), "--sort"),
            (self.order.is_some(), "--order"),
            (self.offset.is_some(), "--offset"),
            (self.limit.is_some(), "--limit"),
        ];
        given.iter().find(|(is_given, _)| *is_given).map(|(_, name)| *name)
    }
}
