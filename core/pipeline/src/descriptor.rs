//! The port descriptor: the file in which an instance says where it listens, and with which token.
//!
//! Reading is tolerant. The protocol's first host writes the file in place and newer ones add fields, so a
//! file can be half there and can hold more than is known here. Writing is ours and strict: a new file, for
//! its owner alone, put into place in one step. Whether the process still lives is left to the reader of the
//! descriptor, and so is when to look again.
//!
//! Spec: P-64, the port descriptor.

use std::{
    fmt,
    fs::File,
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[cfg(test)]
mod tests;

/// The file's name beside an editor or a server.
pub const EDITOR_FILE: &str = ".unity-pipeline-port";
/// The file's name beside a player.
pub const PLAYER_FILE: &str = ".unity-pipeline-runtime-port";
/// Where a Didi server of a project has it, below the project's folder.
pub const DIDI_FOLDER: &str = ".didi/pipeline";
/// Where Unity's editor has it, below the project's folder.
pub const UNITY_FOLDER: &str = "Library/Pipeline";

/// Longest file that is read, in bytes.
pub const MAX_DESCRIPTOR_BYTES: u64 = 64 * 1024;

/// The capability of taking `argv`.
pub const EXEC_ARGV: &str = "exec.argv";
/// The capability of taking `commandLine`.
pub const EXEC_COMMAND_LINE: &str = "exec.commandLine";

/// The bearer token. `Debug` does not show it, and nothing serialises it but [`Descriptor::write`].
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(String);

impl Secret {
    /// Takes a token over.
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into())
    }

    /// The token, for a request on its way out and for the private file.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret(..)")
    }
}

/// What listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Instance {
    /// An editor, or a server of tools, of one project.
    Editor {
        /// Absolute path.
        project_path: String,
        /// The folder's name.
        project_name: String,
        /// `editor`, `batchmode`, or a word of a newer one.
        mode: String,
    },
    /// A running game.
    Player {
        /// Such as `WindowsPlayer`.
        platform: String,
        /// Names the build.
        build_guid: String,
        /// Where it runs.
        working_directory: String,
    },
}

impl Instance {
    /// `editor`, `batchmode` or a word of a newer one; `player`.
    pub fn kind(&self) -> &str {
        match self {
            Instance::Editor { mode, .. } => mode,
            Instance::Player { .. } => "player",
        }
    }
}

/// One instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Descriptor {
    /// The process.
    pub pid: u32,
    /// On 127.0.0.1.
    pub port: u16,
    /// What it is.
    pub instance: Instance,
    /// The version of its engine; empty when it does not say.
    pub engine_version: String,
    /// When it started, UTC in ISO 8601; empty when it does not say.
    pub started_at: String,
    /// When it last wrote the file, UTC in ISO 8601; empty when it does not say.
    pub last_heartbeat: String,
    /// The bearer token.
    pub token: Secret,
    /// Optional features. Absent is older than the field, and none of them.
    pub capabilities: Option<Vec<String>>,
    /// What a client should read before it sends anything.
    pub info: Option<String>,
}

/// Why a file gave no descriptor.
#[derive(Debug)]
pub enum ReadFault {
    /// There is none.
    Missing,
    /// The system does not let us; that is not the same as no instance.
    Denied(io::Error),
    /// It can't be read.
    Io(io::Error),
    /// It ends in the middle, or is empty: somebody is writing it. Worth another look.
    Unfinished,
    /// It is whole and no descriptor.
    Malformed(String),
}

impl fmt::Display for ReadFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadFault::Missing => out.write_str("no descriptor is there"),
            ReadFault::Denied(error) => write!(out, "the descriptor may not be read: {error}"),
            ReadFault::Io(error) => write!(out, "the descriptor can't be read: {error}"),
            ReadFault::Unfinished => out.write_str("the descriptor is only half written"),
            ReadFault::Malformed(why) => write!(out, "the descriptor is none: {why}"),
        }
    }
}

impl std::error::Error for ReadFault {}

/// All fields of both forms. What is unknown is passed over.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fields {
    pid: u32,
    port: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    project_path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    project_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mode: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    platform: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    build_guid: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    working_directory: Option<String>,
    #[serde(default)]
    unity_version: Option<String>,
    #[serde(default)]
    started_at: Option<String>,
    #[serde(default)]
    last_heartbeat: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    eval_token: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    capabilities: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    info: Option<String>,
}

impl Descriptor {
    /// Reads one file.
    ///
    /// # Errors
    /// See [`ReadFault`]; none quotes the file, which holds a token.
    pub fn read(file: &Path) -> Result<Self, ReadFault> {
        let opened = File::open(file).map_err(fault_of)?;
        if !opened.metadata().map_err(fault_of)?.is_file() {
            return Err(ReadFault::Malformed("it is no regular file".into()));
        }
        let mut text = vec![];
        opened.take(MAX_DESCRIPTOR_BYTES + 1).read_to_end(&mut text).map_err(fault_of)?;
        Self::from_slice(&text)
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// As [`Descriptor::read`].
    pub fn from_slice(text: &[u8]) -> Result<Self, ReadFault> {
        if text.len() as u64 > MAX_DESCRIPTOR_BYTES {
            return Err(ReadFault::Malformed(format!("it is over {MAX_DESCRIPTOR_BYTES} bytes")));
        }
        // The first host's runtime may put a byte order mark before its text.
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        // An in-place writer leaves an empty file, a cut one, or zeros for a moment.
        if text.iter().all(|byte| byte.is_ascii_whitespace() || *byte == 0) {
            return Err(ReadFault::Unfinished);
        }
        let fields: Fields = serde_json::from_slice(text).map_err(|error| {
            if error.is_eof() { ReadFault::Unfinished } else { malformed(&error) }
        })?;
        Self::of(fields)
    }

    fn of(fields: Fields) -> Result<Self, ReadFault> {
        let instance = match (fields.project_path, fields.working_directory) {
            (Some(project_path), _) => Instance::Editor {
                project_name: fields.project_name.unwrap_or_else(|| last_part(&project_path)),
                project_path,
                mode: fields.mode.unwrap_or_else(|| "editor".into()),
            },
            (None, Some(working_directory)) => Instance::Player {
                platform: fields.platform.unwrap_or_default(),
                build_guid: fields.build_guid.unwrap_or_default(),
                working_directory,
            },
            (None, None) => {
                let why = "it names neither a project nor a working directory";
                return Err(ReadFault::Malformed(why.into()));
            }
        };
        if fields.port == 0 || fields.pid == 0 {
            return Err(ReadFault::Malformed("its port or its process is 0".into()));
        }
        // A token goes into a header: visible ASCII, or nothing that a server could have made.
        let token = fields.eval_token.unwrap_or_default();
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ReadFault::Malformed("it holds no token that can be sent".into()));
        }
        Ok(Descriptor {
            pid: fields.pid,
            port: fields.port,
            instance,
            engine_version: fields.unity_version.unwrap_or_default(),
            started_at: fields.started_at.unwrap_or_default(),
            last_heartbeat: fields.last_heartbeat.unwrap_or_default(),
            token: Secret(token),
            capabilities: fields.capabilities,
            info: fields.info.filter(|info| !info.trim().is_empty()),
        })
    }

    /// Puts the file into place in one step, readable by its owner alone. The folder has to be there.
    ///
    /// # Errors
    /// When the folder takes no file.
    pub fn write(&self, file: &Path) -> io::Result<()> {
        let folder = file.parent().filter(|it| !it.as_os_str().is_empty());
        let folder = folder.unwrap_or_else(|| Path::new("."));
        let mut fields = self.fields();
        fields.eval_token = Some(self.token.0.clone());
        let mut text = serde_json::to_vec_pretty(&fields)?;
        text.push(b'\n');
        // The file is made with permissions of its owner alone, before anything is in it.
        let mut draft = tempfile::Builder::new()
            .prefix(".unity-pipeline-")
            .suffix(".new")
            .tempfile_in(folder)?;
        draft.write_all(&text)?;
        draft.persist(file).map_err(|error| error.error)?;
        Ok(())
    }

    /// What may be shown: every field but the token.
    pub fn public(&self) -> Value {
        serde_json::to_value(self.fields()).unwrap_or_default()
    }

    /// Whether a feature is claimed.
    pub fn can(&self, capability: &str) -> bool {
        self.capabilities.iter().flatten().any(|claimed| claimed == capability)
    }

    /// The project or the working folder.
    pub fn folder(&self) -> &Path {
        Path::new(match &self.instance {
            Instance::Editor { project_path, .. } => project_path,
            Instance::Player { working_directory, .. } => working_directory,
        })
    }

    /// A name for people: the project's, or the folder's of the player.
    pub fn name(&self) -> String {
        match &self.instance {
            Instance::Editor { project_name, .. } => project_name.clone(),
            Instance::Player { working_directory, .. } => last_part(working_directory),
        }
    }

    fn fields(&self) -> Fields {
        let mut fields = Fields {
            pid: self.pid,
            port: self.port,
            project_path: None,
            project_name: None,
            mode: None,
            platform: None,
            build_guid: None,
            working_directory: None,
            unity_version: Some(self.engine_version.clone()),
            started_at: Some(self.started_at.clone()),
            last_heartbeat: Some(self.last_heartbeat.clone()),
            eval_token: None,
            capabilities: self.capabilities.clone(),
            info: self.info.clone(),
        };
        match &self.instance {
            Instance::Editor { project_path, project_name, mode } => {
                fields.project_path = Some(project_path.clone());
                fields.project_name = Some(project_name.clone());
                fields.mode = Some(mode.clone());
            }
            Instance::Player { platform, build_guid, working_directory } => {
                fields.platform = Some(platform.clone());
                fields.build_guid = Some(build_guid.clone());
                fields.working_directory = Some(working_directory.clone());
            }
        }
        fields
    }
}

/// Where the descriptors of a project's editor and server would be, ours first.
pub fn places(project: &Path) -> [PathBuf; 2] {
    [DIDI_FOLDER, UNITY_FOLDER].map(|folder| project.join(folder).join(EDITOR_FILE))
}

fn fault_of(error: io::Error) -> ReadFault {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ReadFault::Missing,
        io::ErrorKind::PermissionDenied => ReadFault::Denied(error),
        // Windows: the writer has it open for itself alone.
        _ if error.raw_os_error() == Some(32) && cfg!(windows) => ReadFault::Unfinished,
        _ => ReadFault::Io(error),
    }
}

/// Where the text is wrong, without a word of it.
fn malformed(error: &serde_json::Error) -> ReadFault {
    let kind = match error.classify() {
        serde_json::error::Category::Data => "a field is missing or of another type",
        _ => "no JSON",
    };
    ReadFault::Malformed(format!("{kind}, line {} column {}", error.line(), error.column()))
}

fn last_part(path: &str) -> String {
    let trimmed = path.trim_end_matches(['/', '\\']);
    trimmed.rsplit(['/', '\\']).next().unwrap_or(trimmed).to_owned()
}
