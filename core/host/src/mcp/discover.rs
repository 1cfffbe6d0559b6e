//! `server/discover`: what this server speaks, answered to anybody without a handshake.
//!
//! Spec: P-4, the handshake.

use didi_plugin_api::desc::Profile;
use serde_json::{Map, Value, json};

use super::{Server, era, era::Terms};
use crate::answer::economy;

/// The guide that the consuming model should be given. The same for every client and project.
pub const INSTRUCTIONS: &str = include_str!("../../data/instructions.txt");

/// How long a list that never changes in a process may be kept, in milliseconds.
pub(super) const KEEP_MS: u64 = 3_600_000;

/// Who this server is.
pub fn server_info() -> Value {
    json!({"name": "didi", "title": "Didi", "version": env!("CARGO_PKG_VERSION")})
}

impl Server {
    pub(super) fn discover(&self, terms: &Terms) -> Value {
        let result = json!({
            "supportedVersions": era::supported(),
            "capabilities": {
                "tools": {"listChanged": true},
                "resources": {"subscribe": true, "listChanged": true},
                "prompts": {},
                "extensions": {
                    economy::EXTENSION: {"omit": economy::VALUES},
                    era::TASKS_EXTENSION: {},
                },
            },
            "instructions": INSTRUCTIONS,
            "_meta": {"didi": self.facts_document()},
        });
        complete(terms, result, Some((KEEP_MS, "public")))
    }

    /// The members of `_meta.didi` that a client can see before it acts.
    pub(super) fn facts_document(&self) -> Value {
        json!({
            "confirmationsSkipped": self.facts.yolo,
            "toolProfile": match self.facts.profile { Profile::Core => "core", Profile::Full => "full" },
            "sessionDescriptor": if self.facts.descriptor_once { "once" } else { "every" },
        })
    }
}

/// Adds what modern results carry; a legacy result stays as it is.
pub(super) fn complete(terms: &Terms, result: Value, cache: Option<(u64, &str)>) -> Value {
    if !terms.is_modern() {
        return result;
    }
    let Value::Object(members) = result else { return result };
    let mut whole = Map::new();
    whole.insert("resultType".into(), "complete".into());
    whole.extend(members);
    if let Some((ttl_ms, scope)) = cache {
        whole.insert("ttlMs".into(), ttl_ms.into());
        whole.insert("cacheScope".into(), scope.into());
    }
    let meta = whole.entry("_meta").or_insert_with(|| json!({}));
    meta[era::SERVER_INFO_KEY] = server_info();
    Value::Object(whole)
}
