//! Which revision a request is served by.
//!
//! A request that declares a version in its `_meta` stands for itself. Everything else belongs to the session
//! that `initialize` opened, at the revision granted there.
//!
//! Spec: P-3, eras.

use serde_json::{Map, Value, json};

use crate::jsonrpc::ProtocolError;

/// Prefix of the protocol's own `_meta` keys.
pub const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
/// Capabilities of the client that sent a request.
pub const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
/// The log level that a request asks for.
pub const LOG_LEVEL_KEY: &str = "io.modelcontextprotocol/logLevel";
/// Who answered.
pub const SERVER_INFO_KEY: &str = "io.modelcontextprotocol/serverInfo";
/// The request that a notification belongs to.
pub const SUBSCRIPTION_KEY: &str = "io.modelcontextprotocol/subscriptionId";
/// The tasks extension.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// A request's version is not served.
pub const UNSUPPORTED_VERSION: i32 = -32022;
/// A request needs a capability that its client did not declare.
pub const MISSING_CAPABILITY: i32 = -32021;
/// A resource does not exist, before 2026-07-28.
pub const LEGACY_NO_RESOURCE: i32 = -32002;

/// A revision of the protocol, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Revision {
    /// 2024-11-05.
    V2024_11,
    /// 2025-03-26: batches.
    V2025_03,
    /// 2025-06-18: elicitation.
    V2025_06,
    /// 2025-11-25: elicitation has modes.
    V2025_11,
    /// 2026-07-28: every request stands for itself.
    V2026_07,
}

impl Revision {
    /// Newest first, as they are advertised.
    pub const ALL: [Revision; 5] = [
        Revision::V2026_07,
        Revision::V2025_11,
        Revision::V2025_06,
        Revision::V2025_03,
        Revision::V2024_11,
    ];

    /// What `initialize` grants when it is asked for something that is not served there.
    pub const NEWEST_GRANTED: Revision = Revision::V2025_11;

    /// The text on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Revision::V2024_11 => "2024-11-05",
            Revision::V2025_03 => "2025-03-26",
            Revision::V2025_06 => "2025-06-18",
            Revision::V2025_11 => "2025-11-25",
            Revision::V2026_07 => "2026-07-28",
        }
    }

    /// A served revision by its text.
    pub fn parse(text: &str) -> Option<Self> {
        Revision::ALL.into_iter().find(|revision| revision.as_str() == text)
    }

    /// Whether answers have the modern form: `resultType`, `ttlMs`, `cacheScope`, provenance.
    pub fn is_modern(self) -> bool {
        self == Revision::V2026_07
    }
}

/// The texts of all served revisions.
pub fn supported() -> Vec<&'static str> {
    Revision::ALL.into_iter().map(Revision::as_str).collect()
}

/// Everything about a request's client that its answer depends on.
#[derive(Debug, Clone)]
pub struct Terms {
    /// The revision.
    pub revision: Revision,
    /// Whether the request stands for itself, whatever `initialize` said.
    pub stateless: bool,
    /// What the client declared, for this request or in `initialize`.
    pub capabilities: Value,
    /// What a request of a session declares beside that, for itself alone; null for none.
    pub own_capabilities: Value,
    /// The runtime session that the request names.
    pub session: Option<String>,
    /// Where progress is wanted.
    pub progress_token: Option<Value>,
}

impl Terms {
    /// Terms of the session that `initialize` opened.
    pub fn granted(revision: Revision, capabilities: Value, meta: &Map<String, Value>) -> Self {
        Terms {
            revision,
            stateless: false,
            capabilities,
            own_capabilities: meta.get(CAPABILITIES_KEY).cloned().unwrap_or_default(),
            session: None,
            progress_token: progress_token(meta),
        }
    }

    /// Terms that the request declares itself; `None` when it declares no version.
    ///
    /// # Errors
    /// `-32022` for a version that is not served, `-32602` for a member that is missing or malformed.
    pub fn declared(meta: &Map<String, Value>) -> Result<Option<Self>, ProtocolError> {
        let Some(version) = meta.get(VERSION_KEY) else { return Ok(None) };
        let Some(version) = version.as_str() else {
            return Err(ProtocolError::params(format!("`_meta.{VERSION_KEY}` has to be a string")));
        };
        let Some(revision) = Revision::parse(version) else { return Err(unsupported(version)) };
        let capabilities = match meta.get(CAPABILITIES_KEY) {
            Some(capabilities) if capabilities.is_object() => capabilities.clone(),
            _ => {
                let message = format!("`_meta.{CAPABILITIES_KEY}` has to be an object");
                return Err(ProtocolError::params(message));
            }
        };
        check_log_level(meta)?;
        let session = match meta.get("didi").and_then(|didi| didi.get("runtime_session_id")) {
            None => None,
            Some(Value::String(session)) => Some(session.clone()),
            Some(_) => {
                let message = "`_meta.didi.runtime_session_id` has to be a string";
                return Err(ProtocolError::params(message));
            }
        };
        let progress_token = progress_token(meta);
        Ok(Some(Terms {
            revision,
            stateless: true,
            capabilities,
            own_capabilities: Value::Null,
            session,
            progress_token,
        }))
    }

    /// Terms of `server/discover`, which is answered without any.
    pub fn discovering() -> Self {
        Terms {
            revision: Revision::V2026_07,
            stateless: true,
            capabilities: json!({}),
            own_capabilities: Value::Null,
            session: None,
            progress_token: None,
        }
    }

    /// Whether answers have the modern form.
    pub fn is_modern(&self) -> bool {
        self.revision.is_modern()
    }

    /// Whether an extension is declared.
    pub fn declares(&self, extension: &str) -> bool {
        self.capabilities["extensions"][extension].is_object()
    }

    /// Whether a person can be asked with a form.
    pub fn elicits(&self) -> bool {
        let declared = self.capabilities["elicitation"].as_object();
        // An empty declaration means forms; one that names modes has to name this one.
        let form = declared.is_some_and(|modes| {
            modes.get("form").is_some_and(Value::is_object) || !modes.contains_key("url")
        });
        form && self.revision >= Revision::V2025_06
    }
}

/// The `-32022` error.
pub fn unsupported(requested: &str) -> ProtocolError {
    ProtocolError::new(UNSUPPORTED_VERSION, "Unsupported protocol version")
        .data(json!({"supported": supported(), "requested": requested}))
}

fn progress_token(meta: &Map<String, Value>) -> Option<Value> {
    meta.get("progressToken")
        .filter(|token| token.is_string() || token.is_i64() || token.is_u64())
        .cloned()
}

fn check_log_level(meta: &Map<String, Value>) -> Result<(), ProtocolError> {
    const LEVELS: [&str; 8] =
        ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
    match meta.get(LOG_LEVEL_KEY) {
        None => Ok(()),
        Some(Value::String(level)) if LEVELS.contains(&level.as_str()) => Ok(()),
        Some(other) => {
            let message = format!("`_meta.{LOG_LEVEL_KEY}` takes one of {}", LEVELS.join(", "));
            Err(ProtocolError::params(message).data(json!({"requested": other})))
        }
    }
}
