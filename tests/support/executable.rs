//! Executable files for tests, written so that they can be started at once.
//!
//! A program that some process still holds open for writing can't be started (`ETXTBSY`). Tests run side by side
//! and start children all the time, and a child born while a file is being written holds that file until it runs
//! its own program. So another process does the writing, and nothing can be born from it.

use std::{io::Write, path::Path, process::Stdio};

/// Writes an executable file.
///
/// # Panics
/// When it can't be written.
pub fn write_executable(file: &Path, bytes: &[u8]) {
    let mut writer = writer(file);
    let mut child = writer.stdin(Stdio::piped()).spawn().expect("a shell can be started");
    // Taken, so that the pipe is closed before the wait.
    child.stdin.take().expect("it is piped").write_all(bytes).expect("the shell reads");
    let status = child.wait().expect("the shell ends");
    assert!(status.success(), "`{}` can't be written: {status}", file.display());
}

#[cfg(unix)]
fn writer(file: &Path) -> std::process::Command {
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "cat > \"$1\" && chmod 755 \"$1\"", "sh"]).arg(file);
    shell
}

#[cfg(not(unix))]
fn writer(file: &Path) -> std::process::Command {
    let mut shell = std::process::Command::new("powershell");
    let script =
        "$out=[IO.File]::Create($args[0]);[Console]::OpenStandardInput().CopyTo($out);$out.Close()";
    shell.args(["-NoProfile", "-Command", script]).arg(file);
    shell
}
