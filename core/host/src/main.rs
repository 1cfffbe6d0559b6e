//! The binary `didi`: the command line to the right part of the library.

use std::{
    io::{IsTerminal as _, Write},
    process::ExitCode,
};

use didi_host::{
    catalog,
    cli::{self, Cli, Command, Options, PacksCommand, PipelineCommand, Usage},
    front::stdio::Output,
    heap,
    loader::{probe, trial},
    log::LogRing,
    packs_cmd,
    pipeline::cli as pipeline_cli,
    serve, setup, tour,
};

fn main() -> ExitCode {
    heap::set_up();
    match cli::parse() {
        Ok(Ok(cli)) => run(&cli).unwrap_or_else(|usage| complain(&usage)),
        Ok(Err(text)) => print(&text, true),
        Err(usage) => complain(&usage),
    }
}

#[allow(clippy::disallowed_methods, reason = "outside of serving, standard output is for people")]
fn run(cli: &Cli) -> Result<ExitCode, Usage> {
    let options = &cli.options;
    if cli.dump_tool_manifest {
        let parts = serve::Parts::new(options, std::env::temp_dir(), LogRing::default())?;
        return Ok(print(&packs_cmd::pretty(&catalog::manifest(&parts.catalog())), true));
    }
    match &cli.command {
        None | Some(Command::Serve) => {
            let output = Output::take_stdout().map_err(|error| Usage {
                error: format!("standard output can't be taken over: {error}"),
                hint: "start the server from an MCP client".into(),
            })?;
            serve::serve(options, output)?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Try) => Ok(tour(options)),
        Some(Command::Setup(wish)) => told(setup::run(options, wish, &mut std::io::stdout())),
        Some(Command::Doctor(wish)) => {
            told(setup::run_doctor(options, wish, &mut std::io::stdout()))
        }
        Some(Command::Packs { command }) => packs(cli, command),
        Some(Command::Pipeline { command: PipelineCommand::Serve { port } }) => {
            serve::serve_pipeline(options, *port, &mut std::io::stdout())?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Command(wish)) => Ok(client(|out| pipeline_cli::command(options, wish, out))),
        Some(Command::Job(wish)) => Ok(client(|out| pipeline_cli::job(options, wish, out))),
        Some(Command::Status(wish)) => Ok(client(|out| pipeline_cli::status(options, wish, out))),
        Some(Command::List(wish)) => Ok(client(|out| pipeline_cli::list(options, wish, out))),
    }
}

/// The Pipeline's client prints to standard output and gives its own exit codes.
#[allow(clippy::disallowed_methods, reason = "outside of serving, standard output is for people")]
fn client(run: impl FnOnce(pipeline_cli::Out<'_>) -> u8) -> ExitCode {
    let mut stdout = std::io::stdout();
    let terminal = stdout.is_terminal();
    ExitCode::from(run(pipeline_cli::Out { to: &mut stdout, terminal }))
}

#[allow(clippy::disallowed_methods, reason = "outside of serving, standard output is for people")]
#[allow(clippy::print_stderr, reason = "a failure is told on standard error")]
fn tour(options: &Options) -> ExitCode {
    match tour::run(&mut std::io::stdout(), &options.pack_arguments()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            eprintln!("hint: `didi packs list` shows whether all packs are there");
            ExitCode::FAILURE
        }
    }
}

/// A report was printed; a step that failed is exit code 1.
fn told(good: Result<bool, Usage>) -> Result<ExitCode, Usage> {
    good.map(|good| if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn packs(cli: &Cli, command: &PacksCommand) -> Result<ExitCode, Usage> {
    let options = &cli.options;
    let report = match command {
        PacksCommand::List { json } => packs_cmd::list(options, *json)?,
        PacksCommand::Check { file } => packs_cmd::check(options, file)?,
        PacksCommand::Pin { output } => packs_cmd::pin(options, output.as_deref())?,
        PacksCommand::TryAddon { file } => {
            return Ok(match probe::child_main(file) {
                Ok(()) => ExitCode::SUCCESS,
                Err(why) => {
                    print(&why, false);
                    ExitCode::from(trial::REFUSED_EXIT_CODE)
                }
            });
        }
        PacksCommand::Trial { pack, api, copy, document } => {
            return Ok(match trial::child_main(pack, api, copy, document) {
                Ok(()) => ExitCode::SUCCESS,
                Err(why) => {
                    print(&why, true);
                    ExitCode::from(trial::REFUSED_EXIT_CODE)
                }
            });
        }
    };
    Ok(print(&report.text, report.good))
}

#[allow(clippy::disallowed_methods, reason = "outside of serving, standard output is for people")]
fn print(text: &str, good: bool) -> ExitCode {
    let written = std::io::stdout().write_all(text.as_bytes());
    if good && written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Usage errors end with exit code 2.
#[allow(clippy::print_stderr, reason = "a usage error is told on standard error")]
fn complain(usage: &Usage) -> ExitCode {
    eprintln!("error: {}", usage.error);
    eprintln!("hint: {}", usage.hint);
    ExitCode::from(2)
}
