//! Child processes: started without a shell, their output bounded, their whole tree killable.
//!
//! A child gets a process group of its own and, on Linux, ends when the server does, however the server
//! ends. Its output goes into one bounded list; standard input is empty. Whoever waits for a child waits no
//! longer than its time limit, and a raised [`Cancel`] ends it at once.
//!
//! Spec: P-35, child processes.
#![allow(clippy::disallowed_methods, reason = "the one place that starts processes")]

use std::{
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use didi_plugin_api::ctx::{ChildLine, ChildReport};

use crate::{cancel::Cancel, source};

/// How often a running child is looked at, beside the moments when its output moves.
const POLL: Duration = Duration::from_millis(10);

/// How long the output of an ended child may still arrive: its pipes are at their end then, unless somebody who left its
/// group holds them, and on a loaded machine the threads that read them come late.
const OUTPUT_GRACE: Duration = Duration::from_secs(2);

/// How long a killed tree is waited for.
const KILL_WAIT: Duration = Duration::from_secs(5);

/// Longest line kept, in bytes; the rest of a longer one is dropped.
const MAX_LINE_BYTES: u64 = 64 * 1024;

/// What to run.
pub struct Spec<'a> {
    /// The program's file.
    pub program: &'a Path,
    /// Arguments, as they are.
    pub args: &'a [String],
    /// Added to the environment.
    pub env: &'a [(String, String)],
    /// Working folder.
    pub folder: &'a Path,
    /// Time limit.
    pub limit: Duration,
    /// Bytes of output kept.
    pub max_output_bytes: usize,
    /// Whether it ends with this process.
    pub ends_with_us: bool,
}

/// Runs a child to its end, its time limit or a cancel.
///
/// # Errors
/// When the program can't be started.
pub fn run(spec: &Spec<'_>, cancel: &Cancel) -> std::io::Result<ChildReport> {
    Ok(Running::start(spec)?.end(spec.limit, cancel))
}

/// A child that runs. Dropped, it is killed with everything under it.
pub struct Running {
    child: Option<Child>,
    started: Instant,
    output: Arc<Mutex<Bounded>>,
    readers: Receiver<()>,
}

impl Running {
    /// Starts a child whose output is gathered; the limit is left to [`Running::end`].
    ///
    /// # Errors
    /// When the program can't be started.
    pub fn start(spec: &Spec<'_>) -> std::io::Result<Self> {
        let started = source::now();
        let mut child = start(spec)?;
        let output = Arc::new(Mutex::new(Bounded::new(spec.max_output_bytes)));
        let (open, readers) = mpsc::channel();
        if let Some(stdout) = child.stdout.take() {
            collect(stdout, false, &output, open.clone());
        }
        if let Some(stderr) = child.stderr.take() {
            collect(stderr, true, &output, open.clone());
        }
        Ok(Running { child: Some(child), started, output, readers })
    }

    /// Its process id; 0 once it has ended.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().map_or(0, Child::id)
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None)))
    }

    /// Waits for its end, at most `limit` from its start, or until a cancel.
    pub fn end(mut self, limit: Duration, cancel: &Cancel) -> ChildReport {
        let deadline = self.started + limit;
        self.end_by(deadline, cancel)
    }

    /// The same, until a point in time.
    pub fn end_by(&mut self, deadline: Instant, cancel: &Cancel) -> ChildReport {
        let pid = self.pid();
        let (end, tree_exited) = match self.child.take() {
            Some(mut child) => {
                let end = wait(&mut child, deadline, cancel);
                let tree_exited = match end {
                    End::Exited(_) => sweep_group(pid),
                    End::TimedOut | End::Cancelled => kill_tree(&mut child),
                };
                (end, tree_exited)
            }
            None => (End::Cancelled, true),
        };
        await_output(&self.readers);
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let status = match end {
            End::Exited(status) => Some(status),
            End::TimedOut | End::Cancelled => None,
        };
        ChildReport {
            pid,
            exit_code: status.and_then(|status| status.code()),
            signal: status.and_then(signal_of),
            timed_out: matches!(end, End::TimedOut),
            tree_exited,
            ran_ms: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            lines: std::mem::take(&mut output.lines),
            output_truncated: output.truncated,
        }
    }

    /// Lets it run on after this process, its output no longer read. It has to write to nowhere already.
    pub fn leave(mut self) {
        // Dropping the handle of a process neither ends it nor waits for it.
        drop(self.child.take());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            kill_tree(&mut child);
        }
    }
}

enum End {
    Exited(ExitStatus),
    TimedOut,
    Cancelled,
}

fn start(spec: &Spec<'_>) -> std::io::Result<Child> {
    let mut command = Command::new(spec.program);
    command
        .args(spec.args)
        .envs(spec.env.iter().map(|(name, value)| (name, value)))
        .current_dir(spec.folder)
        .stdin(Stdio::null());
    own_group(&mut command);
    if spec.ends_with_us {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        end_with_parent(&mut command);
    } else {
        // A pipe to a process that is gone would end it at its next word.
        command.stdout(Stdio::null()).stderr(Stdio::null());
    }
    command.spawn()
}

#[cfg(unix)]
fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn own_group(_: &mut Command) {}

/// Asks the kernel to end the child when the thread that started it ends. That thread waits for the child,
/// so it ends earlier only when the whole server is killed.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "the only way to set the parent-death signal before exec")]
fn end_with_parent(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    let set = || {
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        Ok(())
    };
    // SAFETY: the closure makes one system call, and neither allocates nor takes a lock.
    unsafe {
        command.pre_exec(set);
    }
}

#[cfg(not(target_os = "linux"))]
fn end_with_parent(_: &mut Command) {}

#[cfg(unix)]
fn signal_of(status: ExitStatus) -> Option<i32> {
    use std::os::unix::process::ExitStatusExt;
    status.signal()
}

#[cfg(not(unix))]
fn signal_of(_: ExitStatus) -> Option<i32> {
    None
}

fn wait(child: &mut Child, deadline: Instant, cancel: &Cancel) -> End {
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return End::Exited(status);
        }
        if source::now() >= deadline {
            return End::TimedOut;
        }
        if cancel.wait(POLL) {
            return End::Cancelled;
        }
    }
}

/// Output in the order of arrival, up to a bound.
struct Bounded {
    lines: Vec<ChildLine>,
    left: usize,
    truncated: bool,
}

impl Bounded {
    fn new(max_bytes: usize) -> Self {
        Bounded { lines: vec![], left: max_bytes, truncated: false }
    }

    fn push(&mut self, stderr: bool, bytes: &[u8]) {
        if bytes.len() > self.left {
            self.truncated = true;
            self.left = 0;
            return;
        }
        self.left -= bytes.len();
        let text = String::from_utf8_lossy(bytes).into_owned();
        self.lines.push(ChildLine { stderr, text });
    }
}

fn collect(
    pipe: impl Read + Send + 'static,
    stderr: bool,
    output: &Arc<Mutex<Bounded>>,
    open: mpsc::Sender<()>,
) {
    let output = Arc::clone(output);
    thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut line = Vec::new();
        loop {
            line.clear();
            match pipe.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            }
            let whole = line.strip_suffix(b"\n").unwrap_or(&line);
            let whole = whole.strip_suffix(b"\r").unwrap_or(whole);
            output.lock().unwrap_or_else(PoisonError::into_inner).push(stderr, whole);
        }
        drop(open);
    });
}

/// Waits until both readers saw the end of their pipe, or for a grace when a grandchild keeps one open.
fn await_output(readers: &Receiver<()>) {
    let deadline = source::now() + OUTPUT_GRACE;
    let left = || deadline.saturating_duration_since(source::now());
    while !matches!(
        readers.recv_timeout(left()),
        Err(RecvTimeoutError::Disconnected | RecvTimeoutError::Timeout)
    ) {}
}

/// Ends what an exited child left running in its group; answers whether nothing is left.
#[cfg(unix)]
fn sweep_group(pid: u32) -> bool {
    let Some(group) = group_of(pid) else { return true };
    if rustix::process::test_kill_process_group(group).is_err() {
        return true;
    }
    let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    until(|| rustix::process::test_kill_process_group(group).is_err())
}

/// Kills a child with everything under it; answers whether all of it was seen to end.
#[cfg(unix)]
fn kill_tree(child: &mut Child) -> bool {
    use rustix::process::{Signal, kill_process, kill_process_group, test_kill_process};
    // Descendants that left the group are found before their parent is gone.
    let strays: Vec<_> = descendants(child.id()).into_iter().filter_map(group_of).collect();
    if let Some(group) = group_of(child.id()) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    for stray in &strays {
        let _ = kill_process(*stray, Signal::KILL);
    }
    let _ = child.wait();
    until(|| strays.iter().all(|stray| test_kill_process(*stray).is_err()))
}

#[cfg(unix)]
fn group_of(pid: u32) -> Option<rustix::process::Pid> {
    rustix::process::Pid::from_raw(i32::try_from(pid).ok()?)
}

fn until(over: impl Fn() -> bool) -> bool {
    let deadline = source::now() + KILL_WAIT;
    while source::now() < deadline {
        if over() {
            return true;
        }
        thread::sleep(Duration::from_millis(2));
    }
    over()
}

#[cfg(not(unix))]
fn sweep_group(_: u32) -> bool {
    true
}

#[cfg(not(unix))]
fn kill_tree(child: &mut Child) -> bool {
    child.kill().is_ok() && child.wait().is_ok()
}

/// Every process under `pid`, by the kernel's own list.
#[cfg(target_os = "linux")]
fn descendants(pid: u32) -> Vec<u32> {
    let mut parents = std::collections::BTreeMap::<u32, Vec<u32>>::new();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    for entry in entries {
        let Some(child) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        if let Some(parent) = parent_of(child) {
            parents.entry(parent).or_default().push(child);
        }
    }
    let mut found = vec![];
    let mut next = vec![pid];
    while let Some(parent) = next.pop() {
        let children = parents.remove(&parent).unwrap_or_default();
        found.extend(&children);
        next.extend(children);
    }
    found
}

#[cfg(target_os = "linux")]
fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold anything, so the fields are counted from its end.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(all(unix, not(target_os = "linux")))]
fn descendants(_: u32) -> Vec<u32> {
    vec![]
}

#[cfg(test)]
mod tests;
