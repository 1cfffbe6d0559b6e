//! Where this server listens and how it is found: the port, the token, the descriptor and its heartbeat.
//!
//! One server at a time is found in a project. It holds a lock that the kernel frees however its process ends, so
//! that a descriptor which nobody lives behind stands in nobody's way.
//!
//! Spec: P-64, the port descriptor.

use std::{
    fs::{self, File, OpenOptions},
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use didi_pipeline::descriptor::{
    DIDI_FOLDER, Descriptor, EDITOR_FILE, Instance, Secret, UNITY_FOLDER,
};
use fs2::FileExt as _;
use subtle::ConstantTimeEq as _;

use super::{exec::project_name, probes::CAPABILITIES};
use crate::source;

/// Ports that are tried in their order.
pub const PORTS: std::ops::RangeInclusive<u16> = 7800..=7849;

/// How often the descriptor is written anew.
pub const HEARTBEAT_EVERY: Duration = Duration::from_secs(5);

/// How long it may take to find out whether somebody listens on a port of this machine.
const CONNECT_LIMIT: Duration = Duration::from_millis(200);

/// The lock beside the descriptor.
const LOCK_FILE: &str = "lock";

/// What is said to whoever finds this server beside a Unity editor's own.
const INFO: &str = "This is a Didi server for a Godot project. Commands run in the attached Godot editor, or on the project's files.";

/// Why no server can be started.
#[derive(Debug)]
pub enum Taken {
    /// Another process serves this project; where, if it says so.
    Project(Option<(u32, u16)>),
    /// No port is free.
    Port(String),
    /// The folder of the descriptor can't be used.
    Folder(io::Error),
}

impl std::fmt::Display for Taken {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Taken::Project(Some((pid, port))) => {
                write!(out, "process {pid} serves this project already, on port {port}")
            }
            Taken::Project(None) => out.write_str("another process serves this project already"),
            Taken::Port(why) => out.write_str(why),
            Taken::Folder(error) => write!(out, "`{DIDI_FOLDER}` can't be used: {error}"),
        }
    }
}

/// A server's place: its port, its token, its descriptors.
pub struct Advert {
    project: PathBuf,
    port: u16,
    token: Secret,
    started_ms: u64,
    heartbeat_ms: AtomicU64,
    places: Vec<PathBuf>,
    /// Whether the descriptors were taken away, for good.
    withdrawn: Mutex<bool>,
    /// Freed with the process at the latest.
    _lock: File,
}

impl Advert {
    /// Takes the project's place and a port: the wanted one, or the first that is free.
    ///
    /// # Errors
    /// When another process has the place or the port.
    pub fn claim(
        project: &Path,
        port: Option<u16>,
        unity_layout: bool,
    ) -> Result<(Self, TcpListener), Taken> {
        let folder = project.join(DIDI_FOLDER);
        prepare(&folder).map_err(Taken::Folder)?;
        let lock = lock(&folder)?;
        let mut places = vec![folder.join(EDITOR_FILE)];
        if unity_layout {
            places.push(unity_place(project).map_err(Taken::Folder)?);
        }
        let listener = listen(port)?;
        let port = listener.local_addr().map_err(Taken::Folder)?.port();
        let now = source::now_ms();
        let advert = Advert {
            project: project.to_owned(),
            port,
            token: Secret::new(STANDARD.encode(source::random_bytes::<32>())),
            started_ms: now,
            heartbeat_ms: AtomicU64::new(now),
            places,
            withdrawn: Mutex::default(),
            _lock: lock,
        };
        advert.write().map_err(Taken::Folder)?;
        Ok((advert, listener))
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// When it started, in milliseconds since 1970.
    pub fn started_ms(&self) -> u64 {
        self.started_ms
    }

    /// The last heartbeat, in milliseconds since 1970.
    pub fn heartbeat_ms(&self) -> u64 {
        self.heartbeat_ms.load(Ordering::Relaxed)
    }

    /// The descriptors, ours first.
    pub fn places(&self) -> &[PathBuf] {
        &self.places
    }

    /// Whether a token is ours, in a time that does not tell how much of it is right.
    pub fn is_own_token(&self, token: &str) -> bool {
        self.token.reveal().as_bytes().ct_eq(token.as_bytes()).into()
    }

    /// Somebody asked, or time went by.
    pub fn beat(&self) {
        self.heartbeat_ms.store(source::now_ms(), Ordering::Relaxed);
    }

    /// Writes the descriptors. One of another process that lives is left alone.
    ///
    /// # Errors
    /// When the first of them can't be written.
    pub fn write(&self) -> io::Result<()> {
        // Held meanwhile: what is taken away is not written again.
        let withdrawn = self.withdrawn.lock().unwrap_or_else(PoisonError::into_inner);
        if *withdrawn {
            return Ok(());
        }
        self.beat();
        let descriptor = self.descriptor();
        let (own, others) = (&self.places[0], &self.places[1..]);
        for place in others {
            if belongs_to_another(place, self.port) {
                continue;
            }
            if let Err(error) = descriptor.write(place) {
                tracing::warn!("`{}` can't be written: {error}", place.display());
            }
        }
        // The lock says that nobody else lives who would write here.
        descriptor.write(own)
    }

    /// Takes the descriptors away that are this server's.
    pub fn withdraw(&self) {
        let mut withdrawn = self.withdrawn.lock().unwrap_or_else(PoisonError::into_inner);
        *withdrawn = true;
        for place in &self.places {
            let own = Descriptor::read(place)
                .is_ok_and(|found| found.pid == std::process::id() && found.token == self.token);
            if own {
                let _ = fs::remove_file(place);
            }
        }
    }

    fn descriptor(&self) -> Descriptor {
        Descriptor {
            pid: std::process::id(),
            port: self.port,
            instance: Instance::Editor {
                project_path: self.project.display().to_string(),
                project_name: project_name(&self.project).into_owned(),
                mode: "editor".into(),
            },
            engine_version: format!("didi {}", env!("CARGO_PKG_VERSION")),
            started_at: source::iso8601(self.started_ms),
            last_heartbeat: source::iso8601(self.heartbeat_ms()),
            token: self.token.clone(),
            capabilities: Some(CAPABILITIES.map(str::to_owned).to_vec()),
            info: Some(INFO.into()),
        }
    }
}

/// A folder for its owner's files, which version control passes over: a descriptor holds a token.
fn prepare(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    made_once(&folder.join(".gitignore"), "*\n")
}

fn made_once(file: &Path, text: &str) -> io::Result<()> {
    match OpenOptions::new().write(true).create_new(true).open(file) {
        Ok(mut made) => io::Write::write_all(&mut made, text.as_bytes()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Where Unity's own tool looks. The engine of this project is told to pass the folder over when it is ours.
fn unity_place(project: &Path) -> io::Result<PathBuf> {
    let folder = project.join(UNITY_FOLDER);
    let top = folder.parent().unwrap_or(project);
    let is_new = !top.exists();
    prepare(&folder)?;
    if is_new {
        made_once(&top.join(".gdignore"), "")?;
    }
    Ok(folder.join(EDITOR_FILE))
}

fn lock(folder: &Path) -> Result<File, Taken> {
    let file = OpenOptions::new().create(true).append(true).open(folder.join(LOCK_FILE));
    let file = file.map_err(Taken::Folder)?;
    match file.try_lock_exclusive() {
        Ok(()) => Ok(file),
        Err(error) if error.kind() == fs2::lock_contended_error().kind() => {
            let found = Descriptor::read(&folder.join(EDITOR_FILE)).ok();
            Err(Taken::Project(found.map(|found| (found.pid, found.port))))
        }
        Err(error) => Err(Taken::Folder(error)),
    }
}

/// Whether a descriptor is one of another process, on whose port somebody listens.
fn belongs_to_another(place: &Path, own_port: u16) -> bool {
    let Ok(found) = Descriptor::read(place) else { return false };
    if found.pid == std::process::id() || found.port == own_port {
        return false;
    }
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, found.port));
    TcpStream::connect_timeout(&address, CONNECT_LIMIT).is_ok()
}

fn listen(port: Option<u16>) -> Result<TcpListener, Taken> {
    if let Some(port) = port {
        return bind(port)
            .map_err(|error| Taken::Port(format!("port {port} can't be used: {error}")));
    }
    PORTS.clone().find_map(|port| bind(port).ok()).ok_or_else(|| {
        let message = format!("No available ports in range {}-{}", PORTS.start(), PORTS.end());
        Taken::Port(message)
    })
}

/// Listens on loopback, and nowhere else.
pub fn bind(port: u16) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}
