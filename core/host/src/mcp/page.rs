//! The control room's page as a resource: which requests are told of it, and reading it.
//!
//! Spec: P-28, the control room's page.

use serde_json::{Value, json};

use super::{Server, discover::complete, era::Terms};
use crate::page::{DOCUMENT, MIME_TYPE, Shown, URI};

/// The extension by which a client says that it shows pages.
const EXTENSION: &str = "io.modelcontextprotocol/ui";

impl Server {
    /// Whether a request's client is told of the page.
    pub(super) fn shows_page(&self, terms: &Terms) -> bool {
        match self.facts.page {
            Shown::Always => true,
            Shown::Never => false,
            Shown::ToDeclared => {
                let declared = &terms.capabilities["extensions"][EXTENSION];
                let types = declared["mimeTypes"].as_array();
                // One that names no types takes the only one there is.
                declared.is_object() && types.is_none_or(|types| types.contains(&MIME_TYPE.into()))
            }
        }
    }

    /// The page, unless it is switched off; `None` for another address, too.
    pub(super) fn read_page(&self, uri: &str, terms: &Terms) -> Option<Value> {
        if uri != URI || self.facts.page == Shown::Never {
            return None;
        }
        let content = json!({
            "uri": URI,
            "mimeType": MIME_TYPE,
            "text": DOCUMENT,
            "_meta": {"ui": {"prefersBorder": true}},
        });
        Some(complete(terms, json!({"contents": [content]}), Some((0, "private"))))
    }
}

/// The page's entry in the list of resources.
pub(super) fn listed() -> Value {
    json!({
        "uri": URI,
        "name": "control-room",
        "title": "Control room",
        "description": "The server's own state as a page.",
        "mimeType": MIME_TYPE,
        "_meta": {"didi": {
            "executionModes": ["local"],
            "implemented": true,
            "currentMode": "local",
            "liveAvailable": false,
            "editorConnected": false,
            "subscribable": false,
        }},
    })
}
