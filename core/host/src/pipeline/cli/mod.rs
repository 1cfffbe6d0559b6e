//! The client on the command line: `didi command`, `job`, `status`, `list`.
//!
//! [`link`] is whom a command goes to, [`mod@command`], [`mod@job`] and [`mod@status`] what is asked, [`outcome`] how it ended
//! and with which exit code, [`output`] what is printed.
//!
//! Spec: P-71, the client on the command line.

use std::{
    io::Write,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
};

use crate::{
    cancel::Cancel,
    cli::{
        Options,
        client::{CommandOptions, JobOptions, ListOptions, StatusOptions},
    },
};

pub mod command;
pub mod here;
pub mod job;
pub mod link;
pub mod listing;
pub mod outcome;
pub mod output;
pub mod status;

use output::{Printer, Report};

/// Where results go, and whether that is a terminal.
pub struct Out<'w> {
    /// Standard output.
    pub to: &'w mut dyn Write,
    /// Whether a person looks at it.
    pub terminal: bool,
}

/// `didi command`; gives the exit code.
pub fn command(options: &Options, wish: &CommandOptions, out: Out<'_>) -> u8 {
    let signals = Signals::watch();
    let printer = Printer::new(&wish.output, out.to, out.terminal).result_only(wish.result_only);
    let (printer, report) = command::run(options, wish, printer, &signals.cancel);
    signals.end(printer, &report)
}

/// `didi job`; gives the exit code.
pub fn job(options: &Options, wish: &JobOptions, out: Out<'_>) -> u8 {
    let signals = Signals::watch();
    let (_, one) = job::parts(&wish.command);
    let printer = Printer::new(&one.output, out.to, out.terminal);
    let (printer, report) = job::run(options, &wish.command, printer, &signals.cancel);
    signals.end(printer, &report)
}

/// `didi status`; gives the exit code.
pub fn status(options: &Options, wish: &StatusOptions, out: Out<'_>) -> u8 {
    let signals = Signals::watch();
    let printer = Printer::new(&wish.output, out.to, out.terminal);
    let report = status::run(options, wish, &signals.cancel);
    signals.end(printer, &report)
}

/// `didi list`; gives the exit code.
pub fn list(options: &Options, wish: &ListOptions, out: Out<'_>) -> u8 {
    let printer = Printer::new(&wish.output, out.to, out.terminal);
    printer.finish(&status::list(options))
}

/// Signals end the waiting, and then decide the exit code.
struct Signals {
    cancel: Cancel,
    exit: Arc<AtomicU8>,
}

impl Signals {
    fn watch() -> Self {
        let signals = Signals { cancel: Cancel::default(), exit: Arc::default() };
        signals.listen();
        signals
    }

    #[cfg(unix)]
    fn listen(&self) {
        /// A shell tells an end by a signal as this and the signal's number.
        const SIGNALLED: i32 = 128;
        let Ok(mut arriving) = crate::signals::ending() else { return };
        let (cancel, exit) = (self.cancel.clone(), Arc::clone(&self.exit));
        std::thread::spawn(move || {
            if let Some(signal) = arriving.forever().next() {
                let code = u8::try_from(SIGNALLED + signal).unwrap_or(u8::MAX);
                exit.store(code, Ordering::SeqCst);
                cancel.raise();
            }
        });
    }

    /// The console ends the process by itself.
    #[cfg(not(unix))]
    fn listen(&self) {}

    fn end(&self, printer: Printer<'_>, report: &Report) -> u8 {
        let exit = printer.finish(report);
        match self.exit.load(Ordering::SeqCst) {
            0 => exit,
            signalled => signalled,
        }
    }
}
