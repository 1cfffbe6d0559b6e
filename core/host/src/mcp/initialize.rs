//! `initialize`: opens the one session of a legacy client.
//!
//! Spec: P-4, the handshake.

use std::sync::PoisonError;

use serde_json::{Map, Value, json};

use super::{Server, Session, discover, era, era::Revision};
use crate::{
    answer::economy,
    jsonrpc::{INVALID_REQUEST, ProtocolError},
};

impl Server {
    /// Grants a revision. A second call changes nothing.
    pub(super) fn initialize(&self, params: &Map<String, Value>) -> Result<Value, ProtocolError> {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        if session.is_some() {
            let message = "the session is initialized; a fresh one needs a fresh server process";
            return Err(
                ProtocolError::new(INVALID_REQUEST, message).data(json!({"initialized": true}))
            );
        }
        let Some(requested) = params.get("protocolVersion").and_then(Value::as_str) else {
            let requested = params.get("protocolVersion");
            let mut data = json!({"supported": era::supported()});
            if let Some(requested) = requested {
                data["requested"] = requested.clone();
            }
            return Err(ProtocolError::params("`protocolVersion` has to be a string").data(data));
        };
        // A stateless revision is never granted here: it has no sessions.
        let revision = Revision::parse(requested)
            .filter(|revision| !revision.is_modern())
            .unwrap_or(Revision::NEWEST_GRANTED);
        let capabilities = params.get("capabilities").cloned().unwrap_or_else(|| json!({}));
        *session = Some(Session { revision, capabilities });
        Ok(json!({
            "protocolVersion": revision.as_str(),
            "capabilities": {
                "tools": {"listChanged": true},
                "resources": {"subscribe": true, "listChanged": true},
                "prompts": {},
                "extensions": {economy::EXTENSION: {"omit": economy::VALUES}},
            },
            "serverInfo": discover::server_info(),
            "instructions": discover::INSTRUCTIONS,
            "_meta": {"didi": self.facts_document()},
        }))
    }
}
