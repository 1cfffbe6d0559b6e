//! The session descriptor: a private file in which an engine says who it is and where it listens.
//!
//! The set of fields is closed, two of them may be absent, and the whole is at most 64 KiB. Finding and
//! writing the file is left to [`crate::discovery`]; whether the process still lives to [`crate::process`].

use std::{
    fmt,
    path::{Component, Path},
    str::FromStr,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::error::Category;

use crate::{PROTOCOL_VERSION, endpoint, hex, token::SessionToken};

#[cfg(test)]
pub(crate) mod tests;

/// The version of the file's form.
pub const SCHEMA_VERSION: u32 = 1;

/// Longest file that is read, in bytes.
pub const MAX_DESCRIPTOR_BYTES: usize = 64 * 1024;

/// The name of a session: 32 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId([u8; 16]);

/// What kind of engine a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionKind {
    /// An editor with a project open.
    Editor,
    /// A running game.
    Game,
}

/// Who a session is: everything that may be shown. The public form of a descriptor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Names the session and its files.
    pub session_id: SessionId,
    /// The engine's process.
    pub pid: u32,
    /// Editor or game.
    pub kind: SessionKind,
    /// Canonical path of the project's folder.
    pub project_path: String,
    /// Where it listens, of exactly the shape of [`endpoint`].
    pub endpoint: String,
    /// When the process started, in milliseconds since 1970; tells it from a later one with the same pid.
    pub started_at_ms: u64,
    /// [`PROTOCOL_VERSION`].
    pub protocol_version: String,
    /// The build that the extension came out of.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
    /// The engine's own name of its version.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub engine_version: Option<String>,
}

/// A descriptor: an identity and the token that opens it.
///
/// `Debug` does not show the token, and only [`Descriptor::to_private_json`] writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Descriptor {
    /// What may be shown.
    pub identity: Identity,
    /// What may not.
    pub token: SessionToken,
}

/// Why a text is no descriptor of this version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DescriptorFault {
    /// Over [`MAX_DESCRIPTOR_BYTES`].
    #[error("{0} bytes are over the limit of {MAX_DESCRIPTOR_BYTES} bytes")]
    TooLong(u64),
    /// No JSON, or not exactly the fields.
    #[error("not the fields of a descriptor: {0}")]
    Shape(String),
    /// A field holds what it may not.
    #[error("`{field}` {problem}")]
    Field {
        /// The field.
        field: &'static str,
        /// What is wrong; completes a sentence that begins with the field.
        problem: String,
    },
}

/// The file's fields in its order; the two fields of `identity` that may be absent come last.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PrivateFields {
    schema_version: u32,
    session_id: SessionId,
    token: String,
    pid: u32,
    kind: SessionKind,
    project_path: String,
    endpoint: String,
    started_at_ms: u64,
    protocol_version: String,
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    build_id: Option<String>,
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    engine_version: Option<String>,
}

impl Descriptor {
    /// Reads the text of a descriptor file.
    ///
    /// # Errors
    /// When it is too long, has other fields than those of a descriptor or one of them twice, or one holds
    /// what it may not. No error quotes the token.
    pub fn from_slice(text: &[u8]) -> Result<Self, DescriptorFault> {
        if text.len() > MAX_DESCRIPTOR_BYTES {
            return Err(DescriptorFault::TooLong(text.len() as u64));
        }
        let fields: PrivateFields = serde_json::from_slice(text).map_err(|error| shape(&error))?;
        let token = SessionToken::parse(&fields.token)
            .ok_or_else(|| field("token", "is not 64 lower-case hex digits"))?;
        let identity = Identity {
            schema_version: fields.schema_version,
            session_id: fields.session_id,
            pid: fields.pid,
            kind: fields.kind,
            project_path: fields.project_path,
            endpoint: fields.endpoint,
            started_at_ms: fields.started_at_ms,
            protocol_version: fields.protocol_version,
            build_id: fields.build_id,
            engine_version: fields.engine_version,
        };
        identity.check()?;
        Ok(Descriptor { identity, token })
    }

    /// The text of the private file, token included.
    pub fn to_private_json(&self) -> Vec<u8> {
        let identity = self.identity.clone();
        let fields = PrivateFields {
            schema_version: identity.schema_version,
            session_id: identity.session_id,
            token: self.token.reveal().to_owned(),
            pid: identity.pid,
            kind: identity.kind,
            project_path: identity.project_path,
            endpoint: identity.endpoint,
            started_at_ms: identity.started_at_ms,
            protocol_version: identity.protocol_version,
            build_id: identity.build_id,
            engine_version: identity.engine_version,
        };
        // Texts and numbers: there is nothing that JSON could not take.
        serde_json::to_vec_pretty(&fields).unwrap_or_default()
    }

    /// The public form.
    pub fn public(&self) -> &Identity {
        &self.identity
    }
}

impl Identity {
    /// Checks every field against the contract; a handshake's answer has to pass it too.
    ///
    /// # Errors
    /// The first field that holds what it may not.
    pub fn check(&self) -> Result<(), DescriptorFault> {
        if self.schema_version != SCHEMA_VERSION {
            return Err(field("schema_version", &format!("is not {SCHEMA_VERSION}")));
        }
        if self.protocol_version != PROTOCOL_VERSION {
            return Err(field("protocol_version", &format!("is not {PROTOCOL_VERSION}")));
        }
        if self.pid == 0 {
            return Err(field("pid", "is 0"));
        }
        if self.started_at_ms == 0 {
            return Err(field("started_at_ms", "is 0"));
        }
        if !is_canonical(&self.project_path) {
            return Err(field("project_path", "is not a canonical absolute path"));
        }
        if !endpoint::has_exact_shape(self) {
            return Err(field("endpoint", "does not have the shape of this session's endpoint"));
        }
        Ok(())
    }
}

fn field(field: &'static str, problem: &str) -> DescriptorFault {
    DescriptorFault::Field { field, problem: problem.to_owned() }
}

/// The reader's complaint where it names our own fields, and its place alone where it would quote the file:
/// what it quotes could be the token.
fn shape(error: &serde_json::Error) -> DescriptorFault {
    let message = error.to_string();
    let ours = ["missing field", "duplicate field"].iter().any(|begin| message.starts_with(begin));
    let place = format!("line {} column {}", error.line(), error.column());
    DescriptorFault::Shape(match error.classify() {
        Category::Data if ours => message,
        Category::Data => format!("another field or kind of value at {place}"),
        _ => format!("no JSON at {place}"),
    })
}

fn is_canonical(path: &str) -> bool {
    let plain = |part: Component<'_>| !matches!(part, Component::CurDir | Component::ParentDir);
    let path_of = Path::new(path);
    // `components` reads `a//b` and `a/./b` as `a/b`, so the text is compared as well.
    path_of.is_absolute()
        && !path.contains('\0')
        && path_of.components().all(plain)
        && path_of.components().collect::<std::path::PathBuf>().to_str() == Some(path)
}

impl SessionId {
    /// A name that nobody can guess.
    pub fn random() -> Self {
        SessionId(hex::random())
    }

    /// Reads 32 lower-case hex digits; anything else is no name.
    pub fn parse(text: &str) -> Option<Self> {
        hex::bytes(text).map(SessionId)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::text(&self.0))
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionId({self})")
    }
}

impl FromStr for SessionId {
    type Err = NoSessionId;

    fn from_str(text: &str) -> Result<Self, NoSessionId> {
        SessionId::parse(text).ok_or(NoSessionId)
    }
}

/// A text that is not 32 lower-case hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a session's name is 32 lower-case hex digits")]
pub struct NoSessionId;

impl Serialize for SessionId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SessionId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl SessionKind {
    /// `editor` or `game`.
    pub fn as_str(self) -> &'static str {
        match self {
            SessionKind::Editor => "editor",
            SessionKind::Game => "game",
        }
    }
}

impl fmt::Display for SessionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A field that may be absent, but is no `null` when it is there.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    String::deserialize(deserializer).map(Some)
}
