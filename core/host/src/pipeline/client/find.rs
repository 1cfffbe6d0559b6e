//! Instances by their descriptors: which there are, and which one is meant.
//!
//! A project's instance is found in the project. One that nobody named is looked for in the folders above the
//! working folder, deepest first, and then among all that can be seen: those of the records that Didi keeps
//! ([`super::registry`]), of the projects that Unity's Hub lists, and of the editors and players that run.
//! A descriptor whose process has ended is no instance, and is told as what it is.
//!
//! Spec: P-70, the client of the Pipeline.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use didi_pipeline::descriptor::{self, Descriptor, Instance, PLAYER_FILE, ReadFault};
use didi_wire::{
    process::{self, Liveness},
    session_dir::SessionDir,
};
use serde_json::{Value, json};
use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, RefreshKind, System, UpdateKind};

use super::{UNFINISHED_LIMIT, registry};
use crate::{cancel::Cancel, source};

/// The largest list of projects that is read, in bytes.
const MAX_HUB_BYTES: u64 = 4 * 1024 * 1024;
/// The most projects of it that are looked at.
const MAX_HUB_PROJECTS: usize = 1000;
/// Between two looks at a half-written file.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Which instance is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// The editor or server of this project.
    Project(PathBuf),
    /// A player whose process is called so; `*` stands for anything.
    Player(String),
    /// The player whose descriptor, folder, bundle or program this is.
    PlayerPath(PathBuf),
    /// That of the project around this folder, else the only one that runs.
    Nearest(PathBuf),
}

/// Where to look.
#[derive(Debug, Clone)]
pub struct Places {
    /// Beside which the records are.
    pub sessions: SessionDir,
    /// The list of projects of Unity's Hub.
    pub hub: Option<PathBuf>,
}

/// A descriptor that can be read.
#[derive(Debug, Clone)]
pub struct Found {
    /// Where it is.
    pub file: PathBuf,
    /// What it says.
    pub descriptor: Descriptor,
    /// What became of its process.
    pub process: Liveness,
}

/// Why there is no one instance.
#[derive(Debug)]
pub enum NotFound {
    /// None is there; the dead ones that were met on the way.
    Nothing {
        /// The files that were looked for, when a place was named.
        looked: Vec<PathBuf>,
        /// Descriptors that their processes left behind.
        dead: Vec<Found>,
    },
    /// Several are, and none was named.
    Ambiguous(Vec<Found>),
    /// A descriptor is there and may not be read.
    Denied {
        /// It.
        file: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A descriptor is there and is none, or never came to its end.
    Unreadable {
        /// It.
        file: PathBuf,
        /// What is wrong with it.
        fault: ReadFault,
    },
}

impl fmt::Display for NotFound {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotFound::Nothing { dead, .. } if !dead.is_empty() => {
                let told: Vec<_> = dead
                    .iter()
                    .map(|it| format!("{} (process {})", it.descriptor.name(), it.descriptor.pid))
                    .collect();
                write!(out, "no instance runs; what is left are descriptors of {}", told.join(", "))
            }
            NotFound::Nothing { looked, .. } if !looked.is_empty() => {
                let told: Vec<_> = looked.iter().map(|it| it.display().to_string()).collect();
                write!(out, "no instance runs: no descriptor at {}", told.join(" or "))
            }
            NotFound::Nothing { .. } => {
                out.write_str("no instance runs that can be seen from here")
            }
            NotFound::Ambiguous(found) => {
                let told: Vec<_> = found
                    .iter()
                    .map(|it| {
                        format!(
                            "{} (port {})",
                            it.descriptor.folder().display(),
                            it.descriptor.port
                        )
                    })
                    .collect();
                write!(out, "{} instances run: {}", found.len(), told.join(", "))
            }
            NotFound::Denied { file, error } => {
                write!(out, "`{}` may not be read: {error}", file.display())
            }
            NotFound::Unreadable { file, fault } => write!(out, "`{}`: {fault}", file.display()),
        }
    }
}

impl std::error::Error for NotFound {}

impl Found {
    /// Whether its process may still be there.
    pub fn runs(&self) -> bool {
        self.process != Liveness::Gone
    }

    /// Whether both are one instance: a server may have a file in two places.
    pub fn is_same(&self, other: &Found) -> bool {
        let who = |it: &Found| (it.descriptor.pid, it.descriptor.port);
        who(self) == who(other)
    }

    /// What may be shown.
    pub fn public(&self) -> Value {
        let mut shown = self.descriptor.public();
        if let Some(members) = shown.as_object_mut() {
            members.insert("process".into(), self.process.as_str().into());
            members.insert("descriptor".into(), self.file.to_string_lossy().into());
        }
        shown
    }

    fn is_player(&self) -> bool {
        matches!(self.descriptor.instance, Instance::Player { .. })
    }
}

/// What names an instance to programs.
pub fn identity(descriptor: &Descriptor) -> Value {
    json!({
        "project": descriptor.name(),
        "projectPath": descriptor.folder().to_string_lossy(),
        "port": descriptor.port,
        "pid": descriptor.pid,
    })
}

/// Finds the instance that is meant.
///
/// # Errors
/// See [`NotFound`].
pub fn find(wanted: &Wanted, places: &Places, cancel: &Cancel) -> Result<Found, NotFound> {
    match wanted {
        Wanted::Project(project) => {
            let found = one_of(&descriptor::places(project), cancel)?;
            // From now on it can be found from anywhere. That it can't be noted is no reason to fail.
            let _ = registry::announce(&places.sessions, &absolute(&found.file));
            Ok(found)
        }
        Wanted::PlayerPath(path) => one_of(&player_places(path), cancel),
        Wanted::Player(pattern) => {
            let files = player_files(&Processes::now(), Some(pattern));
            only(readable(files, cancel))
        }
        Wanted::Nearest(folder) => nearest(folder, places, cancel),
    }
}

/// Every instance that can be seen, dead ones as well, editors first, by their folders.
pub fn list(places: &Places, cancel: &Cancel) -> Vec<Found> {
    let processes = Processes::now();
    let mut files = registry::known(&places.sessions);
    let hub = places.hub.as_deref().map(hub_projects).unwrap_or_default();
    let open = processes.editor_projects();
    files.extend(hub.iter().chain(&open).flat_map(|project| descriptor::places(project)));
    files.extend(player_files(&processes, None));
    let mut found = readable(files, cancel);
    found.sort_by_key(|it| (it.is_player(), it.descriptor.folder().to_owned(), it.file.clone()));
    found.dedup_by(|one, other| one.is_same(other));
    found
}

/// The projects that a running editor has open, whether it has a descriptor yet or not.
pub fn open_projects() -> Vec<PathBuf> {
    Processes::now().editor_projects()
}

/// The instance of the deepest folder from one upwards that has a running one.
///
/// # Errors
/// See [`NotFound`]; nothing but these folders is looked at.
pub fn above(folder: &Path, cancel: &Cancel) -> Result<Found, NotFound> {
    let mut dead = vec![];
    for above in folder.ancestors() {
        match one_of(&descriptor::places(above), cancel) {
            Ok(found) => return Ok(found),
            Err(NotFound::Nothing { dead: left, .. }) => dead.extend(left),
            Err(other) => return Err(other),
        }
    }
    Err(NotFound::Nothing { looked: vec![], dead })
}

/// That of the folders above, else the only one that runs.
fn nearest(folder: &Path, places: &Places, cancel: &Cancel) -> Result<Found, NotFound> {
    let dead = match above(folder, cancel) {
        Err(NotFound::Nothing { dead, .. }) => dead,
        other => return other,
    };
    match only(list(places, cancel).into_iter().filter(|it| !it.is_player()).collect()) {
        Err(NotFound::Nothing { dead: mut more, looked }) => {
            more.retain(|it| dead.iter().all(|known: &Found| known.file != it.file));
            more.splice(0..0, dead);
            Err(NotFound::Nothing { dead: more, looked })
        }
        other => other,
    }
}

/// The first of some files whose instance runs.
fn one_of(files: &[PathBuf], cancel: &Cancel) -> Result<Found, NotFound> {
    let mut dead = vec![];
    let mut fault = None;
    let deadline = source::now() + UNFINISHED_LIMIT;
    for file in files {
        match look_until(file, deadline, cancel) {
            Ok(found) if found.runs() => return Ok(found),
            Ok(found) => dead.push(found),
            Err(ReadFault::Missing) => {}
            Err(ReadFault::Denied(error)) => {
                fault = Some(NotFound::Denied { file: file.clone(), error });
            }
            Err(other) => fault = Some(NotFound::Unreadable { file: file.clone(), fault: other }),
        }
    }
    Err(fault.unwrap_or_else(|| NotFound::Nothing { looked: files.to_vec(), dead }))
}

/// The only one of these that runs.
fn only(found: Vec<Found>) -> Result<Found, NotFound> {
    let (mut running, dead): (Vec<_>, Vec<_>) = found.into_iter().partition(Found::runs);
    match running.len() {
        0 => Err(NotFound::Nothing { looked: vec![], dead }),
        1 => Ok(running.remove(0)),
        _ => Err(NotFound::Ambiguous(running)),
    }
}

/// Reads files. Those that are only half there are read again for a moment, all of them together.
fn readable(mut files: Vec<PathBuf>, cancel: &Cancel) -> Vec<Found> {
    files.sort();
    files.dedup();
    let deadline = source::now() + UNFINISHED_LIMIT;
    let mut found = vec![];
    loop {
        files.retain(|file| match look(file) {
            Ok(one) => {
                found.push(one);
                false
            }
            Err(fault) => matches!(fault, ReadFault::Unfinished),
        });
        if files.is_empty() || source::now() >= deadline || cancel.wait(BETWEEN_LOOKS) {
            return found;
        }
    }
}

/// Reads one file. One that is only half there is read again until a moment.
fn look_until(file: &Path, deadline: Instant, cancel: &Cancel) -> Result<Found, ReadFault> {
    loop {
        match look(file) {
            Err(ReadFault::Unfinished)
                if source::now() < deadline && !cancel.wait(BETWEEN_LOOKS) => {}
            ended => return ended,
        }
    }
}

fn look(file: &Path) -> Result<Found, ReadFault> {
    let descriptor = Descriptor::read(file)?;
    let process = process::running(descriptor.pid);
    Ok(Found { file: file.to_owned(), descriptor, process })
}

/// A player's descriptor from what people have at hand: the file, its folder, a bundle, the program.
fn player_places(path: &Path) -> Vec<PathBuf> {
    if path.is_dir() {
        return vec![path.join(PLAYER_FILE)];
    }
    if path.file_name().is_some_and(|name| name == PLAYER_FILE) {
        return vec![path.to_owned()];
    }
    let beside = path.parent().map(|folder| folder.join(PLAYER_FILE));
    beside.into_iter().chain([path.to_owned()]).collect()
}

fn player_files(processes: &Processes, pattern: Option<&str>) -> Vec<PathBuf> {
    let matches = |program: &Path| pattern.is_none_or(|pattern| is_called(program, pattern));
    let programs = processes.programs().filter(|program| matches(program));
    programs.flat_map(beside_program).filter(|file| file.is_file()).collect()
}

/// Where a player's program has its descriptor: beside itself, or at the root of its bundle.
fn beside_program(program: &Path) -> impl Iterator<Item = PathBuf> {
    let bundle = program.ancestors().nth(3);
    let bundle = bundle.filter(|it| it.extension().is_some_and(|end| end == "app"));
    bundle.into_iter().chain(program.parent()).map(|it| it.join(PLAYER_FILE))
}

/// Whether a program's file is called so, with or without its extension, whatever the case.
fn is_called(program: &Path, pattern: &str) -> bool {
    let pattern = pattern.to_lowercase();
    let names = [program.file_name(), program.file_stem()];
    names.into_iter().flatten().any(|name| fits(&name.to_string_lossy().to_lowercase(), &pattern))
}

/// `*` is any text. The first part is at the start, the last at the end, the others in between in their order.
fn fits(name: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// The projects of the Hub's list. What is not of its known form is passed over.
fn hub_projects(list: &Path) -> Vec<PathBuf> {
    let size = fs::metadata(list).map_or(0, |found| found.len());
    if size == 0 || size > MAX_HUB_BYTES {
        return vec![];
    }
    let read = fs::read(list).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    let Some(Value::Object(projects)) = read.map(|mut list| list["data"].take()) else {
        return vec![];
    };
    projects
        .keys()
        .take(MAX_HUB_PROJECTS)
        .map(PathBuf::from)
        .filter(|it| it.is_absolute())
        .collect()
}

/// What runs at one moment.
struct Processes(System);

impl Processes {
    fn now() -> Self {
        let wanted = ProcessRefreshKind::nothing()
            .with_exe(UpdateKind::Always)
            .with_cmd(UpdateKind::Always)
            .without_tasks();
        let mut system = System::new_with_specifics(RefreshKind::nothing());
        system.refresh_processes_specifics(ProcessesToUpdate::All, true, wanted);
        Processes(system)
    }

    fn programs(&self) -> impl Iterator<Item = &Path> {
        self.0.processes().values().filter_map(sysinfo::Process::exe)
    }

    /// Unity names its project on its command line, whoever starts it.
    fn editor_projects(&self) -> Vec<PathBuf> {
        let editors = self.0.processes().values().filter(|process| {
            let program = process.exe().and_then(Path::file_stem);
            program.is_some_and(|name| name.eq_ignore_ascii_case("unity"))
        });
        let mut projects: Vec<_> = editors
            .filter_map(|process| {
                let mut words = process.cmd().iter();
                words.find(|word| word.eq_ignore_ascii_case("-projectpath"))?;
                words.next().map(PathBuf::from)
            })
            .filter(|project| project.is_absolute())
            .collect();
        projects.sort();
        projects.dedup();
        projects
    }
}

fn absolute(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
