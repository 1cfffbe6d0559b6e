//! Where a command goes: to a running instance, or into this very process when a Godot project has none.
//!
//! Both answer with a status and a body, so that nothing above can tell them apart.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{here::Here, outcome::Trouble};
use crate::{
    cancel::Cancel,
    cli::{Options, client::TargetOptions},
    pipeline::{
        client::{
            Answer, Ask, Client, EXEC, Failure, JOB_CANCEL, Watch,
            find::{self, NotFound, Places, Wanted},
        },
        exec,
    },
};

/// How much longer than the command the client waits, so that the instance's own word on a command that took
/// too long still arrives.
const GRACE: Duration = Duration::from_secs(2);

/// The way to whoever runs commands.
pub enum Link {
    /// A running instance.
    Remote(Box<Client>),
    /// This process, over a project.
    Here(Box<Here>),
}

impl Link {
    /// Finds whom the options mean.
    ///
    /// # Errors
    /// When nobody is there, or several are.
    pub fn open(
        options: &Options,
        target: &TargetOptions,
        cancel: &Cancel,
    ) -> Result<Self, Trouble> {
        match locate(&wanted(options, target)?, &options.pipelines(), cancel)? {
            Place::Instance(found) => Self::remote(&found, cancel),
            Place::Project(root) => Ok(Link::Here(Box::new(Here::open(options, root)?))),
        }
    }

    /// The same for what only a running instance can do: a project that has none is refused before anything is taken
    /// up for it.
    ///
    /// # Errors
    /// As [`Link::open`]; `alone` where this process would have to do.
    pub fn to_instance(
        options: &Options,
        target: &TargetOptions,
        cancel: &Cancel,
        alone: impl FnOnce() -> Trouble,
    ) -> Result<Self, Trouble> {
        match locate(&wanted(options, target)?, &options.pipelines(), cancel)? {
            Place::Instance(found) => Self::remote(&found, cancel),
            Place::Project(_) => Err(alone()),
        }
    }

    fn remote(found: &find::Found, cancel: &Cancel) -> Result<Self, Trouble> {
        let client = Client::new(found, cancel).map_err(Trouble::system)?;
        Ok(Link::Remote(Box::new(client)))
    }

    /// Whether raw command lines are taken.
    pub fn takes_argv(&self) -> bool {
        match self {
            Link::Remote(client) => client.descriptor().can(didi_pipeline::descriptor::EXEC_ARGV),
            Link::Here(_) => true,
        }
    }

    /// What the instance wants read before anything is sent.
    pub fn info(&self) -> Option<String> {
        match self {
            Link::Remote(client) => client.descriptor().info,
            Link::Here(_) => None,
        }
    }

    /// What it is, for programs.
    pub fn target(&self) -> Value {
        match self {
            Link::Remote(client) => {
                let descriptor = client.descriptor();
                let mut target = find::identity(&descriptor);
                if let Some(info) = descriptor.info {
                    target["info"] = info.into();
                }
                target
            }
            Link::Here(here) => {
                let root = here.project();
                json!({
                    "project": exec::project_name(root),
                    "projectPath": root.to_string_lossy(),
                    "port": null,
                    "pid": std::process::id(),
                })
            }
        }
    }

    /// Looks at a path.
    ///
    /// # Errors
    /// How it failed.
    pub fn get(&self, path: &str, deadline: Instant) -> Result<Answer, Failure> {
        match self {
            // Looking may be repeated, so a lost answer is asked for again while there is time.
            Link::Remote(client) => {
                client.until_taken(|| Ask::get(path), deadline, Duration::ZERO, None)
            }
            Link::Here(here) => Ok(here.get(path)),
        }
    }

    /// Runs a command. Each try tells how much of its time is left.
    ///
    /// # Errors
    /// How it failed.
    pub fn exec(
        &self,
        body: &Value,
        deadline: Instant,
        cancel: &Cancel,
        watch: Option<Watch<'_>>,
    ) -> Result<Answer, Failure> {
        match self {
            Link::Remote(client) => {
                let ask = || Ask::Post { path: EXEC, body: timed(body, deadline) };
                client.until_taken(ask, deadline, GRACE, watch)
            }
            Link::Here(here) => here.exec(timed(body, deadline), deadline + GRACE, cancel, watch),
        }
    }

    /// Asks a job to stop.
    ///
    /// # Errors
    /// How it failed.
    pub fn cancel_job(&self, id: &str, deadline: Instant) -> Result<Answer, Failure> {
        let body = json!({"id": id}).to_string().into_bytes();
        match self {
            Link::Remote(client) => {
                let ask = || Ask::Post { path: JOB_CANCEL, body: body.clone() };
                client.until_taken(ask, deadline, Duration::ZERO, None)
            }
            Link::Here(_) => Err(Failure::Refused("no job outlives this process".into())),
        }
    }
}

/// A body with the time that is left, in milliseconds.
fn timed(body: &Value, deadline: Instant) -> Vec<u8> {
    let mut body = body.clone();
    let left = deadline.saturating_duration_since(crate::source::now());
    body["timeout"] = u64::try_from(left.as_millis()).unwrap_or(u64::MAX).max(1).into();
    body.to_string().into_bytes()
}

/// Who runs commands.
enum Place {
    Instance(Box<find::Found>),
    Project(PathBuf),
}

fn locate(wanted: &Wanted, places: &Places, cancel: &Cancel) -> Result<Place, NotFound> {
    // A project around the working folder is meant before an instance of another one is.
    let godot = godot_project(wanted);
    let narrowed = match (wanted, &godot) {
        (Wanted::Nearest(_), Some(root)) => &Wanted::Project(root.clone()),
        _ => wanted,
    };
    match (find::find(narrowed, places, cancel), godot) {
        (Ok(found), _) => Ok(Place::Instance(Box::new(found))),
        (Err(NotFound::Nothing { .. }), Some(root)) => Ok(Place::Project(root)),
        (Err(why), _) => Err(why),
    }
}

/// The Godot project that is meant, canonical.
fn godot_project(wanted: &Wanted) -> Option<PathBuf> {
    let holds = |folder: &&Path| folder.join("project.godot").is_file();
    let root = match wanted {
        Wanted::Project(folder) => Some(folder.as_path()).filter(holds),
        Wanted::Nearest(folder) => folder.ancestors().find(holds),
        Wanted::Player(_) | Wanted::PlayerPath(_) => None,
    };
    root.and_then(|root| root.canonicalize().ok())
}

fn wanted(options: &Options, target: &TargetOptions) -> Result<Wanted, Trouble> {
    if let Some(name) = &target.runtime {
        return Ok(Wanted::Player(name.clone()));
    }
    if let Some(path) = &target.runtime_path {
        if !path.exists() {
            let message = format!("`{}` is not there", path.display());
            return Err(Trouble::new("PRECONDITION_FAILED", 4, message)
                .hint("name the player's folder, bundle, program or descriptor"));
        }
        return Ok(Wanted::PlayerPath(path.clone()));
    }
    if let Some(project) = target.project_path.as_ref().or(options.project.as_ref()) {
        return project_folder(project).map(Wanted::Project);
    }
    std::env::current_dir().map(Wanted::Nearest).map_err(Trouble::system)
}

/// A project's folder that was named.
pub fn project_folder(project: &Path) -> Result<PathBuf, Trouble> {
    let wrong = |why: String| {
        Trouble::new("PRECONDITION_FAILED", 4, format!("`{}`: {why}", project.display()))
            .hint("name the folder of a project")
    };
    let folder = project.canonicalize().map_err(|error| wrong(error.to_string()))?;
    if folder.is_dir() { Ok(folder) } else { Err(wrong("it is no folder".into())) }
}

/// A time from now on.
pub fn within(limit: Duration) -> Instant {
    crate::source::now() + limit
}
